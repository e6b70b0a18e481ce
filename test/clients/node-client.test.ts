// @kubernetes/client-node against servers of the library: informers through cuts and compactions, the calls that installers make, many servers at once.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AppsV1Api, CoreV1Api, KubeConfig, KubernetesObjectApi, PatchStrategy, type V1ConfigMap, makeInformer,
  setHeaderOptions } from '@kubernetes/client-node';
import { createServer } from '../../src/index.ts';
import { awaitSameAsList, churn, startArena } from './churn.ts';

function loadConfig(kubeconfig: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return config;
}

async function startConfig(context: TestContext): Promise<KubeConfig> {
  const server = await createServer();
  context.after(() => server.close());
  await server.ready;
  return loadConfig(server.kubeconfig);
}

test('makeInformer ends equal to a list after cuts and a compaction', { timeout: 60_000 }, async (context) => {
  const arena = await startArena();
  context.after(() => arena.close());
  const config = loadConfig(arena.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const count = { lists: 0, errors: 0, events: 0 };
  const informer = makeInformer<V1ConfigMap>(config, '/api/v1/namespaces/default/configmaps', () => {
    count.lists += 1;
    return core.listNamespacedConfigMap({ namespace: 'default' });
  });
  let stopped = false;
  const start = (): void => void informer.start().catch(restart);
  const restart = (): void => {
    count.errors += 1;
    if (!stopped) setTimeout(start, 50);
  };
  informer.on('error', restart);
  informer.on('change', () => {
    count.events += 1;
  });
  start();
  await churn(arena);
  const read = (): Record<string, string> =>
    Object.fromEntries(informer.list().map(({ metadata }) => [metadata?.name ?? '', metadata?.resourceVersion ?? '']));
  try {
    await awaitSameAsList(arena.server, read);
  } finally {
    stopped = true;
    await informer.stop();
  }
  assert.ok(count.errors > 0, 'no connection was cut');
  assert.ok(count.lists >= 2, 'no list was repeated, so no history was gone');
  assert.ok(count.events > 20, `only ${count.events} events`);
});

test('installers create, list, patch, apply and remove a release', { timeout: 60_000 }, async (context) => {
  const config = await startConfig(context);
  const [core, apps, objects] = [config.makeApiClient(CoreV1Api), config.makeApiClient(AppsV1Api), KubernetesObjectApi.makeApiClient(config)];
  const namespace = 'releases';
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const release = (version: number) => ({
    metadata: { name: `sh.helm.release.v1.demo.v${version}`, labels: { owner: 'helm', name: 'demo', status: 'deployed', version: String(version) } },
    type: 'helm.sh/release.v1', stringData: { release: 'H4sIAAAAAAAA/w==' },
  });
  await core.createNamespacedSecret({ namespace, body: release(1) });
  const template = { metadata: { labels: { app: 'demo' } }, spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] } };
  const spec = { selector: { matchLabels: { app: 'demo' } }, template };
  await apps.createNamespacedDeployment({ namespace, body: { metadata: { name: 'demo' }, spec } });
  const strategic = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
  const side = { spec: { template: { spec: { containers: [{ name: 'side', image: 'example.com/side:1' }] } } } };
  const patched = await apps.patchNamespacedDeployment({ namespace, name: 'demo', body: side }, strategic);
  assert.deepEqual(patched.spec?.template.spec?.containers.map(({ name }) => name).sort(), ['main', 'side']);
  await core.createNamespacedSecret({ namespace, body: release(2) });
  await core.patchNamespacedSecret({ namespace, name: release(1).metadata.name, body: { metadata: { labels: { status: 'superseded' } } } }, strategic);
  const { items } = await core.listNamespacedSecret({ namespace, labelSelector: 'owner=helm,name=demo,status=deployed' });
  assert.deepEqual(items.map(({ metadata }) => metadata?.name), ['sh.helm.release.v1.demo.v2']);
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace }, data: { a: '1' } };
  const apply = async (manager: string, data: Record<string, string>, force = false) =>
    objects.patch({ ...settings, data } as V1ConfigMap, undefined, undefined, manager, force, PatchStrategy.ServerSideApply);
  await apply('one', { a: '1' });
  await assert.rejects(apply('two', { a: '2' }), (error: any) => error.code === 409);
  assert.deepEqual((await apply('two', { a: '2' }, true) as V1ConfigMap).data, { a: '2' });
  await core.deleteCollectionNamespacedSecret({ namespace, labelSelector: 'owner=helm' });
  assert.equal((await core.listNamespacedSecret({ namespace })).items.length, 0);
  await apps.deleteNamespacedDeployment({ namespace, name: 'demo' });
  await assert.rejects(apps.readNamespacedDeployment({ namespace, name: 'demo' }), (error: any) => error.code === 404);
});

test('createServer starts many servers in one process that know nothing of each other', { timeout: 60_000 }, async (context) => {
  const configs = await Promise.all(Array.from({ length: 8 }, () => startConfig(context)));
  const cores = configs.map((config) => config.makeApiClient(CoreV1Api));
  await Promise.all(cores.map((core, index) => core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: `only-${index}` } } })));
  const lists = await Promise.all(cores.map((core) => core.listNamespacedConfigMap({ namespace: 'default' })));
  const names = lists.map(({ items }) => items.map(({ metadata }) => metadata?.name).filter((name) => name?.startsWith('only-')));
  assert.deepEqual(names, cores.map((_, index) => [`only-${index}`]));
});
