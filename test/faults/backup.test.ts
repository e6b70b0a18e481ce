// A backup of a server that is being written, taken by another process and restored beside it: every object as it was at the revision of the
// snapshot, with its resourceVersion; kubeconfigs and tokens of the old server are good on the new one; a watch that continues from the
// snapshot misses and repeats nothing, an older one is 410.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { type TestServer, eventually, startTestServer } from '../../src/test-support/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-backup-'));
const running: TestServer[] = [];
after(async () => {
  await Promise.all(running.map((server) => server.close()));
  rmSync(root, { recursive: true });
});

/** A server that does not outlive a test that fails. */
async function start(options: Parameters<typeof startTestServer>[0]): Promise<TestServer> {
  const server = await startTestServer(options);
  running.push(server);
  return server;
}

const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const configMaps = '/api/v1/namespaces/default/configmaps';

/** Runs a command in a process of its own; rejects when it fails. */
const pintle = (...args: string[]): Promise<string> => new Promise((resolve, reject) => {
  execFile(process.execPath, [main, ...args], (error, stdout, stderr) => (error === null ? resolve(stdout) : reject(new Error(stderr, { cause: error }))));
});

/** Writers that create, update and delete ConfigMaps of their own until they are stopped. */
class Writers {
  readonly #server: TestServer;
  readonly #work: Promise<void>[];
  /** The newest revision in an answer to a writer, and how many writes there were. */
  acknowledged = 0;
  count = 0;
  #stopped = false;

  constructor(server: TestServer, count: number) {
    this.#server = server;
    this.#work = Array.from({ length: count }, (_, writer) => this.#write(writer));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#work);
  }

  async #write(writer: number): Promise<void> {
    for (let n = 0; !this.#stopped; n += 1) {
      const name = `w${writer}-${n % 40}`;
      const method = ['POST', 'PUT', 'DELETE'][Math.floor(n / 40) % 3];
      const { status, body } = await this.#server.request({
        method, path: method === 'POST' ? configMaps : `${configMaps}/${name}`,
        ...(method !== 'DELETE' && { body: { metadata: { name }, data: { n: String(n), filler: 'x'.repeat(500) } } }),
      });
      assert.ok(status === 200 || status === 201, `${method} ${name}: ${status}`);
      this.count += 1;
      if (method !== 'DELETE') this.acknowledged = Math.max(this.acknowledged, Number(body.metadata.resourceVersion));
    }
  }
}

/** Every object of every kind that can be listed, as of a revision. */
async function readAll(server: TestServer, revision: number): Promise<Map<string, object>> {
  const objects = new Map<string, object>();
  const groups = (await server.request({ path: '/apis' })).body.groups as { preferredVersion: { groupVersion: string } }[];
  for (const path of ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)]) {
    const resources = (await server.request({ path })).body.resources as { name: string; verbs: string[] }[];
    for (const { name } of resources.filter(({ verbs }) => verbs.includes('watch'))) {
      const { status, body, text } = await server.request({ path: `${path}/${name}?resourceVersion=${revision}&resourceVersionMatch=Exact` });
      assert.equal(status, 200, `${path}/${name}: ${text}`);
      for (const item of body.items) objects.set(`${path}/${name}/${item.metadata.namespace ?? ''}/${item.metadata.name}`, item);
    }
  }
  return objects;
}

/** Asks as the user of a kubeconfig, whose authority must have signed the server's certificate. */
function askWith(kubeconfig: string, url: string, path: string): Promise<{ status: number; text: string }> {
  const find = (field: string): Buffer => Buffer.from(new RegExp(`^ +${field}: (\\S+)$`, 'm').exec(kubeconfig)?.[1] ?? '', 'base64');
  const agent = new Agent({ ca: find('certificate-authority-data'), cert: find('client-certificate-data'), key: find('client-key-data') });
  return new Promise((resolve, reject) => {
    requestHttps(`${url}${path}`, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part)).on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    }).on('error', reject).end();
  });
}

const watchFrom = async (server: TestServer, revision: number): Promise<string> => (
  (await server.request({ path: `${configMaps}?watch=1&timeoutSeconds=4&resourceVersion=${revision}` })).text
);

const revisionIn = (text: string): number => Number(/as of revision (\d+)/.exec(text)?.[1]);

/** Backs up while writers write; answers the revision of the snapshot, and every object of the old server as of it. */
async function backUp(server: TestServer, file: string, places: readonly string[]): Promise<{ revision: number; objects: Map<string, object> }> {
  const writers = new Writers(server, 4);
  await eventually(() => assert.ok(writers.count > 300), 60_000);
  const { acknowledged } = writers;
  const revision = revisionIn(await pintle('storage', 'snapshot', '--to', file, ...places));
  assert.ok(revision >= acknowledged, `the snapshot is of revision ${revision}, ${acknowledged} was acknowledged before it`);
  await eventually(() => assert.ok(writers.acknowledged > revision + 50), 60_000);
  await writers.stop();
  return { revision, objects: await readAll(server, revision) };
}

/** The restored server has exactly these objects, continues watches from the snapshot, and refuses older ones. */
async function checkRestored(server: TestServer, { revision, objects }: { revision: number; objects: Map<string, object> }): Promise<void> {
  const restored = await readAll(server, revision);
  assert.ok(objects.size > 150);
  assert.deepEqual([...restored.keys()].sort(), [...objects.keys()].sort());
  for (const [key, object] of objects) assert.deepEqual(restored.get(key), object);
  const watching = watchFrom(server, revision);
  const created = await server.request({ method: 'POST', path: configMaps, body: { metadata: { name: 'after' } } });
  assert.ok(Number(created.body.metadata.resourceVersion) > revision);
  const lines = (await watching).split('\n').filter((line) => line !== '');
  const events = lines.map((line) => JSON.parse(line) as { type: string; object: { metadata: { name: string } } });
  assert.deepEqual(events.map(({ type, object }) => `${type} ${object.metadata.name}`), ['ADDED after']);
  assert.match(await watchFrom(server, revision - 1), /"code":410/);
}

test('a server that is written is backed up from outside and restored with its identity, every object and revision', async () => {
  const [dataDir, file, restored, raised] = ['old', 'backup.snapshot', 'exact', 'raised'].map((name) => join(root, name)) as [string, string, string, string];
  const old = await start({ dataDir });
  // The key that signs tokens is made with the first one.
  const token = (await old.request({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts/default/token', body: { spec: {} } })).body.status.token;
  const backup = await backUp(old, file, ['--data-dir', dataDir]);
  const jane = await pintle('kubeconfig', '--user', 'jane', '--group', 'system:masters', '--data-dir', dataDir);
  await old.close();

  await pintle('storage', 'restore', '--from', file, '--data-dir', restored, '--bump', '0');
  const server = await start({ dataDir: restored });
  await checkRestored(server, backup);
  for (const kubeconfig of [old.kubeconfig, jane]) assert.equal((await askWith(kubeconfig, server.url, configMaps)).status, 200);
  const review = await server.request({ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body: { spec: { token } } });
  assert.equal(review.body.status?.user?.username, 'system:serviceaccount:default:default', review.text);
  await server.close();
  assert.match(await pintle('storage', 'check', '--data-dir', restored), /^ok: /);

  await assert.rejects(pintle('storage', 'restore', '--from', file, '--data-dir', restored), /is not empty/);
  await pintle('storage', 'restore', '--from', file, '--data-dir', raised);
  const safe = await start({ dataDir: raised });
  for (const seen of [backup.revision, backup.revision + 50]) assert.match(await watchFrom(safe, seen), /"code":410/);
  assert.ok(Number((await safe.request({ path: configMaps })).body.metadata.resourceVersion) > backup.revision + 1_000_000_000 - 1);
  await safe.close();
});

describe('over etcd', { skip: noEtcd, timeout: 120_000 }, () => {
  test('a server over etcd is backed up and restored into another etcd, and from there into a directory, revisions included', async () => {
    const [one, two] = await Promise.all([startCluster(), startCluster()]);
    try {
      const [certDir, file, second, dataDir, again] = ['pki', 'etcd.snapshot', 'pki-two', 'from-etcd', 'again.snapshot']
        .map((name) => join(root, name)) as [string, string, string, string, string];
      const old = await start({ etcdServers: one.endpoints, certDir });
      const backup = await backUp(old, file, ['--etcd-servers', one.endpoints.join(','), '--cert-dir', certDir]);
      await old.close();
      const output = await pintle('storage', 'restore', '--from', file, '--etcd-servers', two.endpoints.join(','), '--cert-dir', second);
      const reached = Number(/continues from revision (\d+)/.exec(output)?.[1]);
      assert.ok(reached >= backup.revision && reached < backup.revision + 100, output);
      const server = await start({ etcdServers: two.endpoints, certDir: second });
      await checkRestored(server, { ...backup, revision: reached });
      assert.equal((await askWith(old.kubeconfig, server.url, configMaps)).status, 200);
      const state = { revision: 0, objects: new Map<string, object>() };
      state.revision = revisionIn(await pintle('storage', 'snapshot', '--to', again, '--etcd-servers', two.endpoints.join(','), '--cert-dir', second));
      state.objects = await readAll(server, state.revision);
      await server.close();
      await pintle('storage', 'restore', '--from', again, '--data-dir', dataDir, '--bump', '0');
      const last = await start({ dataDir });
      for (const [key, object] of await readAll(last, state.revision)) assert.deepEqual(object, state.objects.get(key));
      assert.equal((await askWith(old.kubeconfig, last.url, configMaps)).status, 200);
      await last.close();
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
  });
});
