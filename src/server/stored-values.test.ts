// What lies in the store: the reference's layout of JSON, protobuf, secrets that nobody can read; and that all of it is served alike.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { systemClock } from '../base/index.ts';
import { type Store, openEtcdStore, keyRange } from '../storage/index.ts';
import { type EtcdCluster, noEtcd, startCluster } from '../storage/etcd/cluster.suite.ts';
import { type TestServer, startTestServer } from '../testing/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-values-'));
after(() => rmSync(directory, { recursive: true }));
const namespaced = '/api/v1/namespaces/default';

async function readRaw(store: Store, key: string): Promise<Buffer> {
  const result = await store.range(keyRange(key));
  return Buffer.from((result.type === 'ok' && result.kvs[0]?.value) || []);
}

describe('values in etcd', { skip: noEtcd }, () => {
  type Check = (server: TestServer, raw: Store, cluster: EtcdCluster) => Promise<void>;
  const run = async (options: Parameters<typeof startTestServer>[0], check: Check): Promise<void> => {
    const cluster = await startCluster();
    const server = await startTestServer({ certDir: join(directory, 'pki'), etcdServers: cluster.endpoints, ...options });
    const raw = await openEtcdStore({ endpoints: cluster.endpoints, clock: systemClock });
    try {
      await check(server, raw, cluster);
    } finally {
      await raw.close();
      await server.close();
      await cluster.stop();
    }
  };
  const create = async (server: TestServer, plural: string, object: object): Promise<void> => {
    const { status, text } = await server.request({ method: 'POST', path: `${namespaced}/${plural}`, body: object });
    assert.equal(status, 201, text);
  };

  test('are JSON as the reference writes it: type first, no resourceVersion, a newline at the end',
    () => run({ etcdPrefix: 'elsewhere/' }, async (server, raw) => {
    await create(server, 'configmaps', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } });
    const text = (await readRaw(raw, '/elsewhere/configmaps/default/a')).toString();
    assert.match(text, /^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"a","namespace":"default","uid":"[-0-9a-f]{36}","creationTimestamp":.*\}\n$/);
    assert.ok(!text.includes('resourceVersion'));
  }));

  const protobuf = { storageMediaType: 'application/vnd.kubernetes.protobuf' };
  test('may be protobuf, and values of other origin are served like ours', () => run(protobuf, async (server, raw, cluster) => {
    await create(server, 'configmaps', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', labels: { l: 'm' } }, data: { k: 'v' } });
    const bytes = await readRaw(raw, '/registry/configmaps/default/a');
    assert.equal(bytes.subarray(0, 4).toString('latin1'), 'k8s\u0000');
    const read = await server.request({ path: `${namespaced}/configmaps/a` });
    assert.deepEqual([read.body.data, read.body.metadata.labels], [{ k: 'v' }, { l: 'm' }]);
    const json = await startTestServer({ certDir: join(directory, 'pki'), etcdServers: cluster.endpoints });
    assert.deepEqual((await json.request({ path: `${namespaced}/configmaps/a` })).body, read.body);
    const foreign = '{"apiVersion":"v1","metadata":{"namespace":"default","name":"b"},"kind":"ConfigMap","data":{"from":"elsewhere"}}\n';
    await raw.txn({ key: '/registry/configmaps/default/b', expect: 0, value: Buffer.from(foreign) });
    assert.deepEqual((await json.request({ path: `${namespaced}/configmaps/b` })).body.data, { from: 'elsewhere' });
    const list = await server.request({ path: `${namespaced}/configmaps?labelSelector=l=m` });
    assert.deepEqual(list.body.items.map((item: any) => item.metadata.name), ['a']);
    await json.close();
  }));

  test('are encrypted where the configuration says so', () => {
    const config = join(directory, 'encryption.yaml');
    const secret = Buffer.alloc(32, 'k').toString('base64');
    writeFileSync(config, `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: [secrets]\n  providers:\n  - aesgcm:\n      keys:\n      - {name: key1, secret: ${secret}}\n  - identity: {}\n`);
    return run({ encryptionProviderConfig: config }, async (server, raw) => {
      await create(server, 'secrets', { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's' }, stringData: { password: 'hunter2' } });
      await create(server, 'configmaps', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } });
      assert.match((await readRaw(raw, '/registry/secrets/default/s')).toString('latin1'), /^k8s:enc:aesgcm:v1:key1:/);
      assert.match((await readRaw(raw, '/registry/configmaps/default/a')).toString(), /^\{"kind"/);
      const { body } = await server.request({ path: `${namespaced}/secrets/s` });
      assert.equal(Buffer.from(body.data.password, 'base64').toString(), 'hunter2');
      assert.equal((await server.request({ path: `${namespaced}/secrets` })).body.items.length, 1);
    });
  });
});
