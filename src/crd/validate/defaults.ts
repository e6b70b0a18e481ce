// Defaults have to be values that an object could have: known to the schema, valid, and of embedded resources complete.
import {
  type FieldError, type OpenAPIV3Schema, type Schema, compileRules, findMalformed, invalidValue, validateEmbedded, validateValue,
} from '../../apimachinery/index.ts';
import { type Steps, compareKeys, createStride, resumableSteps } from '../../base/index.ts';

const metaFields = new Set(['metadata', 'kind', 'apiVersion']);

/** Nodes without a default are cheap: only some of them end a step. */
const isDue = createStride(50);

/** Where a node of a schema is, and what a default there stands in. */
interface Place {
  readonly at: string;
  /** Below kind, apiVersion or metadata of a resource: the resource's schema, and the resource around a value of the node. */
  readonly meta?: { readonly schema: OpenAPIV3Schema; around(value: unknown): unknown };
  /** The schema of metadata; without it, metadata is not read. */
  readonly objectMeta: Schema | undefined;
}

/** Problems of all defaults of a structural schema. Below additionalProperties they are not looked at. */
export function* validateDefaults(schema: OpenAPIV3Schema, at: string, objectMeta?: Schema): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* walk({ ...schema, 'x-kubernetes-embedded-resource': true }, { at, objectMeta }, errors);
  return errors;
}

function* walk(schema: OpenAPIV3Schema, place: Place, errors: FieldError[]): Steps<void> {
  if (schema.default !== undefined || isDue()) yield;
  const { at, objectMeta } = place;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const meta = isResource ? undefined : place.meta;
  if (schema.default !== undefined && schema.default !== null) {
    errors.push(...yield* validateDefault(schema, { at: `${at}.default`, objectMeta, ...(meta && { meta }) }));
  }
  const inner = (wrap: (value: unknown) => unknown): Pick<Place, 'meta'> => (meta && { meta: { ...meta, around: (value) => meta.around(wrap(value)) } }) ?? {};
  if (schema.items !== undefined) yield* walk(schema.items, { at: `${at}.items`, objectMeta, ...inner((value) => [value]) }, errors);
  for (const name of Object.keys(schema.properties ?? {}).sort()) {
    const own = isResource && metaFields.has(name) ? { meta: { schema, around: (value: unknown) => ({ ...dummy, [name]: value }) } }
      : inner((value) => ({ [name]: value }));
    yield* walk(schema.properties![name] as OpenAPIV3Schema, { at: `${at}.properties[${name}]`, objectMeta, ...own }, errors);
  }
}

/** The resource that defaults of metadata are tried in. */
const dummy = { apiVersion: 'validation/v1', kind: 'Validation' };

function* validateDefault(schema: OpenAPIV3Schema, place: Place): Steps<readonly FieldError[]> {
  const { at, meta } = place;
  const isUnknown = meta === undefined && hasUnknown(schema, schema.default);
  const problems = meta === undefined ? checkResource(schema, schema.default, place) : checkMetadata(schema, place);
  // Shown without what metadata does not know, which reading it has taken out.
  const errors: FieldError[] = isUnknown ? [invalidValue(at, sortKeys(schema.default), 'must not have unknown fields')] : [];
  const found = problems.length > 0 ? problems : validateValue(schema, schema.default, { at, isDefault: true });
  return [...errors, ...(found.length > 0 ? found : yield* resumableSteps(() => breakRules(schema, at)))];
}

function checkResource(schema: OpenAPIV3Schema, value: unknown, { at, objectMeta }: Place): readonly FieldError[] {
  const malformed = objectMeta === undefined ? undefined : findMalformed(schema, value, { at, objectMeta });
  return malformed !== undefined ? [malformed] : validateEmbedded(schema, value, { at, root: true });
}

/** Problems of the metadata of a resource that has the default. */
function checkMetadata(schema: OpenAPIV3Schema, { at, meta, objectMeta }: Place): readonly FieldError[] {
  if (meta === undefined || objectMeta === undefined) return [];
  const texts = checkResource(meta.schema, meta.around(schema.default), { at: '', objectMeta }).map(({ field, message }) => `${field}: ${message}`);
  if (texts.length === 0) return [];
  const text = texts.length === 1 ? texts[0] as string : `[${[...new Set(texts)].join(', ')}]`;
  return [invalidValue(at, sortKeys(schema.default), `must result in valid metadata: ${text}`)];
}

/** The value as Go prints it, with the keys of its maps in order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => compareKeys(one, other)).map(([key, child]) => [key, sortKeys(child)]));
}

/** What the rules of a node say of its default: as one that was there before, and if they allow that, as a new one. */
function breakRules(schema: OpenAPIV3Schema, at: string): readonly FieldError[] {
  const rules = compileRules(schema, { root: schema['x-kubernetes-embedded-resource'] === true });
  const value = schema.default;
  const { errors } = rules.validate({ value, oldValue: value, refusesUnchanged: true, path: at });
  return errors.length > 0 ? errors : rules.validate({ value, path: at }).errors;
}

/** Whether pruning would take something away. */
function hasUnknown(schema: OpenAPIV3Schema | undefined, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => hasUnknown(schema?.items, item));
  const { properties, additionalProperties } = schema ?? {};
  return Object.entries(value).some(([key, child]) => {
    if (schema?.['x-kubernetes-embedded-resource'] === true && metaFields.has(key)) return false;
    if (properties !== undefined && Object.hasOwn(properties, key)) return hasUnknown(properties[key], child);
    if (additionalProperties !== undefined) return hasUnknown(typeof additionalProperties === 'object' ? additionalProperties : undefined, child);
    return schema?.['x-kubernetes-preserve-unknown-fields'] !== true;
  });
}
