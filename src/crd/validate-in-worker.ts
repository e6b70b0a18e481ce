// Judging writes of custom resources away from the server's own thread: what is handed over are the bytes of the definition and the write, what
// comes back are problems as data. The last definitions are kept with all that was compiled for them.
import type { KubeObject, Schema } from '../apimachinery/index.ts';
import { loadPatternEngine } from '../apimachinery/index.ts';
import { parseJson } from '../codec/index.ts';
import { findScale } from './row.ts';
import { specOf } from './types.ts';
import { checkSchemaRules } from './validate/rules.ts';
import { sourceOf } from './schemas.ts';
import { type WriteVerdict, type ValidationParts, type WriteToValidate, validateWrite } from './strategy.ts';

/** A write that is judged aside. */
export interface ValidateRequest extends WriteToValidate {
  /** The definition as JSON. */
  readonly definition: Uint8Array;
  /** Stands for the definition: equal for equal ones. */
  readonly fingerprint: string;
}

const mostDefinitions = 4;

function readParts(bytes: Uint8Array): ValidationParts {
  const definition = parseJson(bytes).value as unknown as KubeObject;
  const schemas = new Map(specOf(definition).versions.map(({ name }) => [name, { source: sourceOf(definition, name) } as Schema]));
  return { schemas, scale: findScale(specOf(definition).versions), checkRules: checkSchemaRules };
}

/** A judge with a memory of its own. */
export function createWriteValidator(): (request: ValidateRequest) => Promise<WriteVerdict> {
  const known = new Map<string, ValidationParts>();
  return async ({ definition, fingerprint, ...write }) => {
    await loadPatternEngine();
    const parts = known.get(fingerprint) ?? readParts(definition);
    known.delete(fingerprint);
    known.set(fingerprint, parts);
    if (known.size > mostDefinitions) known.delete(known.keys().next().value as string);
    return validateWrite(write, parts);
  };
}
