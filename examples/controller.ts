// A small controller: every ConfigMap with the label `example.com/copy-to` is copied to the namespace that the label names, and kept equal.
// Run against any server: KUBECONFIG=.pintle/admin.kubeconfig node dist/examples/controller.js
import { CoreV1Api, KubeConfig, KubernetesObjectApi, PatchStrategy, type V1ConfigMap, makeInformer } from '@kubernetes/client-node';

const label = 'example.com/copy-to';
const retryMs = 200;

/** Starts it; answers how to stop it. */
export async function startController(config: KubeConfig): Promise<() => Promise<void>> {
  const core = config.makeApiClient(CoreV1Api);
  const objects = KubernetesObjectApi.makeApiClient(config);
  const informer = makeInformer<V1ConfigMap>(config, '/api/v1/configmaps', () => core.listConfigMapForAllNamespaces({ labelSelector: label }), label);
  let stopped = false;

  const reconcile = async (source: V1ConfigMap): Promise<void> => {
    const copy: V1ConfigMap = {
      apiVersion: 'v1', kind: 'ConfigMap', ...(source.data && { data: source.data }),
      metadata: { name: source.metadata?.name ?? '', namespace: source.metadata?.labels?.[label] ?? '' },
    };
    // Apply says what is wanted: the first time it creates, later it changes what differs, and it takes back what is left out.
    await objects.patch(copy, undefined, undefined, 'copier', true, PatchStrategy.ServerSideApply);
  };
  const enqueue = (source: V1ConfigMap): void => {
    // Level, not edge: a retry looks at what the informer holds by then.
    reconcile(source).catch(() => {
      setTimeout(() => {
        const latest = informer.get(source.metadata?.name ?? '', source.metadata?.namespace);
        if (latest !== undefined && !stopped) enqueue(latest);
      }, retryMs);
    });
  };

  informer.on('add', enqueue);
  informer.on('update', enqueue);
  informer.on('error', () => {
    if (!stopped) setTimeout(() => void informer.start(), retryMs);
  });
  await informer.start();
  return () => {
    stopped = true;
    return informer.stop();
  };
}

if (process.argv[1] === import.meta.filename) {
  const config = new KubeConfig();
  config.loadFromDefault();
  await startController(config);
}
