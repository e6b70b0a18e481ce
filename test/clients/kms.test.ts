// Secrets encrypted with a key management plugin on one etcd, under this server and a kube-apiserver: each reads what the other has written. Skipped
// without a kube-apiserver, which PINTLE_KUBE_APISERVER names, and an etcd for it.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../src/base/index.ts';
import { noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { type Store, keyRange, openEtcdStore } from '../../src/storage/index.ts';
import { type TestPlugin, startTestPlugin } from '../../src/server/encryption/testing.ts';
import { type TestClient, type TestServer, createTestClient, eventually, findPorts, startTestServer } from '../../src/test-support/index.ts';

const program = process.env['PINTLE_KUBE_APISERVER'] ?? '';
const skip = program === '' ? 'PINTLE_KUBE_APISERVER names no kube-apiserver' : noEtcd;
const START_MS = 60_000;
const secrets = '/api/v1/namespaces/default/secrets';

describe('Secrets encrypted with a key management plugin', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-kms-'));
  const path = (name: string): string => join(directory, name);
  let reference: ChildProcess | undefined;
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let plugin: TestPlugin;
  let raw: Store;
  let ours: TestServer;
  let theirs: TestClient;

  const startOurs = () => startTestServer({
    etcdServers: cluster.endpoints, certDir: path('pki'), encryptionProviderConfig: path('encryption.yaml'), controllers: [],
  });
  const make = (client: Pick<TestClient, 'request'>, name: string) =>
    client.request({ method: 'POST', path: secrets, body: { kind: 'Secret', apiVersion: 'v1', metadata: { name }, stringData: { k: name } } });
  const read = async (client: Pick<TestClient, 'request'>, name: string): Promise<string> => {
    const { status, text, body } = await client.request({ path: `${secrets}/${name}` });
    assert.equal(status, 200, text);
    return Buffer.from(body.data.k, 'base64').toString();
  };
  const prefixOf = async (name: string): Promise<string> => {
    const result = await raw.range(keyRange(`/registry/secrets/default/${name}`));
    return Buffer.from((result.type === 'ok' && result.kvs[0]?.value) || []).subarray(0, 17).toString();
  };

  before(async () => {
    plugin = await startTestPlugin(path('kms.sock'));
    writeFileSync(path('encryption.yaml'), JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration',
      resources: [{ resources: ['secrets'], providers: [{ kms: { apiVersion: 'v2', name: 'p', endpoint: `unix://${path('kms.sock')}` } }] }],
    }));
    writeFileSync(path('tokens.csv'), 'admin-token,admin,admin-uid,"system:masters"\n');
    writeFileSync(path('sa.key'), generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }));
    cluster = await startCluster();
    const [port] = await findPorts(1);
    reference = spawn(program, [
      `--etcd-servers=${cluster.endpoints.join()}`, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${path('certs')}`,
      `--token-auth-file=${path('tokens.csv')}`, '--authorization-mode=RBAC', '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${path('sa.key')}`, `--service-account-signing-key-file=${path('sa.key')}`, '--service-cluster-ip-range=10.0.0.0/24',
      `--encryption-provider-config=${path('encryption.yaml')}`,
    ], { stdio: 'ignore' });
    theirs = createTestClient(`https://127.0.0.1:${port}`, 'admin-token');
    raw = await openEtcdStore({ endpoints: cluster.endpoints, clock: systemClock });
    ours = await startOurs();
    await eventually(async () => assert.equal((await theirs.request({ path: '/readyz' })).status, 200), START_MS);
  });
  after(async () => {
    theirs.close();
    await ours.close();
    reference?.kill('SIGTERM');
    await new Promise((resolve) => reference?.on('exit', resolve));
    await raw.close();
    await cluster.stop();
    await plugin.close();
    rmSync(directory, { recursive: true });
  });

  it('are read by each server as the other has written them, in lists and watches too', async () => {
    assert.equal((await make(ours, 'ours')).status, 201);
    assert.equal((await make(theirs, 'theirs')).status, 201);
    assert.deepEqual(await Promise.all(['ours', 'theirs'].map(prefixOf)), ['k8s:enc:kms:v2:p:', 'k8s:enc:kms:v2:p:']);
    assert.deepEqual(await Promise.all([read(theirs, 'ours'), read(ours, 'theirs')]), ['ours', 'theirs']);
    for (const client of [ours, theirs]) {
      const { body } = await client.request({ path: secrets });
      assert.deepEqual(body.items.map(({ metadata }: any) => metadata.name).sort(), ['ours', 'theirs']);
    }
  });

  it('stay readable when a server starts again and the key has changed', async () => {
    await ours.close();
    plugin.keyId = '2';
    ours = await startOurs();
    assert.equal((await make(ours, 'newer')).status, 201);
    assert.equal((await ours.request({ path: secrets })).body.items.length, 3);
    assert.deepEqual(await Promise.all(['ours', 'theirs', 'newer'].map((name) => read(theirs, name))), ['ours', 'theirs', 'newer']);
  });

  it('are covered by the same health check', async () => {
    for (const client of [ours, theirs]) {
      assert.equal((await client.request({ path: '/readyz/kms-providers' })).text, 'ok');
      assert.match((await client.request({ path: '/readyz?verbose' })).text, /^\[\+\]etcd-readiness ok\n\[\+\]kms-providers ok\n\[\+\]informer-sync ok$/m);
      assert.doesNotMatch((await client.request({ path: '/livez?verbose' })).text, /kms/);
    }
  });
});
