// What the cache does when its Store fails, compacts under it, or brings what cannot be decoded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCache } from './index.ts';
import { all, createBreakableStore, createStoreHarness, settle, startCache } from './harness.suite.ts';

test('a failed watch is resumed after its last change: no watcher loses a change or expires', async () => {
  const { write, store, clock } = createStoreHarness();
  const breakable = createBreakableStore(store);
  const cache = await startCache({ store: breakable, clock });
  const watcher = cache.watch(all, cache.revision, () => undefined);
  const expected = [await write('/p/a', '1')];
  breakable.breakWatches({ type: 'failed', error: new Error('cut') });
  expected.push(await write('/p/a', '2'));
  clock.advance(50);
  await settle();
  expected.push(await write('/p/a', '3'));
  assert.deepEqual(watcher.take(9).map(({ revision }) => revision), expected);
  assert.equal(cache.latest().get('/p/a')?.value, '3');
  assert.deepEqual([breakable.calls.watch, watcher.end], [2, undefined]);
  cache.close();
});

test('a compacted watch is listed again: known versions are kept as they are, watchers that missed something expire', async () => {
  const { write, remove, store, clock } = createStoreHarness();
  const breakable = createBreakableStore(store);
  const cache = await startCache({ store: breakable, clock });
  await write('/p/same', '1');
  await write('/p/gone', '1');
  const same = cache.latest().get('/p/same');
  let wakes = 0;
  const watcher = cache.watch(all, cache.revision, () => wakes++);
  const patient = cache.watch(all, cache.revision + 50, () => undefined);
  breakable.breakWatches({ type: 'compacted', compactRevision: 1 });
  await remove('/p/gone');
  await write('/p/new', '1');
  assert.equal(cache.latest().get('/p/gone')?.value, '1');
  clock.advance(50);
  await settle();
  assert.deepEqual([watcher.end, wakes], ['expired', 1]);
  assert.equal(cache.latest().get('/p/same'), same);
  assert.equal(cache.latest().get('/p/gone'), undefined);
  assert.equal(cache.latest().get('/p/new')?.value, '1');
  for (let i = 0; i < 60; i++) await write('/p/new', `${i}`);
  assert.equal(patient.end, undefined);
  assert.ok(patient.take(99).length > 0);
  cache.close();
});

test('ready waits out a Store that is down, asking less and less often', async () => {
  const { write, store, clock } = createStoreHarness();
  await write('/p/a', '1');
  const breakable = createBreakableStore(store);
  breakable.down = true;
  const reported: unknown[] = [];
  const cache = createCache({ store: breakable, clock, prefix: '/p/', decode: () => 0, report: (error) => reported.push(error) });
  for (let i = 0; i < 100; i++) {
    clock.advance(100);
    await settle();
  }
  assert.ok(reported.length >= 5 && reported.length <= 10, `${reported.length} attempts in 10 s`);
  breakable.down = false;
  clock.advance(10_000);
  await cache.ready();
  assert.equal(cache.latest().size, 1);
  cache.close();
});

test('a Store that is down makes waitUntilCurrent false and lets the cache go on serving what it has', async () => {
  const { write, store, clock } = createStoreHarness();
  const breakable = createBreakableStore(store);
  const cache = await startCache({ store: breakable, clock });
  await write('/p/a', '1');
  breakable.down = true;
  breakable.breakWatches({ type: 'failed', error: new Error('cut') });
  clock.advance(5000);
  await settle();
  assert.equal(await cache.waitUntilCurrent(1000), false);
  assert.equal(cache.latest().get('/p/a')?.value, '1');
  breakable.down = false;
  const waiting = cache.waitUntil(await write('/p/a', '2'), 20_000);
  clock.advance(10_000);
  assert.equal(await waiting, true);
  cache.close();
});

test('a change that cannot be decoded makes the cache start over instead of going on without it', async () => {
  const { write, store, clock } = createStoreHarness();
  const reported: unknown[] = [];
  let poison = true;
  const decode = (kv: { readonly value: Uint8Array }): string => {
    const text = Buffer.from(kv.value).toString();
    if (poison && text === 'poison') throw new Error('cannot decode');
    return text;
  };
  const cache = await startCache({ store, clock, decode, report: (error) => reported.push(error) });
  await write('/p/a', 'poison');
  assert.equal(reported.length, 1);
  assert.equal(cache.latest().get('/p/a'), undefined);
  poison = false;
  clock.advance(50);
  await settle();
  assert.equal(cache.latest().get('/p/a')?.value, 'poison');
  cache.close();
});

test('waitUntilCurrent asks the Store once for all reads that began to wait before the question was sent', async () => {
  const { store, clock } = createStoreHarness();
  const breakable = createBreakableStore(store);
  const cache = await startCache({ store: breakable, clock });
  const before = breakable.calls.revision;
  const answers = await Promise.all(Array.from({ length: 100 }, () => cache.waitUntilCurrent(1000)));
  assert.ok(answers.every(Boolean));
  assert.equal(breakable.calls.revision - before, 1);
  cache.close();
});

test('a wake that throws is reported and hinders no other watcher', async () => {
  const { write, store, clock } = createStoreHarness();
  const reported: unknown[] = [];
  const cache = await startCache({ store, clock, report: (error) => reported.push(error) });
  let wakes = 0;
  const throwing = (): void => {
    throw new Error('bad reader');
  };
  cache.watch(all, cache.revision, throwing);
  cache.watch(all, cache.revision, () => wakes++);
  await settle();
  await write('/p/a', '1');
  assert.deepEqual([reported.length, wakes, cache.latest().size], [1, 1, 1]);
  cache.close();
});

test('close of the Store closes the cache', async () => {
  const { store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock });
  const watcher = cache.watch(all, cache.revision, () => undefined);
  await store.close();
  assert.equal(watcher.end, 'closed');
  assert.equal(await cache.waitUntil(cache.revision + 1, 1000), false);
});
