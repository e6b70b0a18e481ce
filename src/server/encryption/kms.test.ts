// A server whose Secrets are encrypted with a key management plugin, over a real socket: what is stored, restarts, rotation, a plugin that is away,
// health, metrics and reload.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { createManualClock, systemClock } from '../../base/index.ts';
import { GrpcError } from '../../grpc/index.ts';
import { keyRange, openEmbeddedStore } from '../../storage/index.ts';
import { type TestServer, eventually, requestUntil, startTestServer } from '../../test-support/index.ts';
import { KmsClient } from './kms-client.ts';
import { decodeValue, sourceType } from './kms-value.ts';
import { type TestPlugin, startTestPlugin } from './testing.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-kms-'));
const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});
after(() => rmSync(directory, { recursive: true }));
let count = 0;

/** A data directory, a configuration and the socket of a plugin for one test. */
function makeServerFiles() {
  count += 1;
  const place = { dataDir: join(directory, `data-${count}`), socket: join(directory, `${count}.sock`), file: join(directory, `${count}.yaml`) };
  const configure = (...names: readonly string[]): void => configureAs('v2', ...names);
  const configureAs = (apiVersion: string, ...names: readonly string[]): void => {
    const providers = names.map((name) => (name === 'identity' ? { identity: {} }
      : { kms: { apiVersion, name, endpoint: `unix://${place.socket}`, timeout: '1s' } }));
    writeFileSync(place.file, JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources: [{ resources: ['secrets'], providers }],
    }));
  };
  configure('p');
  return { ...place, configure, configureAs };
}
type EncryptedServer = ReturnType<typeof makeServerFiles>;

async function startPlugin({ socket }: EncryptedServer): Promise<TestPlugin> {
  const plugin = await startTestPlugin(socket);
  ending.push(() => plugin.close());
  return plugin;
}

async function start({ dataDir, file }: EncryptedServer, more: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  const server = await startTestServer({ dataDir, encryptionProviderConfig: file, ...more });
  ending.push(() => server.close());
  return server;
}

const secrets = '/api/v1/namespaces/default/secrets';
const make = (server: TestServer, name: string) =>
  server.request({ method: 'POST', path: secrets, body: { kind: 'Secret', apiVersion: 'v1', metadata: { name }, stringData: { k: name } } });

/** The stored bytes of a Secret of a server that has stopped. */
async function readStored({ dataDir }: EncryptedServer, name: string): Promise<Buffer> {
  const store = await openEmbeddedStore({ directory: join(dataDir, 'store'), clock: createManualClock() });
  try {
    const result = await store.range(keyRange(`/registry/secrets/default/${name}`));
    return Buffer.from((result.type === 'ok' && result.kvs[0]?.value) || []);
  } finally {
    await store.close();
  }
}

test('Secrets are stored under the plugin\'s prefix, survive a restart, and are written again under a new key', async () => {
  const place = makeServerFiles();
  const plugin = await startPlugin(place);
  const first = await start(place);
  assert.equal((await make(first, 'one')).status, 201);
  assert.equal((await make(first, 'two')).status, 201);
  assert.equal((await first.request({ path: '/readyz/kms-providers' })).text, 'ok');
  await first.close();
  const prefix = 'k8s:enc:kms:v2:p:';
  const stored = await readStored(place, 'one');
  assert.equal(stored.subarray(0, prefix.length).toString(), prefix);
  assert.ok(!stored.includes('Secret'));
  assert.equal(decodeValue(stored.subarray(prefix.length)).keyId, '1');
  plugin.keyId = '2';
  const second = await start(place);
  const read = await second.request({ path: `${secrets}/one` });
  assert.equal(read.body.data.k, Buffer.from('one').toString('base64'));
  assert.equal((await second.request({ path: secrets })).body.items.length, 2);
  // A write that changes nothing stores the Secret with the key of today.
  assert.equal((await second.request({ method: 'PUT', path: `${secrets}/one`, body: read.body })).status, 200);
  const metrics = (await second.request({ path: '/metrics' })).text;
  for (const line of [
    /key_id_hash_total\{apiserver_id_hash="sha256:[0-9a-f]{64}",key_id_hash="sha256:[0-9a-f]{64}",provider_name="p",transformation_type="from_storage"\} \d/,
    /kms_operations_latency_seconds_count\{grpc_status_code="OK",method_name="\/v2\.KeyManagementService\/Decrypt",provider_name="p"\} 1/,
    /transformation_operations_total\{resource="secrets",status="OK",transformation_type="to_storage",transformer_prefix="k8s:enc:kms:v2:p:"\} 1/,
  ]) assert.match(metrics, line);
  await second.close();
  const keys = await Promise.all([readStored(place, 'one')].map(async (bytes) => decodeValue((await bytes).subarray(prefix.length)).keyId));
  assert.deepEqual(keys, ['2']);
  assert.equal(decodeValue((await readStored(place, 'two')).subarray(prefix.length)).keyId, '1');
});

test('plugins of the first version encrypt a key for each value, behind their gate', async () => {
  const place = makeServerFiles();
  place.configureAs('v1', 'p');
  const plugin = await startPlugin(place);
  await assert.rejects(start(place), /Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature/);
  const gate = { featureGates: ['KMSv1=true'] };
  const first = await start(place, gate);
  const [before] = [plugin.calls['v1/Encrypt'] ?? 0];
  for (const name of ['one', 'two']) assert.equal((await make(first, name)).status, 201);
  assert.deepEqual([(plugin.calls['v1/Encrypt'] ?? 0) - before, plugin.calls['Status'], [...plugin.authorities]], [2, 0, ['localhost']]);
  assert.equal((await first.request({ path: '/healthz/kms-provider-0' })).text, 'ok');
  assert.equal((await first.request({ path: '/healthz/kms-providers' })).status, 404);
  plugin.failures.set('v1/Encrypt', [9, 'key disabled']);
  const refused = await make(first, 'three');
  assert.deepEqual([refused.status, refused.body.message], [500, 'Internal error occurred: rpc error: code = FailedPrecondition desc = key disabled']);
  plugin.failures.clear();
  await first.close();
  const prefix = 'k8s:enc:kms:v1:p:';
  const stored = await readStored(place, 'one');
  assert.equal(stored.subarray(0, prefix.length).toString(), prefix);
  assert.ok(!stored.includes('Secret'));
  assert.equal(stored.readUInt16BE(prefix.length), 12 + 32 + 16);
  const second = await start(place, gate);
  assert.equal((await second.request({ path: `${secrets}/one` })).body.data.k, Buffer.from('one').toString('base64'));
  assert.equal((await second.request({ path: secrets })).body.items.length, 2);
});

test('plugins of the first version: as many keys are remembered as the file says, and those of values in memory', async () => {
  const gate = { featureGates: ['KMSv1=true'] };
  const names = Array.from({ length: 6 }, (_, index) => `s${index}`);
  const path = `${secrets}?resourceVersion=1&resourceVersionMatch=NotOlderThan`;
  for (const [cacheSize, decryptedAgain] of [[-1, 1], [2, 1], [6, 0]] as const) {
    const place = makeServerFiles();
    place.configureAs('v1', 'p');
    writeFileSync(place.file, readFileSync(place.file, 'utf8').replace('"timeout"', `"cachesize":${cacheSize},"timeout"`));
    const plugin = await startPlugin(place);
    const first = await start(place, gate);
    for (const name of names) assert.equal((await make(first, name)).status, 201);
    await first.close();
    const second = await start(place, gate);
    const one = (await second.request({ path: `${secrets}/s0` })).body;
    assert.equal((await second.request({ path })).body.items.length, names.length);
    const before = plugin.calls['v1/Decrypt'] ?? 0;
    const replaced = (await second.request({ method: 'PUT', path: `${secrets}/s0`, body: one })).body;
    assert.equal(replaced.metadata?.resourceVersion, one.metadata.resourceVersion, `an update without a change with ${cacheSize}`);
    assert.deepEqual((await second.request({ path })).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name), names);
    assert.equal((plugin.calls['v1/Decrypt'] ?? 0) - before, decryptedAgain, `keys decrypted again with ${cacheSize}`);
    await second.close();
  }
});

test('while the plugin is away nothing of its resources is read or written, health says so, and all is well once it comes', async () => {
  const place = makeServerFiles();
  const plugin = await startPlugin(place);
  const first = await start(place);
  await make(first, 'one');
  await first.close();
  await plugin.close();
  const server = await startTestServer({ dataDir: place.dataDir, encryptionProviderConfig: place.file, requestTimeoutMs: 4000 });
  ending.push(() => server.close());
  const refused = await make(server, 'two');
  assert.deepEqual([refused.status, refused.body.message], [500, 'Internal error occurred: got unexpected nil transformer']);
  assert.equal((await server.request({ path: `${secrets}/one` })).status, 500);
  const health = await server.request({ path: '/healthz/kms-providers' });
  const isCause = /kms-provider-0: (?:failed to perform status section.*, error: )?rpc error: code = DeadlineExceeded/.test(health.text);
  assert.deepEqual([health.status, isCause], [500, true], health.text);
  await startPlugin(place);
  await requestUntil(server, { path: '/readyz/kms-providers' }, { until: ({ status }) => status === 200, timeoutMs: 15_000 });
  assert.equal((await make(server, 'two')).status, 201);
  await requestUntil(server, { path: secrets }, { until: ({ status, body }) => status === 200 && body.items.length === 2, timeoutMs: 15_000 });
});

test('a changed configuration is taken into use when its plugins are well, and not before', async () => {
  const place = makeServerFiles();
  const plugin = await startPlugin(place);
  place.configure('identity');
  const server = await start(place, { encryptionProviderConfigAutomaticReload: true });
  assert.equal((await server.request({ path: '/readyz/kms-providers' })).text, 'ok', 'the check is there before any plugin is');
  await make(server, 'plain');
  plugin.healthz = 'starting';
  place.configure('p', 'identity');
  await eventually(() => assert.ok((plugin.calls['Status'] ?? 0) > 0), 10_000);
  plugin.healthz = 'ok';
  await requestUntil(server, { path: '/metrics' }, {
    until: ({ text }) => /automatic_reloads_total\{apiserver_id_hash="[^"]+",status="success"\} 1/.test(text), timeoutMs: 15_000,
  });
  await make(server, 'hidden');
  assert.equal((await server.request({ path: secrets })).body.items.length, 2);
  await server.close();
  const stored = await Promise.all(['plain'].map((name) => readStored(place, name)));
  assert.ok(!(stored[0] as Buffer).toString('latin1').startsWith('k8s:enc:'));
  assert.ok((await readStored(place, 'hidden')).toString('latin1').startsWith('k8s:enc:kms:v2:p:'));
});

test('KmsClient reports the plugin\'s errors in the words of gRPC, and waits for a plugin that is late', async () => {
  const place = makeServerFiles();
  const observed: string[] = [];
  const observe = (method: string, _: number, code: string): void => void observed.push(`${method} ${code}`);
  const client = new KmsClient({ path: place.socket, timeoutMs: 5000, clock: systemClock, observe });
  ending.push(async () => client.close());
  const late = client.status();
  const plugin = await startPlugin(place);
  assert.deepEqual(await late, { version: 'v2', healthz: 'ok', keyId: '1' });
  const sealed = await client.encrypt('uid', Buffer.from('seed'));
  assert.deepEqual([sealed.keyId, sealed.type, sealed.annotations.get('keys.example.com')?.toString()], ['1', sourceType.seed, 'aes-256-gcm']);
  assert.equal(Buffer.from(await client.decrypt('uid', sealed)).toString(), 'seed');
  plugin.failures.set('Decrypt', [5, 'no such key']);
  await assert.rejects(client.decrypt('uid', sealed), (error: Error) => {
    assert.equal(error.message, 'rpc error: code = NotFound desc = no such key');
    assert.ok(!(error instanceof GrpcError));
    return true;
  });
  assert.deepEqual(observed.map((line) => line.replace('/v2.KeyManagementService/', '')), ['Status OK', 'Encrypt OK', 'Decrypt OK', 'Decrypt NotFound']);
});
