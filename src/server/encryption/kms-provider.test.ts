// The provider of a key management plugin by a clock that the test moves: seeds per key, refusals once the plugin has been ill for too long, what values
// wait for; the Store that holds values until they can be read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ManualClock, createManualClock, systemRandom } from '../../base/index.ts';
import { type StoreEvent, createMemoryStore, keyRange, prefixRange } from '../../storage/index.ts';
import type { KmsService } from './kms-client.ts';
import { KmsProvider } from './kms-provider.ts';
import { checkSource, decodeValue, encodeValue, sourceType } from './kms-value.ts';
import { createPreparedStore } from './prepared-store.ts';

const context = Buffer.from('/registry/secrets/n/a');
const plain = Buffer.from('{"kind":"Secret"}');

/** A plugin whose ciphertext is the plaintext with a mark, and which counts. */
function createService() {
  const service = {
    keyId: 'one', healthz: 'ok', version: 'v2', encryptsWith: undefined as string | undefined, broken: '', decrypted: 0, asked: 0, closed: false,
    refuse() {
      if (service.broken !== '') throw new Error(service.broken);
    },
    async status() {
      service.asked += 1;
      service.refuse();
      return { version: service.version, healthz: service.healthz, keyId: service.keyId };
    },
    async encrypt(_uid: string, plaintext: Uint8Array) {
      service.refuse();
      const keyId = service.encryptsWith ?? service.keyId;
      const source = Buffer.concat([Buffer.from(`${keyId}:`), plaintext]);
      return { keyId, source, annotations: new Map([['a.example.com', Buffer.of(1)]]), type: sourceType.seed };
    },
    async decrypt(_uid: string, { source, keyId }: { readonly source: Uint8Array; readonly keyId: string }) {
      service.refuse();
      service.decrypted += 1;
      return source.subarray(keyId.length + 1);
    },
    close: () => void (service.closed = true),
  };
  return service satisfies KmsService;
}

function createProvider(service = createService(), clock: ManualClock = createManualClock()) {
  return { service, clock, provider: new KmsProvider({ name: 'p', service, timeoutMs: 3000, clock, random: systemRandom }) };
}

/** Moves the clock in steps in which calls can end. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    clock.advance(Math.min(left, 1000));
    await new Promise(setImmediate);
  }
}

test('KmsProvider writes EncryptedObject messages, each with a key of its own, and reads them without asking the plugin', async () => {
  const { service, provider } = createProvider();
  await provider.start();
  const [first, second] = [provider.cipher.seal(plain, context), provider.cipher.seal(plain, context)];
  const value = decodeValue(first);
  assert.deepEqual([value.keyId, value.type, [...value.annotations.keys()]], ['one', 1, ['a.example.com']]);
  assert.notDeepEqual(value.data.subarray(0, 32), decodeValue(second).data.subarray(0, 32));
  assert.equal(provider.cipher.prepare?.(first), undefined);
  assert.deepEqual(provider.cipher.open(first, context), plain);
  assert.throws(() => provider.cipher.open(first, Buffer.from('/registry/secrets/n/b')), 'the key is authenticated');
  assert.equal(service.decrypted, 0);
  provider.stop();
  assert.ok(service.closed);
});

test('encodeValue and decodeValue are inverse', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
  fc.assert(fc.property(bytes, bytes, (data, source) => {
    const value = { data, source, keyId: 'k', annotations: new Map([['a.b', source]]), type: sourceType.seed };
    const decoded = decodeValue(encodeValue(value));
    assert.deepEqual([[...decoded.data], [...decoded.source], decoded.keyId, decoded.type], [[...data], [...source], 'k', 1]);
    assert.deepEqual([...decoded.annotations.get('a.b') ?? []], [...source]);
  }));
});

test('KmsProvider has values of another server decrypted once for each seed, and knows which are outdated', async () => {
  const other = createProvider();
  await other.provider.start();
  const values = [other.provider.cipher.seal(plain, context), other.provider.cipher.seal(plain, context)];
  const { service, provider, clock } = createProvider();
  await provider.start();
  assert.throws(() => provider.cipher.open(values[0] as Uint8Array, context), /failed to decrypt DEK/);
  await Promise.all(values.map((value) => provider.cipher.prepare?.(value)));
  assert.equal(service.decrypted, 1);
  assert.deepEqual(values.map((value) => provider.cipher.open(value, context)), [plain, plain]);
  assert.equal(provider.cipher.isCurrent?.(values[0] as Uint8Array, context), true, 'another seed of the same key is not outdated');
  service.keyId = 'two';
  await pass(clock, 60_000);
  assert.equal(decodeValue(provider.cipher.seal(plain, context)).keyId, 'two');
  assert.equal(provider.cipher.isCurrent?.(values[0] as Uint8Array, context), false);
  assert.deepEqual(provider.cipher.open(values[1] as Uint8Array, context), plain);
});

test('KmsProvider keeps the seed before while the plugin is ill, refuses writes after three minutes, and recovers', async () => {
  const { service, provider, clock } = createProvider();
  await provider.start();
  const sealed = provider.cipher.seal(plain, context);
  service.broken = 'rpc error: code = Unavailable desc = gone';
  await pass(clock, 170_000);
  assert.equal(decodeValue(provider.cipher.seal(plain, context)).keyId, 'one');
  await assert.rejects(provider.check(), { message: service.broken }, 'what the last call itself said');
  clock.advance(5_000);
  await assert.rejects(provider.check(), { message: `failed to perform status section of the healthz check for KMS Provider p, error: ${service.broken}` });
  await pass(clock, 11_000);
  assert.throws(() => provider.cipher.seal(plain, context),
    /^Error: encryptedDEKSource with keyID hash "sha256:[0-9a-f]{64}" expired at .*Z \(current time is .*Z\)$/);
  assert.deepEqual(provider.cipher.open(sealed, context), plain, 'reads go on');
  service.broken = '';
  await pass(clock, 10_000);
  assert.deepEqual(provider.cipher.open(provider.cipher.seal(plain, context), context), plain);
  await provider.check();
});

test('KmsProvider.check names everything that is wrong, and asks again after a while only', async () => {
  const { service, provider, clock } = createProvider();
  await provider.check();
  await provider.check();
  assert.equal(service.asked, 1);
  const fails = async (message: RegExp): Promise<void> => {
    await pass(clock, 20_001);
    await assert.rejects(provider.check(), message);
  };
  Object.assign(service, { healthz: 'sick', version: 'v3', keyId: '' });
  await fails(/is not healthy, error: \[got unexpected healthz status: sick, expected KMSv2 API version v2, got v3, got invalid .*hash "": keyID is empty\]$/);
  Object.assign(service, { healthz: 'ok', version: 'v2beta1', keyId: 'one' });
  await fails(/should not change after the initial status response version v2, got v2beta1/);
  Object.assign(service, { version: 'v2', keyId: 'two', encryptsWith: 'one' });
  await fails(/failed to rotate DEK uid=".*the key of the status is another/);
  assert.equal(decodeValue(provider.cipher.seal(plain, context)).keyId, 'one');
  service.encryptsWith = 'x'.repeat(1000);
  await fails(/failed to validate encrypted DEK source: encrypted DEK source is 1033 bytes, which exceeds the max size of 1024/);
});

test('KmsProvider refuses to write and to read before the plugin was well once', async () => {
  const service = createService();
  service.broken = 'gone';
  const { provider } = createProvider(service);
  await provider.start();
  assert.throws(() => provider.cipher.seal(plain, context), /got unexpected nil transformer/);
  const other = createProvider();
  await other.provider.start();
  await assert.rejects(provider.cipher.prepare?.(other.provider.cipher.seal(plain, context)) as Promise<void>, /nil transformer/);
});

test('checkSource refuses what the reference would not store', () => {
  const source = { keyId: 'k', source: Buffer.of(1), annotations: new Map<string, Uint8Array>(), type: sourceType.seed };
  checkSource(source);
  assert.throws(() => checkSource({ ...source, source: Buffer.alloc(0) }), /encrypted DEK source is empty/);
  assert.throws(() => checkSource({ ...source, source: Buffer.alloc(1025) }), /exceeds the max size of 1024/);
  assert.throws(() => checkSource({ ...source, keyId: 'x'.repeat(1025) }),
    /failed to validate key id: keyID is 1025 bytes, which exceeds the max size of 1024/);
  assert.throws(() => checkSource({ ...source, type: 2 }), /unknown encryptedDEKSourceType: 2/);
  assert.throws(() => checkSource({ ...source, annotations: new Map([['plain', Buffer.of(1)]]) }), /at least two segments/);
  assert.throws(() => checkSource({ ...source, annotations: new Map([['a.b', Buffer.alloc(33_000)]]) }), /total size of annotations is 33003/);
});

test('createPreparedStore holds changes, in their order, until the first of them can be read', async () => {
  const raw = createMemoryStore({ clock: createManualClock() });
  const waiting: (() => void)[] = [];
  const ready = new Set<string>();
  const store = createPreparedStore(raw, (value) => {
    const text = Buffer.from(value).toString();
    return !text.startsWith('hidden') || ready.has(text) ? undefined : new Promise((resolve) => waiting.push(() => {
      ready.add(text);
      resolve();
    }));
  });
  const seen: string[] = [];
  const note = (batch: readonly StoreEvent[]): void => void seen.push(...batch.map(({ kv }) => Buffer.from(kv.value).toString()));
  const progress = (revision: number): void => void seen.push(`progress ${revision}`);
  const watch = store.watch(prefixRange('/a/'), 1, { events: note, progress, ended: () => undefined });
  const put = (key: string, value: string) => store.txn({ key, expect: 0, value: Buffer.from(value) });
  await put('/a/1', 'open');
  assert.deepEqual(seen, ['open']);
  await put('/a/2', 'hidden');
  await put('/a/3', 'later');
  watch.requestProgress();
  assert.equal(watch.delivered?.(), undefined);
  const listing = store.range(prefixRange('/a/'));
  await new Promise(setImmediate);
  assert.deepEqual(seen, ['open']);
  for (const release of waiting.splice(0)) release();
  await new Promise(setImmediate);
  assert.deepEqual(seen.filter((text) => !text.startsWith('progress')), ['open', 'hidden', 'later']);
  assert.ok(watch.delivered?.() !== undefined);
  const listed = await listing;
  assert.equal(listed.type === 'ok' && listed.kvs.length, 3);
  await store.close();
});

test('createPreparedStore fails lists and watches of what cannot be read, and gives single values to the one that asks', async () => {
  const raw = createMemoryStore({ clock: createManualClock() });
  const store = createPreparedStore(raw, () => Promise.reject(new Error('failed to decrypt DEK')));
  const ended: string[] = [];
  store.watch(prefixRange('/a/'), 1, { events: () => assert.fail(), progress: () => undefined, ended: (reason) => void ended.push(reason.type) });
  await store.txn({ key: '/a/1', expect: 0, value: Buffer.from('x') });
  await new Promise(setImmediate);
  assert.deepEqual(ended, ['failed']);
  await assert.rejects(store.range(prefixRange('/a/')), /unable to transform key "\/a\/1": failed to decrypt DEK/);
  const single = await store.range(keyRange('/a/1'));
  assert.equal(single.type === 'ok' && single.kvs.length, 1);
  const conflict = await store.txn({ key: '/a/1', expect: 0, value: Buffer.from('y') });
  assert.equal(conflict.type, 'conflict');
  await store.close();
});

test('createPreparedStore recalls what is not sealed alone', () => {
  const raw = createMemoryStore({ clock: createManualClock() });
  const known = new Map([[1, 'plain'], [2, 'k8s:enc:kms:v2:a:…'], [3, 'k8s:enc:aescbc:v1:a:…']]);
  const recall = (_key: string, revision: number): Uint8Array | undefined => (known.has(revision) ? Buffer.from(known.get(revision) as string) : undefined);
  const recalling = Object.assign(createMemoryStore({ clock: createManualClock() }), { recall });
  const store = createPreparedStore(recalling, () => assert.fail('a read that cannot wait asks no plugin'));
  assert.deepEqual([1, 2, 3, 4].map((revision) => store.recall?.('/a', revision)?.toString()), ['plain', undefined, undefined, undefined]);
  assert.equal(createPreparedStore(raw, () => undefined).recall, undefined);
});
