// The examples run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { createServer, runControllers } from '../src/index.ts';
import { createTestServer } from '../src/testing/index.ts';
import { startController } from './controller.ts';
import { greet, startGreetings } from './crd.ts';
import { tryAdmission } from './admission.ts';
import { runEmbedded } from './embed.ts';
import { websiteController, websites } from './typed-controller.ts';

test('runEmbedded reads what it wrote', async () => {
  assert.equal(await runEmbedded(), 'hello');
});

test('tryAdmission changes one write and refuses the other', async () => {
  assert.deepEqual(await tryAdmission(), {
    writer: 'kubernetes-admin', refusal: 'admission webhook "no-passwords.example.com" denied the request: passwords belong into Secrets' });
});

test('startController copies ConfigMaps and keeps the copies equal', { timeout: 20_000 }, async (context) => {
  const server = await createServer();
  context.after(() => server.close());
  await server.ready;
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const stop = await startController(config);
  context.after(stop);
  const metadata = { name: 'settings', labels: { 'example.com/copy-to': 'kube-public' } };
  await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata, data: { color: 'blue', size: 'big' } } });
  await until(async () => (await readCopy(core))?.['size'] === 'big');
  await core.replaceNamespacedConfigMap({ namespace: 'default', name: 'settings', body: { metadata, data: { color: 'red' } } });
  await until(async () => JSON.stringify(await readCopy(core)) === '{"color":"red"}');
});

test('websiteController keeps a page for each Website', { timeout: 20_000 }, async () => {
  await using server = await createTestServer({ tls: false, crds: websites });
  const controllers = await runControllers([websiteController], { server });
  await server.apply({ apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'home' }, spec: { title: 'Hello' } });
  await server.waitFor('cm/home-page', ({ data }) => data['index.html'] === '<h1>Hello</h1>');
  await server.waitFor('websites/home', ({ status }) => status?.page === 'home-page');
  await server.delete('cm/home-page');
  await server.waitFor('cm/home-page', 'exists');
  await controllers.stop();
});

test('startGreetings answers custom objects in their status', { timeout: 20_000 }, async (context) => {
  const server = await createServer();
  context.after(() => server.close());
  await server.ready;
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig);
  context.after(await startGreetings(config));
  assert.equal(await greet(config, 'World'), 'Hello, World!');
});

async function readCopy(core: CoreV1Api): Promise<Record<string, string> | undefined> {
  return (await core.readNamespacedConfigMap({ namespace: 'kube-public', name: 'settings' }).catch(() => undefined))?.data;
}

async function until(passes: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await passes()); tries += 1) {
    assert.ok(tries < 500, 'never');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
