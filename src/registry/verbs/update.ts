// The one write loop: read, transform, admit, validate, commit if unchanged, else go round again with the fresh object. PUT, every patch,
// apply and subresources are transforms; an update that takes the last finalizer of a deleted object away removes it.
//
// The first round works on the cache's object, which may be old. Whatever it leads to is believed only if it commits (the txn expects the
// revision that was read) or if the store says that the object was current; otherwise the next round works on what the store has.
import { type KubeObject, conflict, invalid, invalidValue, notFound } from '../../apimachinery/index.ts';
import { convertAsNeeded, trackOwners } from '../objects/restartable-conversion.ts';
import type { AdmissionAttributes, UpdateRequest, WriteResult } from '../contract.ts';
import { type Core, type RequestScope, checkSignal, writeTurnMs } from '../core.ts';
import { type MaybePromise, createTimeSlice, mapMaybe } from '../../base/index.ts';
import { createPrepared } from './create.ts';
import { groupResource, modifiedConflict, preconditionConflict } from '../errors.ts';
import { defaultRoot, objectKey } from '../objects/keys.ts';
import { encodeWritten, sameContent } from '../objects/layout.ts';
import { completesDeletion, preconditionProblem } from './lifecycle.ts';
import { checkIdentity, dedupeOwners } from '../metadata.ts';
import type { StoredVersion } from '../objects/stored-object.ts';
import { plainError, resourceVersionProblem } from '../options.ts';
import { type Write, dropEmptyLists, prepareForUpdate, prepareValidation, validateUpdate } from './prepare.ts';
import { convertToStore, readyVersion } from '../objects/remote-conversion.ts';
import { writeFitting } from '../objects/too-large.ts';
import { releaseRemoved, withReservation } from './reserve.ts';
import { cloneJson } from '../values.ts';

interface Round {
  readonly core: Core;
  readonly request: UpdateRequest;
  readonly scope: RequestScope;
  readonly key: string;
  /** Whether `current` came from the store itself. */
  readonly current: StoredVersion | undefined;
}

/** `again`: somebody else was faster. `unchanged` wrote nothing, and is only as true as the object it was compared with. */
type Outcome = { readonly type: 'again' } | { readonly type: 'written' | 'unchanged'; readonly result: WriteResult };

const again: Outcome = { type: 'again' };

function checkPreconditions({ core, request, scope, key, current }: Round): void {
  if (request.preconditions === undefined) return;
  const meta = current?.object(scope.storage.resource.storageVersion).metadata ?? {};
  const why = preconditionProblem(request.preconditions, meta);
  if (why === undefined) return;
  // Dry runs of the reference know keys without the root.
  const shown = `${request.context.dryRun ? '' : defaultRoot}${key.slice(core.root.length)}`;
  throw preconditionConflict({ resource: request.resource, name: request.name, key: shown, why });
}

/** Applies the rules of resourceVersion: absent means the latest, where the kind allows that; else it must be the stored one. */
function checkVersion({ request, current }: Round, object: KubeObject): void {
  const { resource, name } = request;
  const text = object.metadata.resourceVersion ?? '';
  const problem = text === '' ? undefined : resourceVersionProblem(text);
  if (problem !== undefined) throw plainError(problem);
  const given = Number(text);
  const stored = (current as StoredVersion).revision;
  if (given === 0 && !resource.unconditionalUpdate) {
    const errors = [invalidValue('metadata.resourceVersion', 0, 'must be specified for an update')];
    throw invalid({ group: resource.group, kind: resource.plural }, name, errors);
  }
  if (given !== 0 && given !== stored) throw modifiedConflict(resource, name);
  object.metadata.resourceVersion = String(stored);
}

function setManagedFields({ core, request }: Round, object: KubeObject, old: KubeObject): MaybePromise<void> {
  if (request.managedFields === 'keep') {
    if (object.metadata.managedFields === undefined) delete object.metadata.managedFields;
    return;
  }
  const { resource, version, subresource, context } = request;
  const track = () => core.options.trackUpdate({ resource, version, subresource, manager: context.fieldManager, nowMs: core.clock.now(), old, object });
  return mapMaybe(trackOwners(resource, track), (fields) => {
    if (fields === undefined) delete object.metadata.managedFields;
    else object.metadata.managedFields = fields;
  });
}

/** The next object; warnings of attempts that began anew are not told. */
function transform({ request }: Round, old: KubeObject): KubeObject | Promise<KubeObject> {
  const { resource, context: { warnings } } = request;
  const before = warnings.length;
  return convertAsNeeded(resource, () => {
    warnings.length = before;
    return request.transform(cloneJson(old));
  });
}

async function createAbsent({ core, request, scope }: Round): Promise<Outcome> {
  const { resource, name, context } = request;
  const object = request.transform(undefined);
  if (request.managedFields === 'keep' && object.metadata.uid) {
    const why = `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`;
    throw conflict(groupResource(resource), name, why);
  }
  checkIdentity(request, name, object);
  delete object.metadata.resourceVersion;
  return { type: 'written', result: await createPrepared(core,
    { scope, object, context, managedFields: request.managedFields ?? 'update', authorize: context.authorizeCreate }) };
}

/** Has what is being written decoded for the next update of the object. */
function expectNext({ core, request, scope, key }: Round, value: Uint8Array): ((revision: number) => void) | undefined {
  if (scope.storage.resource.convertRemotely !== undefined) return undefined;
  const decode = (): KubeObject => scope.show(scope.storage.decode({ key, value, modRevision: 1 })).object(request.version);
  return core.hot.expect({ key, form: { resource: request.resource, version: request.version }, bytes: value.length, decode });
}

async function commit({ core, request, scope, key, current }: Round,
  { object, old }: { readonly object: KubeObject; readonly old: KubeObject }): Promise<Outcome> {
  const { storage } = scope;
  const expect = (current as StoredVersion).revision;
  const show = (value: Uint8Array, modRevision: number): WriteResult => ({ object: scope.show(storage.decode({ key, value, modRevision })), created: false });
  const removes = completesDeletion(request.resource, object, old);
  if (!removes && sameContent(object, old) && (request.context.dryRun || !(await core.isOutdated(storage, key)))) {
    return { type: 'unchanged', result: { object: scope.show(current as StoredVersion), created: false } };
  }
  const value = encodeWritten(storage.layout, await convertToStore(request, storage.resource, object), request.version);
  if (request.context.dryRun) return { type: 'unchanged', result: show(value, expect) };
  const writing = core.store.txn(removes ? { key, expect } : { key, expect, value, ttlSeconds: storage.resource.ttlSeconds });
  const tell = removes ? undefined : expectNext({ core, request, scope, key, current }, value);
  const result = await writing;
  if (result.type === 'conflict') return again;
  tell?.(result.revision);
  if (removes) await releaseRemoved(core, storage.resource, () => object);
  // The reference answers a removal with the object of the request, at the revision that it had.
  return { type: 'written', result: show(value, removes ? expect : result.revision) };
}

/** Admission of an update. */
function updateAttributes({ request }: Round, object: KubeObject, oldObject: KubeObject): AdmissionAttributes {
  const { resource, version, namespace, subresource, name, context } = request;
  return { resource, version, namespace, operation: 'UPDATE', subresource, name, object, oldObject, context };
}

async function runRound(round: Round): Promise<Outcome> {
  const { core, request, scope, current } = round;
  if (current !== undefined) await readyVersion(current, request.version, scope.storage.resource.storageVersion);
  // What is not there is not found, whichever uid it should have had; only who may create is told that it is another one.
  if (current === undefined && !request.createIfAbsent) throw notFound(groupResource(request.resource), request.name);
  checkPreconditions(round);
  if (current === undefined) return createAbsent(round);
  const pause = createTimeSlice(core.clock, writeTurnMs);
  const old = core.hot.take(round.key, request, current.revision) ?? scope.show(current).object(request.version);
  await pause();
  const object = await transform(round, old);
  await pause();
  checkIdentity(request, request.name, object);
  dedupeOwners(object, request.context.warnings);
  await setManagedFields(round, object, old);
  await pause();
  dropEmptyLists(request, object);
  const attributes = updateAttributes(round, object, old);
  await core.options.admission.mutate(attributes);
  checkVersion(round, object);
  return withReservation(core, attributes,
    { write: () => storeReserved(round, attributes, { object, old, pause }), isWritten: (outcome) => outcome.type === 'written' });
}

async function storeReserved(round: Round, attributes: AdmissionAttributes,
  { object, old, pause }: { readonly object: KubeObject; readonly old: KubeObject; readonly pause: () => Promise<void> | undefined }): Promise<Outcome> {
  const { core, request } = round;
  const write: Write = { target: request, subresource: request.subresource, context: request.context, nowMs: core.clock.now(), pause };
  prepareForUpdate(object, old, write);
  await pause();
  const preparation = prepareValidation(object, old, write);
  if (preparation !== undefined) await preparation;
  validateUpdate(object, old, write);
  await pause();
  await core.options.admission.validate(attributes);
  checkSignal(request.context.signal);
  return writeFitting(object, () => commit(round, { object, old }));
}

/** True when the store still has what the round worked on. */
async function isCurrent({ core, scope, key, current }: Round): Promise<boolean> {
  return (await core.readStored(scope.storage, key))?.revision === current?.revision;
}

/** A round on an object that may be old: its failures and its `unchanged` count only if it was not. */
async function runDoubtfulRound(round: Round): Promise<Outcome> {
  const { warnings } = round.request.context;
  const before = warnings.length;
  try {
    const outcome = await runRound(round);
    if (outcome.type !== 'unchanged' || (await isCurrent(round))) return outcome;
  } catch (error) {
    if (await isCurrent(round)) throw error;
  }
  warnings.length = before;
  return again;
}

/** Registry.update. */
export async function updateObject(core: Core, request: UpdateRequest): Promise<WriteResult> {
  const { resource, version, namespace, name } = request;
  const scope = core.scope({ resource, version, namespace });
  const { storage } = scope;
  const key = objectKey(core.root, storage.resource, { namespace, name });
  const cached = storage.cache.get(key)?.value;
  const { warnings, signal } = request.context;
  if (cached !== undefined) {
    const outcome = await runDoubtfulRound({ core, request, scope, key, current: cached });
    if (outcome.type !== 'again') return outcome.result;
  }
  for (;;) {
    checkSignal(signal);
    const before = warnings.length;
    const outcome = await runRound({ core, request, scope, key, current: await core.readStored(storage, key) });
    if (outcome.type !== 'again') return outcome.result;
    warnings.length = before;
  }
}
