// What applying manifests would delete: objects that were applied before and are no longer among the manifests, as kubectl finds them by a label
// selector or by the parent of an ApplySet.
import { createHash } from 'node:crypto';
import { ApiError, type Discovery, type KnownResource, type KubernetesObject, resourcePath } from '../../client/index.ts';
import { LAST_APPLIED } from './changes.ts';
import { findProblems } from './findings.ts';
import { identify } from './subjects.ts';
import type { Target } from './targets.ts';
import type { Pruned, Verdict } from './verdict.ts';

/** The label of the members of an ApplySet. */
export const PART_OF = 'applyset.kubernetes.io/part-of';

/** How objects to prune are found. */
export interface PruneOptions {
  readonly target: Target;
  readonly namespace: string;
  readonly selector: string;
  /** GROUP/VERSION/KIND; those of kubectl without any. */
  readonly allowlist: readonly string[];
  readonly fieldManager: string;
  readonly applySet: ApplySet | undefined;
}

/** The parent of an ApplySet. */
export interface ApplySet {
  readonly id: string;
  readonly parent: KubernetesObject | undefined;
}

const usualKinds = [
  'core/v1/ConfigMap', 'core/v1/Endpoints', 'core/v1/Namespace', 'core/v1/PersistentVolumeClaim', 'core/v1/PersistentVolume', 'core/v1/Pod',
  'core/v1/ReplicationController', 'core/v1/Secret', 'core/v1/Service', 'batch/v1/Job', 'batch/v1/CronJob', 'networking.k8s.io/v1/Ingress',
  'apps/v1/DaemonSet', 'apps/v1/Deployment', 'apps/v1/ReplicaSet', 'apps/v1/StatefulSet',
] as const;
const [KINDS, NAMESPACES] = ['applyset.kubernetes.io/contains-group-kinds', 'applyset.kubernetes.io/additional-namespaces'];

/** The ApplySet of a parent that is named as kubectl does: [RESOURCE[.GROUP]/]NAME. Undefined for a resource that is not served. */
export async function findApplySet(text: string, { target, namespace }: Pick<PruneOptions, 'target' | 'namespace'>): Promise<ApplySet | undefined> {
  const slash = text.indexOf('/');
  const [word, name] = slash < 0 ? ['secrets', text] : [text.slice(0, slash), text.slice(slash + 1)];
  const [plural = '', ...group] = word.split('.');
  const { kinds } = await target.discover();
  const resource = kinds.find((one) => (one.plural === plural || one.kind.toLowerCase() === plural.toLowerCase()) && one.group === group.join('.'));
  if (resource === undefined) return undefined;
  const inside = resource.namespaced ? namespace : '';
  const id = createHash('sha256').update([name, inside, resource.kind, resource.group].join('.')).digest('base64url');
  const { status, body } = await target.askAll({ path: resourcePath(resource, { namespace: inside, name }) });
  return { id: `applyset-${id}-v1`, parent: status < 400 ? body as KubernetesObject : undefined };
}

/** What would be deleted. Rejects with ApiError where objects cannot be listed. */
export async function findPruned(verdicts: readonly Verdict[], options: PruneOptions): Promise<Pruned[]> {
  const kept = new Set(verdicts.map(({ document: { object }, namespace }) => identify(object, namespace)));
  const namespaces = new Set([options.namespace, ...verdicts.map(({ namespace }) => namespace), ...annotationOf(options.applySet, NAMESPACES)]);
  const pruned: Pruned[] = [];
  for (const resource of listKinds(await options.target.discover(), options)) {
    for (const object of await listObjects(resource, options)) {
      const { name = '', namespace = '' } = object.metadata ?? {};
      const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
      const whole = { ...object, apiVersion, kind: resource.kind };
      if (kept.has(identify(whole, namespace)) || (resource.namespaced && !namespaces.has(namespace)) || !wasApplied(object, options)) continue;
      const response = await options.target.ask({ method: 'DELETE', path: `${resourcePath(resource, { namespace, name })}?dryRun=All` });
      pruned.push({ apiVersion, kind: resource.kind, namespace, name, findings: findProblems(response) });
    }
  }
  return pruned;
}

const annotationOf = (set: ApplySet | undefined, name: string): string[] =>
  (set?.parent?.metadata?.annotations?.[name] ?? '').split(',').filter((part) => part !== '');

function listKinds(discovery: Discovery, { allowlist, applySet }: PruneOptions): KnownResource[] {
  const canDelete = ({ verbs }: KnownResource): boolean => verbs.includes('list') && verbs.includes('delete');
  if (applySet !== undefined) {
    const wanted = new Set(annotationOf(applySet, KINDS));
    const nameOf = ({ kind, group }: KnownResource): string => (group === '' ? kind : `${kind}.${group}`);
    return discovery.kinds.filter((resource) => canDelete(resource) && wanted.has(nameOf(resource)));
  }
  return (allowlist.length > 0 ? allowlist : usualKinds).flatMap((text) => {
    const [group = '', version = '', kind = ''] = text.split('/');
    const found = discovery.find(group === 'core' || group === '' ? version : `${group}/${version}`, kind);
    return found !== undefined && canDelete(found) ? [found] : [];
  });
}

async function listObjects(resource: KnownResource, { target, selector, applySet }: PruneOptions): Promise<KubernetesObject[]> {
  const wanted = applySet === undefined ? selector : `${PART_OF}=${applySet.id}`;
  const path = `${resourcePath(resource)}?labelSelector=${encodeURIComponent(wanted)}`;
  const response = await target.askAll({ path });
  if (response.status >= 400) throw new ApiError(`GET ${path}`, response);
  return (response.body as { readonly items?: KubernetesObject[] }).items ?? [];
}

/** kubectl leaves alone what it has not applied; members of an ApplySet it has. */
function wasApplied({ metadata }: KubernetesObject, { applySet, fieldManager }: PruneOptions): boolean {
  if (applySet !== undefined || metadata?.annotations?.[LAST_APPLIED] !== undefined) return true;
  const entries = (metadata?.['managedFields'] ?? []) as { readonly manager?: string; readonly operation?: string }[];
  return entries.some(({ manager, operation }) => manager === fieldManager && operation === 'Apply');
}
