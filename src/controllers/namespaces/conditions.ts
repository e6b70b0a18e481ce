// status.conditions of a namespace that is being emptied, in the reference's words and order.
import { formatTime } from '../../registry/index.ts';
import type { KubeObject } from '../../apimachinery/index.ts';

/** The objects that are left after a look. */
export interface Leftovers {
  /** `plural.group` → number of objects. */
  readonly resources: Map<string, number>;
  /** Finalizer → number of objects that have it. */
  readonly finalizers: Map<string, number>;
  readonly failures: string[];
  /** Group versions of other servers whose resources are not known. */
  readonly undiscovered: readonly string[];
}

/** A condition without its time. */
interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** All five conditions. */
export function describeProgress({ resources, finalizers, failures, undiscovered }: Leftovers): Condition[] {
  return [
    condition('NamespaceDeletionDiscoveryFailure', describeUndiscovered(undiscovered), ['ResourcesDiscovered', 'All resources successfully discovered']),
    condition('NamespaceDeletionGroupVersionParsingFailure', undefined, ['ParsedGroupVersions', 'All legacy kube types successfully parsed']),
    condition(
      'NamespaceDeletionContentFailure',
      failures.length === 0 ? undefined : ['ContentDeletionFailed', `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`],
      ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    ),
    condition(
      'NamespaceContentRemaining',
      resources.size === 0 ? undefined : ['SomeResourcesRemain', `Some resources are remaining: ${formatCounts(resources, 'has')}`],
      ['ContentRemoved', 'All content successfully removed'],
    ),
    condition(
      'NamespaceFinalizersRemaining',
      finalizers.size === 0 ? undefined : ['SomeFinalizersRemain', `Some content in the namespace has finalizers remaining: ${formatCounts(finalizers, 'in')}`],
      ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    ),
  ];
}

function describeUndiscovered(versions: readonly string[]): ReasonAndMessage | undefined {
  if (versions.length === 0) return undefined;
  const all = versions.map((each) => `${each}: stale GroupVersion discovery: ${each}`).join(', ');
  return ['DiscoveryFailed', `Discovery failed for some groups, ${versions.length} failing: unable to retrieve the complete list of server APIs: ${all}`];
}

type ReasonAndMessage = readonly [reason: string, message: string];

function condition(type: string, trouble: ReasonAndMessage | undefined, fine: ReasonAndMessage): Condition {
  const [reason, message] = trouble ?? fine;
  return { type, status: trouble === undefined ? 'False' : 'True', reason, message };
}

function formatCounts(counts: ReadonlyMap<string, number>, verb: string): string {
  return [...counts].map(([name, count]) => `${name} ${verb} ${count} resource instances`).sort().join(', ');
}

/** The namespace with these conditions; undefined when it has them already. The time changes only with the status of a condition. */
export function mergeConditions(namespace: KubeObject, conditions: readonly Condition[], nowMs: number): KubeObject | undefined {
  const status = (namespace['status'] ?? {}) as { conditions?: (Condition & { lastTransitionTime?: string })[] };
  const before = status.conditions ?? [];
  const time = formatTime(nowMs);
  let changed = false;
  const merged = [...before];
  for (const wanted of conditions) {
    const index = merged.findIndex((one) => one.type === wanted.type);
    const old = merged[index];
    if (old !== undefined && old.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message) continue;
    changed = true;
    const next = {
      type: wanted.type, status: wanted.status, lastTransitionTime: old?.status === wanted.status ? old.lastTransitionTime ?? time : time,
      reason: wanted.reason, message: wanted.message,
    };
    if (index === -1) merged.push(next);
    else merged[index] = next;
  }
  return changed ? { ...namespace, status: { ...status, phase: 'Terminating', conditions: merged } } : undefined;
}
