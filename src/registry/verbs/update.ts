// The one write loop: read, transform, admit, validate, commit if unchanged, else go round again with the fresh object. PUT, every patch,
// apply and subresources are transforms; an update that takes the last finalizer of a deleted object away removes it. The steps of a round:
//
//   read ─▶ preconditions ─▶ transform ─▶ managed fields ─▶ mutating admission ─▶ resourceVersion ─▶ reserve ─▶ strategy ─▶ validate
//        ─▶ validating admission ─▶ commit ─▶ respond
//
// The first round works on the cache's object, which may be old. Its outcome counts only if it commits (the txn expects the revision that
// was read) or if the store confirms that the object was current; otherwise the next round works on what the store has.
import { type KubeObject, type ObjectMeta, conflict, invalid, invalidValue, notFound } from '../../apimachinery/index.ts';
import { convertAsNeeded } from '../conversion/restartable-conversion.ts';
import type { AdmissionAttributes, UpdateRequest, WriteResult } from '../contract.ts';
import { type Core, type RequestScope, checkSignal } from '../core.ts';
import { createPrepared } from './create.ts';
import { groupResource, modifiedConflict, preconditionConflict } from '../errors.ts';
import { emptiedMetadata } from '../fields/emptied-metadata.ts';
import { setManagedFields } from '../fields/managed-fields.ts';
import { DEFAULT_ROOT, objectKey } from '../objects/keys.ts';
import { foresee } from '../objects/decoded-object-cache.ts';
import { encodeObject, encodeWritten, sameContent } from '../objects/layout.ts';
import { completesDeletion, preconditionProblem } from './lifecycle.ts';
import { checkIdentity, checkNamespace } from '../metadata.ts';
import type { StoredRevision } from '../objects/stored-object.ts';
import type { KeyValue } from '../../storage/index.ts';
import { plainError, resourceVersionProblem } from '../options.ts';
import { createAttributes, mutate, validate } from './admit.ts';
import { type Write, dropEmptyLists, prepareForUpdate, prepareValidation, startWrite, validateUpdate } from './prepare.ts';
import { convertToStore, readyObject } from '../conversion/remote-conversion.ts';
import { checkSize, writeFitting } from '../objects/too-large.ts';
import { readFound } from './read-object.ts';
import { releaseRemoved, withReservation } from './reserve.ts';
import { unshare } from '../values.ts';

interface Round {
  readonly core: Core;
  readonly request: UpdateRequest;
  readonly scope: RequestScope;
  readonly key: string;
  /** What the round read; undefined where nothing is stored. */
  readonly current: StoredRevision | undefined;
  /** The value that `current` is of, when it came from the store and not from the cache. */
  readonly stored?: KeyValue | undefined;
}

/** A round on an object that is there. */
interface Change {
  readonly round: Round & { readonly current: StoredRevision };
  readonly write: Write;
  readonly attributes: AdmissionAttributes;
  readonly old: KubeObject;
  readonly object: KubeObject;
}

/** `again`: another write came first. `dry` wrote nothing, and is only as true as the object it was compared with. */
type Outcome = { readonly type: 'again' } | { readonly type: 'written' | 'unchanged' | 'dry'; readonly result: WriteResult };

const again: Outcome = { type: 'again' };

/** Registry.update. */
export async function updateObject(core: Core, request: UpdateRequest): Promise<WriteResult> {
  const { resource, version, namespace, name } = request;
  const scope = core.scope({ resource, version, namespace });
  const { storage } = scope;
  const key = objectKey(core.root, storage.resource, { namespace, name });
  const cached = storage.cached(key);
  const { warnings, signal } = request.context;
  if (cached !== undefined) {
    const outcome = await runDoubtfulRound({ core, request, scope, key, current: cached });
    if (outcome.type !== 'again') return outcome.result;
  }
  for (;;) {
    checkSignal(signal);
    const before = warnings.length;
    const stored = await core.readValue(key);
    const outcome = await runRound({ core, request, scope, key, stored, current: stored && storage.decode(stored) });
    if (outcome.type !== 'again') return outcome.result;
    warnings.length = before;
  }
}

/** A round on an object that may be old: its failures and dry results count only if it was not. */
async function runDoubtfulRound(round: Round): Promise<Outcome> {
  const { warnings } = round.request.context;
  const before = warnings.length;
  try {
    const outcome = await runRound(round);
    if (outcome.type !== 'dry' || (await isCurrent(round))) return outcome;
  } catch (error) {
    if (await isCurrent(round)) throw error;
  }
  warnings.length = before;
  return again;
}

/** True when the store still has what the round worked on. */
async function isCurrent({ core, key, current }: Round): Promise<boolean> {
  return (await core.readValue(key))?.modRevision === current?.revision;
}

async function runRound(round: Round): Promise<Outcome> {
  const { core, request, scope, current } = round;
  if (current !== undefined) await readyObject(current, request.version, scope.storage.resource.storageVersion);
  // An absent object is not found, whichever uid the request expects; only users that may create learn of the other uid.
  if (current === undefined && !request.createIfAbsent) throw notFound(groupResource(request.resource), request.name);
  if (current === undefined) {
    checkPreconditions(round, {});
    return createAbsent(round);
  }
  const write = startWrite(core, { target: request, subresource: request.subresource, name: request.name, context: request.context });
  const found = readFound({ ...round, current }, request);
  const old = found instanceof Promise ? await found : found;
  checkPreconditions(round, old.metadata);
  await write.pause();
  const wanted = await transform(request, old);
  await write.pause();
  checkIdentity(request, request.name, wanted);
  const otherType = request.otherType?.();
  // Owners of an object that cannot be read as its kind are forgotten, as the reference does.
  if (otherType !== undefined) delete wanted.metadata.managedFields;
  else if (request.managedFields !== 'keep') await setManagedFields(core, write, { object: wanted, old });
  else if (wanted.metadata.managedFields === undefined) delete wanted.metadata.managedFields;
  await write.pause();
  dropEmptyLists(request, wanted);
  const attributes = createAttributes(write, { operation: 'UPDATE', object: wanted, oldObject: old });
  const object = await mutate(write, attributes, wanted);
  checkNamespace(request, object);
  checkRevision(request, object, current.revision);
  const change: Change = { round: { ...round, current }, write: { ...write, otherType, problems: attributes.problems }, attributes, old, object };
  const outcome = await withReservation(core, attributes, { write: () => storeReserved(change), isWritten: ({ type }) => type === 'written' });
  if (outcome.type === 'written') core.options.onUpdated?.(attributes);
  return outcome;
}

async function storeReserved(change: Change): Promise<Outcome> {
  const { write, attributes, object, old } = change;
  prepareForUpdate(object, old, write);
  await write.pause();
  await prepareValidation(object, old, write);
  validateUpdate(object, old, write);
  await write.pause();
  await validate(write, attributes, object);
  checkSignal(write.context.signal);
  return writeFitting(object, change.round.request, () => commit(change));
}

function checkPreconditions({ core, request, key }: Round, meta: ObjectMeta): void {
  if (request.preconditions === undefined) return;
  const why = preconditionProblem(request.preconditions, meta);
  if (why === undefined) return;
  // Dry runs of the reference know keys without the root.
  const shown = `${request.context.dryRun ? '' : DEFAULT_ROOT}${key.slice(core.root.length)}`;
  throw preconditionConflict({ resource: request.resource, name: request.name, key: shown, why });
}

/**
 * The next object; warnings of attempts that had to start over are dropped. It may share parts with `old` that the steps of a write do not change: its
 * members and what is in them, to a depth, are its own.
 */
function transform({ resource, context: { warnings }, transform: run }: UpdateRequest, old: KubeObject): KubeObject | Promise<KubeObject> {
  const before = warnings.length;
  const attempt = (): KubeObject => {
    warnings.length = before;
    const next = run(old);
    return withOwnParts(next === old ? { ...old } : next, old, resource.custom);
  };
  return resource.convertRemotely === undefined ? attempt() : convertAsNeeded(resource, attempt);
}

/** So deep do steps of a write change objects in place: a port of a Service gets its number. */
const OWN_DEPTH = 3;

function withOwnParts(object: KubeObject, old: KubeObject, custom: boolean): KubeObject {
  if (object.metadata === old.metadata) object.metadata = { ...old.metadata };
  for (const name in object) {
    // No step changes a custom resource below its members.
    if (name !== 'metadata') object[name] = unshare(object[name], old[name], custom ? 1 : OWN_DEPTH);
  }
  return object;
}

/** The object's resourceVersion as a number; throws the 500 of a text that is none. */
function readVersion({ metadata: { resourceVersion: text = '' } }: KubeObject): number {
  const problem = text === '' ? undefined : resourceVersionProblem(text);
  if (problem !== undefined) throw plainError(problem);
  return Number(text);
}

/** Applies the rules of resourceVersion: absent means the latest, where the kind allows that; else it must be the stored one. */
function checkRevision({ resource, name }: UpdateRequest, object: KubeObject, stored: number): void {
  const given = readVersion(object);
  if (given === 0 && !resource.unconditionalUpdate) {
    const errors = [invalidValue('metadata.resourceVersion', 0, 'must be specified for an update')];
    throw invalid({ group: resource.group, kind: resource.plural }, name, errors);
  }
  if (given !== 0 && given !== stored) throw modifiedConflict(resource, name);
  object.metadata.resourceVersion = String(stored);
}

async function createAbsent({ core, request, scope }: Round): Promise<Outcome> {
  const { resource, name, context, subresource, managedFields = 'update', isPatch = false } = request;
  const object = request.transform(undefined);
  if (managedFields === 'keep' && object.metadata.uid) {
    const why = `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`;
    throw conflict(groupResource(resource), name, why);
  }
  checkIdentity(request, name, object);
  readVersion(object);
  const creation = { scope, object, context, subresource, managedFields, isPatch, unread: request.unread?.(), pathName: name,
    authorize: context.authorizeCreate };
  const result = await createPrepared(core, creation);
  return { type: 'written', result };
}

/** The outcome of an update that changes nothing: no write, unless the store has the object in another form than it would be written today. */
async function leaveUnchanged({ core, scope, key, current, stored }: Change['round'], isWhole: (found: KeyValue) => boolean): Promise<Outcome | undefined> {
  const found = stored ?? (await core.readValue(key));
  if (found?.modRevision !== current.revision) return again;
  if (!core.isCurrent(scope.storage, found, current) || !isWhole(found)) return undefined;
  return { type: 'unchanged', result: { object: scope.show(current), created: false } };
}

/** The zero time of a custom resource's deletion is stored as null, and dropped when it is read. */
const nullTime = ({ resource: { custom } }: UpdateRequest, { metadata: { deletionTimestamp } }: KubeObject): Readonly<Record<string, unknown>> | undefined =>
  (custom && deletionTimestamp === null ? { deletionTimestamp } : undefined);

async function commit({ round, write: { context, pause }, object, old }: Change): Promise<Outcome> {
  const { core, request, scope, key, current } = round;
  const { storage } = scope;
  const expect = current.revision;
  const { custom, isStoredInPart } = storage.resource;
  const removes = completesDeletion(request.resource, object, old);
  // Storing an object drops it: a dry run and a removal store nothing.
  if (!context.dryRun && !removes) delete object.metadata.selfLink;
  const unread = request.unread?.();
  // The reference compares with what it reads: what is stored as empty is a change each time.
  const emptied = unread === undefined ? nullTime(request, object) : emptiedMetadata(request, object, unread);
  const isSame = !removes && emptied === undefined && sameContent(object, old);
  if (isSame && context.dryRun) return { type: 'dry', result: { object: scope.show(current), created: false } };
  if (isSame && !custom) {
    const outcome = await leaveUnchanged(round, (found) => found.createRevision !== found.modRevision || isStoredInPart?.(object) !== true);
    if (outcome !== undefined) return outcome;
  }
  if (isSame) object.metadata.managedFields = old.metadata.managedFields;
  request.resource.strategy.completeStored?.(object);
  await pause();
  const stored = await convertToStore(request, storage.resource, object);
  // A Scale puts replicas where the schema of a custom resource may have no field: reading drops them again.
  const isFitted = !custom || request.subresource !== 'scale';
  const mayHoldNulls = custom && request.managedFields === 'keep';
  const { isAsRead, ...encoded } = isFitted ? encodeWritten(storage.layout, stored, { version: request.version, old, mayHoldNulls, emptied,
    hasUnknown: unread?.hasUnknown }) : { ...encodeObject(storage.layout, stored), isAsRead: false };
  // Reading adds defaults that the definition may not have had when the object was written, or that the version it was written in does not have.
  if (isSame && custom) {
    const outcome = await leaveUnchanged(round, ({ value }) => Buffer.compare(storage.codec.decode(value, key).value, encoded.json) === 0);
    if (outcome !== undefined) return outcome;
  }
  if (!removes) checkSize(encoded.json);
  await pause();
  const read = context.dryRun || removes ? storage.fromJson : storage.fromWritten;
  const show = (modRevision: number): WriteResult => ({ object: scope.show(read({ key, value: encoded.json, modRevision }, encoded.isOwn)), created: false });
  if (context.dryRun) return { type: 'dry', result: show(expect) };
  const { ttlSeconds } = storage.resource;
  const value = removes ? undefined : await storage.codec.encode(encoded, key);
  if (value !== undefined && isAsRead) foresee(core, { key, value, target: request, storage, encoded, isUpdate: true });
  const result = await core.commit(value === undefined ? { key, expect } : { key, expect, value, ttlSeconds });
  if (result.type === 'conflict') return again;
  context.noteRevision?.(result.revision);
  if (removes) await releaseRemoved(core, storage.resource, () => object);
  // The reference answers a removal with the object of the request, at the revision that it had.
  return { type: 'written', result: show(removes ? expect : result.revision) };
}
