// Registry.delete: remove now, or mark and wait for finalizers, grace or a dying phase; the states are in lifecycle.ts. Like the write
// loop, a first round on the cache's object counts only if it commits or was current.
import { type KubeObject, type StatusError, decodeObject, equalJson, forbidden, formatGroupVersion, notFound } from '../../apimachinery/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import type { DeleteOptions, DeleteRequest, DeleteResult, StoredObject, Target } from '../contract.ts';
import { type Core, type RequestScope, WRITE_TURN_MS, checkSignal } from '../core.ts';
import { groupResource } from '../errors.ts';
import { ComputedObject } from '../objects/computed-object.ts';
import { foresee } from '../objects/decoded-object-cache.ts';
import { objectKey } from '../objects/keys.ts';
import { encodeWritten } from '../objects/layout.ts';
import { applyGrace, beginTermination, deletePreconditionConflict, markDeleting, propagationFinalizers } from './lifecycle.ts';
import type { StoredRevision } from '../objects/stored-object.ts';
import { deleteProblems, refuseOptions } from '../options.ts';
import { deleteUnreadable } from './delete-unreadable.ts';
import { admitDelete } from './admit.ts';
import { isLarge, readFound, runInTurns, settleFound } from './read-object.ts';
import { releaseRemoved } from './reserve.ts';
import { readyObject } from '../conversion/remote-conversion.ts';
import { type Resource, versionIn } from '../resource.ts';
import { cloneJson } from '../values.ts';

/** The part of an object by which most kinds decide how it dies, or the whole. */
type Outline = KubeObject | Pick<KubeObject, 'metadata'>;

/** What a round has read of the object. */
interface Old {
  readonly old: Outline;
  readonly whole: KubeObject | undefined;
}

type MarkedObject = ReturnType<typeof encodeWritten>;

interface Round {
  readonly core: Core;
  readonly request: DeleteRequest;
  readonly scope: RequestScope;
  readonly key: string;
  readonly current: StoredRevision;
  /** Gives others their turn once this one has been long. */
  readonly pause: () => Promise<void> | undefined;
}

/** What a delete does to an object as it was found. */
type Plan =
  | { readonly type: 'nothing' }
  | { readonly type: 'remove' }
  /** The object is stored with the members `changed`; `thenRemove`: and removed at once. `options`: what the server adds to the options that admission sees. */
  | { readonly type: 'mark'; readonly changed: Outline; readonly thenRemove: boolean; readonly options?: DeleteOptions };

/** `again`: another write came first, maybe after the round had marked the object to be removed at once. `sure`: something was written. */
type Outcome = { readonly type: 'again'; readonly marked?: StoredRevision } | { readonly type: 'done'; readonly sure: boolean; readonly result: DeleteResult };

const again: Outcome = { type: 'again' };

/** Registry.delete. */
export async function deleteObject(core: Core, request: DeleteRequest): Promise<DeleteResult> {
  refuseOptions('DeleteOptions', deleteProblems(request.options));
  if (request.options.ignoreStoreReadErrorWithClusterBreakingPotential === true) return deleteUnreadable(core, request);
  refuseDeletion(request);
  if (request.inCollection !== true) warnOfOrphans(request);
  const { resource, version, namespace, name, context } = request;
  const scope = core.scope({ resource, version, namespace });
  const { storage } = scope;
  const key = objectKey(core.root, storage.resource, { namespace, name });
  const cached = storage.cached(key);
  const pause = createTimeSlice(core.clock, WRITE_TURN_MS);
  let marked: StoredRevision | undefined;
  if (cached !== undefined) {
    const outcome = await runDoubtfulRound({ core, request, scope, key, current: cached, pause });
    if (outcome.type === 'done') return outcome.result;
    marked = outcome.marked;
  }
  for (;;) {
    checkSignal(context.signal);
    const current = await core.readStored(storage, key);
    // A kubelet that sees the mark may remove the object first; as in the reference the delete has then done what it was asked.
    if (current === undefined && marked !== undefined) return { type: 'gone', object: scope.show(marked) };
    if (current === undefined) throw notFound(groupResource(resource), name);
    const outcome = await runRound({ core, request, scope, key, current, pause });
    if (outcome.type === 'done') return outcome.result;
    marked = outcome.marked ?? marked;
  }
}

/** Whether the kind decides by more than metadata how an object dies. */
const isJudgedWhole = ({ strategy: { terminate, holdsDeletion, gracePeriodSeconds } }: Resource): boolean =>
  terminate !== undefined || holdsDeletion !== undefined || gracePeriodSeconds !== undefined;

const formOfStorage = ({ scope: { storage: { resource } } }: Round): Pick<Target, 'resource' | 'version'> => ({ resource, version: resource.storageVersion });

function planDelete({ core, request, scope }: Round, old: Outline): Plan {
  const { options } = request;
  const { resource } = scope.storage;
  const nowMs = core.clock.now();
  if (resource.strategy.terminate !== undefined && old.metadata.deletionTimestamp === undefined) {
    const changed = cloneJson(old) as KubeObject;
    beginTermination(resource, changed, { options, nowMs });
    return { type: 'mark', changed, thenRemove: false, options: { preconditions: { uid: old.metadata.uid ?? '', ...options.preconditions } } };
  }
  if (resource.strategy.holdsDeletion?.(old as KubeObject) === true) return { type: 'nothing' };
  const metadata = cloneJson(old.metadata);
  const grace = applyGrace(resource, { ...(old as KubeObject), metadata }, { options, nowMs });
  if (grace.type === 'pending') return { type: 'nothing' };
  const finalizers = propagationFinalizers(resource, metadata, options);
  if (finalizers !== undefined) metadata.finalizers = finalizers;
  const held = (metadata.finalizers?.length ?? 0) > 0;
  if (grace.type === 'begun') {
    return { type: 'mark', changed: { metadata }, thenRemove: !held && grace.seconds === 0, options: { gracePeriodSeconds: grace.seconds } };
  }
  if (!held) return { type: 'remove' };
  markDeleting(metadata, nowMs);
  return { type: 'mark', changed: { metadata }, thenRemove: false };
}

/** Asks admission about the removal of what the round found. Deletes of a collection have no name. */
async function admit(round: Round, options: DeleteOptions | undefined, old?: KubeObject): Promise<void> {
  const { core, request, current, scope, pause } = round;
  const { name, version, context, inCollection = false } = request;
  await pause();
  const ahead = old ?? (isLarge(current) ? await readFound(round, request) : undefined);
  const admitted = { admission: core.options.admission, target: request, subresource: '', name: inCollection ? '' : name, context };
  const readOld = (): KubeObject => ahead ?? scope.show(current).shared(version);
  await admitDelete(admitted, { readOld, ...(options !== undefined && { options: { ...options } }) });
}

async function remove({ core, request, scope, key }: Round, last: StoredRevision): Promise<Outcome> {
  if (request.context.dryRun) return { type: 'done', sure: false, result: removeDry(request, scope.show(last)) };
  const result = await core.commit({ key, expect: last.revision });
  if (result.type === 'conflict') return again;
  request.context.noteRevision?.(result.revision);
  const { resource } = scope.storage;
  await releaseRemoved(core, resource, () => last.object(resource.storageVersion));
  return { type: 'done', sure: true, result: { type: 'gone', object: scope.show(last.at(result.revision)) } };
}

function removeDry({ resource, version }: DeleteRequest, last: StoredObject): DeleteResult {
  if ((last.member('finalizers') ?? []).length === 0) return { type: 'gone', object: last };
  const { kind, blank = { metadata: {} } } = resource;
  const apiVersion = formatGroupVersion({ group: resource.group, version });
  const object = resource.custom ? { apiVersion, kind } : { kind, apiVersion, ...decodeObject(versionIn(resource, version)!.schema, blank).object };
  return { type: 'blank', object: new ComputedObject(resource, object as KubeObject) };
}

/** What the round found, with what the plan changes, as it is stored. A large object is encoded in several turns. */
async function encodeMarked(round: Round, changed: Outline, old: KubeObject): Promise<MarkedObject> {
  const { core, current, scope: { storage: { layout, resource } } } = round;
  const encode = (): MarkedObject => encodeWritten(layout, { ...old, ...changed }, { version: resource.storageVersion, old });
  await round.pause();
  return isLarge(current) ? runInTurns(core.clock, encode) : encode();
}

async function mark(round: Round, { changed, thenRemove, options }: Extract<Plan, { type: 'mark' }>, { old, whole }: Old): Promise<Outcome> {
  const { core, request, scope, key, current } = round;
  const { storage } = scope;
  const type = thenRemove ? 'gone' : 'pending';
  if (!thenRemove && equalJson({ ...old, ...changed }, old)) return { type: 'done', sure: false, result: { type, object: scope.show(current) } };
  const form = formOfStorage(round);
  const { isAsRead, ...encoded } = await encodeMarked(round, changed, whole ?? (await readFound(round, form)));
  await round.pause();
  const read = request.context.dryRun ? storage.fromJson : storage.fromWritten;
  const at = (modRevision: number): StoredRevision => read({ key, value: encoded.json, modRevision }, encoded.isOwn);
  if (request.context.dryRun) return { type: 'done', sure: false, result: { type, object: scope.show(at(current.revision)) } };
  const value = await storage.codec.encode(encoded, key);
  if (isAsRead) foresee(core, { key, value, target: form, storage, encoded, isUpdate: false });
  const result = await core.commit({ key, expect: current.revision, value, ttlSeconds: storage.resource.ttlSeconds });
  if (result.type === 'conflict') return again;
  request.context.noteRevision?.(result.revision);
  if (!thenRemove) return { type: 'done', sure: true, result: { type, object: scope.show(at(result.revision)) } };
  const marked = at(result.revision);
  await readyObject(marked, request.version);
  // The reference asks again about the object as it was marked.
  await admit({ ...round, current: marked }, options);
  request.onAdmitted?.();
  const outcome = await remove(round, marked);
  return outcome.type === 'again' ? { ...outcome, marked } : outcome;
}

async function runRound(round: Round): Promise<Outcome> {
  const { request, scope, current } = round;
  const { resource } = scope.storage;
  await readyObject(current, resource.storageVersion, request.version);
  await settleFound(round);
  const whole = isJudgedWhole(resource) ? await readFound(round, formOfStorage(round)) : undefined;
  const old: Outline = whole ?? { metadata: current.metadata() };
  const refused: StatusError | undefined = deletePreconditionConflict(request.resource, old.metadata, request.options.preconditions);
  if (refused !== undefined) throw refused;
  await round.pause();
  const plan = planDelete(round, old);
  if (plan.type === 'nothing') return { type: 'done', sure: false, result: { type: 'pending', object: scope.show(current) } };
  const isShown = request.resource === resource && request.version === resource.storageVersion;
  await admit(round, plan.type === 'mark' ? plan.options : undefined, isShown ? whole : undefined);
  // Of two writes the last one counts: those of the next object of a collection follow both.
  if (plan.type === 'remove' || !plan.thenRemove) request.onAdmitted?.();
  checkSignal(request.context.signal);
  return plan.type === 'remove' ? remove(round, current) : mark(round, plan, { old, whole });
}

/** A round on the cache's object. */
async function runDoubtfulRound(round: Round): Promise<Outcome> {
  const isCurrent = async (): Promise<boolean> => (await round.core.readValue(round.key))?.modRevision === round.current.revision;
  try {
    const outcome = await runRound(round);
    if (outcome.type === 'again' || outcome.sure || (await isCurrent())) return outcome;
  } catch (error) {
    if (await isCurrent()) throw error;
  }
  return again;
}

/** Warns of deletes that say nothing of dependents, where that may surprise. */
export function warnOfOrphans({ resource, options, context: { warnings } }: Pick<DeleteRequest, 'resource' | 'options' | 'context'>): void {
  const text = resource.strategy.deletionWarning;
  const isDefault = options.propagationPolicy === undefined && options.orphanDependents === undefined;
  if (text !== undefined && isDefault && !warnings.includes(text)) warnings.push(text);
}

function refuseDeletion({ resource, name, inCollection = false }: DeleteRequest): void {
  const why = inCollection ? undefined : resource.strategy.refuseDeletion?.(name);
  if (why !== undefined) throw forbidden(groupResource(resource), name, why);
}
