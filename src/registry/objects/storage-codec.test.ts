// How values lie in the store: JSON and protobuf, in the clear and sealed, what is outdated; and values that cannot be read, through the registry.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import type { KubeObject, StatusError } from '../../apimachinery/index.ts';
import { type Store, createMemoryStore } from '../../storage/index.ts';
import { createManualClock } from '../../base/index.ts';
import type { Resource } from '../resource.ts';
import { type Bench, createBench, makeContext, rows, select, settle } from '../testing.ts';
import { createLayout, encodeObject, encodeWritten } from './layout.ts';
import { type StorageFormat, type ValueCipher, createStorageCodec } from './storage-codec.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array): string => Buffer.from(value).toString('latin1');

/** Seals by a mark; opens what has it, under the same key. */
const cipherOf = (mark: string): ValueCipher => ({
  seal: (value, key) => bytes(`${mark}${key}|${text(value)}`),
  open(stored, key) {
    if (!text(stored).startsWith(`${mark}${key}|`)) throw new Error('no matching prefix found');
    return bytes(text(stored).slice(mark.length + key.length + 1));
  },
  isCurrent: (stored) => text(stored).startsWith(mark),
});

const sum = (value: Uint8Array): number => crc32(value, 7);
const json: StorageFormat = { mediaType: 'application/json', endsWithNewline: true, sum };
const protobuf: StorageFormat = { mediaType: 'application/vnd.kubernetes.protobuf', endsWithNewline: false, sum };
const layout = createLayout(rows.configMaps, '/registry/configmaps/');
const encoded = encodeObject(layout, { metadata: { name: 'a', resourceVersion: '7' }, data: { k: 'v' } } as unknown as KubeObject);
const key = '/registry/configmaps/ns/a';

test('createStorageCodec stores JSON with the newline, protobuf for built-in kinds alone, and reads both', () => {
  const lines = createStorageCodec(layout, json);
  const binary = createStorageCodec(layout, protobuf);
  const line = lines.encode(encoded, key) as Uint8Array;
  assert.match(text(line).slice(encoded.json.length), /^[ \t\n\r]{16}\n$/);
  assert.equal(text(line).trimEnd(), text(encoded.json));
  const decoded = lines.decode(line, key);
  assert.deepEqual([text(decoded.value), decoded.isOwn], [text(encoded.json), true]);
  assert.ok(!text(encoded.json).includes('resourceVersion'));
  const stored = binary.encode(encoded, key) as Uint8Array;
  assert.equal(text(stored.subarray(0, 4)), 'k8s\0');
  assert.deepEqual(binary.decode(stored, key), { value: stored, isOwn: false });
  assert.deepEqual([lines.isCurrent(stored, key), binary.isCurrent(stored, key), binary.isCurrent(encoded.json, key)], [false, true, false]);
  const widgets = createLayout(rows.widgets, '');
  assert.equal(text(createStorageCodec(widgets, protobuf).encode(encodeObject(widgets, { metadata: {} } as KubeObject), key) as Uint8Array)[0], '{');
});

test('createStorageCodec encrypts what the configuration names, by its name, and knows what another key or encoding has written', () => {
  const asked: string[] = [];
  const cipherFor = (resource: string): ValueCipher => {
    asked.push(resource);
    return cipherOf('new:');
  };
  const codec = createStorageCodec(layout, { ...json, cipherFor });
  createStorageCodec(createLayout(rows.budgets, ''), { ...json, cipherFor });
  assert.deepEqual(asked, ['configmaps', 'poddisruptionbudgets.policy']);
  const stored = codec.encode(encoded, key) as Uint8Array;
  assert.equal(text(stored).trimEnd(), `new:${key}|${text(encoded.json)}`);
  const decoded = codec.decode(stored, key);
  assert.deepEqual([text(decoded.value), decoded.isOwn], [text(encoded.json), true]);
  assert.throws(() => codec.decode(stored, `${key}b`), /no matching prefix/);
  assert.deepEqual([codec.isCurrent(stored, key), codec.isCurrent(bytes(`old:${key}|{}`), key)], [true, false]);
  assert.equal(createStorageCodec(layout, { ...protobuf, cipherFor }).isCurrent(stored, key), false);
});

test('createStorageCodec knows JSON of its own by the mark: not that of others, of another release, or what was changed by hand', () => {
  const marked = text(createStorageCodec(layout, json).encode(encoded, key) as Uint8Array);
  const isOwn = (value: string, format = json): boolean => {
    const decoded = createStorageCodec(layout, format).decode(bytes(value), key);
    assert.deepEqual(JSON.parse(text(decoded.value)), JSON.parse(value));
    return decoded.isOwn;
  };
  assert.equal(isOwn(marked), true);
  assert.equal(isOwn(marked, protobuf), true);
  assert.equal(isOwn(marked, { ...json, sum: (value) => crc32(value, 8) }), false);
  assert.deepEqual([isOwn(marked.replace('"k":"v"', '"k":"w"')), isOwn(marked.slice(0, -1)), isOwn(`${marked}\n`)], [false, false, false]);
  const { sum: _sum, ...without } = json;
  assert.equal(isOwn(text(createStorageCodec(layout, without).encode(encoded, key) as Uint8Array), without), false);
  assert.deepEqual([isOwn(text(encoded.json)), isOwn(`${text(encoded.json)}\n`), isOwn(`${text(encoded.json)}${' '.repeat(16)}\n`)], [false, false, false]);
  const widgets = createLayout(rows.widgets, '');
  assert.equal(createStorageCodec(widgets, json).decode(bytes('{}\n'), key).isOwn, false);
});

/** A registry whose values are sealed, and a way to put others beneath it. */
function createSealedBench(
  namesUnreadable = false,
): { readonly bench: Bench; readonly put: (name: string, value: string) => Promise<void>; remove(name: string): Promise<void> } {
  const store = createMemoryStore({ clock: createManualClock() });
  const bench = createBench({ store, namesUnreadable, format: { ...json, cipherFor: () => cipherOf('good:') } });
  const at = (name: string): string => `/registry/configmaps/ns/${name}`;
  const revisionOf = async (name: string): Promise<number> => {
    const result = await store.range({ start: at(name), end: `${at(name)}\0` });
    return result.type === 'ok' ? (result.kvs[0]?.modRevision ?? 0) : 0;
  };
  return {
    bench,
    put: async (name, value) => void await store.txn({ key: at(name), expect: await revisionOf(name), value: bytes(value) }),
    remove: async (name) => void await store.txn({ key: at(name), expect: await revisionOf(name) }),
  };
}

test('createStorageCodec takes JSON of other defaults for that of others', () => {
  const codecOf = (defaultsKey?: string) => createStorageCodec(createLayout({ ...rows.configMaps, ...(defaultsKey && { defaultsKey }) }, ''), json);
  const isOwn = (writer?: string, reader?: string): boolean => codecOf(reader).decode(codecOf(writer).encode(encoded, key) as Uint8Array, key).isOwn;
  assert.deepEqual([isOwn('a', 'a'), isOwn(undefined, 'a'), isOwn('a'), isOwn('a', 'b')], [true, false, false, false]);
});

test('custom objects have marks where reading changes nothing, for as long as their definition is the same', () => {
  const readStored = (object: KubeObject): KubeObject => object;
  const at = (fingerprint?: string) => createLayout({ ...rows.widgets, readStored, ...(fingerprint && { fingerprint }) }, '');
  const object = { metadata: { name: 'a' }, spec: { a: { b: {} } } } as unknown as KubeObject;
  const write = (fingerprint?: string, version = 'v1'): Uint8Array =>
    createStorageCodec(at(fingerprint), json).encode(encodeWritten(at(fingerprint), object, { version }), key) as Uint8Array;
  const isOwn = (stored: Uint8Array, fingerprint?: string): boolean => {
    const codec = createStorageCodec(at(fingerprint), json);
    const decoded = codec.decode(stored, key);
    assert.equal(text(decoded.value), text(stored).trimEnd());
    assert.equal(text(codec.reread(stored, key)), text(stored).trimEnd());
    return decoded.isOwn;
  };
  assert.deepEqual([isOwn(write('1'), '1'), isOwn(write('1'), '2'), isOwn(write('1', 'v2'), '1'), isOwn(write(), '1')], [true, false, false, false]);
  assert.equal(text(createStorageCodec(at('1'), protobuf).encode(encodeWritten(at('1'), object, { version: 'v1' }), key) as Uint8Array).at(-1), '\n');
  const braces = { ...object, spec: { note: '}'.repeat(40) } } as unknown as KubeObject;
  assert.equal(isOwn(createStorageCodec(at('1'), json).encode(encodeObject(at('1'), braces), key) as Uint8Array, '1'), false);
});

test('a server reads what another one has written of a custom kind as it is, and brings into form what it wrote under another definition', async () => {
  const store = createMemoryStore({ clock: createManualClock() });
  const open = (fingerprint: string): { readonly bench: Bench; readonly row: Resource; readonly counts: { reads: number } } => {
    const counts = { reads: 0 };
    const readStored = (object: KubeObject): KubeObject => (counts.reads++, object);
    const row: Resource = { ...rows.widgets, fingerprint, readStored };
    return { bench: createBench({ store, format: json, rows: [row] }), row, counts };
  };
  const [writer, same, other] = [open('1'), open('1'), open('2')];
  const { object: { revision } } = await writer.bench.create(writer.row, { metadata: { name: 'a' }, spec: { size: 1 } });
  for (const { bench, row, counts } of [same, other]) {
    assert.deepEqual((await bench.get(row, 'a'))['spec'], { size: 1 });
    const put = await bench.patch(row, 'a', () => {});
    assert.deepEqual([put.object.revision, counts.reads > 0], [revision, bench === other.bench]);
  }
});

test('a value that cannot be decoded is refused in the words of the decoder alone', async () => {
  const { bench, put } = createSealedBench();
  const message = 'no kind "ConfigMap" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"';
  await put('broken', 'good:/registry/configmaps/ns/broken|{"kind":"ConfigMap","apiVersion":"v9","metadata":{"name":"broken"}}');
  await assert.rejects(bench.get(rows.configMaps, 'broken'), ({ status }: StatusError) => {
    assert.deepEqual([status.code, status.reason, status.message, status.details], [500, undefined, message, undefined]);
    return true;
  });
  await assert.rejects(bench.names(rows.configMaps), { code: 429, message: `storage is (re)initializing: failed to list *core.ConfigMap: ${message}` });
});

test('a value that cannot be decrypted is refused with its cause where it is read, and other objects are served', async () => {
  const { bench, put } = createSealedBench();
  await bench.create(rows.configMaps, { metadata: { name: 'fine' }, data: {} });
  await put('broken', 'bad:secret');
  const cause = { code: 500, reason: 'InternalError', message: 'Internal error occurred: no matching prefix found' };
  await assert.rejects(bench.get(rows.configMaps, 'broken'), cause);
  await assert.rejects(bench.remove(rows.configMaps, 'broken'), cause);
  await assert.rejects(bench.patch(rows.configMaps, 'broken', () => undefined), cause);
  await assert.rejects(bench.create(rows.configMaps, { metadata: { name: 'broken' } }), { code: 409, reason: 'AlreadyExists' });
  assert.equal((await bench.get(rows.configMaps, 'fine')).metadata.name, 'fine');
  await assert.rejects(bench.get(rows.configMaps, 'absent'), { code: 404 });
});

test('lists and watches name the key and the cause of a value that cannot be read, until it is gone', async () => {
  const { bench, put, remove } = createSealedBench();
  await bench.create(rows.configMaps, { metadata: { name: 'fine' }, data: {} });
  assert.deepEqual(await bench.names(rows.configMaps), ['fine']);
  const watch = await bench.registry.watch(bench.at(rows.configMaps), { predicate: select(rows.configMaps, {}), sendInitialEvents: false });
  await put('broken', 'bad:secret');
  await settle();
  const refused = { code: 429, message: 'storage is (re)initializing: failed to list *core.ConfigMap: ' +
    'unable to transform key "/registry/configmaps/ns/broken": no matching prefix found' };
  await assert.rejects(bench.names(rows.configMaps), refused);
  await assert.rejects(bench.registry.watch(bench.at(rows.configMaps), { predicate: select(rows.configMaps, {}) }), refused);
  assert.deepEqual(watch.take(10), []);
  assert.deepEqual([watch.end, watch.error?.code, watch.error?.message], ['expired', 500, 'Internal error occurred: no matching prefix found']);
  await remove('broken');
  await settle();
  assert.deepEqual(await bench.names(rows.configMaps), ['fine']);
  const resumed = await bench.registry.watch(bench.at(rows.configMaps), { predicate: select(rows.configMaps, {}), sendInitialEvents: false });
  await bench.create(rows.configMaps, { metadata: { name: 'next' } });
  assert.deepEqual(resumed.take(10).map(({ type }) => type), ['ADDED']);
});

test('where unreadable values may be removed, errors name their keys, and a list names those of its namespace', async () => {
  const { bench, put } = createSealedBench(true);
  await bench.create(rows.configMaps, { metadata: { name: 'fine' }, data: {} });
  assert.deepEqual(await bench.names(rows.configMaps), ['fine']);
  const watch = await bench.registry.watch(bench.at(rows.configMaps), { predicate: select(rows.configMaps, {}), sendInitialEvents: false });
  for (const name of ['b', 'a']) await put(name, 'bad:secret');
  await settle();
  const detail = 'data from the storage is not transformable revision=0: no matching prefix found';
  const corrupt = (key: string): string => `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
  await assert.rejects(bench.get(rows.configMaps, 'a'), { code: 500, message: `Internal error occurred: ${corrupt('/configmaps/ns/a')}` });
  await assert.rejects(bench.names(rows.configMaps), (error: StatusError) => {
    assert.deepEqual([error.code, error.reason, error.message], [500, 'StorageReadError', 'failed to read one or more configmaps from the storage']);
    assert.deepEqual(error.status.details?.causes?.map(({ field, message }) => [field, message]), ['a', 'b'].map((name) => [`/registry/configmaps/ns/${name}`,
      corrupt(`/registry/configmaps/ns/${name}`)]));
    return true;
  });
  const elsewhere = await bench.registry.list({ ...bench.at(rows.configMaps), namespace: 'other' }, { predicate: select(rows.configMaps, {}) });
  assert.deepEqual([...elsewhere.items], []);
  assert.deepEqual(watch.take(10), []);
  assert.equal(watch.error?.message, `Internal error occurred: ${detail}`);
});

test('a delete that ignores read errors removes what cannot be read, without admission, and nothing else', async () => {
  const { bench, put } = createSealedBench();
  const unsafe = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
  await bench.create(rows.configMaps, { metadata: { name: 'fine' }, data: {} });
  await put('broken', 'bad:secret');
  assert.equal((await bench.remove(rows.configMaps, 'broken', unsafe)).type, 'gone');
  await assert.rejects(bench.get(rows.configMaps, 'broken'), { code: 404 });
  for (const name of ['fine', 'absent']) {
    await assert.rejects(bench.remove(rows.configMaps, name, unsafe), { code: 422, message: `configmaps "${name}" is invalid: `
      + 'ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: is exclusively used to delete corrupt object(s), '
      + 'try again by removing this option' });
  }
});

test('an update that changes nothing reads the store once and writes nothing, unless the value is outdated', async () => {
  const beneath = createMemoryStore({ clock: createManualClock() });
  let [ranges, txns] = [0, 0];
  const store: Store = {
    range: (request) => (ranges++, beneath.range(request)), txn: (request) => (txns++, beneath.txn(request)),
    watch: (...args) => beneath.watch(...args), compact: (revision) => beneath.compact(revision), timesToLive: () => beneath.timesToLive(),
    revision: () => beneath.revision(), close: () => beneath.close(),
  };
  const bench = createBench({ store });
  await bench.create(rows.configMaps, { metadata: { name: 'a' }, data: { k: 'v' } });
  assert.deepEqual(await bench.names(rows.configMaps), ['a']);
  [ranges, txns] = [0, 0];
  await bench.patch(rows.configMaps, 'a', () => undefined, { context: makeContext() });
  assert.deepEqual([ranges, txns], [1, 0]);
});
