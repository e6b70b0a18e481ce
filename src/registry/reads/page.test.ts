// Reads that look at many objects one by one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../storage/index.ts';
import type { Predicate } from '../contract.ts';
import type { RequestScope, ResourceStorage } from '../core.ts';
import { type Bench, createBench, rows, settle } from '../testing.ts';
import { pageOfStore } from './page.ts';

const COUNT = 600;

async function fill(bench: Bench): Promise<void> {
  for (let index = 0; index < COUNT; index++) await bench.create(rows.configMaps, { metadata: { name: `a${index}`, labels: { index: String(index % 2) } } });
}

/** A selector that takes a millisecond for each object, and does not say which values it wants. */
const slowSelector = ({ clock }: Bench): Predicate => ({
  everything: false,
  matches(object) {
    clock.advance(1);
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
