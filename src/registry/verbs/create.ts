// Registry.create, and the creation that an update of an absent object turns into. The steps, in the reference's order:
//
//   prepare ─▶ managed fields ─▶ mutating admission ─▶ identity ─▶ reserve ─▶ strategy ─▶ validate ─▶ validating admission ─▶ commit ─▶ respond
//                                                      └──────────── again, up to eight times, for a generated name that is taken ────┘
import type { AdmissionAttributes, CreateRequest, Target, UnreadParts, WriteContext, WriteResult } from '../contract.ts';
import { type Core, type RequestScope, checkSignal } from '../core.ts';
import { nameTaken } from '../errors.ts';
import { emptiedMetadata } from '../fields/emptied-metadata.ts';
import { setManagedFields } from '../fields/managed-fields.ts';
import { checkNamespace, dedupeOwners, fillSystemFields, wipeSystemFields } from '../metadata.ts';
import { ComputedObject } from '../objects/computed-object.ts';
import { foresee } from '../objects/decoded-object-cache.ts';
import { isSafeSegment, objectKey } from '../objects/keys.ts';
import { encodeWritten } from '../objects/layout.ts';
import { convertToStore } from '../conversion/remote-conversion.ts';
import { checkNameLength, checkSize, writeFitting } from '../objects/too-large.ts';
import { UnreadableObject } from '../objects/unreadable-object.ts';
import { plainError, resourceVersionProblem } from '../options.ts';
import { cloneJson } from '../values.ts';
import { createAttributes, mutate, validate } from './admit.ts';
import { type Write, dropEmptyLists, prepareForCreate, prepareValidation, startWrite, validateCreate } from './prepare.ts';
import { withReservation } from './reserve.ts';
import { type KubeObject, invalid, invalidValue } from '../../apimachinery/index.ts';

const NAME_ATTEMPTS = 8;

interface Creation {
  readonly scope: RequestScope;
  readonly object: KubeObject;
  readonly context: WriteContext;
  /** How managedFields are computed; with `keep` the object has them. */
  readonly managedFields: 'update' | 'keep';
  readonly isPatch: boolean;
  readonly unread?: UnreadParts | undefined;
  /** The path that the creation came by: '' but for an update of the status of a kind that updates create. */
  readonly subresource?: string;
  /** Name in the path; '' for a POST to a collection. */
  readonly pathName: string;
  /** Throws when the user may update but not create. */
  readonly authorize: (() => Promise<void>) | undefined;
}

/** One try to create an object, with the name that it has. */
interface Attempt {
  readonly core: Core;
  readonly creation: Creation;
  readonly write: Write;
  /** What admission sees of the create, whatever the name. */
  readonly attributes: AdmissionAttributes;
  readonly object: KubeObject;
}

/** Registry.create. */
export async function createObject(core: Core, request: CreateRequest): Promise<WriteResult> {
  const { resource, version, namespace, object, context } = request;
  const scope = core.scope({ resource, version, namespace });
  checkNamespace(request, object);
  // Upstream leaves what an update brings that creates the object.
  wipeSystemFields(object);
  return createPrepared(core, { scope, object, context, managedFields: 'update', isPatch: false, pathName: '', authorize: undefined });
}

/** Creates an object that is known to be where its request points. Takes `object` over. */
export async function createPrepared(core: Core, creation: Creation): Promise<WriteResult> {
  const { scope, object, context, subresource = '' } = creation;
  const write = startWrite(core, { target: scope.target, subresource, name: creation.pathName || (object.metadata.name ?? ''), context });
  if (!context.dryRun) delete object.metadata.selfLink;
  if (!creation.isPatch) dedupeOwners(object, context.warnings, 'beforeAdmission');
  if (creation.managedFields === 'update') await setManagedFields(core, write, { object, old: undefined });
  await write.pause();
  const attributes = createAttributes(write, { operation: 'CREATE', object, oldObject: undefined });
  const mutated = await mutate(write, attributes, object);
  checkNamespace(scope.target, mutated);
  return createNamed({ core, creation, write: { ...write, problems: attributes.problems }, attributes, object: mutated });
}

async function createNamed(attempt: Attempt): Promise<WriteResult> {
  const { name, generateName } = attempt.object.metadata;
  const isGenerated = !name && !!generateName;
  for (let attempts = 1; ; attempts++) {
    const candidate = isGenerated ? { ...attempt, object: cloneJson(attempt.object) } : attempt;
    const result = await tryCreate(candidate);
    if (result !== undefined) return result;
    if (!isGenerated || attempts === NAME_ATTEMPTS) return refuseTaken(candidate);
  }
}

/** Answers undefined when the name is taken. */
async function tryCreate(attempt: Attempt): Promise<WriteResult | undefined> {
  const { core, attributes, object } = attempt;
  fillSystemFields(object, { clock: core.clock, random: core.options.random });
  attributes.object = object;
  return withReservation(core, attributes, { write: () => storeReserved(attempt), isWritten: (result) => result !== undefined });
}

async function storeReserved(attempt: Attempt): Promise<WriteResult | undefined> {
  const { creation, write, attributes, object } = attempt;
  prepareForCreate(object, write);
  await write.pause();
  await prepareValidation(object, undefined, write);
  validateCreate(object, write);
  await write.pause();
  await creation.authorize?.();
  await validate(write, attributes, object);
  checkSignal(write.context.signal);
  return writeFitting(object, creation, () => commit(attempt));
}

/** The client's resourceVersion as a number; 0 when it is none. */
function givenRevision(object: KubeObject): number {
  const text = object.metadata.resourceVersion ?? '';
  return text !== '' && resourceVersionProblem(text) === undefined ? Number(text) : 0;
}

async function commit({ core, creation, object, write: { context, pause } }: Attempt): Promise<WriteResult | undefined> {
  const { scope, managedFields, unread, pathName } = creation;
  const { storage, target } = scope;
  const { name = '', namespace = '' } = object.metadata;
  // Validation has passed; names that are no path segment can only come from kinds whose rule is wrong.
  if (!isSafeSegment(name)) throw invalid({ group: target.resource.group, kind: target.resource.kind }, name, [invalidValue('metadata.name', name)]);
  const key = objectKey(core.root, storage.resource, { namespace, name });
  checkNameLength(target.resource, name, key);
  dropEmptyLists(target, object);
  // Storing what an update creates drops the resourceVersion that it was sent with; a dry run shows it.
  if (pathName !== '' && !context.dryRun) delete object.metadata.resourceVersion;
  target.resource.strategy.completeStored?.(object);
  const mayHoldNulls = target.resource.custom && managedFields === 'keep';
  const emptied = unread && emptiedMetadata({ ...target, subresource: '' }, object, unread);
  const { isAsRead, ...encoded } = encodeWritten(storage.layout, await convertToStore(target, storage.resource, object),
    { version: target.version, mayHoldNulls, emptied, hasUnknown: unread?.hasUnknown });
  checkSize(encoded.json);
  await pause();
  const revision = givenRevision(object);
  const read = context.dryRun ? storage.fromJson : storage.fromWritten;
  const show = (modRevision: number): WriteResult => ({ object: scope.show(read({ key, value: encoded.json, modRevision }, encoded.isOwn)), created: true });
  if (context.dryRun) return (await core.readValue(key)) === undefined ? showSent(target, object, show) : undefined;
  if (revision !== 0) throw plainError('resourceVersion should not be set on objects to be created');
  const value = await storage.codec.encode(encoded, key);
  if (isAsRead) foresee(core, { key, value, target, storage, encoded, isUpdate: false });
  const result = await core.commit({ key, expect: 0, value, ttlSeconds: storage.resource.ttlSeconds });
  if (result.type === 'conflict') return undefined;
  context.noteRevision?.(result.revision);
  return show(result.revision);
}

/** A dry run shows the resourceVersion as it was sent, also one that no object can have. */
function showSent({ resource, version }: Target, sent: KubeObject, show: (revision: number) => WriteResult): WriteResult {
  const revision = givenRevision(sent);
  const { resourceVersion = '' } = sent.metadata;
  if (resourceVersion === '' || (revision !== 0 && resourceVersion === String(revision))) return show(revision);
  // Any revision gives the text its place.
  const object = show(1).object.object(version);
  object.metadata.resourceVersion = resourceVersion;
  return { object: new ComputedObject(resource, object), created: true };
}

async function refuseTaken({ core, creation: { scope }, object }: Attempt): Promise<never> {
  const { storage, target } = scope;
  const { name = '', namespace = '', generateName } = object.metadata;
  const existing = await core.readStored(storage, objectKey(core.root, storage.resource, { namespace, name }));
  const isReadable = existing !== undefined && !(existing instanceof UnreadableObject);
  const terminating = isReadable && existing.object(storage.resource.storageVersion).metadata.deletionTimestamp !== undefined;
  throw nameTaken({ resource: target.resource, name, generated: !!generateName, terminating });
}
