// What a pod counts for in a quota: itself, and the compute resources that its containers request and are limited to. Pods that have ended, or
// that have been deleted for longer than their grace period, count as objects only.
import type { KubeObject, ResourceList } from '../../apimachinery/index.ts';
import { type Amounts, addAmounts, amountsOfContainers, oneAmount, readAmounts } from './amounts.ts';
import type { Evaluator, ScopeSelector } from './evaluator.ts';
import { matchesValues } from './scopes.ts';

interface Resources {
  readonly requests?: unknown;
  readonly limits?: unknown;
}

interface Container {
  readonly name: string;
  readonly resources?: Resources;
  readonly restartPolicy?: string;
}

interface AffinityTerm {
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: object;
}

interface Affinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly AffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly { readonly podAffinityTerm?: AffinityTerm }[];
}

interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly resources?: Resources;
  readonly overhead?: unknown;
  readonly activeDeadlineSeconds?: number;
  readonly priorityClassName?: string;
  readonly affinity?: { readonly podAffinity?: Affinity; readonly podAntiAffinity?: Affinity };
}

const COUNT = 'count/pods';
const compute: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];
const countedNames: ReadonlySet<string> = new Set([COUNT, 'pods', ...compute, ...compute.flatMap((name) => [`requests.${name}`, `limits.${name}`])]);
const prefixes: readonly string[] = ['hugepages-', 'requests.hugepages-'];
/** Of these a quota asks that each container states them. */
const requiredNames: ReadonlySet<string> = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);
const NATIVE_DOMAIN = 'kubernetes.io/';
export const REQUESTS_PREFIX = 'requests.';
/** Before the name of a class of devices: the extended resource that every class has. */
export const IMPLICIT_PREFIX = 'deviceclass.resource.kubernetes.io/';

const specOf = (pod: KubeObject): PodSpec => (pod['spec'] ?? {}) as PodSpec;
const statusOf = (pod: KubeObject): { readonly phase?: string; readonly qosClass?: string } => (pod['status'] ?? {}) as object;

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
/** Whether a resource is one that Kubernetes does not define, or the one that a class of devices has by its name. */
const isExtended = (name: string): boolean => (name.includes('/') && !name.includes(NATIVE_DOMAIN)) || name.startsWith(IMPLICIT_PREFIX);

/** Whether a name stands for requests of such a resource. */
export const isExtendedRequest = (name: string): boolean => name.startsWith(REQUESTS_PREFIX) && isExtended(name.slice(REQUESTS_PREFIX.length));

/** Requests and limits under the names of quotas. */
function nameUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map([['pods', oneAmount]]);
  for (const [name, quantity] of requests) {
    if (compute.includes(name) || isHugePages(name)) usage.set(name, quantity).set(`requests.${name}`, quantity);
    else if (isExtended(name)) usage.set(`requests.${name}`, quantity);
  }
  for (const [name, quantity] of limits) if (compute.includes(name)) usage.set(`limits.${name}`, quantity);
  return usage;
}

/**
 * What a pod has in a list: its own resources take the place of those of its containers together, and overhead is added. Mirrors upstream's PodRequests
 * and PodLimits.
 */
export function sumPod(spec: PodSpec, which: ResourceList): Amounts {
  const all = new Map([...amountsOfContainers(spec, which), ...readAmounts(spec.resources?.[which])]);
  const overhead = readAmounts(spec.overhead);
  return which === 'requests' ? addAmounts(all, overhead) : addAmounts(all, new Map([...overhead].filter(([name]) => all.has(name))));
}

/** Whether a pod still holds what it asked for. */
function holdsResources(pod: KubeObject, nowMs: number): boolean {
  const { phase } = statusOf(pod);
  if (phase === 'Failed' || phase === 'Succeeded') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  return deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined
    || nowMs <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

const isTerminating = (pod: KubeObject): boolean => (specOf(pod).activeDeadlineSeconds ?? -1) >= 0;

function crossesNamespaces({ affinity }: PodSpec): boolean {
  const crosses = (term: AffinityTerm | undefined): boolean => (term?.namespaces?.length ?? 0) > 0 || term?.namespaceSelector !== undefined;
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((kind) => (kind?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(crosses)
    || (kind?.preferredDuringSchedulingIgnoredDuringExecution ?? []).some(({ podAffinityTerm }) => crosses(podAffinityTerm)));
}

function matchesScope(selector: ScopeSelector, pod: KubeObject): boolean {
  const isBestEffort = statusOf(pod).qosClass === 'BestEffort';
  switch (selector.scopeName) {
    case 'Terminating': return isTerminating(pod);
    case 'NotTerminating': return !isTerminating(pod);
    case 'BestEffort': return isBestEffort;
    case 'NotBestEffort': return !isBestEffort;
    case 'PriorityClass': return matchesValues(selector, [specOf(pod).priorityClassName ?? '']);
    case 'CrossNamespacePodAffinity': return crossesNamespaces(specOf(pod));
    default: return false;
  }
}

/** Reports the containers that do not state what the quota counts; undefined where all do. */
function checkStated(required: readonly string[], pod: KubeObject): string | undefined {
  const spec = specOf(pod);
  if (spec.resources !== undefined && Object.keys(spec.resources).length > 0) return undefined;
  const missing = new Map<string, Set<string>>();
  for (const { name, resources } of [...spec.containers ?? [], ...spec.initContainers ?? []]) {
    const stated = nameUsage(readAmounts(resources?.requests), readAmounts(resources?.limits));
    for (const resource of required.filter((wanted) => requiredNames.has(wanted) && !stated.has(wanted))) {
      missing.set(resource, (missing.get(resource) ?? new Set()).add(name));
    }
  }
  const lines = [...missing].sort(([one], [two]) => (one < two ? -1 : 1)).map(([resource, names]) => `${resource} for: ${[...names].sort().join(',')}`);
  return lines.length === 0 ? undefined : `must specify ${lines.join('; ')}`;
}

/** The evaluator of pods. */
export const podEvaluator: Evaluator = {
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    if (operation === 'UPDATE' && object !== undefined && oldObject !== undefined) return isTerminating(object) !== isTerminating(oldObject);
    return operation === 'CREATE';
  },
  matches: (name) => countedNames.has(name) || prefixes.some((prefix) => name.startsWith(prefix)) || isExtendedRequest(name),
  matchesScope,
  check: checkStated,
  usage(pod, nowMs) {
    const counted = new Map([[COUNT, oneAmount]]);
    return holdsResources(pod, nowMs) ? addAmounts(counted, nameUsage(sumPod(specOf(pod), 'requests'), sumPod(specOf(pod), 'limits'))) : counted;
  },
};
