// Entries by the value of a column, beside a look at all of them: while an index is filled, after changes, and what makes it go.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Cache } from './contract.ts';
import { type BreakableStore, type StoreHarness, all, createBreakableStore, createStoreHarness, settle, startCache } from './harness.suite.ts';
import { prefixRange } from '../storage/index.ts';

/** A value is the text of its one column; one that begins with '?' cannot be read. */
const columnsOf = (value: string): readonly string[] | undefined => (value.startsWith('?') ? undefined : [value]);
const MANY = 300;

/** Time passes with every look at the clock, so that to fill an index takes several turns. */
async function start(count = MANY): Promise<{ harness: StoreHarness; store: BreakableStore; cache: Cache<string> }> {
  const harness = createStoreHarness();
  let [passedMs, lookMs] = [0, 0];
  const clock = { ...harness.clock, monotonicMs: () => harness.clock.monotonicMs() + (passedMs += lookMs) };
  for (let i = 0; i < count; i++) await harness.write(`/p/n${i % 3}/${i}`, `v${i % 10}`);
  const store = createBreakableStore(harness.store);
  const cache = await startCache({ store, clock, columnsOf });
  lookMs = 0.2;
  return { harness, store, cache };
}

/** Lets works that take turns end. */
async function passTurns({ clock }: StoreHarness, turns = 40): Promise<void> {
  for (let i = 0; i < turns; i++) {
    clock.advance(0);
    await settle();
  }
}

/** Fills the index. */
async function fill(cache: Cache<string>, harness: StoreHarness): Promise<void> {
  cache.latest().find({ column: 0, value: '' }, all);
  await passTurns(harness);
}

const found = (cache: Cache<string>, value: string, range = all): string[] | undefined =>
  cache.latest().find({ column: 0, value }, range)?.map(({ key }) => key);
const lookedAt = (cache: Cache<string>, value: string, range = all): string[] =>
  Array.from(cache.latest().entries(range)).filter((entry) => (columnsOf(entry.value)?.[0] ?? value) === value).map(({ key }) => key);

describe('Snapshot.find', () => {
  it('finds nothing at first, then what has the value, in key order, in a range', async () => {
    const { harness, cache } = await start();
    assert.equal(found(cache, 'v1'), undefined);
    await fill(cache, harness);
    assert.deepEqual(found(cache, 'v1'), lookedAt(cache, 'v1'));
    assert.deepEqual(found(cache, 'v1', prefixRange('/p/n2/')), lookedAt(cache, 'v1', prefixRange('/p/n2/')));
    assert.deepEqual(found(cache, 'none'), []);
    cache.close();
  });

  it('does not find among few entries, many of one value, or in past states', async () => {
    const few = await start(200);
    await fill(few.cache, few.harness);
    assert.equal(found(few.cache, 'v1'), undefined);
    few.cache.close();
    const { harness, cache } = await start();
    await fill(cache, harness);
    const before = cache.latest();
    assert.notEqual(before.find({ column: 0, value: 'v1' }, all), undefined);
    for (let i = 0; i < 2100; i++) await harness.write(`/p/many/${i}`, 'same');
    await settle();
    assert.equal(before.find({ column: 0, value: 'v1' }, all), undefined);
    assert.deepEqual([found(cache, 'same'), found(cache, 'v1')], [undefined, lookedAt(cache, 'v1')]);
    cache.close();
  });

  it('begins again after a list, and is dropped when it is of no use', async () => {
    const { harness, store, cache } = await start();
    await fill(cache, harness);
    assert.notEqual(found(cache, 'v1'), undefined);
    store.breakWatches({ type: 'compacted', compactRevision: 1 });
    await harness.remove('/p/n1/1');
    while (cache.get('/p/n1/1') !== undefined) {
      harness.clock.advance(50);
      await settle();
    }
    assert.equal(found(cache, 'v1'), undefined);
    await fill(cache, harness);
    assert.deepEqual([found(cache, 'v1'), found(cache, 'v1')?.includes('/p/n1/1')], [lookedAt(cache, 'v1'), false]);
    harness.clock.advance(599_000);
    await settle();
    assert.notEqual(found(cache, 'v1'), undefined);
    harness.clock.advance(611_000);
    await settle();
    assert.equal(found(cache, 'v1'), undefined);
    cache.close();
  });

  it('indexes four columns at a time, and gives up one that is not filled within five thousand changes', async () => {
    const { harness, cache } = await start();
    const find = (column: number): unknown => cache.latest().find({ column, value: '' }, all);
    for (const column of [0, 1, 2, 3, 4]) find(column);
    await fill(cache, harness);
    // Columns that values do not have may have any value.
    assert.deepEqual([0, 3, 4].map((column) => (find(column) as unknown[] | undefined)?.length), [0, MANY, undefined]);
    cache.close();
    const busy = await start();
    assert.equal(found(busy.cache, 'v1'), undefined);
    for (let i = 0; i <= 5000; i++) await busy.harness.write('/p/n0/0', `v${i % 10}`);
    await settle();
    await passTurns(busy.harness);
    assert.equal(found(busy.cache, 'v1'), undefined);
    await passTurns(busy.harness);
    assert.deepEqual(found(busy.cache, 'v1'), lookedAt(busy.cache, 'v1'));
    busy.cache.close();
  });

  it('agrees with a look at all, whatever changes before it is filled and after', async () => {
    const change = fc.record({ at: fc.nat(320), value: fc.constantFrom('v1', 'v2', 'new', '?', undefined), turns: fc.constantFrom(0, 1, 3, 40) });
    const changes = fc.array(change, { maxLength: 40 });
    await fc.assert(fc.asyncProperty(changes, async (steps) => {
      const { harness, cache } = await start();
      assert.equal(found(cache, 'v1'), undefined);
      for (const { at, value, turns } of steps) {
        await passTurns(harness, turns);
        const key = `/p/n${at % 3}/${at}`;
        if (value !== undefined) await harness.write(key, value);
        else if (cache.get(key) !== undefined) await harness.remove(key);
        await settle();
      }
      await fill(cache, harness);
      for (const value of ['v1', 'v2', 'new', 'v3']) assert.deepEqual(found(cache, value), lookedAt(cache, value));
      cache.close();
    }), { numRuns: 30 });
  });
});
