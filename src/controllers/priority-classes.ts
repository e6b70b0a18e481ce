// The two PriorityClasses of the system, made at the start and again when a deletion of the collection takes them. Mirrors the reference's
// scheduling/bootstrap-system-priority-classes hook, which makes them at the start only.
import { WorkQueue, createSystemClient, startReflector } from '../registry/index.ts';
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

/** Starts at once; `ready` resolves when both classes exist. */
export function createPriorityClasses(context: ControllerContext): Controller {
  const client = createSystemClient(context, ['scheduling.k8s.io', 'v1', 'priorityclasses'], 'kube-apiserver');
  const { ready, mark } = createReadiness(wanted.keys());
  const queue = new WorkQueue({
    observer: context.observeQueue?.('priority_classes'),
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
  const reflector = startReflector({
    registry: context.registry, clock: context.clock, target: client.target(''), onError: (error) => context.report('priority-classes', '', error),
    onChange: (type, { name }) => void (type === 'deleted' && wanted.has(name) && queue.add(name)),
  });
  return {
    ready,
    stop() {
      reflector.stop();
      return queue.stop();
    },
  };
}
