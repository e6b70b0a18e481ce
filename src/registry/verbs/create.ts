// Registry.create, and the creation that an update of an absent object turns into. Order, as in the reference: managedFields, admission
// mutates, identity, strategy, validation, admission validates, store. A generated name that is taken is tried again, up to eight times.
import { trackOwners } from '../objects/restartable-conversion.ts';
import type { AdmissionAttributes, CreateRequest, Target, WriteContext, WriteResult } from '../contract.ts';
import { type Core, type RequestScope, checkSignal, writeTurnMs } from '../core.ts';
import { nameTaken } from '../errors.ts';
import { isSafeSegment, objectKey } from '../objects/keys.ts';
import { encodeWritten } from '../objects/layout.ts';
import { checkNamespace, dedupeOwners, fillSystemFields, wipeSystemFields } from '../metadata.ts';
import { plainError, resourceVersionProblem } from '../options.ts';
import { type Write, dropEmptyLists, prepareForCreate, prepareValidation, validateCreate } from './prepare.ts';
import { withReservation } from './reserve.ts';
import { convertToStore } from '../objects/remote-conversion.ts';
import { writeFitting } from '../objects/too-large.ts';
import { cloneJson } from '../values.ts';
import { type KubeObject, invalid, invalidValue } from '../../apimachinery/index.ts';
import { type MaybePromise, createTimeSlice, mapMaybe, runInOrder } from '../../base/index.ts';

const nameAttempts = 8;

interface Creation {
  readonly scope: RequestScope;
  readonly object: KubeObject;
  readonly context: WriteContext;
  /** How managedFields came about; `keep`: they are right already. */
  readonly managedFields: 'update' | 'keep';
  /** Throws when the writer, who was allowed to update, may not create. */
  readonly authorize: (() => Promise<void>) | undefined;
}

/** One try at it, with the name that it has. */
interface Attempt extends Pick<Creation, 'scope' | 'context' | 'authorize'> {
  readonly object: KubeObject;
  /** A turn for others, when one is due. */
  readonly pause: () => Promise<void> | undefined;
}

/** Admission of a creation. */
function creationAttributes(target: Target, object: KubeObject, context: WriteContext): AdmissionAttributes {
  const { resource, version, namespace } = target;
  return { resource, version, namespace, operation: 'CREATE', subresource: '', name: object.metadata.name ?? '', object, oldObject: undefined, context };
}

/** The client's resourceVersion as a number; 0 when it is none. */
function givenVersion(object: KubeObject): number {
  const text = object.metadata.resourceVersion ?? '';
  return text !== '' && resourceVersionProblem(text) === undefined ? Number(text) : 0;
}

function storeNew(core: Core, attempt: Attempt): MaybePromise<WriteResult | undefined> {
  const { scope: { storage, target }, object } = attempt;
  const { name = '', namespace = '' } = object.metadata;
  // Validation has passed; names that are no path segment can only come from kinds whose rule is wrong.
  if (!isSafeSegment(name)) throw invalid({ group: target.resource.group, kind: target.resource.kind }, name, [invalidValue('metadata.name', name)]);
  const key = objectKey(core.root, storage.resource, { namespace, name });
  return mapMaybe(convertToStore(target, storage.resource, object), (stored) =>
    putNew(core, attempt, { key, value: encodeWritten(storage.layout, stored, target.version) }));
}

async function putNew(core: Core, { scope, object, context }: Attempt,
  { key, value }: { readonly key: string; readonly value: Uint8Array }): Promise<WriteResult | undefined> {
  const { storage } = scope;
  const revision = givenVersion(object);
  if (context.dryRun) {
    if ((await core.readStored(storage, key)) !== undefined) return undefined;
    return { object: scope.show(storage.decode({ key, value, modRevision: revision })), created: true };
  }
  if (revision !== 0) throw plainError('resourceVersion should not be set on objects to be created');
  const result = await core.store.txn({ key, expect: 0, value, ttlSeconds: storage.resource.ttlSeconds });
  if (result.type === 'conflict') return undefined;
  return { object: scope.show(storage.decode({ key, value, modRevision: result.revision })), created: true };
}

async function refuseTaken(core: Core, { scope, object }: Attempt): Promise<never> {
  const { storage, target } = scope;
  const { name = '', namespace = '', generateName } = object.metadata;
  const existing = await core.readStored(storage, objectKey(core.root, storage.resource, { namespace, name }));
  const terminating = existing?.object(storage.resource.storageVersion).metadata.deletionTimestamp !== undefined;
  throw nameTaken({ resource: target.resource, name, generated: !!generateName, terminating });
}

/** Answers undefined when the name is taken. */
function tryCreate(core: Core, attempt: Attempt): MaybePromise<WriteResult | undefined> {
  const { scope, object, context } = attempt;
  fillSystemFields(object, { clock: core.clock, random: core.options.random });
  const attributes = creationAttributes(scope.target, object, context);
  return withReservation(core, attributes, { write: () => storeReserved(core, attempt, attributes), isWritten: (result) => result !== undefined });
}

function storeReserved(core: Core, attempt: Attempt, attributes: AdmissionAttributes): MaybePromise<WriteResult | undefined> {
  const { scope, object, context, authorize, pause } = attempt;
  const write: Write = { target: scope.target, subresource: '', context, nowMs: core.clock.now(), pause };
  const steps = runInOrder([
    () => prepareForCreate(object, write),
    pause,
    () => prepareValidation(object, undefined, write),
    () => validateCreate(object, write),
    pause,
    () => authorize?.(),
    () => core.options.admission.validate(attributes),
    () => checkSignal(context.signal),
  ]);
  return mapMaybe(steps, () => writeFitting(object, () => storeNew(core, attempt)));
}

/** Creates an object that is known to be where its request points. Takes `object` over. */
export function createPrepared(core: Core, creation: Creation): MaybePromise<WriteResult> {
  const { scope, object, context, authorize } = creation;
  const { target } = scope;
  const pause = createTimeSlice(core.clock, writeTurnMs);
  const steps = runInOrder([
    () => wipeSystemFields(object),
    () => dedupeOwners(object, context.warnings),
    () => creation.managedFields === 'update' && nameFirstOwner(core, creation),
    pause,
    () => dropEmptyLists(target, object),
    () => core.options.admission.mutate(creationAttributes(target, object, context)),
  ]);
  return mapMaybe(steps, () => createNamed(core, { scope, object, context, authorize, pause }));
}

function nameFirstOwner(core: Core, { scope: { target: { resource, version } }, object, context: { fieldManager: manager } }: Creation): MaybePromise<void> {
  const track = () => core.options.trackUpdate({ resource, version, subresource: '', manager, nowMs: core.clock.now(), old: undefined, object });
  return mapMaybe(trackOwners(resource, track), (managedFields) => {
    if (managedFields === undefined) delete object.metadata.managedFields;
    else object.metadata.managedFields = managedFields;
  });
}

function createNamed(core: Core, wanted: Attempt): MaybePromise<WriteResult> {
  const { name, generateName } = wanted.object.metadata;
  if (!name && generateName) return createGenerated(core, wanted);
  return mapMaybe(tryCreate(core, wanted), (result) => result ?? refuseTaken(core, wanted));
}

async function createGenerated(core: Core, wanted: Attempt): Promise<WriteResult> {
  for (let attempt = 1; ; attempt++) {
    const candidate: Attempt = { ...wanted, object: cloneJson(wanted.object) };
    const result = await tryCreate(core, candidate);
    if (result !== undefined) return result;
    if (attempt === nameAttempts) return refuseTaken(core, candidate);
  }
}

/** Registry.create. */
export function createObject(core: Core, request: CreateRequest): MaybePromise<WriteResult> {
  const { resource, version, namespace, object, context } = request;
  const scope = core.scope({ resource, version, namespace });
  checkNamespace(request, object);
  return createPrepared(core, { scope, object, context, managedFields: 'update', authorize: undefined });
}
