// The one write loop: read, transform, admit, validate, commit if unchanged, else go round again with the fresh object. PUT, every patch,
// apply and subresources are transforms; an update that takes the last finalizer of a deleted object away removes it.
//
// The first round works on the cache's object, which may be old. Whatever it leads to is believed only if it commits (the txn expects the
// revision that was read) or if the store says that the object was current; otherwise the next round works on what the store has.
import { type KubeObject, conflict, invalid, invalidValue, notFound } from '../apimachinery/index.ts';
import { convertAsNeeded, trackOwners } from './as-needed.ts';
import type { AdmissionAttributes, UpdateRequest, WriteResult } from './contract.ts';
import { type Core, type Place, checkSignal, writeTurnMs } from './core.ts';
import { type Soon, createPacer, follow } from '../base/index.ts';
import { createPrepared } from './create.ts';
import { groupResource, modifiedConflict, preconditionConflict } from './errors.ts';
import { defaultRoot, objectKey } from './keys.ts';
import { encodeWritten, sameContent } from './layout.ts';
import { completesDeletion, preconditionProblem } from './lifecycle.ts';
import { checkIdentity, dedupeOwners } from './metadata.ts';
import type { StoredVersion } from './object-version.ts';
import { plainError, resourceVersionProblem } from './options.ts';
import { type Write, dropEmptyLists, prepareForUpdate, prepareValidation, validateUpdate } from './prepare.ts';
import { convertToStore, readyVersion } from './remote.ts';
import { writeFitting } from './too-large.ts';
import { releaseRemoved, withReservation } from './reserve.ts';
import { cloneJson } from './values.ts';

interface Round {
  readonly core: Core;
  readonly request: UpdateRequest;
  readonly place: Place;
  readonly key: string;
  /** Whether `current` came from the store itself. */
  readonly current: StoredVersion | undefined;
}

/** `again`: somebody else was faster. `unchanged` wrote nothing, and is only as true as the object it was compared with. */
type Outcome = { readonly type: 'again' } | { readonly type: 'written' | 'unchanged'; readonly result: WriteResult };

const again: Outcome = { type: 'again' };

function checkPreconditions({ core, request, place, key, current }: Round): void {
  if (request.preconditions === undefined) return;
  const meta = current?.object(place.shelf.resource.storageVersion).metadata ?? {};
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

function setManagedFields({ core, request }: Round, object: KubeObject, old: KubeObject): Soon<void> {
  if (request.managedFields === 'keep') {
    if (object.metadata.managedFields === undefined) delete object.metadata.managedFields;
    return;
  }
  const { resource, version, subresource, context } = request;
  const track = () => core.options.trackUpdate({ resource, version, subresource, manager: context.fieldManager, nowMs: core.clock.now(), old, object });
  return follow(trackOwners(resource, track), (fields) => {
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

async function createAbsent({ core, request, place }: Round): Promise<Outcome> {
  const { resource, name, context } = request;
  const object = request.transform(undefined);
  if (request.managedFields === 'keep' && object.metadata.uid) {
    const why = `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`;
    throw conflict(groupResource(resource), name, why);
  }
  checkIdentity(request, name, object);
  delete object.metadata.resourceVersion;
  return { type: 'written', result: await createPrepared(core,
    { place, object, context, managedFields: request.managedFields ?? 'update', authorize: context.authorizeCreate }) };
}

/** Has what is being written decoded for the next update of the object. */
function expectNext({ core, request, place, key }: Round, value: Uint8Array): ((revision: number) => void) | undefined {
  if (place.shelf.resource.convertRemotely !== undefined) return undefined;
  const decode = (): KubeObject => place.show(place.shelf.decode({ key, value, modRevision: 1 })).object(request.version);
  return core.hot.expect({ key, form: { resource: request.resource, version: request.version }, bytes: value.length, decode });
}

async function commit({ core, request, place, key, current }: Round,
  { object, old }: { readonly object: KubeObject; readonly old: KubeObject }): Promise<Outcome> {
  const { shelf } = place;
  const expect = (current as StoredVersion).revision;
  const show = (value: Uint8Array, modRevision: number): WriteResult => ({ object: place.show(shelf.decode({ key, value, modRevision })), created: false });
  const removes = completesDeletion(request.resource, object, old);
  if (!removes && sameContent(object, old) && (request.context.dryRun || !(await core.isOutdated(shelf, key)))) {
    return { type: 'unchanged', result: { object: place.show(current as StoredVersion), created: false } };
  }
  const value = encodeWritten(shelf.layout, await convertToStore(request, shelf.resource, object), request.version);
  if (request.context.dryRun) return { type: 'unchanged', result: show(value, expect) };
  const writing = core.store.txn(removes ? { key, expect } : { key, expect, value, ttlSeconds: shelf.resource.ttlSeconds });
  const tell = removes ? undefined : expectNext({ core, request, place, key, current }, value);
  const result = await writing;
  if (result.type === 'conflict') return again;
  tell?.(result.revision);
  if (removes) await releaseRemoved(core, shelf.resource, () => object);
  // The reference answers a removal with the object of the request, at the revision that it had.
  return { type: 'written', result: show(value, removes ? expect : result.revision) };
}

/** Admission of an update. */
function updateAttributes({ request }: Round, object: KubeObject, oldObject: KubeObject): AdmissionAttributes {
  const { resource, version, namespace, subresource, name, context } = request;
  return { resource, version, namespace, operation: 'UPDATE', subresource, name, object, oldObject, context };
}

async function runRound(round: Round): Promise<Outcome> {
  const { core, request, place, current } = round;
  if (current !== undefined) await readyVersion(current, request.version, place.shelf.resource.storageVersion);
  // What is not there is not found, whichever uid it should have had; only who may create is told that it is another one.
  if (current === undefined && !request.createIfAbsent) throw notFound(groupResource(request.resource), request.name);
  checkPreconditions(round);
  if (current === undefined) return createAbsent(round);
  const pause = createPacer(core.clock, writeTurnMs);
  const old = core.hot.take(round.key, request, current.revision) ?? place.show(current).object(request.version);
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
async function isCurrent({ core, place, key, current }: Round): Promise<boolean> {
  return (await core.readStored(place.shelf, key))?.revision === current?.revision;
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
  const place = core.place({ resource, version, namespace });
  const { shelf } = place;
  const key = objectKey(core.root, shelf.resource, { namespace, name });
  const cached = shelf.cache.get(key)?.value;
  const { warnings, signal } = request.context;
  if (cached !== undefined) {
    const outcome = await runDoubtfulRound({ core, request, place, key, current: cached });
    if (outcome.type !== 'again') return outcome.result;
  }
  for (;;) {
    checkSignal(signal);
    const before = warnings.length;
    const outcome = await runRound({ core, request, place, key, current: await core.readStored(shelf, key) });
    if (outcome.type !== 'again') return outcome.result;
    warnings.length = before;
  }
}
