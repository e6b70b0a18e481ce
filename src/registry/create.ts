// Registry.create, and the creation that an update of an absent object turns into. Order, as in the reference: managedFields, admission
// mutates, identity, strategy, validation, admission validates, store. A generated name that is taken is tried again, up to eight times.
import { trackOwners } from './as-needed.ts';
import type { AdmissionAttributes, CreateRequest, Target, WriteContext, WriteResult } from './contract.ts';
import { type Core, type Place, checkSignal, writeTurnMs } from './core.ts';
import { nameTaken } from './errors.ts';
import { isSafeSegment, objectKey } from './keys.ts';
import { encodeWritten } from './layout.ts';
import { checkNamespace, dedupeOwners, fillSystemFields, wipeSystemFields } from './metadata.ts';
import { plainError, resourceVersionProblem } from './options.ts';
import { type Write, dropEmptyLists, prepareForCreate, prepareValidation, validateCreate } from './prepare.ts';
import { withReservation } from './reserve.ts';
import { convertToStore } from './remote.ts';
import { writeFitting } from './too-large.ts';
import { cloneJson } from './values.ts';
import { type KubeObject, invalid, invalidValue } from '../apimachinery/index.ts';
import { createPacer } from '../base/index.ts';

const nameAttempts = 8;

interface Creation {
  readonly place: Place;
  readonly object: KubeObject;
  readonly context: WriteContext;
  /** How managedFields came about; `keep`: they are right already. */
  readonly managedFields: 'update' | 'keep';
  /** Throws when the writer, who was allowed to update, may not create. */
  readonly authorize: (() => Promise<void>) | undefined;
}

/** One try at it, with the name that it has. */
interface Attempt extends Pick<Creation, 'place' | 'context' | 'authorize'> {
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

async function storeNew(core: Core, { place, object, context }: Attempt): Promise<WriteResult | undefined> {
  const { shelf, target } = place;
  const { name = '', namespace = '' } = object.metadata;
  // Validation has passed; names that are no path segment can only come from kinds whose rule is wrong.
  if (!isSafeSegment(name)) throw invalid({ group: target.resource.group, kind: target.resource.kind }, name, [invalidValue('metadata.name', name)]);
  const key = objectKey(core.root, shelf.resource, { namespace, name });
  const revision = givenVersion(object);
  const value = encodeWritten(shelf.layout, await convertToStore(target, shelf.resource, object), target.version);
  if (context.dryRun) {
    if ((await core.readStored(shelf, key)) !== undefined) return undefined;
    return { object: place.show(shelf.decode({ key, value, modRevision: revision })), created: true };
  }
  if (revision !== 0) throw plainError('resourceVersion should not be set on objects to be created');
  const { ttlSeconds } = shelf.resource;
  const result = await core.store.txn({ key, expect: 0, value, ...(ttlSeconds !== undefined && { ttlSeconds }) });
  if (result.type === 'conflict') return undefined;
  return { object: place.show(shelf.decode({ key, value, modRevision: result.revision })), created: true };
}

async function takenError(core: Core, { place, object }: Attempt): Promise<Error> {
  const { shelf, target } = place;
  const { name = '', namespace = '', generateName } = object.metadata;
  const existing = await core.readStored(shelf, objectKey(core.root, shelf.resource, { namespace, name }));
  const terminating = existing?.object(shelf.resource.storageVersion).metadata.deletionTimestamp !== undefined;
  return nameTaken({ resource: target.resource, name, generated: !!generateName, terminating });
}

function tryCreate(core: Core, attempt: Attempt): Promise<WriteResult | undefined> {
  const { place, object, context } = attempt;
  fillSystemFields(object, { clock: core.clock, random: core.options.random });
  const attributes = creationAttributes(place.target, object, context);
  return withReservation(core, attributes, { write: () => storeReserved(core, attempt, attributes), isWritten: (result) => result !== undefined });
}

async function storeReserved(core: Core, attempt: Attempt, attributes: AdmissionAttributes): Promise<WriteResult | undefined> {
  const { place, object, context, authorize, pause } = attempt;
  const write: Write = { target: place.target, subresource: '', context, nowMs: core.clock.now(), pause };
  prepareForCreate(object, write);
  await pause();
  const preparation = prepareValidation(object, undefined, write);
  if (preparation !== undefined) await preparation;
  validateCreate(object, write);
  await pause();
  await authorize?.();
  await core.options.admission.validate(attributes);
  checkSignal(context.signal);
  return writeFitting(object, () => storeNew(core, attempt));
}

/** Creates an object that is known to be where its request points. Takes `object` over. */
export async function createPrepared(core: Core, creation: Creation): Promise<WriteResult> {
  const { place, object, context, authorize } = creation;
  const { target } = place;
  const pause = createPacer(core.clock, writeTurnMs);
  wipeSystemFields(object);
  dedupeOwners(object, context.warnings);
  if (creation.managedFields === 'update') {
    const managedFields = await trackOwners(target.resource, () => core.options.trackUpdate({
      resource: target.resource, version: target.version, subresource: '', manager: context.fieldManager, nowMs: core.clock.now(), old: undefined, object,
    }));
    if (managedFields === undefined) delete object.metadata.managedFields;
    else object.metadata.managedFields = managedFields;
  }
  await pause();
  dropEmptyLists(target, object);
  await core.options.admission.mutate(creationAttributes(target, object, context));
  const generates = !object.metadata.name && !!object.metadata.generateName;
  for (let attempt = 1; ; attempt++) {
    const candidate: Attempt = { place, object: generates ? cloneJson(object) : object, context, authorize, pause };
    const result = await tryCreate(core, candidate);
    if (result !== undefined) return result;
    if (!generates || attempt === nameAttempts) throw await takenError(core, candidate);
  }
}

/** Registry.create. */
export async function createObject(core: Core, request: CreateRequest): Promise<WriteResult> {
  const { resource, version, namespace, object, context } = request;
  const place = core.place({ resource, version, namespace });
  checkNamespace(request, object);
  return createPrepared(core, { place, object, context, managedFields: 'update', authorize: undefined });
}
