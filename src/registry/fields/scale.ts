// The scale subresource: an object seen as autoscaling/v1 Scale, and a Scale put back into the object. Where replicas and selector are
// is data of the version of the row (for custom resources, of the definition).
import { type GroupResource, type KubeObject, type MetaLabelSelector, type StatusError, badRequest, conflict, createLabelSelector, formatGo,
  formatLabelSelector, goTypeOf, internalError, labelSelectorOf } from '../../apimachinery/index.ts';
import { invariant, isJsonObject } from '../../base/index.ts';
import { plainError } from '../options.ts';
import { type Resource, type ScaleFields, versionIn } from '../resource.ts';
import { setOwn } from '../values.ts';

type Fields = Record<string, unknown>;

const segmentsOf = (path: string): string[] => path.split('.').filter((segment) => segment !== '');
const shownPath = (segments: readonly string[]): string => `.${segments.join('.')}`;

const isWhole = (value: unknown): value is number | bigint => typeof value === 'bigint' || Number.isInteger(value);

/** What upstream says of a value at a path of a custom resource that is of another type than it is read as. */
export function describeMisfit(segments: readonly string[], value: unknown, wanted: string): string {
  const type = !isWhole(value) ? goTypeOf(value) : BigInt.asIntN(64, BigInt(value)) === BigInt(value) ? 'int64' : 'float64';
  return `${shownPath(segments)} accessor error: ${formatGo(value)} is of the type ${type}, expected ${wanted}`;
}

const misfit = (segments: readonly string[], value: unknown, wanted: string): StatusError => plainError(describeMisfit(segments, value, wanted));

/** The value at a path. Null holds nothing; throws the 500 of other values where a map is expected. */
function readPath(object: KubeObject, segments: readonly string[]): unknown {
  let value: unknown = object;
  for (const [i, segment] of segments.entries()) {
    if (value === null) return undefined;
    if (!isJsonObject(value)) throw misfit(segments.slice(0, i + 1), value, 'map[string]interface{}');
    if (!Object.hasOwn(value, segment)) return undefined;
    value = value[segment];
  }
  return value;
}

/** Throws the 500 of a path that leads through what is no map. */
function writePath(object: KubeObject, path: string, value: unknown): void {
  const segments = segmentsOf(path);
  const last = segments.at(-1) as string;
  let at: Fields = object;
  for (const [i, segment] of segments.slice(0, -1).entries()) {
    if (!Object.hasOwn(at, segment)) setOwn(at, segment, {});
    const next = at[segment];
    if (!isJsonObject(next)) throw plainError(`value cannot be set because ${shownPath(segments.slice(0, i + 1))} is not a map[string]interface{}`);
    at = next;
  }
  setOwn(at, last, value);
}

const looksLikeSelector = (value: Fields): boolean => 'matchLabels' in value || 'matchExpressions' in value;

/** A selector as text: a LabelSelector, a plain map of labels (ReplicationController), or already a text (custom resources). */
function formatSelector(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return '';
  if (looksLikeSelector(value)) return formatLabelSelector(labelSelectorOf(value as MetaLabelSelector) ?? createLabelSelector([]));
  return formatLabelSelector(createLabelSelector(Object.entries(value).map(([key, text]) => ({ key, operator: '=', values: [String(text)] }))));
}

/** The whole number at a path, as 32 bits hold it; throws the 500 of another value in a custom resource. */
function readCount({ custom }: Resource, object: KubeObject, path: string): number | undefined {
  const segments = segmentsOf(path);
  const value = readPath(object, segments);
  if (isWhole(value)) return Number(BigInt.asIntN(32, BigInt(value)));
  if (custom && value !== undefined) throw misfit(segments, value, 'int64');
  return undefined;
}

/** The selector at a path, as a text; custom resources hold nothing else there. */
function readSelector({ custom }: Resource, object: KubeObject, path: string): string {
  const segments = segmentsOf(path);
  const value = readPath(object, segments);
  if (custom && value !== undefined && typeof value !== 'string') throw misfit(segments, value, 'string');
  return formatSelector(value);
}

/** Replicas of a Scale whose object has none, while it is being changed: a change has to say how many. */
export const UNSET_REPLICAS = -(2 ** 31);

/** The fields of the version that the object has; a broken invariant where it has no Scale. */
function scaleFieldsOf(resource: Resource, { apiVersion = '' }: KubeObject): ScaleFields {
  const scale = versionIn(resource, apiVersion.split('/').at(-1))?.scale;
  invariant(scale !== undefined, `${resource.plural} has no scale in ${apiVersion}`);
  return scale;
}

/** The Scale of an object of a row that has one. Custom resources may lack the field of the replicas: `missing` stands for it, else that is an error. */
export function toScale(resource: Resource, object: KubeObject, missing?: number): KubeObject {
  const scale = scaleFieldsOf(resource, object);
  const found = readCount(resource, object, scale.specReplicas);
  const seen = readCount(resource, object, scale.statusReplicas) ?? 0;
  const selector = scale.selector === undefined ? '' : readSelector(resource, object, scale.selector);
  if (resource.custom && found === undefined && missing === undefined) throw internalError(`the spec replicas field "${scale.specReplicas}" does not exist`);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = found ?? (resource.custom ? missing : undefined) ?? 0;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name && { name }), ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: seen, ...(selector !== '' && { selector }) },
  };
}

/** Throws the 409 of a Scale of another object of the name; `resource` is what the text names. */
export function checkScaleUid(resource: GroupResource, { metadata }: KubeObject, { metadata: { uid } }: KubeObject): void {
  if (!uid || uid === metadata.uid) return;
  throw conflict(resource, metadata.name ?? '', `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`);
}

/** Puts the replicas (and the resourceVersion, which then is a precondition) of a Scale into `object`, in place. */
export function applyScale(resource: Resource, object: KubeObject, scale: KubeObject): void {
  const { specReplicas } = scaleFieldsOf(resource, object);
  const spec = scale['spec'];
  const replicas = isJsonObject(spec) ? (spec['replicas'] ?? 0) : 0;
  if (typeof replicas !== 'number') throw badRequest('Scale.spec.replicas must be a number');
  if (resource.custom && replicas === UNSET_REPLICAS) throw badRequest(`the spec replicas field "${specReplicas}" cannot be empty`);
  writePath(object, specReplicas, replicas);
  const { resourceVersion } = scale.metadata;
  if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
  else if (resource.unconditionalUpdate) delete object.metadata.resourceVersion;
}
