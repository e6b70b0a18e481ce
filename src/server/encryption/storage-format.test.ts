// The bytes in the store: the reference's layout of JSON, protobuf, secrets that cannot be read; and that all of it is served alike.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadSchemas } from '../../apimachinery/index.ts';
import { systemClock, systemRandom } from '../../base/index.ts';
import { encodeEnvelope, encodeMessage } from '../../codec/index.ts';
import { createBuiltinResources, schemaData } from '../../resources/index.ts';
import { type Store, openEtcdStore, keyRange } from '../../storage/index.ts';
import { type EtcdCluster, noEtcd, startCluster } from '../../storage/etcd/cluster.suite.ts';
import { type TestServer, eventually, requestUntil, startTestServer } from '../../test-support/index.ts';
import { readStorageFormat } from './storage-format.ts';

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

  test('are JSON as the reference writes it: type first, no resourceVersion, a newline at the end, behind a mark of white space',
    () => run({ etcdPrefix: 'elsewhere/' }, async (server, raw) => {
    await create(server, 'configmaps', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } });
    const text = (await readRaw(raw, '/elsewhere/configmaps/default/a')).toString();
    const document = /^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"a","namespace":"default","uid":"[-0-9a-f]{36}","creationTimestamp":.*\}/;
    assert.match(text, document);
    assert.match(text.replace(document, ''), /^[ \t\r\n]{16}\n$/);
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

  test('of other origin have the defaults of their kind when they are read, whatever their order', () => run({}, async (server, raw) => {
    const claims = { path: `${namespaced}/persistentvolumeclaims` };
    const keyOf = (name: string): string => `/registry/persistentvolumeclaims/default/${name}`;
    const meta = (name: string) => ({ name, namespace: 'default', uid: `7c5d1d6e-9c66-4a5e-8f3a-6a1f2a3b4c5${name}`,
      creationTimestamp: '2026-01-02T03:04:05Z' });
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    // That of b begins as those of this server do.
    const stored = [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: meta('a'), spec },
      { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: meta('b'), spec }];
    for (const claim of stored) await raw.txn({ key: keyOf(claim.metadata.name), expect: 0, value: Buffer.from(`${JSON.stringify(claim)}\n`) });
    const filled = [{ ...spec, volumeMode: 'Filesystem' }, { phase: 'Pending' }];
    for (const name of ['a', 'b']) {
      const { body } = await server.request({ path: `${claims.path}/${name}` });
      assert.deepEqual([body.spec, body.status], filled);
    }
    const { body: { items } } = await server.request(claims);
    assert.deepEqual(items.map(({ spec, status }: any) => [spec, status]), [filled, filled]);
    // An update that changes nothing writes what the value lacks, once.
    const patch = async () => {
      const { status, body, text } = await server.request({ method: 'PATCH', path: `${claims.path}/b`, body: {},
        headers: { 'content-type': 'application/merge-patch+json' } });
      assert.equal(status, 200, text);
      return body.metadata.resourceVersion;
    };
    const first = await patch();
    assert.notEqual(first, items[1].metadata.resourceVersion);
    assert.match((await readRaw(raw, keyOf('b'))).toString(), /"volumeMode":"Filesystem"/);
    assert.equal(await patch(), first);
  }));

  test('may be protobuf that lacks defaults: an update that changes nothing writes them, once', () => run(protobuf, async (server, raw) => {
    const key = '/registry/persistentvolumeclaims/default/a';
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await create(server, 'persistentvolumeclaims', { metadata: { name: 'a' }, spec });
    const { schema } = createBuiltinResources(loadSchemas(schemaData)).find(({ kind }) => kind === 'PersistentVolumeClaim')!.versions[0]!;
    const { body: claim } = await server.request({ path: `${namespaced}/persistentvolumeclaims/a` });
    const { resourceVersion: _version, ...metadata } = claim.metadata;
    const { volumeMode: _mode, ...bare } = claim.spec;
    const type = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
    const value = encodeEnvelope(type, encodeMessage(schema, { ...claim, metadata: { ...metadata, name: 'b' }, spec: bare }));
    await raw.txn({ key: key.replace(/a$/, 'b'), expect: 0, value });
    const patch = async (): Promise<string> => {
      const { body } = await server.request({ method: 'PATCH', path: `${namespaced}/persistentvolumeclaims/b`, body: {},
        headers: { 'content-type': 'application/merge-patch+json' } });
      return body.metadata.resourceVersion;
    };
    const before = (await server.request({ path: `${namespaced}/persistentvolumeclaims/b` })).body;
    assert.equal(before.spec.volumeMode, 'Filesystem');
    const first = await patch();
    assert.notEqual(first, before.metadata.resourceVersion);
    assert.ok((await readRaw(raw, key.replace(/a$/, 'b'))).includes('Filesystem'));
    assert.equal(await patch(), first);
  }));

  // As kube-apiserver stores it: in a version that is served no more, with what the versions have in common above them.
  const formerDefinition = (versions: readonly string[], more: object) => ({
    kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1beta1',
    metadata: { name: 'things.example.com', uid: '7c5d1d6e-9c66-4a5e-8f3a-6a1f2a3b4c5d', generation: 1, creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: {
      group: 'example.com', version: versions[0], names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }, scope: 'Namespaced',
      ...more, versions: versions.map((name, index) => ({ name, served: true, storage: index === 0 })), preserveUnknownFields: false,
    },
    status: { conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: [versions[0]] },
  });

  test('of definitions may be v1beta1, as the reference writes them; they never are protobuf', () => run(protobuf, async (server, raw) => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com';
    const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/things.example.com';
    const schema = { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } };
    const stored = formerDefinition(['v1', 'v2'], {
      validation: schema, subresources: { status: {} }, additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.size' }],
      conversion: { strategy: 'Webhook', webhookClientConfig: { url: 'https://localhost:1/' }, conversionReviewVersions: ['v1'] },
    });
    await raw.txn({ key, expect: 0, value: Buffer.from(`${JSON.stringify(stored)}\n`) });
    const isServed = (text: string) => text.includes('"Established"') && text.includes('"status":"True"');
    const { body, text } = await requestUntil(server, { path }, { until: (response) => isServed(response.text) });
    const common = { schema, subresources: { status: {} }, additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.size' }] };
    assert.deepEqual(body.spec, {
      group: 'example.com', names: stored.spec.names, scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, ...common }, { name: 'v2', served: true, storage: false, ...common }],
      conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://localhost:1/' }, conversionReviewVersions: ['v1'] } },
    });
    assert.ok(text.startsWith('{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",'), text.slice(0, 100));
    const things = '/apis/example.com/v1/namespaces/default/things';
    const make = (size: unknown) => server.request({
      method: 'POST', path: things, body: { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { generateName: 't-' }, size },
    });
    await requestUntil(server, { path: things }, { until: ({ status }) => status === 200 });
    assert.deepEqual([(await make(1)).status, (await make('large')).status], [201, 422]);
    // The status that the server has written meanwhile made it v1, in JSON though the built-in kinds are protobuf.
    assert.match((await readRaw(raw, key)).toString('latin1'), /^\{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io\/v1",/);
  }));

  const encrypt = (name: string, providers: string): string => {
    const file = join(directory, `${name}.yaml`);
    const text = `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: [secrets]\n  providers:\n${providers}`;
    writeFileSync(file, text);
    return file;
  };
  const providerOf = (type: string, key: string): string =>
    `  - ${type}:\n      keys:\n      - {name: ${key}, secret: ${Buffer.alloc(32, key).toString('base64')}}\n`;

  test('are written again by an update that changes nothing, once, while they are stored with an older key, in the clear or in another encoding', async () => {
    const configs = [
      {}, { encryptionProviderConfig: encrypt('one', `${providerOf('aescbc', 'one')}  - identity: {}\n`) },
      { encryptionProviderConfig: encrypt('two', providerOf('secretbox', 'two') + providerOf('aescbc', 'one')) },
      { encryptionProviderConfig: encrypt('two', providerOf('secretbox', 'two') + providerOf('aescbc', 'one')), ...protobuf },
      { encryptionProviderConfig: encrypt('none', `  - identity: {}\n${providerOf('secretbox', 'two')}`) },
    ];
    const heads = ['{"kind":"Secret"', 'k8s:enc:aescbc:v1:one:', 'k8s:enc:secretbox:v1:two:', 'k8s:enc:secretbox:v1:two:', '{"kind":"Secret"'];
    const path = `${namespaced}/secrets/s`;
    await run({}, async (first, raw, cluster) => {
      await create(first, 'secrets', { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's' }, stringData: { password: 'hunter2' } });
      for (const [turn, config] of configs.entries()) {
        const server = await startTestServer({ certDir: join(directory, 'pki'), etcdServers: cluster.endpoints, ...config });
        const before = (await server.request({ path })).body;
        const body = { ...before, metadata: { ...before.metadata, resourceVersion: undefined } };
        const put = async () => (await server.request({ method: 'PUT', path, body })).body;
        const [moved, still] = [await put(), await put()];
        assert.equal(moved.metadata.resourceVersion !== before.metadata.resourceVersion, turn > 0, `turn ${turn}`);
        assert.equal(still.metadata.resourceVersion, moved.metadata.resourceVersion);
        assert.deepEqual(still.data, before.data);
        const stored = (await readRaw(raw, '/registry/secrets/default/s')).toString('latin1');
        assert.ok(stored.startsWith(heads[turn] as string), `turn ${turn}: ${stored.slice(0, 30)}`);
        await server.close();
      }
    });
  });

  test('are encrypted where the configuration says so', () => {
    const config = encrypt('encryption', `${providerOf('aesgcm', 'key1')}  - identity: {}\n`);
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

test('an update that changes nothing brings a custom resource to the storage version of its definition, once', async () => {
  const server = await startTestServer({});
  const version = (name: string, storage: boolean) =>
    ({ name, storage, served: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } });
  const definition = (storage: string) => ({
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' },
      versions: ['v1', 'v2'].map((name) => version(name, name === storage)),
    },
  });
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const things = '/apis/example.com/v1/things';
  try {
    await server.request({ method: 'POST', path: definitions, body: definition('v1') });
    await requestUntil(server, { path: things }, { until: ({ status }) => status === 200, timeoutMs: 10_000 });
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } };
    const { body: made } = await server.request({ method: 'POST', path: things, body: thing });
    const put = async () => (await server.request({ method: 'PUT', path: `${things}/a`, body: made })).body.metadata.resourceVersion;
    assert.equal(await put(), made.metadata.resourceVersion);
    await server.request({ method: 'PATCH', path: `${definitions}/things.example.com`, body: { spec: definition('v2').spec } });
    let moved = await put();
    for (let tries = 0; moved === made.metadata.resourceVersion && tries < 100; tries += 1) moved = await put();
    assert.notEqual(moved, made.metadata.resourceVersion);
    const { body: now } = await server.request({ path: `${things}/a` });
    const again = await server.request({ method: 'PUT', path: `${things}/a`, body: now });
    assert.equal(again.body.metadata.resourceVersion, moved);
  } finally {
    await server.close();
  }
});

test('an EncryptionConfiguration that has changed is used for what is written next', async () => {
  const path = join(directory, 'encryption.yaml');
  const configure = (...names: readonly string[]): void => writeFileSync(path, JSON.stringify({
    kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources: [{ resources: ['secrets'], providers: [
      ...names.map((name) => ({ aesgcm: { keys: [{ name, secret: Buffer.alloc(32, name).toString('base64') }] } })), { identity: {} },
    ] }],
  }));
  configure('one');
  const format = await readStorageFormat({
    encryptionProviderConfig: path, encryptionProviderConfigAutomaticReload: true, etcdServers: [], datastoreEndpoint: '', featureGates: [],
    storageMediaType: 'application/json', random: systemRandom,
  });
  const cipher = format.cipherFor?.('secrets');
  const seal = (): string => Buffer.from((cipher?.seal(Buffer.from('{}'), 'key') ?? []) as Uint8Array).toString('latin1');
  const first = seal();
  assert.match(first, /^k8s:enc:aesgcm:v1:one:/);
  configure('two', 'one');
  await eventually(async () => assert.match(seal(), /^k8s:enc:aesgcm:v1:two:/));
  assert.equal(Buffer.from(cipher?.open(Buffer.from(first, 'latin1'), 'key') ?? []).toString(), '{}');
  assert.equal(cipher?.isCurrent(Buffer.from(first, 'latin1'), 'key'), false);
  format.stop?.();
});
