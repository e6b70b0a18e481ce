// PartialObjectMetadata and its list: the metadata of objects alone.
import type { ObjectMeta, Schema, SchemaSet } from '../../apimachinery/index.ts';
import type { ListResult, Resource } from '../../registry/index.ts';

/** Fields of ObjectMeta in the order of the Go struct, which is that of the JSON. */
const metaFields = [
  'name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp',
  'deletionGracePeriodSeconds', 'labels', 'annotations', 'ownerReferences', 'finalizers', 'managedFields',
] as const;

const ownerFields = ['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion'] as const;
const entryFields = ['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1', 'subresource'] as const;

/** An object with these fields alone, in this order. */
function pickFields<T extends object>(object: T, fields: readonly (keyof T)[]): T {
  const out: Partial<T> = {};
  for (const field of fields) if (object[field] !== undefined) out[field] = object[field];
  return out as T;
}

/** Metadata with its fields in the order of the Go structs; custom objects are stored with theirs sorted. */
function orderMetadata(metadata: ObjectMeta, isSorted: boolean): ObjectMeta {
  const ordered = pickFields(metadata, metaFields);
  if (!isSorted) return ordered;
  const { ownerReferences: owners, managedFields: entries } = ordered;
  if (owners !== undefined) ordered.ownerReferences = owners.map((owner) => pickFields(owner, ownerFields));
  if (entries !== undefined) ordered.managedFields = entries.map((entry) => pickFields(entry, entryFields));
  return ordered;
}

/** Metadata without the annotations that stand for fields. */
function withoutFields(metadata: ObjectMeta, hidden: readonly string[]): ObjectMeta {
  const kept = Object.entries(metadata.annotations ?? {}).filter(([name]) => !hidden.includes(name));
  const { annotations: _, ...rest } = metadata;
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

/** The metadata of an object as a PartialObjectMetadata of this version of meta.k8s.io. */
export function partialObject(metadata: ObjectMeta, metaVersion: string, { fieldAnnotations: hidden, custom }: Pick<Resource, 'custom' | 'fieldAnnotations'>,
): { kind: string; apiVersion: string; metadata: ObjectMeta } {
  const shown = orderMetadata(hidden === undefined ? metadata : withoutFields(metadata, hidden), custom);
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${metaVersion}`, metadata: shown };
}

/** ListMeta of a list, without the empty fields. */
export function listMetadata(list: Pick<ListResult, 'revision' | 'continue' | 'remainingItemCount'>): Record<string, unknown> {
  return {
    ...(list.revision > 0 && { resourceVersion: String(list.revision) }), ...(list.continue && { continue: list.continue }),
    ...(list.remainingItemCount !== undefined && list.remainingItemCount > 0 && { remainingItemCount: list.remainingItemCount }),
  };
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

const schemasOfPartials = new WeakMap<SchemaSet, Schema>();

/** The schema of PartialObjectMetadata for protobuf, which the OpenAPI data of the reference lacks; undefined when the set has no ObjectMeta. */
export function partialSchema(schemas: SchemaSet): Schema | undefined {
  const known = schemasOfPartials.get(schemas);
  if (known !== undefined) return known;
  const meta = schemas.definition(META);
  if (!meta) return undefined;
  const field = { name: 'metadata', schema: meta, required: false, omitEmpty: false, pointer: false, number: 1 };
  const schema: Schema = { type: 'object', fields: new Map([['metadata', field]]) };
  schemasOfPartials.set(schemas, schema);
  return schema;
}
