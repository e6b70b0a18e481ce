// Definitions back as OpenAPI, the way a kube-apiserver publishes them but for the prose, which is our own: v3 (references in allOf beside a default, numbers
// or strings as oneOf) and v2 (plain references, no defaults).
import type { Description } from './descriptions.ts';
import type { Field, Schema } from './schema.ts';

/** A schema object of OpenAPI; keys sorted where the reference sorts them is the writer's business. */
type OpenAPISchema = Record<string, unknown>;

interface Dialect {
  readonly prefix: string;
  readonly isV3: boolean;
  /** Whether the values that a field may have are listed. */
  readonly hasEnums: boolean;
}

const v3: Dialect = { prefix: '#/components/schemas/', isV3: true, hasEnums: true };
const v2: Dialect = { prefix: '#/definitions/', isV3: false, hasEnums: true };
const referenced: ReadonlySet<string> = new Set([
  'time', 'micro-time', 'quantity', 'int-or-string', 'raw', 'fields-v1', 'json', 'schema-or-array', 'schema-or-bool', 'schema-or-strings',
]);

/** Options of a written definition. */
interface OpenAPIOptions {
  /** The values that fields may have are listed, which is the default. */
  readonly hasEnums?: boolean;
  readonly description?: Description | undefined;
}

/** The definition as a member of `components.schemas`. */
export function toOpenAPIv3(definition: Schema, { hasEnums = true, description }: OpenAPIOptions = {}): OpenAPISchema {
  return writeDefinition(definition, { ...v3, hasEnums }, description);
}

/** The definition as a member of `definitions` of a Swagger 2.0 document. */
export function toOpenAPIv2(definition: Schema, { hasEnums = true, description }: OpenAPIOptions = {}): OpenAPISchema {
  return writeDefinition(definition, { ...v2, hasEnums }, description);
}

const describeAs = (text: string | undefined): OpenAPISchema => (text === undefined || text === '' ? {} : { description: text });

function writeDefinition(definition: Schema, dialect: Dialect, description: Description | undefined): OpenAPISchema {
  const described = describeAs(description?.text);
  if (definition.fields === undefined) return { ...described, ...writeBasic(definition, dialect) };
  const written: OpenAPISchema = { ...described, type: 'object' };
  const fields = [...definition.fields.values()];
  if (fields.length > 0) {
    written['properties'] = Object.fromEntries(fields.map((field) =>
      [field.name, { ...describeAs(description?.fields.get(field.name)), ...writeField(field, dialect) }]));
  }
  const required = fields.filter((field) => field.required).map((field) => field.name);
  if (required.length > 0) written['required'] = required;
  if (definition.kinds) written['x-kubernetes-group-version-kind'] = definition.kinds.map(({ group, version, kind }) => ({ group, kind, version }));
  if (definition.mapType) written['x-kubernetes-map-type'] = definition.mapType;
  if (definition.unions) written['x-kubernetes-unions'] = definition.unions;
  return written;
}

/** The definitions that are no structs; v2 has no word for one of several types. */
function writeBasic(definition: Schema, dialect: Dialect): OpenAPISchema {
  switch (definition.format) {
    case 'time':
    case 'micro-time':
      return { format: 'date-time', type: 'string' };
    case 'quantity':
      return dialect.isV3 ? { oneOf: [{ type: 'string' }, { type: 'number' }] } : { type: 'string' };
    case 'int-or-string':
      return dialect.isV3 ? { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] } : { format: 'int-or-string', type: 'string' };
    case 'raw':
    case 'fields-v1':
      return { type: 'object' };
    default:
      return {};
  }
}

function writeField(field: Field, dialect: Dialect): OpenAPISchema {
  const written = writeType(field.schema, dialect, field.bareReference !== true);
  if (dialect.isV3 && field.publishedDefault !== undefined) written['default'] = field.publishedDefault;
  const values = (written['items'] ?? written['additionalProperties'] ?? written) as OpenAPISchema;
  if (dialect.hasEnums && field.publishedEnum !== undefined) values['enum'] = field.publishedEnum;
  return written;
}

/** In v3 a reference that has company (a description, a default) stands in allOf. */
function writeType(schema: Schema, dialect: Dialect, inAllOf: boolean): OpenAPISchema {
  const written = isReference(schema) ? writeReference(schema.name!, dialect, inAllOf) : writeInline(schema, dialect);
  if (schema.listMapKeys) written['x-kubernetes-list-map-keys'] = schema.listMapKeys;
  if (schema.listType) written['x-kubernetes-list-type'] = schema.listType;
  if (schema.mapType && !(isReference(schema) && !isOverridden(schema))) written['x-kubernetes-map-type'] = schema.mapType;
  if (schema.patchMergeKey) written['x-kubernetes-patch-merge-key'] = schema.patchMergeKey;
  if (schema.patchStrategy) written['x-kubernetes-patch-strategy'] = schema.patchStrategy;
  return written;
}

function isReference(schema: Schema): boolean {
  return schema.name !== undefined && (schema.fields !== undefined || referenced.has(schema.format ?? ''));
}

/** The field itself says how its map merges, beside what the definition says. */
function isOverridden(schema: Schema): boolean {
  return schema.ownMapType === true;
}

function writeReference(name: string, dialect: Dialect, inAllOf: boolean): OpenAPISchema {
  const reference = { $ref: dialect.prefix + name };
  return dialect.isV3 && inAllOf ? { allOf: [reference] } : reference;
}

const zeroValues: Readonly<Record<string, unknown>> = { string: '', integer: 0, number: 0, boolean: false };

/** In v3 the elements of lists and maps have Go's zero value as default, but for those that write themselves (times, quantities, bytes). */
function writeElement(schema: Schema, dialect: Dialect): OpenAPISchema {
  const isStruct = schema.fields !== undefined;
  const written = writeType(schema, dialect, isStruct);
  const zero = isStruct ? {} : isReference(schema) || schema.format === 'byte' ? undefined : zeroValues[schema.type];
  if (dialect.isV3 && zero !== undefined) written['default'] = zero;
  return written;
}

function writeInline(schema: Schema, dialect: Dialect): OpenAPISchema {
  if (schema.type === 'array') return { items: writeElement(schema.items!, dialect), type: 'array' };
  if (schema.type === 'map') return { additionalProperties: writeElement(schema.items!, dialect), type: 'object' };
  return schema.format === undefined ? { type: schema.type } : { format: schema.format, type: schema.type };
}
