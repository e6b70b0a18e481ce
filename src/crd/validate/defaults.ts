// Defaults have to be values that an object could have: known to the schema, valid, and of embedded resources complete.
import { type FieldError, type OpenAPIV3Schema, compileRules, invalidValue, validateEmbedded, validateValue } from '../../apimachinery/index.ts';
import { type Steps, compareKeys, createStride, resumableSteps } from '../../base/index.ts';

const metaFields = new Set(['metadata', 'kind', 'apiVersion']);

/** Nodes without a default are cheap: only some of them end a step. */
const isDue = createStride(50);

/** Problems of all defaults of a structural schema. Below additionalProperties they are not looked at. */
export function* validateDefaults(schema: OpenAPIV3Schema, at: string): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* walk({ ...schema, 'x-kubernetes-embedded-resource': true }, { at, insideMeta: false }, errors);
  return errors;
}

function* walk(schema: OpenAPIV3Schema, { at, insideMeta }: { readonly at: string; readonly insideMeta: boolean }, errors: FieldError[]): Steps<void> {
  if (schema.default !== undefined || isDue()) yield;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const inMeta = insideMeta && !isResource;
  if (schema.default !== undefined && schema.default !== null && !inMeta) errors.push(...yield* validateDefault(schema, `${at}.default`));
  if (schema.items !== undefined) yield* walk(schema.items, { at: `${at}.items`, insideMeta: inMeta }, errors);
  for (const name of Object.keys(schema.properties ?? {}).sort()) {
    const place = { at: `${at}.properties[${name}]`, insideMeta: inMeta || (isResource && name === 'metadata') };
    yield* walk(schema.properties![name] as OpenAPIV3Schema, place, errors);
  }
}

function* validateDefault(schema: OpenAPIV3Schema, at: string): Steps<readonly FieldError[]> {
  const errors: FieldError[] = hasUnknown(schema, schema.default) ? [invalidValue(at, sortKeys(schema.default), 'must not have unknown fields')] : [];
  const embedded = validateEmbedded(schema, schema.default, { at, root: true });
  errors.push(...(embedded.length > 0 ? embedded : validateValue(schema, schema.default, { at, isDefault: true })));
  return errors.length > 0 ? errors : yield* resumableSteps(() => breakRules(schema, at));
}

/** The value as Go prints it, with the keys of its maps in order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => compareKeys(one, other)).map(([key, child]) => [key, sortKeys(child)]));
}

/** What the rules of a node say of its default. */
function breakRules(schema: OpenAPIV3Schema, at: string): readonly FieldError[] {
  const root = schema['x-kubernetes-embedded-resource'] === true;
  return compileRules(schema, { root }).validate({ value: schema.default, path: at }).errors;
}

/** Whether pruning would take something away. */
function hasUnknown(schema: OpenAPIV3Schema | undefined, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => hasUnknown(schema?.items, item));
  const { properties, additionalProperties } = schema ?? {};
  return Object.entries(value).some(([key, child]) => {
    if (schema?.['x-kubernetes-embedded-resource'] === true && metaFields.has(key)) return false;
    if (properties !== undefined && Object.hasOwn(properties, key)) return hasUnknown(properties[key], child);
    if (additionalProperties !== undefined && additionalProperties !== false) return additionalProperties !== true && hasUnknown(additionalProperties, child);
    return schema?.['x-kubernetes-preserve-unknown-fields'] !== true;
  });
}
