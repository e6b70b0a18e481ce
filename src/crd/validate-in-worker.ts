// Validation of custom resources in a worker thread: it receives the bytes of the definition and the write, and returns problems as data. The last
// definitions are kept with all that was compiled for them.
import { BoundedCache } from '../base/index.ts';
import { type KubeObject, type Schema, loadPatternEngine } from '../apimachinery/index.ts';
import { parseJson } from '../codec/index.ts';
import { findScale } from './row.ts';
import { specOf } from './types.ts';
import { checkSchemaRules } from './validate/rules.ts';
import { sourceOf } from './schemas.ts';
import { type ValidationResult, type ValidationParts, type WriteToValidate, validateWrite } from './strategy.ts';

/** A write that is validated in the worker. */
export interface ValidateRequest extends WriteToValidate {
  /** The definition as JSON. */
  readonly definition: Uint8Array;
  /** Stands for the definition: equal for equal ones. */
  readonly fingerprint: string;
}

const MOST_DEFINITIONS = 4;

function readParts(bytes: Uint8Array): ValidationParts {
  const definition = parseJson(bytes).value as unknown as KubeObject;
  const schemas = new Map(specOf(definition).versions.map(({ name }) => [name, { source: sourceOf(definition, name) } as Schema]));
  return { schemas, scaleIn: (version) => findScale(specOf(definition).versions, version), checkRules: checkSchemaRules };
}

/** A validator that remembers the last definitions. */
export function createWriteValidator(): (request: ValidateRequest) => Promise<ValidationResult> {
  const known = new BoundedCache<string, ValidationParts>({ limit: MOST_DEFINITIONS });
  return async ({ definition, fingerprint, ...write }) => {
    await loadPatternEngine();
    const parts = known.getOrMake(fingerprint, () => readParts(definition));
    return validateWrite(write, parts);
  };
}
