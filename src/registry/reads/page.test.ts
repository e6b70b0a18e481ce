// Reads that look at many objects one by one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../storage/index.ts';
import type { Predicate } from '../contract.ts';
import type { RequestScope, ResourceStorage } from '../core.ts';
import { type Bench, createBench, rows, select, settle } from '../testing.ts';
import { pageOfStore } from './page.ts';

const COUNT = 600;

async function fill(bench: Bench): Promise<void> {
  for (let index = 0; index < COUNT; index++) await bench.create(rows.configMaps, { metadata: { name: `a${index}`, labels: { index: String(index % 2) } } });
}

/** A selector that takes milliseconds for each object, and does not say which values it wants. */
const slowSelector = ({ clock }: Bench, milliseconds = 1): Predicate => ({
  everything: false,
  matches(object) {
    clock.advance(milliseconds);
    return object.labels?.['index'] === '1';
  },
});

/** Waits for work that others may have turns in; answers how many they had. */
async function countTurns(bench: Bench, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const end = (): void => void (isDone = true);
  work.then(end, end);
  for (let turns = 0; ; turns++) {
    await settle();
    if (isDone) return turns;
    bench.clock.advance(0);
  }
}

test('lists and initial events look at a chunk of objects in each turn', async () => {
  const bench = createBench();
  await fill(bench);
  const predicate = slowSelector(bench);
  const list = bench.registry.list(bench.at(rows.configMaps), { predicate });
  assert.ok(await countTurns(bench, list) > 4);
  assert.equal((await list).count, COUNT / 2);
  const watch = bench.registry.watch(bench.at(rows.configMaps), { predicate, sendInitialEvents: true });
  assert.ok(await countTurns(bench, watch) > 4);
  assert.equal((await watch).take(COUNT).length, COUNT / 2);
  (await watch).close();
});

test('a list looks at large objects in a turn each', async () => {
  const bench = createBench();
  for (let index = 0; index < 8; index++) await bench.create(rows.configMaps, { metadata: { name: `a${index}` }, data: { a: 'x'.repeat(400_000) } });
  const list = bench.registry.list(bench.at(rows.configMaps), { predicate: slowSelector(bench, 50) });
  assert.ok(await countTurns(bench, list) >= 7);
  assert.equal((await list).count, 0);
});

test('a list and a watch by one value of a field look at the objects that have it, once others have asked for such', async () => {
  const bench = createBench();
  for (let index = 0; index < COUNT; index++) await bench.create(rows.pods, { metadata: { name: `p${index}` }, spec: { nodeName: `n${index % 200}` } });
  let looked = 0;
  const { beyond: _beyond, ...selected } = select(rows.pods, { fieldSelector: 'spec.nodeName=n7' });
  const predicate: Predicate = {
    ...selected,
    matches(object) {
      looked++;
      return selected.matches(object);
    },
  };
  const list = async (more: { readonly limit?: number; readonly continue?: string } = {}): Promise<{ names: string[]; looked: number; continue: string }> => {
    looked = 0;
    const { items, continue: next = '' } = await bench.registry.list(bench.at(rows.pods), { predicate, ...more });
    return { names: Array.from(items, ({ name }) => name), looked, continue: next };
  };
  const names = ['p207', 'p407', 'p7'];
  const first = await list();
  assert.deepEqual(first.names, names);
  assert.ok(first.looked > 3);
  for (let turns = 0; turns < 20; turns++) {
    bench.clock.advance(0);
    await settle();
  }
  assert.deepEqual(await list(), { names, looked: 3, continue: '' });
  const page = await list({ limit: 2 });
  assert.deepEqual([page.names, page.looked], [names.slice(0, 2), 2]);
  assert.deepEqual((await list({ continue: page.continue })).names, names.slice(2));
  looked = 0;
  const watch = await bench.registry.watch(bench.at(rows.pods), { predicate, sendInitialEvents: true });
  assert.deepEqual([watch.take(COUNT).length, looked], [3, 3]);
  watch.close();
});

test('pageOfStore may pause after every few objects', async () => {
  const kvs = Array.from({ length: COUNT }, (_, index) => ({ key: `/a${index}` }));
  const store = { range: async () => ({ type: 'ok', revision: 1, kvs, count: COUNT, more: false }) } as unknown as Store;
  const storage = { decode: ({ key }: { readonly key: string }) => key } as unknown as ResourceStorage;
  const scope = { show: (value: unknown) => value } as RequestScope;
  const predicate: Predicate = { everything: false, matches: (object) => String(object).endsWith('1') };
  let pauses = 0;
  const pause = (): undefined => void (pauses += 1);
  const page = await pageOfStore(store, { predicate, range: { start: '/', end: '0' }, limit: 0, storage, scope, pause });
  assert.ok(page.type === 'ok' && page.count === COUNT / 10);
  assert.ok(pauses >= 8);
});
