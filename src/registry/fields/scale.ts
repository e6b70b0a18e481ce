// The scale subresource: an object seen as autoscaling/v1 Scale, and a Scale put back into the object. Where replicas and selector are
// is data of the version of the row (for custom resources, of the definition).
import { type GroupResource, type KubeObject, type MetaLabelSelector, badRequest, conflict, createLabelSelector, formatLabelSelector, internalError,
  labelSelectorOf } from '../../apimachinery/index.ts';
import { invariant, isJsonObject } from '../../base/index.ts';
import { type Resource, type ScaleFields, versionIn } from '../resource.ts';
import { setOwn } from '../values.ts';

type Fields = Record<string, unknown>;

const segmentsOf = (path: string): string[] => path.split('.').filter((segment) => segment !== '');


function readPath(object: KubeObject, path: string): unknown {
  let value: unknown = object;
  for (const segment of segmentsOf(path)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, segment)) return undefined;
    value = value[segment];
  }
  return value;
}

function writePath(object: KubeObject, path: string, value: unknown): void {
  const segments = segmentsOf(path);
  const last = segments.pop() as string;
  let at: Fields = object;
  for (const segment of segments) {
    if (!isJsonObject(at[segment]) || !Object.hasOwn(at, segment)) setOwn(at, segment, {});
    at = at[segment] as Fields;
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

const toCount = (value: unknown): number => (typeof value === 'number' ? value : 0);

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
  const found = readPath(object, scale.specReplicas);
  if (resource.custom && found === undefined && missing === undefined) throw internalError(`the spec replicas field "${scale.specReplicas}" does not exist`);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = resource.custom && found === undefined ? (missing ?? 0) : toCount(found);
  const selector = scale.selector === undefined ? '' : formatSelector(readPath(object, scale.selector));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name && { name }), ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: toCount(readPath(object, scale.statusReplicas)), ...(selector !== '' && { selector }) },
  };
}

/** Throws the 409 of a Scale of another object of the name; `resource` is what the text names. */
export function checkScaleUid(resource: GroupResource, { metadata }: KubeObject, { metadata: { uid } }: KubeObject): void {
  if (!uid || uid === metadata.uid) return;
  throw conflict(resource, metadata.name ?? '', `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`);
}

/** Puts the replicas (and the resourceVersion, which then is a precondition, as the uid is) of a Scale into `object`, in place. */
export function applyScale(resource: Resource, object: KubeObject, scale: KubeObject): void {
  const { specReplicas } = scaleFieldsOf(resource, object);
  // Custom resources do not look at the uid.
  if (!resource.custom) checkScaleUid({ group: resource.group, resource: `${resource.plural}/scale` }, object, scale);
  const spec = scale['spec'];
  const replicas = isJsonObject(spec) ? (spec['replicas'] ?? 0) : 0;
  if (typeof replicas !== 'number') throw badRequest('Scale.spec.replicas must be a number');
  if (resource.custom && replicas === UNSET_REPLICAS) throw badRequest(`the spec replicas field "${specReplicas}" cannot be empty`);
  writePath(object, specReplicas, replicas);
  const { resourceVersion } = scale.metadata;
  if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
  else if (resource.unconditionalUpdate) delete object.metadata.resourceVersion;
}
