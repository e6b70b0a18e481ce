// Owners seen through the scale subresource: managedFields of an object as those of its Scale, and back. Mirrors upstream's ScaleHandler,
// identities included: a manager that updated the object and one that updated its Scale are two, and a new one has no time.
import { type KubeObject, type ManagedFieldsEntry, type ManagedVersions, type Manager, type Schema, decodeManagers, encodeManagers, fieldSetOf,
  formatGroupVersion, parseGroupVersion } from '../../apimachinery/index.ts';
import { type Resource, versionIn } from '../resource.ts';
import { toScale } from './scale.ts';

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
  schemaFor: (apiVersion) => (apiVersion === SCALE_VERSION ? scaleFields : undefined),
  convert: (object) => object,
};

const pathOf = (resource: Resource): string[] =>
  (resource.scale?.specReplicas ?? '').split('.').filter((name) => name !== '').map((name) => `f:${name}`);

function isServed(resource: Resource, apiVersion: string): boolean {
  const parsed = parseGroupVersion(apiVersion);
  return parsed?.group === resource.group && versionIn(resource, parsed.version) !== undefined;
}

/** The Scale of an object as far as owners go, with the owners of its replicas. */
export function toOwnedScale(resource: Resource, object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject {
  const { spec, metadata: { uid, name } } = toScale(resource, object, 0);
  const owners = [...decodeManagers(entries) ?? []].filter(([, owner]) => isServed(resource, owner.apiVersion) && owner.set.has(pathOf(resource)));
  const managedFields = encodeManagers(new Map(owners.map(([identity, owner]) => [identity, { ...owner, apiVersion: SCALE_VERSION, set: scaleSet }])));
  return { apiVersion: SCALE_VERSION, kind: 'Scale', metadata: { ...(name && { name }), ...(uid && { uid }), ...(managedFields && { managedFields }) }, spec };
}

/** Owners of the object after a write of its Scale, whose owners are `scaled`. */
export function ownersOfScaled(
  { resource, version }: { readonly resource: Resource; readonly version: string },
  entries: readonly ManagedFieldsEntry[] | undefined, scaled: readonly ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  const path = pathOf(resource);
  const ofScale = new Map(decodeManagers(scaled));
  const ofObject = decodeManagers(entries) ?? new Map<string, Manager>();
  const owners = new Map<string, Manager>();
  for (const [identity, owner] of ofObject) {
    if (!isServed(resource, owner.apiVersion)) continue;
    if (!owner.set.has(path) || ofScale.delete(identity)) {
      owners.set(identity, owner);
      continue;
    }
    const set = owner.set.difference(fieldSetOf(path));
    if (!set.isEmpty) owners.set(identity, { ...owner, set });
  }
  const apiVersion = formatGroupVersion({ group: resource.group, version });
  for (const [identity, owner] of ofScale) {
    if (owner.set.has(replicasOfScale)) owners.set(identity, { ...owner, apiVersion, time: ofObject.get(identity)?.time, set: fieldSetOf(path) });
  }
  return encodeManagers(owners);
}
