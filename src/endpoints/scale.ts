// The scale subresource: autoscaling/v1 Scale read out of an object, and written back into it, along the paths of the row.
import { failure, formatLabelSelector, invalid, invalidValue, type JsonValue, type KubeObject, labelSelectorOf, type MetaLabelSelector, type Schema } from '../apimachinery/index.ts';
import type { Resource } from '../registry/index.ts';
import type { Call } from './dependencies.ts';

interface Scale extends KubeObject {
  spec: { replicas?: number };
  status: { replicas: number; selector?: string };
}

const steps = (path: string): string[] => path.split('.').filter((step) => step !== '');

/** The value at a path such as `.spec.replicas`. */
function readPath(object: KubeObject, path: string | undefined): unknown {
  if (!path) return undefined;
  let at: unknown = object;
  for (const step of steps(path)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string, unknown>)[step];
  }
  return at;
}

function writePath(object: KubeObject, path: string, value: number): void {
  const parts = steps(path);
  const last = parts.pop() as string;
  let at: Record<string, unknown> = object;
  for (const part of parts) {
    if (!Object.hasOwn(at, part)) at[part] = {};
    at = at[part] as Record<string, unknown>;
  }
  at[last] = value;
}

/** Selectors stand as text (custom resources), as a LabelSelector, or as a map of labels (ReplicationController). */
function readSelector(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const isSelector = Object.hasOwn(value, 'matchLabels') || Object.hasOwn(value, 'matchExpressions') || Object.keys(value).length === 0;
  const selector = isSelector ? (value as MetaLabelSelector) : ({ matchLabels: value } as MetaLabelSelector);
  const parsed = labelSelectorOf(selector);
  return parsed ? formatLabelSelector(parsed) : '';
}

const toNumber = (value: unknown): number => (typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0);

/** The Scale of an object. */
export function scaleOf(object: KubeObject, { scale }: Resource): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const metadata = {
    ...(name && { name }), ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }), ...(creationTimestamp && { creationTimestamp }),
  };
  const replicas = toNumber(readPath(object, scale?.specReplicas));
  const selector = readSelector(readPath(object, scale?.selector));
  return {
    kind: 'Scale', apiVersion: 'autoscaling/v1', metadata, spec: replicas === 0 ? {} : { replicas },
    status: { replicas: toNumber(readPath(object, scale?.statusReplicas)), ...(selector && { selector }) },
  };
}

/** Schema of autoscaling/v1 Scale. */
export function scaleSchema({ dependencies }: Call): Schema | undefined {
  return dependencies.schemas.forKind({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
}

/** Puts the replicas of a Scale into its object, which is changed in place. */
export function writeScale(object: KubeObject, scale: KubeObject, resource: Resource): KubeObject {
  const replicas = (scale['spec'] as { replicas?: JsonValue } | undefined)?.replicas ?? 0;
  const count = toNumber(replicas);
  if (count < 0) {
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, object.metadata.name ?? '', [invalidValue('spec.replicas', count, 'must be greater than or equal to 0')]);
  }
  if (!resource.scale) throw failure(500, 'InternalError', `${resource.plural} cannot be scaled`);
  writePath(object, resource.scale.specReplicas, count);
  if (scale.metadata.resourceVersion) object.metadata.resourceVersion = scale.metadata.resourceVersion;
  else delete object.metadata.resourceVersion;
  return object;
}
