// Definitions of custom resources as OpenAPI publishes them: the schema of the definition, with the fields that every object has.
import type { GroupVersionKind } from '../apimachinery/index.ts';
import type { Catalog, Resource, ResourceVersionRow } from '../registry/index.ts';
import { rowsOf } from './discovery-data.ts';

type Json = Record<string, unknown>;

const META_REFERENCE = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.';

/** `com.example.stable.v1.Widget`: the group reversed, the version, the kind. */
export function customName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

const ownKind = ({ group, version, kind }: GroupVersionKind): Json[] => [{ group, kind, version }];

function metaField(name: string): Json {
  return { allOf: [{ $ref: `${META_REFERENCE}${name}` }] };
}

function objectDefinition(row: ResourceVersionRow, kind: GroupVersionKind): Json {
  const source = { ...((row.schema.source ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }) as Json) };
  const { properties, ...rest } = source;
  const own = (properties ?? {}) as Json;
  const typed = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: metaField('ObjectMeta') };
  return { ...rest, type: 'object', properties: { ...own, ...typed }, 'x-kubernetes-group-version-kind': ownKind(kind) };
}

function listDefinition({ kind, listKind }: Resource, { group, version }: { group: string; version: string }): Json {
  const item = customName({ group, version, kind });
  const properties = {
    apiVersion: { type: 'string' }, items: { type: 'array', items: { $ref: `#/components/schemas/${item}` } }, kind: { type: 'string' },
      metadata: metaField('ListMeta'),
  };
  return {
    description: `${listKind} is a list of ${kind}`, type: 'object', required: ['items'], properties,
    'x-kubernetes-group-version-kind': ownKind({ group, version, kind: listKind }),
  };
}

/** Definitions of the custom kinds of a group version, by name. */
export function customDefinitions(catalog: Catalog, { group, version }: { group: string; version: string }): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const row of rowsOf(catalog, group, version)) {
    const served = row.versions.find(({ name }) => name === version);
    if (!row.custom || !served) continue;
    out[customName({ group, version, kind: row.kind })] = objectDefinition(served, { group, version, kind: row.kind });
    out[customName({ group, version, kind: row.listKind })] = listDefinition(row, { group, version });
  }
  return out;
}
