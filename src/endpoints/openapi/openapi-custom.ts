// OpenAPI definitions of custom resources: the schema of the CustomResourceDefinition, with the fields that every object has.
import type { Steps } from '../../base/index.ts';
import type { GroupVersionKind } from '../../apimachinery/index.ts';
import { type Catalog, type Resource, type ResourceVersionRow, versionIn } from '../../registry/index.ts';
import { resourcesOf } from '../discovery/discovery-data.ts';

type Json = Record<string, unknown>;

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
/** Descriptions of the fields that every kind has; facts of the published API. */
const descriptions = {
  apiVersion: 'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the ' +
    `latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`,
  kind: 'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the ' +
    `client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
  metadata: `Standard object's metadata. More info: ${CONVENTIONS}#metadata`,
  listMetadata: `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`,
};

const META_REFERENCE = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.';

/** `com.example.stable.v1.Widget`: the group reversed, the version, the kind. */
export function customName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

const ownKind = ({ group, version, kind }: GroupVersionKind): Json[] => [{ group, kind, version }];

function metaField(name: string, description: string): Json {
  return { description, allOf: [{ $ref: `${META_REFERENCE}${name}` }] };
}

const typeFields = (): Json => ({
  apiVersion: { description: descriptions.apiVersion, type: 'string' }, kind: { description: descriptions.kind, type: 'string' },
});

/** Whether a schema is of an object with a kind and metadata of its own. */
export const isEmbedded = (schema: Json): boolean => schema['x-kubernetes-embedded-resource'] === true;

/** The schema of an embedded object with the fields that every object has, of which two are required. */
export function withObjectFields(schema: Json, metadata: Json): Json {
  const { required, properties } = schema as { required?: readonly string[]; properties?: Json };
  return { ...schema, required: [...new Set([...(required ?? []), 'kind', 'apiVersion'])], properties: { ...properties, ...typeFields(), metadata } };
}

/**
 * A schema as v3 publishes it: int-or-string becomes `anyOf`, and embedded objects have the fields of objects. Schemas without either are returned as
 * they are. For v2, embedded objects are left as they are: what it says of them depends on what is left of their schemas.
 */
function publish(schema: Json, isV2: boolean): Json {
  const { properties, items, additionalProperties } = schema as { properties?: Json; items?: Json; additionalProperties?: unknown };
  const isEither = schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined;
  const isWhole = isEmbedded(schema) && !isV2;
  const values = typeof additionalProperties === 'object' && additionalProperties !== null ? (additionalProperties as Json) : undefined;
  if (!isEither && !isWhole && properties === undefined && items === undefined && values === undefined) return schema;
  const { type: _type, ...untyped } = schema;
  const published = {
    ...(isEither ? { ...untyped, anyOf: [{ type: 'integer' }, { type: 'string' }] } : schema), ...(properties && { properties: publishAll(properties, isV2) }),
    ...(items && { items: publish(items, isV2) }), ...(values && { additionalProperties: publish(values, isV2) }),
  };
  return isWhole ? withObjectFields(published, metaField('ObjectMeta', descriptions.metadata)) : published;
}

function publishAll(properties: Json, isV2: boolean): Json {
  let isSame = true;
  const published = Object.entries(properties).map(([name, schema]): [string, Json] => {
    const one = publish(schema as Json, isV2);
    isSame &&= one === schema;
    return [name, one];
  });
  return isSame ? properties : Object.fromEntries(published);
}

/** The fields that lists of a custom kind can be selected by. */
function selectableFields({ selectableFields: names = [] }: ResourceVersionRow): Json {
  return names.length === 0 ? {} : { 'x-kubernetes-selectable-fields': names.map((fieldPath) => ({ fieldPath })) };
}

function* objectDefinition(resource: ResourceVersionRow, kind: GroupVersionKind, isV2: boolean): Steps<Json> {
  const stated = resource.published?.() ?? resource.schema.source ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  yield;
  const { properties, ...rest } = stated as Json;
  const own = (properties ?? {}) as Json;
  const typed = { ...typeFields(), metadata: metaField('ObjectMeta', descriptions.metadata) };
  return { ...rest, properties: { ...publishAll(own, isV2), ...typed }, 'x-kubernetes-group-version-kind': ownKind(kind),
    ...selectableFields(resource) };
}

function listDefinition({ kind, listKind, plural }: Resource, served: ResourceVersionRow, group: string): Json {
  const version = served.name;
  const item = customName({ group, version, kind });
  const properties = {
    ...typeFields(), metadata: metaField('ListMeta', descriptions.listMetadata),
    items: { description: `List of ${plural}. More info: ${CONVENTIONS}`, type: 'array', items: { $ref: `#/components/schemas/${item}` } },
  };
  return {
    description: `${listKind} is a list of ${kind}`, type: 'object', required: ['items'], properties,
    'x-kubernetes-group-version-kind': ownKind({ group, version, kind: listKind }), ...selectableFields(served),
  };
}

/** Definitions of the custom kinds of a group version, by name, for v3 or to be reduced to those of v2; two steps for each. */
export function* customDefinitions(
  catalog: Catalog, { group, version }: { group: string; version: string }, isV2 = false,
): Steps<Record<string, Json>> {
  const out: Record<string, Json> = {};
  for (const resource of resourcesOf(catalog, group, version)) {
    const served = versionIn(resource, version);
    if (!resource.custom || !served) continue;
    out[customName({ group, version, kind: resource.kind })] = yield* objectDefinition(served, { group, version, kind: resource.kind }, isV2);
    out[customName({ group, version, kind: resource.listKind })] = listDefinition(resource, served, group);
    yield;
  }
  return out;
}
