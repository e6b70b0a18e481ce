// The roles and bindings that every cluster begins with: made at the first start, and at every start restored to at least what they were,
// unless they say `autoupdate: "false"`. Mirrors the reference's rbac/bootstrap-roles hook.
import type { KubeObject } from '../../apimachinery/index.ts';
import { createBootstrapPolicy } from '../../auth/index.ts';
import { type SystemClient, WorkQueue, createSystemClient } from '../../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from '../context.ts';
import { grantsOtherRole, inheritSubjects, restoreObject } from './restore.ts';

const GROUP = 'rbac.authorization.k8s.io';
const MANAGER = 'kube-apiserver';

/** Objects restored in one turn. */
const SLICE_LENGTH = 3;

const giveTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Objects of one row, in one namespace or in none. */
interface Batch {
  readonly client: SystemClient;
  readonly objects: readonly KubeObject[];
}

/** Starts at once; `ready` resolves when the policy of the cluster holds. Namespaced roles follow when `namespaces` has resolved. */
export function createBootstrapRoles(context: ControllerContext, namespaces: Promise<void>): Controller {
  const batches = planBatches(context);
  const ofCluster = ['clusterroles', 'clusterrolebindings'];
  const { ready, mark } = createReadiness(ofCluster);
  const queue = new WorkQueue({
    observer: context.observeQueue?.('bootstrap_roles'),
    clock: context.clock,
    concurrency: batches.size,
    onError: (key, error) => context.report('bootstrap-roles', key, error),
    async work(key) {
      await restoreBatch(batches.get(key) as Batch);
      mark(key);
    },
  });
  for (const key of ofCluster) queue.add(key);
  void namespaces.then(() => {
    for (const key of ['roles', 'rolebindings']) queue.add(key);
  });
  return { ready, stop: () => queue.stop() };
}

function planBatches(context: ControllerContext): ReadonlyMap<string, Batch> {
  const policy = createBootstrapPolicy(context.isGateOn);
  const client = (plural: string): SystemClient => createSystemClient(context, [GROUP, 'v1', plural], MANAGER);
  return new Map<string, Batch>([
    ['clusterroles', { client: client('clusterroles'), objects: policy.clusterRoles }],
    ['clusterrolebindings', { client: client('clusterrolebindings'), objects: policy.clusterRoleBindings }],
    ['roles', { client: client('roles'), objects: policy.roles }],
    ['rolebindings', { client: client('rolebindings'), objects: policy.roleBindings }],
  ]);
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

async function restoreBatch({ client, objects }: Batch): Promise<void> {
  const present = new Map((await client.list('')).map((object) => [keyOf(object), object]));
  // The writes of a batch are under way together, so that they share their commits. Requests get their turn between slices: the first ones
  // of a new server are not to wait for all of its roles.
  const slices: Promise<PromiseSettledResult<void>[]>[] = [];
  for (let from = 0; from < objects.length; from += SLICE_LENGTH) {
    await giveTurn();
    const slice = objects.slice(from, from + SLICE_LENGTH);
    slices.push(Promise.allSettled(slice.map((wanted) => restoreOne(client, inheritSubjects(wanted, present), present.get(keyOf(wanted))))));
  }
  const results = (await Promise.all(slices)).flat();
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function restoreOne(client: SystemClient, wanted: KubeObject, current: KubeObject | undefined): Promise<void> {
  const { name = '', namespace = '' } = wanted.metadata;
  if (current !== undefined && grantsOtherRole(current, wanted)) await client.delete({ namespace, name });
  else if (current !== undefined) {
    if (restoreObject(current, wanted) !== current) await client.update({ namespace, name }, '', (found) => restoreObject(found, wanted));
    return;
  }
  await client.createIfAbsent(namespace, wanted);
}
