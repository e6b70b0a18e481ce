// Schemas of an OpenAPI document as the page reads them: references are followed when something asks what is behind them.
import type { Schema } from './schema.ts';

/** A schema as the document has it. */
interface WireSchema extends Omit<Schema, 'properties' | 'items' | 'additionalProperties'> {
  readonly $ref?: string;
  readonly allOf?: readonly WireSchema[];
  readonly properties?: Readonly<Record<string, WireSchema>>;
  readonly items?: WireSchema;
  readonly additionalProperties?: WireSchema | boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
}

/** An OpenAPI v3 document, as far as it is read. */
export interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, WireSchema>> };
}

const PREFIX = '#/components/schemas/';

/** The schema of a kind of a document; undefined where it has none. */
export function findSchema({ components: { schemas = {} } = {} }: OpenApiDocument, apiVersion: string, kind: string): Schema | undefined {
  const slash = apiVersion.indexOf('/');
  const [group, version] = slash === -1 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const found = Object.values(schemas).find((schema) => schema['x-kubernetes-group-version-kind']?.some((one) =>
    one.group === group && one.version === version && one.kind === kind) === true);
  return found === undefined ? undefined : expand(found, schemas, new WeakMap());
}

/** A schema whose parts are expanded when they are read, each once: schemas may contain themselves. */
function expand(schema: WireSchema, schemas: Readonly<Record<string, WireSchema>>, known: WeakMap<WireSchema, Schema>): Schema {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const { properties, items, additionalProperties, ...own } = merge(schema, schemas);
  const later = (below: WireSchema): Schema => expand(below, schemas, known);
  const expanded: Schema = { ...own };
  const define = (target: object, name: string, read: () => unknown): void => {
    Object.defineProperty(target, name, { enumerable: true, configurable: true, get: read });
  };
  if (properties !== undefined) {
    const members = {};
    for (const [name, below] of Object.entries(properties)) define(members, name, () => later(below));
    define(expanded, 'properties', () => members);
  }
  if (items !== undefined) define(expanded, 'items', () => later(items));
  if (typeof additionalProperties === 'object') define(expanded, 'additionalProperties', () => later(additionalProperties));
  else if (additionalProperties !== undefined) define(expanded, 'additionalProperties', () => additionalProperties);
  known.set(schema, expanded);
  return expanded;
}

/** What a schema says itself, and by its references. */
function merge({ $ref, allOf = [], ...own }: WireSchema, schemas: Readonly<Record<string, WireSchema>>, depth = 0): WireSchema {
  if (depth > 8) return own;
  const referred = $ref === undefined ? [] : [schemas[$ref.slice(PREFIX.length)] ?? {}];
  return Object.assign({}, ...[...referred, ...allOf].map((part) => merge(part, schemas, depth + 1)), own) as WireSchema;
}
