// Field management of a row: owners after an update, and server-side apply, over the ladder of apimachinery/apply.
// Knows what the ladder does not: the versions of a kind, what each path of a resource never writes, kubectl's client-side apply.
import {
  ApplyConflictError, type FieldSet, type KubeObject, type ManagedVersions, type Schema, TypedValueError, applyConfiguration, decodeObject, encodeManagers, failure,
  fieldSetOf, formatGroupVersion, managersBefore, parseGroupVersion, updateManagers,
} from '../apimachinery/index.ts';
import type { TrackUpdate } from './contract.ts';
import type { Resource } from './resource.ts';

const versionsOf = new WeakMap<Resource, ManagedVersions>();

/** The versions of a row as the ladder asks for them. */
function managedVersions(resource: Resource): ManagedVersions {
  let versions = versionsOf.get(resource);
  if (versions === undefined) versionsOf.set(resource, (versions = describeVersions(resource)));
  return versions;
}

function describeVersions(resource: Resource): ManagedVersions {
  const rowOf = (apiVersion: string) => {
    const parsed = parseGroupVersion(apiVersion);
    return parsed?.group === resource.group ? resource.versions.find((v) => v.name === parsed.version) : undefined;
  };
  return {
    schemaFor: (apiVersion) => rowOf(apiVersion)?.schema,
    convert(object, apiVersion) {
      const [from, to] = [parseGroupVersion(object.apiVersion ?? '')?.version ?? '', parseGroupVersion(apiVersion)?.version ?? ''];
      return { ...(resource.convert?.(object, from, to) ?? object), apiVersion };
    },
  };
}

const zeros = new WeakMap<Schema, KubeObject>();

/** The object of a kind in which nobody has set anything: what Go's zero value encodes to. */
function zeroObject(schema: Schema): KubeObject {
  let zero = zeros.get(schema);
  if (zero === undefined) zeros.set(schema, (zero = decodeObject(schema, { metadata: {} }).object as KubeObject));
  return zero;
}

const resets = new WeakMap<Resource, Map<string, FieldSet | undefined>>();

/** Paths that a request to this subresource cannot write, and so does not come to own. */
function resetFields(resource: Resource, subresource: string): FieldSet | undefined {
  let known = resets.get(resource);
  if (known === undefined) resets.set(resource, (known = new Map()));
  if (!known.has(subresource)) known.set(subresource, computeReset(resource, subresource));
  return known.get(subresource);
}

function computeReset(resource: Resource, subresource: string): FieldSet | undefined {
  const own = resource.resetFields?.[subresource];
  if (own !== undefined) return own.length === 0 ? undefined : fieldSetOf(...own.map((path) => path.map((name) => `f:${name}`)));
  if (subresource === 'status') return resource.custom ? fieldSetOf(['f:spec'], ['f:metadata']) : fieldSetOf(['f:spec']);
  return resource.subresources.some((s) => s.name === 'status') ? fieldSetOf(['f:status']) : undefined;
}

const formatTime = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 19)}Z`;

/** managedFields after a create, PUT or patch; undefined when nobody owns anything. An object whose owners are unknown stays so. */
export const trackUpdate: TrackUpdate = ({ resource, version, subresource, manager, nowMs, old, object }) => {
  const versions = managedVersions(resource);
  const apiVersion = formatGroupVersion({ group: resource.group, version });
  const schema = versions.schemaFor(apiVersion);
  if (schema === undefined) return object.metadata.managedFields;
  const managers = managersBefore(old, object, subresource !== '');
  if (managers.size === 0 && old !== undefined) return undefined;
  const live = old ?? { ...zeroObject(schema), apiVersion, kind: resource.kind };
  try {
    const reset = resetFields(resource, subresource);
    return encodeManagers(updateManagers({ versions, live, object, managers, reset }, { manager, apiVersion, subresource, time: formatTime(nowMs) }));
  } catch (error) {
    // Values that cannot be typed (items without their keys) are refused by validation; until then owners stay as they were.
    if (error instanceof TypedValueError) return encodeManagers(managers);
    throw error;
  }
};

/** One server-side apply on a row. */
export interface ApplyRequest {
  readonly resource: Resource;
  readonly version: string;
  readonly subresource: string;
  readonly schema: Schema;
  readonly manager: string;
  readonly force: boolean;
  readonly nowMs: number;
  readonly current: KubeObject | undefined;
  /** The applied configuration: decoded, not defaulted. */
  readonly applied: KubeObject;
}

/** Client-side apply's record of what it applied last, and the manager whose server-side applies take it over. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const kubectlManager = 'kubectl';

/** The object after the apply, with its managedFields. Throws StatusError 409 for conflicts, with a cause per path. */
export function applyObject(request: ApplyRequest): KubeObject {
  const { resource, version, subresource, schema, manager, force, current, applied } = request;
  const apiVersion = formatGroupVersion({ group: resource.group, version });
  const zero = { ...zeroObject(schema), apiVersion, kind: resource.kind };
  const run = (forced: boolean): KubeObject => {
    const { object, managedFields } = applyConfiguration({
      versions: managedVersions(resource), apiVersion, subresource, manager, force: forced, zero, live: current ?? zero, config: applied,
      time: formatTime(request.nowMs), reset: resetFields(resource, subresource) });
    return { ...object, metadata: { ...object.metadata, managedFields } };
  };
  try {
    return run(force);
  } catch (error) {
    if (!(error instanceof ApplyConflictError)) throw error;
    if (manager === kubectlManager && conflictsAreOwnRecord(error, current)) return run(true);
    throw conflictStatus(error);
  }
}

const conflictStatus = (error: ApplyConflictError) => failure(409, 'Conflict', error.message, { causes: error.causes.map((cause) => ({ ...cause })) });

/** True when all that clashes was last set by kubectl's client-side apply, which the annotation recorded. */
function conflictsAreOwnRecord(error: ApplyConflictError, current: KubeObject | undefined): boolean {
  const text = current?.metadata.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return false;
  const annotationPath = `.metadata.annotations.${lastAppliedAnnotation}`;
  const recorded = recordedPaths(text);
  return error.causes.every(({ field }) => field === annotationPath || recorded.some((path) => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`)));
}

/** Paths that a recorded configuration states, down to lists, as conflict messages write them. */
function recordedPaths(text: string): string[] {
  try {
    const paths: string[] = [];
    collectPaths(JSON.parse(text), '', paths);
    return paths;
  } catch {
    return [];
  }
}

function collectPaths(value: unknown, path: string, paths: string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return void paths.push(path);
  for (const [key, inner] of Object.entries(value)) collectPaths(inner, `${path}.${key}`, paths);
}
