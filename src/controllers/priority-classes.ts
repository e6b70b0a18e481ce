// The two PriorityClasses of the system, made at the start. Mirrors the reference's scheduling/bootstrap-system-priority-classes hook.
import { WorkQueue, createSystemClient } from '../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from './context.ts';

const wanted = new Map([
  ['system-node-critical', {
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  }],
  ['system-cluster-critical', {
    value: 2_000_000_000,
    description: 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  }],
]);

/** Starts at once. */
export function createPriorityClasses(context: ControllerContext): Controller {
  const client = createSystemClient(context, ['scheduling.k8s.io', 'v1', 'priorityclasses'], 'kube-apiserver');
  const { ready, mark } = createReadiness(wanted.keys());
  const queue = new WorkQueue({
    clock: context.clock,
    concurrency: wanted.size,
    onError: (key, error) => context.report('priority-classes', key, error),
    async work(name) {
      const present = await client.get({ namespace: '', name });
      if (present === undefined) {
        const object = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, ...wanted.get(name) };
        await client.createIfAbsent('', { ...object, preemptionPolicy: 'PreemptLowerPriority' });
      }
      mark(name);
    },
  });
  for (const name of wanted.keys()) queue.add(name);
  return { ready, stop: () => queue.stop() };
}
