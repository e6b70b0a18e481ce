// Field management of a row: owners after an update, and server-side apply, over the ladder of apimachinery/apply.
// Knows what the ladder does not: the versions of a kind, what each path of a resource never writes, Scales, kubectl's client-side apply.
import {
  ApplyConflictError, DecodeError, type KubeObject, type ManagedFieldsEntry, type ManagedVersions, PathsByOutline, type ResetFields, type Schema,
  type StatusError, TypedValueError, UnfitVersionError, type Updater, applyConfiguration, decodeObject, emptySet, encodeManager, encodeManagers,
  equalJson, failure, fieldSetOf, formatGroupVersion, managersBefore, outlineOf, parseGroupVersion, typedProblem, updateManagers, withoutOwners,
} from '../../apimachinery/index.ts';
import { isJsonObject } from '../../base/index.ts';
import { convertNow } from '../conversion/restartable-conversion.ts';
import type { TrackUpdate } from '../contract.ts';
import { keepRecord, KUBECTL_MANAGER, unexplainedConflict } from './last-applied.ts';
import { formatTime } from '../timestamps.ts';
import { type Resource, subresourcesIn, versionIn } from '../resource.ts';
import { cloneJson } from '../values.ts';
import { applyScale, toScale, UNSET_REPLICAS } from './scale.ts';
import { ownersOfScaled, SCALE_VERSION, scaleVersions, toOwnedScale } from './scale-owners.ts';

/** The versions of a row as the ladder asks for them. */
interface RowVersions extends ManagedVersions {
  /** The object in which nothing is set but its type: the encoding of Go's zero value. It is shared. */
  zeroOf(apiVersion: string, schema: Schema): KubeObject;
}

const versionsOf = new WeakMap<Resource, RowVersions>();

function managedVersions(resource: Resource): RowVersions {
  let versions = versionsOf.get(resource);
  if (versions === undefined) versionsOf.set(resource, (versions = describeVersions(resource)));
  return versions;
}

function describeVersions(resource: Resource): RowVersions {
  const zeros = new Map<string, KubeObject>();
  const rowOf = (apiVersion: string) => {
    const parsed = parseGroupVersion(apiVersion);
    return parsed?.group === resource.group ? versionIn(resource, parsed.version) : undefined;
  };
  return {
    mayUnfit: resource.custom,
    schemaFor: (apiVersion) => rowOf(apiVersion)?.schema,
    // Custom objects without a webhook are the same in all versions: what another version does not know is not dropped before it is seen to be unfit.
    convert(object, apiVersion) {
      if (resource.custom && resource.convertRemotely === undefined) return { ...object, apiVersion };
      const convert = (from: KubeObject): KubeObject => ({ ...convertNow(resource, from, parseGroupVersion(apiVersion)?.version ?? ''), apiVersion });
      if (resource.custom) return convert(object);
      return asStruct(rowOf(apiVersion)?.schema, convert(asStruct(rowOf(object.apiVersion ?? '')?.schema, object)));
    },
    zeroOf(apiVersion, schema) {
      let zero = zeros.get(apiVersion);
      if (zero === undefined) {
        zero = { ...decodeObject(schema, { metadata: {} }).object, apiVersion, kind: resource.kind } as KubeObject;
        zeros.set(apiVersion, zero);
      }
      return zero;
    },
  };
}

/** An object as Go's struct of its version has it, required fields without a value included. Throws UnfitVersionError for what is none. */
function asStruct(schema: Schema | undefined, object: KubeObject): KubeObject {
  const { apiVersion, kind } = object;
  if (schema === undefined) return object;
  try {
    return { ...decodeObject(schema, object, { inFieldOrder: true }).object, apiVersion, kind } as KubeObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new UnfitVersionError(`unable to convert unstructured object to ${apiVersion}, Kind=${kind}: ${error.message}`);
  }
}

const resets = new WeakMap<Resource, Map<string, ResetFields>>();

/** Paths that a request to this subresource cannot write, and so does not come to own. */
function resetFields(resource: Resource, version: string, subresource: string): ResetFields {
  const key = `${version} ${subresource}`;
  let known = resets.get(resource);
  if (known === undefined) resets.set(resource, (known = new Map()));
  let reset = known.get(key);
  if (reset === undefined) known.set(key, (reset = (resource.custom ? resetOfCustom : resetOfBuiltIn)(resource, version, subresource)));
  return reset;
}

const hasStatus = (resource: Resource, version: string): boolean => subresourcesIn(resource, version).some(({ name }) => name === 'status');

function resetOfBuiltIn(resource: Resource, version: string, subresource: string): ResetFields {
  const paths = resource.resetFields?.[subresource] ?? (subresource === 'status' ? [['spec']] : hasStatus(resource, version) ? [['status']] : []);
  const set = paths.length === 0 ? undefined : fieldSetOf(...paths.map((path) => path.map((name) => `f:${name}`)));
  return () => set;
}

const statusFields = fieldSetOf(['f:status']);
const allButStatus = fieldSetOf(['f:spec'], ['f:metadata']);

/** Each version has its own subresources. Their paths of status know of each other; their main paths do not. */
function resetOfCustom(resource: Resource, version: string, subresource: string): ResetFields {
  const withStatus = new Set(resource.versions.filter(({ name }) => hasStatus(resource, name))
    .map(({ name }) => formatGroupVersion({ group: resource.group, version: name })));
  if (subresource === 'status') return (apiVersion) => (withStatus.has(apiVersion) ? allButStatus : undefined);
  const own = formatGroupVersion({ group: resource.group, version });
  return (apiVersion) => (apiVersion === own && withStatus.has(own) ? statusFields : undefined);
}

/** managedFields after a create, PUT or patch; undefined when no path is owned. An object whose owners are unknown stays so. */
export const trackUpdate: TrackUpdate = (input) => {
  const { resource, version, subresource, manager, nowMs, old, object } = input;
  if (subresource === 'scale' && old !== undefined) return trackScale({ ...input, old });
  const versions = managedVersions(resource);
  const apiVersion = formatGroupVersion({ group: resource.group, version });
  const schema = versions.schemaFor(apiVersion);
  if (schema === undefined) return object.metadata.managedFields;
  const managers = managersBefore(old, object, subresource !== '');
  if (managers.size === 0 && old !== undefined) return undefined;
  const updater = { manager, apiVersion, subresource, time: formatTime(nowMs) };
  const reset = resetFields(resource, version, subresource);
  try {
    // What else does not fit is refused when the object is validated; a status is left out before.
    if (old === undefined && versions.mayUnfit && object['status'] !== undefined) checkFit(schema, object);
    if (old === undefined && managers.size === 0) return ownersOfNew({ resource, schema, object, updater, reset });
    const live = old ?? versions.zeroOf(apiVersion, schema);
    if (versions.mayUnfit) for (const each of [object, live]) checkFit(schema, each);
    return encodeManagers(updateManagers({ versions, live, object, managers, reset }, updater));
  } catch (error) {
    // Owners of an object that does not fit its schema, or a version of theirs, are forgotten, as the reference does.
    if (error instanceof TypedValueError || error instanceof UnfitVersionError) return undefined;
    throw error;
  }
};

/** Throws UnfitVersionError for an object that does not fit its schema. */
function checkFit(schema: Schema, object: KubeObject): void {
  const problem = typedProblem(schema, withoutOwners(object), true);
  if (problem !== undefined) throw new UnfitVersionError(problem);
}

/** Paths that the creators of recent objects came to own, by row, and by what they depend on. */
const ownedAtFirst = new PathsByOutline();

interface NewObject {
  readonly resource: Resource;
  readonly schema: Schema;
  readonly object: KubeObject;
  readonly updater: Updater;
  readonly reset: ResetFields;
}

/** managedFields of an object without stated owners. Objects of one outline share the search for its paths. */
function ownersOfNew({ resource, schema, object, updater, reset }: NewObject): ManagedFieldsEntry[] | undefined {
  const versions = managedVersions(resource);
  const live = versions.zeroOf(updater.apiVersion, schema);
  const outline = outlineOf(schema, live, object);
  const key = outline && `${updater.apiVersion} ${updater.subresource} ${outline}`;
  const set = ownedAtFirst.getOrFind(resource, key, () => {
    const managers = updateManagers({ versions, live, object, managers: new Map(), reset }, updater);
    return [...managers.values()][0]?.set ?? emptySet;
  });
  const { manager, apiVersion, subresource, time } = updater;
  return set.isEmpty ? undefined : [encodeManager({ manager, operation: 'Update', apiVersion, subresource, time, set })];
}

function trackScale({ resource, version, manager, nowMs, old, object }: Parameters<TrackUpdate>[0] & { old: KubeObject }): ManagedFieldsEntry[] | undefined {
  const before = old.metadata.managedFields;
  const live = toOwnedScale(resource, old, before);
  const managers = managersBefore(live, live, true);
  if (managers.size === 0) return ownersOfScaled({ resource, version }, before, undefined);
  const change = { versions: scaleVersions, live, object: toOwnedScale(resource, object, undefined), managers, reset: undefined };
  const after = updateManagers(change, { manager, apiVersion: SCALE_VERSION, subresource: 'scale', time: formatTime(nowMs) });
  return ownersOfScaled({ resource, version }, before, encodeManagers(after));
}

/** One server-side apply on a row. */
interface ApplyRequest {
  readonly resource: Resource;
  readonly version: string;
  readonly subresource: string;
  readonly schema: Schema;
  readonly manager: string;
  readonly force: boolean;
  readonly nowMs: number;
  readonly current: KubeObject | undefined;
  /** The applied configuration: decoded, not defaulted. It may have no metadata. */
  readonly applied: Omit<KubeObject, 'metadata'> & Partial<Pick<KubeObject, 'metadata'>>;
  /** The error of a configuration that does not fit its schema; an object without owners that does not fit it is reported before. */
  readonly unfit?: StatusError | undefined;
}

/** What an apply makes of an object. */
interface AppliedObject {
  /** With its managedFields. */
  readonly object: KubeObject;
  /** Whether more than owners differs from the current object; else it needs no defaults. */
  readonly isChanged: boolean;
}

/** The object after the apply. Throws StatusError 409 for conflicts, with a cause per path. */
export function applyObject(request: ApplyRequest): AppliedObject {
  const { resource, version, subresource, schema, manager, force, current, applied } = request;
  // Stored objects of built-in kinds fit; an object without owners is given one first, which finds out what does not.
  const isLiveChecked = resource.custom || (request.unfit !== undefined && current !== undefined && !hasOwners(current));
  if (isLiveChecked && current !== undefined && subresource !== 'scale') checkLive(request, current);
  if (request.unfit !== undefined) throw request.unfit;
  if (subresource === 'scale' && current !== undefined) return applyScaleOf(current, request);
  const apiVersion = formatGroupVersion({ group: resource.group, version });
  const versions = managedVersions(resource);
  const zero = versions.zeroOf(apiVersion, schema);
  const run = (forced: boolean): AppliedObject => {
    const { object, isChanged, managedFields } = applyConfiguration({
      versions, apiVersion, subresource, manager, force: forced, zero, live: current ?? zero, config: applied as KubeObject,
      time: formatTime(request.nowMs), reset: resetFields(resource, version, subresource) });
    return { object: { ...object, metadata: Object.assign({}, object.metadata, { managedFields }) }, isChanged: isChanged || current === undefined };
  };
  try {
    if (manager !== KUBECTL_MANAGER) return withStatusOfConflict(() => run(force));
    const { object, isChanged } = withStatusOfConflict(() => runForKubectl(run, request));
    const recorded = keepRecord(object, applied);
    return { object: recorded, isChanged: isChanged || recorded !== object };
  } catch (error) {
    if (error instanceof UnfitVersionError) throw failure(500, '', error.message);
    throw error instanceof TypedValueError && current !== undefined ? untypedLive(request, current, error) : error;
  }
}

/** Throws the 500 of a stored custom object that does not fit its schema: that changes, and what was stored before is not validated again. */
function checkLive(request: ApplyRequest, current: KubeObject): void {
  const problem = typedProblem(request.schema, withoutOwners(current), true);
  if (problem === undefined) return;
  const error = unfitLive(request, current, problem);
  throw hasOwners(current) ? request.unfit ?? error : error;
}

const hasOwners = ({ metadata }: KubeObject): boolean => (metadata.managedFields?.length ?? 0) > 0;

/** The 500 of a stored object that does not fit its schema. An object without owners gets one before the merge. */
function unfitLive(request: ApplyRequest, current: KubeObject, problem: string): StatusError {
  const name = nameWithType(request, current);
  return failure(500, '', hasOwners(current) ? `failed to create typed live object (${name}): ${problem}`
    : `failed to create manager for existing fields: failed to convert new object (${name}) to smd typed: ${problem}`);
}

const nameWithType = ({ resource, version }: ApplyRequest, { metadata, kind }: KubeObject): string =>
  `${metadata.namespace ?? ''}/${metadata.name ?? ''}; ${resource.group}/${version}, Kind=${kind}`;

/** 500 of a stored object that does not fit its schema any more; the configuration has been checked before. */
function untypedLive(request: ApplyRequest, current: KubeObject, error: TypedValueError): StatusError {
  return unfitLive(request, current, typedProblem(request.schema, current) ?? error.message);
}

/** What kubectl's own client-side applies left behind is no conflict. */
function runForKubectl(run: (forced: boolean) => AppliedObject, { force, current, schema, resource: { group }, version }: ApplyRequest): AppliedObject {
  try {
    return run(force);
  } catch (error) {
    if (!(error instanceof ApplyConflictError)) throw error;
    const left = unexplainedConflict(error, { current, schema, apiVersion: formatGroupVersion({ group, version }) });
    if (left !== undefined) throw left;
    return run(true);
  }
}

function withStatusOfConflict(run: () => AppliedObject): AppliedObject {
  try {
    return run();
  } catch (error) {
    throw error instanceof ApplyConflictError ? conflictStatus(error) : error;
  }
}

const conflictStatus = ({ message, causes }: ApplyConflictError): StatusError =>
  failure(409, 'Conflict', message, { causes: causes.map((cause) => ({ ...cause })) });

/** The object after an apply of its Scale. */
function applyScaleOf(current: KubeObject, request: ApplyRequest): AppliedObject {
  const { resource, version, manager, force, nowMs, applied } = request;
  const before = current.metadata.managedFields;
  const live = toOwnedScale(resource, current, before);
  if (resource.custom && live.metadata.managedFields === undefined) throw noScaleOfCustom('failed to create manager for existing fields: ', 'live object (/');
  const { spec: stated } = applied;
  // A spec without replicas is something to own: its applier keeps what it had.
  const spec = isJsonObject(stated) && stated['replicas'] !== undefined ? { replicas: stated['replicas'] } : {};
  const config = { apiVersion: SCALE_VERSION, kind: 'Scale', metadata: {}, ...(stated !== undefined && { spec }) } as KubeObject;
  return withStatusOfConflict(() => {
    const { object: scale, isChanged, managedFields } = applyConfiguration({
      versions: scaleVersions, apiVersion: SCALE_VERSION, subresource: 'scale', manager, force, live, config, time: formatTime(nowMs),
      zero: { apiVersion: SCALE_VERSION, kind: 'Scale', metadata: {} },
    });
    const { resourceVersion, uid, name = '', namespace = '' } = applied.metadata ?? {};
    const isOther = isChanged || !holds(toScale(resource, current, UNSET_REPLICAS), { ...applied, spec: undefined });
    if (resource.custom && isOther) throw noScaleOfCustom('', `new object (${namespace}/${name}`);
    const object = cloneJson(current);
    applyScale(resource, object, { ...scale, metadata: { ...scale.metadata, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } });
    const owners = ownersOfScaled({ resource, version }, before, managedFields);
    return { object: { ...object, metadata: { ...object.metadata, managedFields: owners } }, isChanged: true };
  });
}

/** The reference cannot make an applied Scale of a custom resource into one of its versions: an apply that changes something ends there. */
const noScaleOfCustom = (step: string, what: string): StatusError => failure(500, '',
  `${step}failed to convert ${what}; ${SCALE_VERSION}, Kind=Scale) to proper version: request to convert CR to an invalid group/version: ${SCALE_VERSION}`);

/** Whether a value has all that another one states. */
function holds(value: unknown, stated: unknown): boolean {
  if (!isJsonObject(value) || !isJsonObject(stated)) return equalJson(value, stated);
  return Object.entries(stated).every(([key, member]) => member === undefined || (Object.hasOwn(value, key) && holds(value[key], member)));
}
