// The namespaces that always exist. One that is removed comes back.
import { type ReflectorListener, WorkQueue, createSystemClient } from '../../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from '../context.ts';

const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'] as const;

/** Creates them at the start and listens for their end. */
export function createSystemNamespaces(context: ControllerContext): Controller & { readonly onNamespace: ReflectorListener } {
  const namespaces = createSystemClient(context, ['', 'v1', 'namespaces'], 'kube-apiserver');
  const { ready, mark } = createReadiness(systemNamespaces);
  const queue = new WorkQueue({
    observer: context.observeQueue?.('system_namespaces'),
    clock: context.clock,
    concurrency: systemNamespaces.length,
    onError: (key, error) => context.report('bootstrap', key, error),
    async work(name) {
      const present = await namespaces.get({ namespace: '', name });
      if (present === undefined) await namespaces.createIfAbsent('', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      mark(name);
    },
  });
  for (const name of systemNamespaces) queue.add(name);
  return {
    ready,
    stop: () => queue.stop(),
    onNamespace(type, object) {
      if (type === 'deleted' && systemNamespaces.some((name) => name === object.name)) queue.add(object.name);
    },
  };
}
