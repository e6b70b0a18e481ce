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

/** A schema as OpenAPI publishes it: int-or-string becomes `anyOf`. Schemas without any are returned as they are. */
function publish(schema: Json): Json {
  const { properties, items, additionalProperties } = schema as { properties?: Json; items?: Json; additionalProperties?: unknown };
  const isEither = schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined;
  const values = typeof additionalProperties === 'object' && additionalProperties !== null ? (additionalProperties as Json) : undefined;
  if (!isEither && properties === undefined && items === undefined && values === undefined) return schema;
  const { type: _type, ...untyped } = schema;
  return {
    ...(isEither ? { ...untyped, anyOf: [{ type: 'integer' }, { type: 'string' }] } : schema), ...(properties && { properties: publishAll(properties) }),
    ...(items && { items: publish(items) }), ...(values && { additionalProperties: publish(values) }),
  };
}

function publishAll(properties: Json): Json {
  let isSame = true;
  const published = Object.entries(properties).map(([name, schema]): [string, Json] => {
    const one = publish(schema as Json);
    isSame &&= one === schema;
    return [name, one];
  });
  return isSame ? properties : Object.fromEntries(published);
}

function* objectDefinition(resource: ResourceVersionRow, kind: GroupVersionKind): Steps<Json> {
  const stated = resource.published?.() ?? resource.schema.source ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  yield;
  const { properties, ...rest } = stated as Json;
  const own = (properties ?? {}) as Json;
  const typed = { ...typeFields(), metadata: metaField('ObjectMeta', descriptions.metadata) };
  return { ...rest, type: 'object', properties: { ...publishAll(own), ...typed }, 'x-kubernetes-group-version-kind': ownKind(kind) };
}

function listDefinition({ kind, listKind, plural }: Resource, { group, version }: { group: string; version: string }): Json {
  const item = customName({ group, version, kind });
  const properties = {
    ...typeFields(), metadata: metaField('ListMeta', descriptions.listMetadata),
    items: { description: `List of ${plural}. More info: ${CONVENTIONS}`, type: 'array', items: { $ref: `#/components/schemas/${item}` } },
  };
  return {
    description: `${listKind} is a list of ${kind}`, type: 'object', required: ['items'], properties,
    'x-kubernetes-group-version-kind': ownKind({ group, version, kind: listKind }),
  };
}

/** Definitions of the custom kinds of a group version, by name; two steps for each. */
export function* customDefinitions(catalog: Catalog, { group, version }: { group: string; version: string }): Steps<Record<string, Json>> {
  const out: Record<string, Json> = {};
  for (const resource of resourcesOf(catalog, group, version)) {
    const served = versionIn(resource, version);
    if (!resource.custom || !served) continue;
    out[customName({ group, version, kind: resource.kind })] = yield* objectDefinition(served, { group, version, kind: resource.kind });
    out[customName({ group, version, kind: resource.listKind })] = listDefinition(resource, { group, version });
    yield;
  }
  return out;
}
