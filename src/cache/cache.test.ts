// The cache on the memory Store: reading, exact reads, watching, joining from the Store, expiry, recovery.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/index.ts';
import { type Store, type StoreEvent, createMemoryStore, keyRange, prefixRange } from '../storage/index.ts';
import { createCache } from './index.ts';
import { all, createBreakableStore, createStoreHarness, settle, startCache } from './harness.suite.ts';

test('latest shows what the Store held at one revision and then every write, before its txn has answered', async () => {
  const { write, remove, store, clock } = createStoreHarness();
  for (let i = 0; i < 25; i++) await write(`/p/${i}`, `v${i}`);
  await write('/q/1', 'foreign');
  const cache = await startCache({ store, clock, pageSize: 10 });
  assert.equal(cache.latest().size, 25);
  assert.equal(cache.revision, await store.revision());
  const revision = await write('/p/7', 'new');
  assert.equal(cache.revision, revision);
  assert.deepEqual(cache.latest().get('/p/7'), { key: '/p/7', modRevision: revision, value: 'new' });
  await remove('/p/7');
  assert.equal(cache.latest().get('/p/7'), undefined);
  assert.equal(cache.latest().count(prefixRange('/p/1')), 11);
  cache.close();
});

test('at answers the exact state of every revision since the list, foreign writes included', async () => {
  const { write, remove, store, clock } = createStoreHarness();
  await write('/p/a', '1');
  const cache = await startCache({ store, clock });
  const states = new Map<number, string[]>();
  const note = (revision: number): unknown => states.set(revision, [...cache.latest().entries(all)].map(({ key, value }) => key + value));
  note(cache.revision);
  for (let i = 0; i < 40; i++) {
    if (i % 3 === 2) note(await write('/q/x', `${i}`));
    else note(await write(`/p/${'abcd'[i % 4]}`, `${i}`));
    if (i % 10 === 9) note(await remove(`/p/${'abcd'[i % 4]}`));
  }
  await cache.waitUntilCurrent(100);
  for (const [revision, expected] of states) {
    const snapshot = cache.at(revision);
    assert.equal(snapshot?.revision, revision);
    assert.deepEqual([...(snapshot?.entries(all) ?? [])].map(({ key, value }) => key + value), expected);
  }
  assert.equal(cache.at(Math.min(...states.keys()) - 1), undefined);
  assert.equal(cache.at(cache.revision + 1), undefined);
  cache.close();
});

test('close lets a reader take what history holds before its watcher ends', async () => {
  const { write, store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock });
  const watcher = cache.watch(prefixRange('/p/'), cache.revision, () => undefined);
  const quiet = cache.watch(prefixRange('/q/'), cache.revision, () => undefined);
  await settle();
  for (const value of ['1', '2', '3']) await write('/p/a', value);
  cache.close();
  assert.deepEqual([watcher.end, quiet.end], [undefined, 'closed']);
  assert.deepEqual(watcher.take(2).map(({ value }) => value), ['1', '2']);
  assert.equal(watcher.end, undefined);
  assert.deepEqual(watcher.take(2).map(({ value }) => value), ['3']);
  assert.equal(watcher.end, 'closed');
  assert.deepEqual(watcher.take(2), []);
});

test('watch delivers changes of its range once, in order, with the version before, and wakes once per emptying take', async () => {
  const { write, remove, store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock });
  let wakes = 0;
  const watcher = cache.watch(prefixRange('/p/ns1/'), cache.revision, () => wakes++);
  await settle();
  const r1 = await write('/p/ns1/a', '1');
  const r2 = await write('/p/ns1/a', '2');
  await write('/p/ns2/a', 'other');
  const r3 = await remove('/p/ns1/a');
  assert.equal(wakes, 1);
  assert.deepEqual(watcher.take(2), [
    { type: 'put', key: '/p/ns1/a', revision: r1, value: '1', previous: undefined },
    { type: 'put', key: '/p/ns1/a', revision: r2, value: '2', previous: '1' },
  ]);
  assert.equal(watcher.revision, r3 - 1);
  assert.deepEqual(watcher.take(2), [{ type: 'delete', key: '/p/ns1/a', revision: r3, value: undefined, previous: '2' }]);
  assert.deepEqual(watcher.take(2), []);
  const foreign = await write('/p/ns2/a', 'other again');
  assert.equal(wakes, 1);
  assert.equal(watcher.revision, foreign);
  await write('/p/ns1/b', '1');
  assert.equal(wakes, 2);
  watcher.close();
  await write('/p/ns1/b', '2');
  assert.deepEqual([wakes, watcher.end, watcher.take(9)], [2, 'closed', []]);
  cache.close();
});

test('watch that begins in the past wakes its reader even when nothing is written any more', async () => {
  const { write, store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock });
  const from = cache.revision;
  await write('/p/a', '1');
  await write('/p/b', '2');
  let wakes = 0;
  const watcher = cache.watch(keyRange('/p/b'), from, () => wakes++);
  await settle();
  assert.equal(wakes, 1);
  assert.deepEqual(watcher.take(9).map(({ value }) => value), ['2']);
  cache.close();
});

test('watch after a future revision waits silently and delivers nothing older', async () => {
  const { write, store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock });
  const future = cache.revision + 3;
  let wakes = 0;
  const watcher = cache.watch(all, future, () => wakes++);
  for (let i = 0; i < 3; i++) await write('/p/a', `${i}`);
  await settle();
  assert.deepEqual([wakes, watcher.take(9), watcher.revision], [0, [], future]);
  const revision = await write('/p/a', 'wanted');
  assert.equal(wakes, 1);
  assert.deepEqual(watcher.take(9).map((event) => event.revision), [revision]);
  cache.close();
});

test('watch from before the list is replayed from the Store and joins without loss or duplicate', async () => {
  const { write, store, clock } = createStoreHarness();
  const from = await store.revision();
  const expected: number[] = [];
  for (let i = 0; i < 3000; i++) expected.push(await write(`/p/${i % 50}`, `${i}`));
  const cache = await startCache({ store, clock });
  const watcher = cache.watch(all, from, () => undefined);
  const seen: number[] = [];
  for (let round = 0; round < 200 && seen.length < 3040; round++) {
    await settle();
    if (round < 40) expected.push(await write(`/p/new${round}`, 'x'));
    seen.push(...watcher.take(97).map(({ revision }) => revision));
  }
  assert.deepEqual(seen, expected);
  assert.equal(watcher.end, undefined);
  await settle();
  await write('/p/z', 'last');
  assert.equal(watcher.take(9).length, 1);
  assert.equal(watcher.revision, cache.revision);
  cache.close();
});

test('watch delivers all changes of one revision, as when a lease ends, however few are asked for', async () => {
  const harness = createStoreHarness();
  const ended: StoreEvent[] = [];
  // Deletions are held back until three have come, and then happen at the revision of the last.
  const store: Store = {
    ...createBreakableStore(harness.store),
    watch: (range, from, observer) => harness.store.watch(range, from, {
      ...observer,
      events(batch, revision) {
        const puts = batch.filter(({ type }) => type === 'put');
        if (puts.length > 0) observer.events(puts, revision);
        ended.push(...batch.filter(({ type }) => type === 'delete'));
        if (ended.length === 3) observer.events(ended.splice(0).map(({ kv, ...event }) => ({ ...event, kv: { ...kv, modRevision: revision } })), revision);
      },
    }),
  };
  const cache = await startCache({ store, clock: harness.clock });
  for (const name of ['a', 'b', 'c']) await harness.write(`/p/${name}`, name);
  const watchers = [1, 2, 9].map((limit) => ({ limit, watcher: cache.watch(all, cache.revision, () => undefined), seen: [] as string[] }));
  for (const name of ['a', 'b', 'c']) await harness.remove(`/p/${name}`);
  await harness.write('/p/d', 'd');
  for (const { limit, watcher, seen } of watchers) {
    for (let taken = watcher.take(limit); taken.length > 0; taken = watcher.take(limit)) {
      seen.push(...taken.map(({ type, key }) => `${type} ${key}`));
      assert.ok(seen.length === 3 || watcher.revision === cache.revision);
    }
    assert.deepEqual(seen, ['delete /p/a', 'delete /p/b', 'delete /p/c', 'put /p/d']);
  }
  cache.close();
});

test('watch from a compacted revision expires and says so by a wake', async () => {
  const { write, store, clock } = createStoreHarness();
  const from = await store.revision();
  for (let i = 0; i < 5; i++) await write('/p/a', `${i}`);
  await store.compact(await store.revision());
  const cache = await startCache({ store, clock });
  let wakes = 0;
  const watcher = cache.watch(all, from, () => wakes++);
  await settle();
  assert.deepEqual([watcher.end, wakes, watcher.take(9)], ['expired', 1, []]);
  cache.close();
});

test('a reader that history has left behind gets its changes from the store, while an idle watcher of a quiet range lives on', async () => {
  const { write, store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock, historyLimit: 100 });
  const slow = cache.watch(prefixRange('/p/busy/'), cache.revision, () => undefined);
  const quiet = cache.watch(prefixRange('/p/quiet/'), cache.revision, () => undefined);
  for (let i = 0; i < 150; i++) await write('/p/busy/x', `${i}`);
  const seen: (string | undefined)[] = [];
  while (seen.length < 150) {
    const taken = slow.take(40);
    if (taken.length === 0) await settle();
    seen.push(...taken.map(({ value }) => value));
  }
  assert.deepEqual(seen, Array.from({ length: 150 }, (_, i) => `${i}`));
  await write('/p/busy/x', 'one more');
  assert.deepEqual([slow.take(9).length, slow.end], [1, undefined]);
  await write('/p/quiet/x', 'here');
  assert.equal(quiet.take(9).length, 1);
  assert.equal(quiet.end, undefined);
  cache.close();
});

test('at and watchers lose what is older than the time window, but never the last 100 changes', async () => {
  const { write, store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock, historyMs: 1 });
  const first = cache.revision;
  for (let i = 0; i < 150; i++) await write('/p/x', `${i}`);
  clock.advance(74_000);
  await write('/p/x', 'within 75 s');
  assert.ok(cache.at(first));
  clock.advance(2_000);
  await write('/p/x', 'after');
  assert.equal(cache.at(first), undefined);
  assert.ok(cache.at(cache.revision - 100));
  cache.close();
});

test('waitUntil and waitUntilCurrent are true once reached, by writes or by progress of a quiet prefix, else false in time', async () => {
  const { write, store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock });
  const foreign = await write('/q/x', '1');
  assert.ok(cache.revision < foreign);
  assert.equal(await cache.waitUntilCurrent(1000), true);
  assert.ok(cache.revision >= foreign);
  const waiting = cache.waitUntil(foreign + 1, 3000);
  await write('/p/x', '1');
  assert.equal(await waiting, true);
  const late = cache.waitUntil(foreign + 100, 3000);
  clock.advance(3000);
  assert.equal(await late, false);
  cache.close();
  assert.equal(await cache.waitUntil(foreign + 100, 3000), false);
});

test('the progress timer keeps the revision of a quiet prefix, and of its watchers, from falling behind', async () => {
  const { write, store, clock } = createStoreHarness();
  const cache = await startCache({ store, clock });
  const watcher = cache.watch(all, cache.revision, () => undefined);
  const foreign = await write('/q/x', '1');
  clock.advance(10_000);
  await settle();
  assert.equal(watcher.revision, foreign);
  cache.close();
});

test('watch, at and latest before the first list: an empty snapshot at 0, and a watcher that waits for it', async () => {
  const { write, store, clock } = createStoreHarness();
  const revision = await write('/p/x', '1');
  const cache = createCache({ store, clock, prefix: '/p/', decode: (kv) => Buffer.from(kv.value).toString() });
  assert.deepEqual([cache.latest().revision, cache.latest().size, cache.at(0)], [0, 0, undefined]);
  const watcher = cache.watch(all, revision - 1, () => undefined);
  assert.deepEqual(watcher.take(5), []);
  await cache.ready();
  await settle();
  assert.deepEqual(watcher.take(5).map((event) => event.revision), [revision]);
  cache.close();
});

test('close ends watchers, refuses ready and leaves no timer behind', async () => {
  const clock = createManualClock();
  const store = createMemoryStore({ clock });
  const timers = clock.pendingTimers;
  const cache = createCache({ store, clock, prefix: '/p/', decode: () => 0 });
  let wakes = 0;
  const watcher = cache.watch(all, 1, () => wakes++);
  await settle();
  cache.close();
  assert.deepEqual([watcher.end, wakes, clock.pendingTimers], ['closed', 1, timers]);
  await settle();
  assert.equal(cache.watch(all, 1, () => undefined).end, 'closed');
});
