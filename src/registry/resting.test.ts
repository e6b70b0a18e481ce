// A registry on a store that can be read again without waiting: its objects rest there, and every verb answers as it does elsewhere.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createManualClock, systemClock } from '../base/index.ts';
import { type Store, createMemoryStore, openEmbeddedStore, openSharedValues } from '../storage/index.ts';
import type { KubeObject } from '../apimachinery/index.ts';
import { eventually } from '../test-support/index.ts';
import type { StorageFormat, ValueCipher } from './objects/storage-codec.ts';
import { type Bench, createBench, drain, rows, select, settle } from './testing.ts';

const ENLARGED_BYTES = 100;
/** Seals by turning all bits over. */
const cipher: ValueCipher = {
  seal: (value) => value.map((byte) => byte ^ 0xff), open: (value) => value.map((byte) => byte ^ 0xff), isCurrent: () => true,
};
const plain: StorageFormat = { mediaType: 'application/json', endsWithNewline: false, sum: (json) => json.length };
const sealed: StorageFormat = { ...plain, cipherFor: () => cipher };

/** A Store with another one's values, and how often it was asked for such. */
function recallFrom(store: Store, read: NonNullable<Store['recall']>): { readonly store: Store; readonly counts: { recalled: number } } {
  const counts = { recalled: 0 };
  return {
    counts,
    store: Object.assign(store, {
      recall(key: string, revision: number) {
        counts.recalled += 1;
        return read(key, revision);
      },
    }),
  };
}

async function openRecalled(context: TestContext): Promise<ReturnType<typeof recallFrom>> {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-resting-'));
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  const values = await openSharedValues(directory);
  context.after(async () => {
    await values.close();
    await store.close();
    rmSync(directory, { recursive: true });
  });
  return recallFrom(store, (key, revision) => values.read(key, revision));
}

const nameOf = (i: number): string => `c-${String(i).padStart(3, '0')}`;
const make = (i: number) => ({ metadata: { name: nameOf(i), labels: { even: String(i % 2 === 0) } }, data: { k: 'v'.repeat(ENLARGED_BYTES), i: `${i}` } });

/** Lets the background work on chunks begin and end. */
async function compact({ clock }: Bench): Promise<void> {
  clock.advance(10_000);
  for (let i = 0; i < 100; i += 1) {
    await settle();
    clock.advance(10);
  }
}

for (const [name, format] of Object.entries({ 'in the clear': plain, sealed })) {
  test(`objects that rest in an embedded store, ${name}, are read, listed, selected, changed, deleted and watched as any others`, async (context) => {
    const { store, counts } = await openRecalled(context);
    const bench = createBench({ store, format });
    context.after(() => bench.registry.close());
    const { configMaps } = rows;
    for (let i = 0; i < 200; i += 1) await bench.create(configMaps, make(i));
    await bench.names(configMaps);
    const changed = (await bench.get(configMaps, nameOf(3))).metadata.resourceVersion as string;
    const watch = await bench.registry.watch(bench.at(configMaps), { resourceVersion: changed, predicate: select(configMaps, { labelSelector: 'even=true' }) });
    // The tables follow the journal.
    await store.range({ start: '/', end: '0', countOnly: true });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await compact(bench);
    assert.ok(counts.recalled >= 200, 'each object was compared with the store');
    counts.recalled = 0;
    const read = async (i: number): Promise<KubeObject> => bench.get(configMaps, nameOf(i));
    assert.deepEqual((await read(7))['data'], make(7).data);
    assert.ok(counts.recalled > 0, 'it was read from the store');
    assert.equal((await bench.names(configMaps)).length, 200);
    assert.equal((await bench.names(configMaps, { labelSelector: 'even=false' })).length, 100);
    const list = await bench.registry.list(bench.at(configMaps), { predicate: select(configMaps, {}) });
    assert.deepEqual([...list.items].map((item) => item.object('v1')['data']), Array.from({ length: 200 }, (_, i) => make(i).data));
    await bench.patch(configMaps, nameOf(8), (object) => void (object['data'] = { k: 'new' }));
    await bench.patch(configMaps, nameOf(10), (object) => void (object.metadata.labels = { even: 'false' }));
    await bench.remove(configMaps, nameOf(12));
    await settle();
    assert.deepEqual(drain(watch).slice(-3), [`MODIFIED ${nameOf(8)}`, `DELETED ${nameOf(10)}`, `DELETED ${nameOf(12)}`]);
    assert.deepEqual((await read(8))['data'], { k: 'new' });
    assert.equal((await bench.names(configMaps)).length, 199);
  });
}

test('a superseded object is read from history after the store has forgotten it, and one that was lost before is an error', async (context) => {
  const inner = createMemoryStore({ clock: createManualClock() });
  const known = new Map<number, Uint8Array>();
  const { store } = recallFrom(inner, (_, revision) => known.get(revision));
  const bench = createBench({ store, format: plain });
  context.after(() => bench.registry.close());
  const { configMaps } = rows;
  for (let i = 0; i < 3; i += 1) await bench.create(configMaps, make(i));
  const result = await store.range({ start: '/', end: '0' });
  for (const { modRevision, value } of result.type === 'ok' ? result.kvs : []) known.set(modRevision, value);
  const before = (await bench.get(configMaps, nameOf(0))).metadata.resourceVersion as string;
  await bench.names(configMaps);
  await compact(bench);
  const newest = (await bench.get(configMaps, nameOf(2))).metadata.resourceVersion as string;
  await bench.patch(configMaps, nameOf(0), (object) => void (object['data'] = { k: 'new' }));
  await eventually(async () => assert.deepEqual((await bench.get(configMaps, nameOf(0)))['data'], { k: 'new' }));
  known.clear();
  const exact = await bench.registry.list(bench.at(configMaps), {
    predicate: select(configMaps, { labelSelector: 'even=true' }), resourceVersion: newest, resourceVersionMatch: 'Exact', limit: 1,
  });
  assert.deepEqual([...exact.items].map((item) => [item.object('v1')['data'], item.object('v1').metadata.resourceVersion]), [[make(0).data, before]]);
  const message = /configmaps\/ns\/c-001 of revision \d+ cannot be read: the store does not have it/;
  await assert.rejects(bench.get(configMaps, nameOf(1)), { code: 500, message });
});
