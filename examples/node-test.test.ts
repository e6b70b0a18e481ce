// Pintle in a test runner, here node:test; vitest and jest take the same lines in beforeAll and afterAll. Servers are cheap: one for each test is fine.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { type RunningServer, createServer } from '../src/index.ts';

let server: RunningServer;
let core: CoreV1Api;

before(async () => {
  server = await createServer();
  await server.ready;
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
});

after(() => server.close());

test('createNamespace answers like a cluster: a second one is a conflict', async () => {
  await core.createNamespace({ body: { metadata: { name: 'mine' } } });
  await assert.rejects(core.createNamespace({ body: { metadata: { name: 'mine' } } }), (error: any) => error.code === 409);
});

test('deleteNamespace empties the namespace and ends', async () => {
  await core.createNamespacedConfigMap({ namespace: 'mine', body: { metadata: { name: 'inside' } } });
  await core.deleteNamespace({ name: 'mine' });
  for (let tries = 0; tries < 100; tries += 1) {
    const { items } = await core.listNamespace();
    if (items.every(({ metadata }) => metadata?.name !== 'mine')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail('the namespace is still there');
});
