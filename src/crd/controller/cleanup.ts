// The end of a kind: its objects are deleted, and when the last one is gone, so is the finalizer that holds the definition.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type OwnedRegistry, type Resource, type WriteContext, everything } from '../../registry/index.ts';
import { type DefinitionStatus, statusOf } from '../types.ts';
import { withCondition } from '../conditions.ts';

/** Holds a deleted definition until its kind is empty. */
export const FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

/** How long a kind that is not empty is left alone. */
export interface CleanupState {
  readonly waitMs: number;
}

/** The status while objects are being deleted; undefined when it says so already. */
export function startCleanup(definition: KubeObject, now: string): DefinitionStatus | undefined {
  const status = statusOf(definition);
  if (status.conditions?.some(({ type, reason }) => type === 'Terminating' && reason === 'InstanceDeletionInProgress') === true) return undefined;
  return withCondition(status, { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress',
    message: 'CustomResource deletion is in progress' }, now);
}

/** The status when deleting objects failed. */
export function failCleanup(definition: KubeObject, why: string, now: string): DefinitionStatus {
  return withCondition(statusOf(definition), { type: 'Terminating', status: 'True', reason: 'InstanceDeletionFailed', message: why }, now);
}

/** The status when no object is left. */
export function finishCleanup(definition: KubeObject, now: string): DefinitionStatus {
  return withCondition(statusOf(definition), { type: 'Terminating', status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' },
    now);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Different problems as one text, as upstream's aggregates print; bounded, since it is stored. */
function listProblems(problems: readonly string[]): string {
  const different = [...new Set(problems)].slice(0, 20);
  return different.length === 1 ? (different[0] as string) : `[${different.join(', ')}]`;
}

/** Deletes what is left of a kind and answers how many objects are still there, held by finalizers. */
export async function emptyKind(registry: OwnedRegistry, resource: Resource, context: WriteContext): Promise<number> {
  const target = { resource, version: resource.storageVersion, namespace: '' };
  const { items, count } = await registry.list(target, { predicate: everything }).catch((error: unknown) => {
    throw new Error(`could not list instances: ${messageOf(error)}`, { cause: error });
  });
  if (count === 0) return 0;
  const problems: string[] = [];
  for (const { namespace, name } of items) {
    await deleteOne(registry, { ...target, namespace, name, options: {}, context }).catch((error: unknown) => problems.push(messageOf(error)));
  }
  if (problems.length > 0) throw new Error(`could not issue all deletes: ${listProblems(problems)}`);
  return (await registry.list(target, { predicate: everything, limit: 1 })).count;
}

async function deleteOne(registry: OwnedRegistry, request: Parameters<OwnedRegistry['delete']>[0]): Promise<void> {
  try {
    await registry.delete(request);
  } catch (error) {
    if ((error as { reason?: string }).reason !== 'NotFound') throw error;
  }
}
