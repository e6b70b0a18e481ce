// What the schema of a custom resource states anywhere in it: walks over objects pass over what their question is not about. All questions are answered
// by one walk over the schema: three of them over one of 40,000 fields took 40 ms.
import type { OpenAPIV3Schema } from './structural.ts';

const RULES = 1;
const LIST_TYPES = 2;
const EMBEDDED = 4;

/** The answers of schemas that have parts: to keep those of others takes longer than to find them again. */
const known = new WeakMap<OpenAPIV3Schema, number>();

function readOwn(schema: OpenAPIV3Schema): number {
  const listType = schema['x-kubernetes-list-type'];
  const rules = schema['x-kubernetes-validations'] as unknown[] | undefined;
  return ((rules?.length ?? 0) > 0 ? RULES : 0) | (listType === 'set' || listType === 'map' ? LIST_TYPES : 0)
    | (schema['x-kubernetes-embedded-resource'] === true ? EMBEDDED : 0);
}

/** What a schema or that of a part of its values states, at any depth. */
function read(schema: OpenAPIV3Schema): number {
  const { properties, items, additionalProperties } = schema;
  const values = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  if (properties === undefined && items === undefined && values === undefined) return readOwn(schema);
  let answer = known.get(schema);
  if (answer !== undefined) return answer;
  answer = readOwn(schema);
  if (properties !== undefined) for (const property of Object.values(properties)) answer |= read(property);
  if (items !== undefined) answer |= read(items);
  if (values !== undefined) answer |= read(values);
  known.set(schema, answer);
  return answer;
}

/** Whether it states rules (`x-kubernetes-validations`). */
export const statesRules = (schema: OpenAPIV3Schema): boolean => (read(schema) & RULES) !== 0;

/** Whether it has lists of type `set` or `map`. */
export const statesListTypes = (schema: OpenAPIV3Schema): boolean => (read(schema) & LIST_TYPES) !== 0;

/** Whether it describes embedded resources. */
export const statesEmbedded = (schema: OpenAPIV3Schema): boolean => (read(schema) & EMBEDDED) !== 0;
