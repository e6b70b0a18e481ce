// Values of custom resources against the recorded answers of the reference: every create of the `crdschema` scenarios whose schema has no
// rules is decoded, defaulted and validated here, and has to fail with the recorded causes or not at all.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import {
  type KubeObject, type OpenAPIV3Schema, applyDefaults, compileStructuralSchema, decodeCustomObject, loadPatternEngine, statesRules, validateEmbedded,
  validateListTypes, validateValue,
} from '../apimachinery/index.ts';

interface Step {
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  readonly quiet?: boolean;
  readonly sleep?: number;
  readonly type?: string;
}
interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}
interface Recorded {
  readonly status?: number;
  readonly body?: { readonly details?: { readonly causes?: readonly { readonly message?: string; readonly field: string }[] } };
}

const oracle = new URL('../../../test/oracle/', import.meta.url);
const golden = JSON.parse(readFileSync(new URL('golden/crdschema.json', oracle), 'utf8')) as Record<string, readonly Recorded[]>;
const scenarios = ((await import(new URL('scenarios/crdschema.mjs', oracle).href)) as { default: readonly Scenario[] }).default;

/** The only schema that a scenario defines; undefined when it changes or has rules. */
function schemaOf({ steps }: Scenario): OpenAPIV3Schema | undefined {
  const writes = steps.filter(({ method, path }) => method !== undefined && path?.includes('/customresourcedefinitions') === true);
  const definition = writes[0]?.body as { spec?: { versions?: readonly { schema?: { openAPIV3Schema?: OpenAPIV3Schema } }[] } } | undefined;
  const schema = definition?.spec?.versions?.[0]?.schema?.openAPIV3Schema;
  return writes.length === 1 && writes[0]?.quiet === true && schema !== undefined && !statesRules(schema) ? schema : undefined;
}

function problemsOf(source: OpenAPIV3Schema, body: Record<string, unknown>): string[] {
  const schema = compileStructuralSchema(source);
  const object = applyDefaults(schema, decodeCustomObject(schema, structuredClone(body)).object) as unknown as KubeObject;
  const errors = [...validateValue(source, object), ...validateEmbedded(source, object), ...validateListTypes(source, object)];
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('values of custom resources', () => {
  before(loadPatternEngine);
  for (const scenario of scenarios) {
    const schema = schemaOf(scenario);
    if (schema === undefined) continue;
    const recorded = golden[scenario.name] ?? [];
    const told = scenario.steps.filter(({ quiet, sleep }) => quiet !== true && sleep === undefined);
    const cases = told.map((step, i) => ({ step, answer: recorded[i] }))
      .filter(({ step, answer }) => step.method === 'POST' && typeof step.body === 'object' && [201, 422].includes(answer?.status ?? 0));
    if (cases.length === 0) continue;
    it(`validateValue answers as recorded: ${scenario.name}`, () => {
      for (const { step, answer } of cases) {
        const wanted = (answer?.body?.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
        assert.deepEqual(problemsOf(schema, step.body as Record<string, unknown>), answer?.status === 422 ? wanted : [], JSON.stringify(step.body));
      }
    });
  }
});
