// The states of an object that is being deleted, as pure functions of the object and the request (upstream's BeforeDelete, markAsDeleting
// and deletionFinalizersForGarbageCollection):
//
//   alive ──delete──▶ gone                                            nothing holds it
//   alive ──delete──▶ terminating ──last finalizer removed──▶ gone    finalizers hold it
//   alive ──delete──▶ graceful(N s) ──delete with 0──▶ gone           its kind wants grace (pods on a node); N may only shrink
//   alive ──delete──▶ terminating ──emptied, finalized──▶ gone        its kind has a phase for it (namespaces)
import { type GroupResource, type KubeObject, type ObjectMeta, type StatusError, conflict } from '../../apimachinery/index.ts';
import type { DeleteOptions, Preconditions } from '../contract.ts';
import { groupResource } from '../errors.ts';
import { formatTime } from '../timestamps.ts';
import type { Resource } from '../resource.ts';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Events own nothing and have no owners: they never wait for the garbage collector, whatever the options ask. */
const collectsGarbage = (resource: Resource): boolean => resource.ttlSeconds === undefined;

function wantsOrphans(resource: Resource, finalizers: readonly string[], options: DeleteOptions): boolean {
  if (!collectsGarbage(resource)) return false;
  if (options.orphanDependents !== undefined) return options.orphanDependents;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Orphan';
  const set = finalizers.find((f) => f === ORPHAN || f === FOREGROUND);
  return set !== undefined ? set === ORPHAN : resource.defaultPropagation === 'Orphan';
}

function wantsForeground(resource: Resource, finalizers: readonly string[], options: DeleteOptions): boolean {
  if (!collectsGarbage(resource)) return false;
  if (options.orphanDependents !== undefined) return false;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Foreground';
  return finalizers.find((f) => f === ORPHAN || f === FOREGROUND) === FOREGROUND;
}

/** The finalizers with which the object waits for the garbage collector, as the options ask; undefined when they stay as they are. */
export function propagationFinalizers(resource: Resource, meta: ObjectMeta, options: DeleteOptions): string[] | undefined {
  const old = meta.finalizers ?? [];
  const finalizers = old.filter((f) => f !== ORPHAN && f !== FOREGROUND);
  if (wantsOrphans(resource, old, options)) finalizers.push(ORPHAN);
  if (wantsForeground(resource, old, options)) finalizers.push(FOREGROUND);
  const [before, after] = [new Set(old), new Set(finalizers)];
  return before.size === after.size && finalizers.every((f) => before.has(f)) ? undefined : finalizers;
}

/** The conflict of a delete whose preconditions the object does not meet. */
export function deletePreconditionConflict(resource: Resource, meta: ObjectMeta, preconditions: Preconditions | undefined): StatusError | undefined {
  if (preconditions === undefined) return undefined;
  const { uid, resourceVersion } = preconditions;
  const name = meta.name ?? '';
  if (resource.strategy.terminate !== undefined) return phasedConflict(groupResource(resource), meta, preconditions);
  // The reference names the kind here, not the resource.
  const kind = { group: resource.group, resource: resource.kind };
  if (uid !== undefined && uid !== (meta.uid ?? '')) {
    return conflict(kind, name,
      `the UID in the precondition (${uid}) does not match the UID in record (${meta.uid ?? ''}). The object might have been deleted and then recreated`);
  }
  if (resourceVersion !== undefined && resourceVersion !== (meta.resourceVersion ?? '')) {
    const record = meta.resourceVersion ?? '';
    return conflict(kind, name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${record}). The object might have been modified`);
  }
  return undefined;
}

function phasedConflict(resource: GroupResource, meta: ObjectMeta, preconditions: Preconditions): StatusError | undefined {
  const why = preconditionProblem(preconditions, meta);
  return why !== undefined ? conflict(resource, meta.name ?? '', why) : undefined;
}

/** How the storage layer of the reference words a precondition that is not met; undefined when all are. */
export function preconditionProblem({ uid, resourceVersion }: Preconditions, meta: ObjectMeta): string | undefined {
  if (uid !== undefined && uid !== (meta.uid ?? '')) return `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${meta.uid ?? ''}`;
  if (resourceVersion !== undefined && resourceVersion !== (meta.resourceVersion ?? '')) {
    return `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${meta.resourceVersion ?? ''}`;
  }
  return undefined;
}

function growGeneration(meta: ObjectMeta): void {
  if ((meta.generation ?? 0) > 0) meta.generation = (meta.generation as number) + 1;
}

/** What grace means for a deletion: `none` (the kind has none, or it is over), `begun` (the object was changed), `pending` (nothing to do). */
type Grace = { readonly type: 'none' } | { readonly type: 'pending' } | { readonly type: 'begun'; readonly seconds: number };

/** Begins or shortens graceful deletion of `object`, in place. */
export function applyGrace(resource: Resource, object: KubeObject, { options, nowMs }: { readonly options: DeleteOptions; readonly nowMs: number }): Grace {
  const { gracePeriodSeconds } = resource.strategy;
  const meta = object.metadata;
  if (gracePeriodSeconds === undefined) return { type: 'none' };
  const wanted = options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
  if (meta.deletionTimestamp === undefined) {
    const seconds = gracePeriodSeconds(object, wanted);
    meta.deletionTimestamp = formatTime(nowMs + seconds * 1000);
    meta.deletionGracePeriodSeconds = seconds;
    growGeneration(meta);
    return { type: 'begun', seconds };
  }
  const current = meta.deletionGracePeriodSeconds ?? 0;
  if (current === 0) return { type: 'none' };
  if (wanted === undefined || wanted >= current) return { type: 'pending' };
  const endMs = Date.parse(meta.deletionTimestamp) + (wanted - current) * 1000;
  // Grace that is over already ends now, and is still grace: the kubelet removes the object.
  const seconds = endMs < nowMs && wanted !== 0 ? 1 : wanted;
  meta.deletionTimestamp = formatTime(Math.max(endMs, nowMs));
  meta.deletionGracePeriodSeconds = seconds;
  return { type: 'begun', seconds };
}

/** Marks an object that finalizers hold, in place: deleted from this moment on, without grace. */
export function markDeleting(meta: ObjectMeta, nowMs: number): void {
  if (meta.deletionTimestamp === undefined) growGeneration(meta);
  if (meta.deletionTimestamp === undefined || Date.parse(meta.deletionTimestamp) > nowMs) meta.deletionTimestamp = formatTime(nowMs);
  meta.deletionGracePeriodSeconds = 0;
}

/** Marks an object whose kind has a phase for dying, in place. */
export function beginTermination(resource: Resource, object: KubeObject,
  { options, nowMs }: { readonly options: DeleteOptions; readonly nowMs: number }): void {
  object.metadata.deletionTimestamp ??= formatTime(nowMs);
  resource.strategy.terminate?.(object, options);
}

/** True when an update takes away the last thing that kept a deleted object alive. */
export function completesDeletion(resource: Resource, object: KubeObject, old: KubeObject): boolean {
  if ((object.metadata.finalizers?.length ?? 0) > 0 || old.metadata.deletionTimestamp === undefined) return false;
  if (resource.strategy.holdsDeletion?.(object) === true) return false;
  return (old.metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
