// From what a client wants to what may be stored: which parts of an object a path may change, generation, and validation.
// The main path keeps the stored status, the status path keeps everything else; what a kind does differently is in its strategy.
import {
  type FieldError, type KubeObject, type Schema, decodeObject, equalJson, formatGroupVersion, invalid, invalidValue, nullEmptyLists, parseGroupVersion,
  validateObjectMeta, validateObjectMetaUpdate,
} from '../../apimachinery/index.ts';
import { createTimeSlice, invariant } from '../../base/index.ts';
import type { ObjectType, Target } from '../contract.ts';
import { type Core, WRITE_TURN_MS, checkSignal } from '../core.ts';
import { finalizerWarnings } from '../metadata.ts';
import { type MetadataCheck, type Resource, type StrategyContext, subresourcesIn, versionIn } from '../resource.ts';
import { cloneJson } from '../values.ts';
import type { Admitted } from './admit.ts';

const metadataChecks: readonly MetadataCheck[] = ['update', 'kind', 'object'];
const customMetadataChecks: readonly MetadataCheck[] = ['lenient-update', 'kind'];
const statusMetadataChecks: readonly MetadataCheck[] = ['update', 'lenient-update', 'kind'];

/** One write, or one round of an update: what its steps share. */
export interface Write extends Admitted {
  readonly nowMs: number;
  /** A turn for others, when one is due. */
  readonly pause: () => Promise<void> | undefined;
  /** The type that the client gave to a custom resource, where it is not its own. */
  readonly otherType?: ObjectType | undefined;
  /** What admission has found wrong with the object. */
  readonly problems?: readonly FieldError[] | undefined;
}

/**
 * Begins a write: its owners and its strategy have one time (a creationTimestamp is that after admission, as in the reference), and its steps hold
 * the event loop for WRITE_TURN_MS at a time.
 */
export function startWrite({ clock, options }: Core, write: Omit<Admitted, 'admission'>): Write {
  return { admission: options.admission, nowMs: clock.now(), pause: createTimeSlice(clock, WRITE_TURN_MS), ...write };
}

const hasStatus = ({ resource, version }: Pick<Target, 'resource' | 'version'>): boolean =>
  subresourcesIn(resource, version).some((s) => s.name === 'status');

function strategyContext({ target, subresource, context, nowMs }: Write): StrategyContext {
  const warn = (text: string): void => void context.warnings.push(text);
  return { nowMs, namespace: target.namespace, user: context.user, version: target.version, subresource, warn };
}

const zeroStatuses = new WeakMap<Schema, { readonly status: unknown }>();

/** The status of an object of this schema before it is set: absent, or its zero value where the kind always writes one. */
function zeroStatus({ resource, version }: Target): unknown {
  if (resource.custom) return undefined;
  const schema = versionIn(resource, version)?.schema;
  invariant(schema !== undefined, `${resource.plural} has no version ${version}`);
  let zero = zeroStatuses.get(schema);
  if (zero === undefined) zeroStatuses.set(schema, (zero = { status: decodeObject(schema, { metadata: {} }).object['status'] }));
  return cloneJson(zero.status);
}

/** Makes empty lists what they are once stored, in place; before, they are what the client sent, which owners depend on. */
export function dropEmptyLists({ resource, version }: Target, object: KubeObject): void {
  const schema = versionIn(resource, version)?.schema;
  if (schema !== undefined && !resource.custom) nullEmptyLists(schema, object);
}

function setStatus(object: KubeObject, status: unknown): void {
  if (status === undefined) delete object['status'];
  else object['status'] = status;
}

/** Makes a new object what may be stored, in place. */
export function prepareForCreate(object: KubeObject, write: Write): void {
  const { resource } = write.target;
  if (hasStatus(write.target) && resource.statusOnCreate !== true) setStatus(object, zeroStatus(write.target));
  if (resource.tracksGeneration) object.metadata.generation = 1;
  resource.strategy.prepareForCreate?.(object, strategyContext(write));
}

/** Lets the kind do the long part of its validation in turns; undefined where it has none. */
export function prepareValidation(object: KubeObject, old: KubeObject | undefined, write: Write): Promise<void> | undefined {
  const { strategy } = write.target.resource;
  return strategy.prepareValidation?.(object, { old, context: strategyContext(write), pause: () => {
    checkSignal(write.context.signal);
    return write.pause();
  } });
}

/** Throws 422 with all that is wrong with a new object; adds its warnings. */
export function validateCreate(object: KubeObject, write: Write): void {
  const { target: { resource }, context, problems = [] } = write;
  // Kinds whose updates do without the rule for finalizers do so from the start.
  const isLoose = resource.metadataChecks?.every((check) => check !== 'object' && check !== 'update') === true;
  const named = resource.strategy.validateName?.(object) ?? [];
  const rules = { namespaced: resource.namespaced, nameRule: resource.nameRule, custom: resource.custom || isLoose, named };
  const errors = resource.strategy.validate?.(object, strategyContext(write)) ?? [];
  // Kinds that leave metadata alone have it checked once all else is right.
  if (resource.metadataChecks?.every((check) => check === 'kind') === true) throwInvalid(resource, object, errors);
  throwInvalid(resource, object, [...problems, ...validateObjectMeta(object.metadata, rules), ...errors]);
  // A name without a rule of its kind has to be part of a path all the same.
  if (resource.nameRule === 'any') throwInvalid(resource, object, validateObjectMeta(object.metadata, { ...rules, nameRule: 'path-segment' }));
  context.warnings.push(...(resource.strategy.warnings?.(object, undefined, strategyContext(write)) ?? []), ...finalizerWarnings(resource, object, undefined));
}

/** Errors call an object by the group that stores it. */
const groupOfErrors = ({ group, storedAs }: Named): string => (storedAs === undefined ? group : storedAs.slice(0, storedAs.indexOf('/')));

type Named = Pick<Resource, 'group' | 'kind' | 'storedAs'>;

function throwInvalid(resource: Named, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: groupOfErrors(resource), kind: resource.kind }, object.metadata.name ?? '', errors);
}

/** Everything but metadata and status from `old`, as status paths of built-in kinds work. */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  const { metadata, status } = object;
  for (const key of Object.keys(object)) delete object[key];
  // Members stay in the order in which they are stored.
  Object.assign(object, old, { metadata, status });
  if (status === undefined) delete object['status'];
}

/** The status path of custom resources takes the status and nothing else, whatever the client changed in metadata. */
function keepCustomMetadata(object: KubeObject, old: KubeObject): void {
  const { managedFields, resourceVersion } = object.metadata;
  object.metadata = cloneJson(old.metadata);
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
}

/** Paths whose body is the parent's kind and that leave the status alone. */
const mainPaths = new Set(['', 'scale', 'finalize']);

function isolate(object: KubeObject, old: KubeObject, { target, subresource }: Write): void {
  if (subresource === 'status') {
    keepAllButStatus(object, old);
    if (target.resource.custom) keepCustomMetadata(object, old);
  } else if (mainPaths.has(subresource) && hasStatus(target)) setStatus(object, cloneJson(old['status']));
}

/** True when something differs for which generation grows: everything but metadata, and status where it has a path of its own. */
function contentDiffers(target: Target, object: KubeObject, old: KubeObject): boolean {
  const withStatus = target.resource.custom && !hasStatus(target);
  const content = ({ metadata: _m, kind: _k, apiVersion: _a, status, ...rest }: KubeObject): unknown => (withStatus ? { ...rest, status } : rest);
  return !equalJson(content(object), content(old));
}

function restoreMetadata(object: KubeObject, old: KubeObject): void {
  const [meta, before] = [object.metadata, old.metadata];
  if (!meta.uid && before.uid !== undefined) meta.uid = before.uid;
  if (before.creationTimestamp !== undefined) meta.creationTimestamp = before.creationTimestamp;
  if (before.deletionTimestamp !== undefined) meta.deletionTimestamp = before.deletionTimestamp;
  if (before.deletionGracePeriodSeconds !== undefined) meta.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds;
}

/** Paths whose writes are no new intent: generation stays. */
const uncounted = new Set(['status', 'binding']);

/** Makes the update of `old` what may be stored, in place. */
export function prepareForUpdate(object: KubeObject, old: KubeObject, write: Write): void {
  const { resource } = write.target;
  if (old.metadata.generation === undefined) delete object.metadata.generation;
  else object.metadata.generation = old.metadata.generation;
  isolate(object, old, write);
  resource.strategy.prepareForUpdate?.(object, old, strategyContext(write));
  restoreMetadata(object, old);
  const untouched = object.metadata.generation === old.metadata.generation;
  const isCounted = resource.tracksGeneration && untouched && !uncounted.has(write.subresource);
  if (isCounted && contentDiffers(write.target, object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** The problems of the type that a client gave to a custom resource. */
function validateType({ kind, apiVersion }: ObjectType, { resource, version }: Target): readonly FieldError[] {
  const wanted = formatGroupVersion({ group: resource.group, version });
  return [
    ...(kind === resource.kind ? [] : [invalidValue('kind', kind, `must be ${resource.kind}`)]),
    ...(apiVersion === wanted ? [] : [invalidValue('apiVersion', apiVersion, `must be ${wanted}`)]),
  ];
}

/**
 * Throws 422 with all that is wrong with an update; adds its warnings. The reference checks metadata for every kind and again in the
 * kind's own validation, so that causes repeat: clients see the same causes here.
 */
export function validateUpdate(object: KubeObject, old: KubeObject, write: Write): void {
  const { target: { resource }, subresource, context } = write;
  const { namespaced, nameRule } = resource;
  const { otherType, problems = [] } = write;
  const run = (check: MetadataCheck): readonly FieldError[] => {
    if (check === 'new') return resource.strategy.validate?.(object, strategyContext(write)) ?? [];
    if (check === 'kind') return resource.strategy.validateUpdate?.(object, old, strategyContext(write)) ?? [];
    if (check === 'update' || check === 'lenient-update') return validateObjectMetaUpdate(object.metadata, old.metadata, check === 'update');
    const named = resource.strategy.validateName?.(object) ?? [];
    return validateObjectMeta(object.metadata, { namespaced, nameRule, custom: check === 'lenient-object', named });
  };
  const ofMain = resource.metadataChecks ?? (resource.custom ? customMetadataChecks : metadataChecks);
  const ofStatus = (): readonly MetadataCheck[] => resource.statusMetadataChecks ?? statusMetadataChecks.filter((check) => ofMain.includes(check));
  // The kind asks for its type before all else, and for nothing else if that is wrong; a status is put into the object as it is.
  const hasOtherType = otherType !== undefined && subresource !== 'status';
  const checks = subresource === 'status' ? ofStatus() : hasOtherType ? [] : ofMain;
  const errors = validateObjectMeta(object.metadata, { namespaced, nameRule: 'path-segment', custom: true });
  errors.push(...run('lenient-update'), ...problems, ...checks.flatMap(run));
  if (hasOtherType) errors.push(...validateType(otherType, write.target));
  const { group = '' } = parseGroupVersion(otherType?.apiVersion ?? '') ?? {};
  throwInvalid(otherType === undefined ? resource : { group, kind: otherType.kind ?? '' }, object, errors);
  context.warnings.push(...(resource.strategy.warnings?.(object, old, strategyContext(write)) ?? []), ...finalizerWarnings(resource, object, old));
}
