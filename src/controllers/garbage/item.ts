// From stored objects to what the graph holds. Looks through bytes first: of most objects nothing needs to be parsed.
import type { ObjectMeta } from '../../apimachinery/index.ts';
import type { StoredObject } from '../../registry/index.ts';
import type { GarbageItem } from './graph.ts';

/** The finalizers with which an object waits for the collector. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
/** The same, for dependents to be set free. */
export const ORPHAN_FINALIZER = 'orphan';

/** The key of an object in the graph. */
export const itemKey = ({ resource, namespace, name }: StoredObject): string => `${resource.group}/${resource.plural} ${namespace} ${name}`;

/** Whether an object waits for its dependents, and for what. */
export function waitOf({ deletionTimestamp, finalizers = [] }: Pick<ObjectMeta, 'deletionTimestamp' | 'finalizers'>): GarbageItem['waits'] {
  if (deletionTimestamp === undefined) return undefined;
  if (finalizers.includes(FOREGROUND_FINALIZER)) return 'foreground';
  return finalizers.includes(ORPHAN_FINALIZER) ? 'orphan' : undefined;
}

/** The object as the graph holds it; undefined when it has no owners and waits for nothing. */
export function readItem(version: StoredObject): GarbageItem | undefined {
  if (!version.contains('"ownerReferences":[') && !version.contains('"deletionTimestamp":"')) return undefined;
  const { resource, namespace, name } = version;
  const owners = version.member('ownerReferences') ?? [];
  const deletionTimestamp = version.member('deletionTimestamp');
  const waits = waitOf({ deletionTimestamp, finalizers: version.member('finalizers') });
  if (owners.length === 0 && waits === undefined) return undefined;
  return {
    key: itemKey(version), group: resource.group, plural: resource.plural, namespace, name, uid: version.uid, owners,
    deleting: deletionTimestamp !== undefined, waits,
  };
}
