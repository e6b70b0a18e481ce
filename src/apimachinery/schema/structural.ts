// Custom resources' schemas, compiled to the Schema that the rest of the house reads. Relies on the definition having been checked: the
// schema is structural (one type at every node, no $ref). Value validations stay in `source`, which is a copy without prose: descriptions are
// most of a definition's bytes, and nothing but OpenAPI reads them. Nodes without children are shared by all schemas that say the same.
import { BoundedCache, remember } from '../../base/index.ts';
import { setOwn } from './decode/decode.ts';
import type { Field, Schema, SchemaFormat, SchemaType } from './schema.ts';

/** The part of JSONSchemaProps that says what a value is made of. */
export interface OpenAPIV3Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, OpenAPIV3Schema>>;
  readonly additionalProperties?: OpenAPIV3Schema | boolean;
  readonly items?: OpenAPIV3Schema;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

interface StructuralOptions {
  /** Schema of metav1.ObjectMeta: typed `metadata`, `kind` and `apiVersion` are added to the root and to embedded resources. */
  readonly objectMeta?: Schema;
  /** A node around this one preserves unknown fields. */
  readonly isOpen?: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const textSchema: Schema = { type: 'string' };
const types: ReadonlySet<string> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

const prose: ReadonlySet<string> = new Set(['description', 'title', 'example', 'externalDocs']);
/** Leaves by their text: definitions share them. */
const leaves = new BoundedCache<string, Schema>({ limit: 10_000 });
const LONGEST_LEAF = 256;

/** Fields are put in order faster than they are compiled. */
const SORTED_PER_PART = 20;

/** Compiles `spec.versions[*].schema.openAPIV3Schema` of a definition. Within resumable work it can be broken off. */
export function compileStructuralSchema(root: OpenAPIV3Schema, options: StructuralOptions = {}): Schema {
  const compiled = asRoot(compileNode(stripProse(root), options));
  return remember(() => addTypeMeta(compiled, options), (compiled.fields?.size ?? 0) / SORTED_PER_PART);
}

/** A root that preserves unknown fields may leave out its type: it describes an object all the same. */
const asRoot = (schema: Schema): Schema => (schema.type === 'any' ? { ...schema, type: 'object' } : schema);

/** A copy without prose; the children in it are those of the input, and stripped when their turn comes. */
function stripProse(source: OpenAPIV3Schema): Mutable<OpenAPIV3Schema> {
  const stripped: Record<string, unknown> = {};
  for (const keyword of Object.keys(source)) if (!prose.has(keyword)) setOwn(stripped, keyword, source[keyword]);
  return stripped;
}

function compileNode(source: Mutable<OpenAPIV3Schema>, options: StructuralOptions): Schema {
  if (source.properties !== undefined || source.items !== undefined || typeof source.additionalProperties === 'object') return compileAny(source, options);
  const text = JSON.stringify(source, (_, value: unknown) => (typeof value === 'bigint' ? `\u0000${value}` : value));
  if (text.length > LONGEST_LEAF || source['x-kubernetes-embedded-resource'] === true) return compileAny(source, options);
  return leaves.getOrMake(text, () => compileAny(source, options));
}

/** Compiles a stripped node, and puts its stripped children into it. */
function compileChild(parent: Mutable<OpenAPIV3Schema>, key: 'items' | 'additionalProperties', options: StructuralOptions): Schema {
  const child = parent[key];
  // Without a schema any value is kept, null too.
  if (typeof child !== 'object') return compileNode({ nullable: true }, options);
  const schema = compileNode(stripProse(child), options);
  parent[key] = schema.source as OpenAPIV3Schema;
  return schema;
}

function compileAny(source: Mutable<OpenAPIV3Schema>, around: StructuralOptions): Schema {
  const schema: Mutable<Schema> = { type: typeOf(source), source };
  const options = source['x-kubernetes-preserve-unknown-fields'] === true ? { ...around, isOpen: true } : around;
  if (options.isOpen === true) schema.isOpen = true;
  if (source['x-kubernetes-int-or-string'] === true) schema.format = 'int-or-string';
  else if (source.format !== undefined) schema.format = source.format as SchemaFormat;
  if (source.nullable === true) schema.nullable = true;
  if (source.enum !== undefined) schema.enum = source.enum;
  if (source.default !== undefined && source.default !== null) schema.default = source.default;
  setExtensions(schema, source);
  if (schema.type === 'map') schema.items = compileChild(source, 'additionalProperties', options);
  else if (schema.type === 'array') schema.items = compileChild(source, 'items', options);
  else if (schema.type === 'object' || source.properties !== undefined) {
    schema.fields = compileFields(source, options);
    // Keys that are no fields may be there, and hold what no schema describes.
    if (source.additionalProperties === true) schema.items = compileNode({}, options);
  }
  if (schema.default !== undefined && options.objectMeta !== undefined) schema.default = pruneMetadata(schema, schema.default, options.objectMeta);
  return schema.embeddedResource === true ? addTypeMeta(schema, options) : schema;
}

/** A default without the unknown fields in the metadata of the embedded resources that it holds. */
function pruneMetadata(schema: Schema, value: unknown, objectMeta: Schema): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return schema.items === undefined ? value : value.map((item) => pruneMetadata(schema.items as Schema, item, objectMeta));
  const pruned: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const child = schema.fields?.get(name)?.schema ?? schema.items;
    const isMetadata = name === 'metadata' && schema.embeddedResource === true;
    setOwn(pruned, name, isMetadata ? keepKnown(member, objectMeta) : child === undefined ? member : pruneMetadata(child, member, objectMeta));
  }
  return pruned;
}

const keepKnown = (metadata: unknown, { fields }: Schema): unknown => (typeof metadata !== 'object' || metadata === null ? metadata
  : Object.fromEntries(Object.entries(metadata).filter(([name]) => fields?.has(name) === true)));

function typeOf(source: OpenAPIV3Schema): SchemaType {
  if (source['x-kubernetes-int-or-string'] === true) return 'any';
  if (source.additionalProperties !== undefined && source.additionalProperties !== false && source.properties === undefined) return 'map';
  if (source.type !== undefined && types.has(source.type)) return source.type as SchemaType;
  return source.properties !== undefined ? 'object' : 'any';
}

function setExtensions(schema: Mutable<Schema>, source: OpenAPIV3Schema): void {
  if (source['x-kubernetes-preserve-unknown-fields'] === true) schema.preserveUnknownFields = true;
  if (source['x-kubernetes-embedded-resource'] === true) schema.embeddedResource = true;
  const listType = source['x-kubernetes-list-type'];
  if (listType !== undefined) schema.listType = listType as NonNullable<Schema['listType']>;
  const keys = source['x-kubernetes-list-map-keys'];
  if (keys !== undefined) schema.listMapKeys = keys as readonly string[];
  const mapType = source['x-kubernetes-map-type'];
  if (mapType !== undefined) schema.mapType = mapType as NonNullable<Schema['mapType']>;
}

/** Fields in the order of their names, which is the order of the JSON written for what has no Go struct. */
function compileFields(source: Mutable<OpenAPIV3Schema>, options: StructuralOptions): Map<string, Field> {
  const fields = new Map<string, Field>();
  const required = new Set(source.required);
  const properties: Record<string, OpenAPIV3Schema> = {};
  const names = remember(() => Object.keys(source.properties ?? {}).sort());
  for (const name of names) {
    const schema = remember(() => compileNode(stripProse(source.properties![name]!), options));
    setOwn(properties, name, schema.source);
    fields.set(name, createField(name, schema, required.has(name)));
  }
  if (source.properties !== undefined) source.properties = properties;
  return fields;
}

function createField(name: string, schema: Schema, required: boolean): Field {
  return { name, schema, default: schema.default, publishedDefault: schema.default, required, omitEmpty: true, pointer: true, number: 0 };
}

function addTypeMeta(schema: Schema, options: StructuralOptions): Schema {
  if (options.objectMeta === undefined || schema.type !== 'object') return schema;
  const fields = new Map(schema.fields);
  for (const name of ['apiVersion', 'kind']) fields.set(name, createField(name, withDefault(textSchema, fields.get(name)?.schema.default), false));
  fields.set('metadata', createField('metadata', typedMetadata(options.objectMeta, fields.get('metadata')?.schema), false));
  return { ...schema, fields: new Map([...fields].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

const withDefault = (schema: Schema, value: unknown): Schema => (value === undefined ? schema : { ...schema, default: value });

/** ObjectMeta with the defaults that a definition gives to the metadata of an embedded resource; those of unknown fields are dropped. */
function typedMetadata(objectMeta: Schema, own: Schema | undefined): Schema {
  const known = objectMeta.fields ?? new Map<string, Field>();
  const defaults = [...own?.fields ?? []].filter(([name, { schema }]) => schema.default !== undefined && known.has(name));
  if (defaults.length === 0 && own?.default === undefined) return objectMeta;
  const fields = new Map(known);
  for (const [name, { schema: { default: value } }] of defaults) fields.set(name, { ...(known.get(name) as Field), default: value, publishedDefault: value });
  return withDefault({ ...objectMeta, fields }, keepKnown(own?.default, objectMeta));
}
