// Definitions of custom resources in OpenAPI v2, without the parts that kubectl cannot read there: allOf, oneOf, anyOf and not, defaults,
// nullable, and the content of schemas that preserve unknown fields. Mirrors the reference's reduction of structural schemas.
import { isJsonObject } from '../../base/index.ts';
import type { Steps } from '../../base/index.ts';
import type { Catalog } from '../../registry/index.ts';
import { customDefinitions, isEmbedded, withObjectFields } from './openapi-custom.ts';

type Json = Record<string, unknown>;

const preserves = (schema: Json): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true;

function withoutNullables(required: unknown, properties: Json): unknown {
  if (!Array.isArray(required)) return undefined;
  const left = required.filter((name) => (properties[name as string] as Json | undefined)?.['nullable'] !== true);
  return left.length > 0 ? left : undefined;
}

/** A reference as v2 writes it, with its description. */
function reduceReference({ description, allOf, $ref }: Json): Json | undefined {
  const [only] = Array.isArray(allOf) ? allOf as Json[] : [];
  const target = $ref ?? only?.['$ref'];
  if (typeof target !== 'string') return undefined;
  return { ...(description !== undefined && { description }), $ref: target.replace('#/components/schemas/', '#/definitions/') };
}

const metadata: Json = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };

function reduce(schema: Json): Json {
  const reference = reduceReference(schema);
  if (reference !== undefined) return reference;
  const { allOf: _all, oneOf: _one, anyOf: _any, not: _not, default: _default, ...kept } = schema;
  const { nullable, type, items, properties, required, additionalProperties, ...rest } = kept;
  const isClosed = nullable !== true && !preserves(schema);
  const own = isJsonObject(properties) ? properties : {};
  const inside = isClosed && isJsonObject(items) ? items : undefined;
  const isUntyped = nullable === true || (type === 'array' && inside === undefined) || (preserves(schema) && type === 'object');
  const needed = withoutNullables(required, own);
  const reduced = {
    ...rest, ...(type !== undefined && !isUntyped && { type }), ...(needed !== undefined && { required: needed }), ...(inside && { items: reduce(inside) }),
    ...(isClosed && isJsonObject(properties) && { properties: Object.fromEntries(Object.entries(own).map(([name, one]) => [name, reduce(one as Json)])) }),
    ...(additionalProperties !== undefined
      && { additionalProperties: isJsonObject(additionalProperties) ? reduce(additionalProperties) : additionalProperties }),
  };
  return isEmbedded(schema) && !preserves(schema) ? withObjectFields(reduced, metadata) : reduced;
}

/** An object without a schema: what is said of the kind itself is left. */
function plainObject(schema: Json): Json {
  const fields = schema['x-kubernetes-selectable-fields'];
  return { type: 'object', 'x-kubernetes-group-version-kind': schema['x-kubernetes-group-version-kind'],
    ...(fields !== undefined && { 'x-kubernetes-selectable-fields': fields }) };
}

/** The list of a kind whose name is another. */
function renameItems(list: Json, rename: (name: string) => string): Json {
  const { items } = (list['properties'] ?? {}) as { items?: Json };
  const { $ref } = (items?.['items'] ?? {}) as { $ref?: string };
  if (items === undefined || $ref === undefined) return list;
  const end = $ref.lastIndexOf('/') + 1;
  const renamed = { $ref: `${$ref.slice(0, end)}${rename($ref.slice(end))}` };
  return { ...list, properties: { ...(list['properties'] as Json), items: { ...items, items: renamed } } };
}

/**
 * The definitions of all custom kinds, by name; a step for each. A kind that preserves unknown fields is published as a plain object.
 * `rename` gives another name where the document has one of the same name.
 */
export function* customDefinitionsV2(catalog: Catalog, rename: (name: string) => string): Steps<Record<string, Json>> {
  const reduced: [string, Json][] = [];
  for (const { name: group, versions } of catalog.groups()) {
    for (const version of versions) {
      for (const [name, schema] of Object.entries(yield* customDefinitions(catalog, { group, version }, true))) {
        reduced.push([rename(name), preserves(schema) ? plainObject(schema) : renameItems(reduce(schema), rename)]);
        yield;
      }
    }
  }
  return Object.fromEntries(reduced);
}
