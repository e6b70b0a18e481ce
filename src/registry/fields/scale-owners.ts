// Owners seen through the scale subresource: managedFields of an object as those of its Scale, and back. Mirrors upstream's ScaleHandler,
// identities included: a manager that updated the object and one that updated its Scale are two, and a new one has no time.
import { type KubeObject, type ManagedFieldsEntry, type ManagedVersions, type Manager, type Schema, decodeManagers, encodeManagers, fieldSetOf,
  formatGroupVersion, parseGroupVersion } from '../../apimachinery/index.ts';
import { type Resource, versionIn } from '../resource.ts';
import { toScale, UNSET_REPLICAS } from './scale.ts';

/** apiVersion of every Scale. */
export const SCALE_VERSION = 'autoscaling/v1';

const replicasOfScale = ['f:spec', 'f:replicas'];
const scaleSet = fieldSetOf(replicasOfScale);

/** The one field of a Scale that can be owned. */
const scaleFields: Schema = {
  type: 'object',
  fields: new Map([field('spec', { type: 'object', fields: new Map([field('replicas', { type: 'integer' })]) })]),
};

function field(name: string, schema: Schema) {
  return [name, { name, schema, required: false, omitEmpty: true, pointer: false, number: 0 }] as const;
}

/** A Scale has one version. */
export const scaleVersions: ManagedVersions = {
  mayUnfit: false,
  schemaFor: (apiVersion) => (apiVersion === SCALE_VERSION ? scaleFields : undefined),
  convert: (object) => object,
};

/** The field of the replicas in a version of the row; null where that has no Scale, undefined where the row has no such version. */
function pathOf(resource: Resource, apiVersion: string): string[] | null | undefined {
  const parsed = parseGroupVersion(apiVersion);
  const version = parsed?.group === resource.group ? versionIn(resource, parsed.version) : undefined;
  if (version === undefined) return undefined;
  return version.scale?.specReplicas.split('.').filter((name) => name !== '').map((name) => `f:${name}`) ?? null;
}

/** The Scale of an object as far as owners go, with the owners of its replicas. */
export function toOwnedScale(resource: Resource, object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject {
  const { spec, metadata: { uid, name } } = toScale(resource, object, UNSET_REPLICAS);
  const owners = [...decodeManagers(entries) ?? []].filter(([, { apiVersion, set }]) => {
    const path = pathOf(resource, apiVersion);
    return path !== undefined && path !== null && set.has(path);
  });
  const managedFields = encodeManagers(new Map(owners.map(([identity, owner]) => [identity, { ...owner, apiVersion: SCALE_VERSION, set: scaleSet }])));
  return { apiVersion: SCALE_VERSION, kind: 'Scale', metadata: { ...(name && { name }), ...(uid && { uid }), ...(managedFields && { managedFields }) }, spec };
}

/** The Scale that a patch is applied to: built-in kinds show the owners of the replicas in it. */
export function toPatchedScale(resource: Resource, object: KubeObject, missing: number): KubeObject {
  const scale = toScale(resource, object, missing);
  const { managedFields } = toOwnedScale(resource, object, object.metadata.managedFields).metadata;
  return managedFields === undefined || resource.custom ? scale : { ...scale, metadata: { ...scale.metadata, managedFields } };
}

/** Owners of the object after a write of its Scale, whose owners are `scaled`. */
export function ownersOfScaled(
  { resource, version }: { readonly resource: Resource; readonly version: string },
  entries: readonly ManagedFieldsEntry[] | undefined, scaled: readonly ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  const ofScale = new Map(decodeManagers(scaled));
  const ofObject = decodeManagers(entries) ?? new Map<string, Manager>();
  const owners = new Map<string, Manager>();
  for (const [identity, owner] of ofObject) {
    const path = pathOf(resource, owner.apiVersion);
    if (path === undefined) continue;
    if (path === null || !owner.set.has(path) || ofScale.delete(identity)) {
      owners.set(identity, owner);
      continue;
    }
    const set = owner.set.difference(fieldSetOf(path));
    if (!set.isEmpty) owners.set(identity, { ...owner, set });
  }
  const apiVersion = formatGroupVersion({ group: resource.group, version });
  const replicas = fieldSetOf(pathOf(resource, apiVersion) ?? []);
  for (const [identity, owner] of ofScale) {
    if (owner.set.has(replicasOfScale)) owners.set(identity, { ...owner, apiVersion, time: ofObject.get(identity)?.time, set: replicas });
  }
  return encodeManagers(owners);
}
