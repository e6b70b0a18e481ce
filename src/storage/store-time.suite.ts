// What every Store must do about time, and when it is opened again: times to live, history that grows old, what outlives a close.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, createManualClock } from '../base/index.ts';
import { type Store, prefixRange } from './store.ts';
import { eventually } from '../test-support/wait.ts';
import { Recorder, advance, all, keysOf, ok, put, remove, text } from './suite-tools.suite.ts';

/** How the suite opens the Store under test. */
export interface SuiteOptions {
  /** Opens again what was closed; absent when nothing outlives a close. */
  readonly reopen?: (clock: Clock) => Promise<Store>;
  /** Times to live pass on a clock that tests cannot move. */
  readonly leasesInRealTime?: boolean;
  /** Of writes under way at once, a later one may be decided first. */
  readonly unorderedCalls?: boolean;
  /** Watches may get a change after its writer has heard of it; the suite then waits for them. */
  readonly lateDelivery?: boolean;
  readonly modelRuns?: number;
}

/** Opens a new, empty Store for one test. */
export type Start = (clock?: Clock) => Promise<Store>;

/** Why a test that moves the clock is skipped; false where it is not. */
const refuseRealTime = ({ leasesInRealTime = false }: SuiteOptions): string | false =>
  leasesInRealTime && 'times to live pass on a clock that tests cannot move';

/** Times to live and the end of history. */
export function describeTime(start: Start, options: SuiteOptions): void {
  const skip = refuseRealTime(options);
  test('a ttl deletes the key when its time is over, unless it was written again', { skip }, async () => {
    const clock = createManualClock();
    const store = await start(clock);
    await put(store, { key: '/short', ttlSeconds: 10 });
    const kept = await put(store, { key: '/kept', ttlSeconds: 10 });
    const longer = await put(store, { key: '/longer', ttlSeconds: 10 });
    const watch = new Recorder();
    store.watch(all, 5, watch);
    await put(store, { key: '/kept', expect: kept });
    await put(store, { key: '/longer', expect: longer, ttlSeconds: 30 });
    await advance(clock, 9_000);
    assert.equal(ok(await store.range(all)).count, 3);
    await advance(clock, 2_000);
    await eventually(async () => {
      clock.advance(1);
      assert.deepEqual(keysOf(ok(await store.range(all)).kvs), ['/kept', '/longer']);
    });
    await advance(clock, 20_000);
    await eventually(async () => {
      clock.advance(1);
      assert.deepEqual(keysOf(ok(await store.range(all)).kvs), ['/kept']);
    });
    assert.deepEqual(watch.received.flatMap((event) => (event.type === 'delete' ? event.kv.key : [])), ['/short', '/longer']);
  });

  test('timesToLive returns the rest of a ttl by the revision of its put', async () => {
    const store = await start();
    await put(store, { key: '/for-ever' });
    const [short, long] = [await put(store, { key: '/short', ttlSeconds: 100 }), await put(store, { key: '/long', ttlSeconds: 5_000 })];
    const left = await store.timesToLive();
    assert.deepEqual([...left.keys()].sort(), [short, long]);
    // Leases of etcd are shared, and a little longer for it.
    for (const [revision, seconds] of [[short, 100], [long, 5_000]] as const) {
      const rest = left.get(revision) ?? 0;
      assert.ok(rest >= seconds - 10 && rest <= seconds + 60, `${rest} of ${seconds}`);
    }
  });

  test('history older than its time is compacted by itself', async () => {
    const clock = createManualClock();
    const store = await start(clock);
    const first = await put(store, { key: '/a' });
    await put(store, { key: '/a', expect: first });
    await advance(clock, 4 * 60_000);
    assert.equal((await store.range({ ...all, revision: first })).type, 'ok');
    await advance(clock, 8 * 60_000);
    await eventually(async () => assert.equal((await store.range({ ...all, revision: first })).type, 'compacted'));
    assert.equal(ok(await store.range(prefixRange('/'))).count, 1);
  });
}

/** The state that a reopened Store has. */
export function describeReopen(start: Start, { reopen, ...options }: SuiteOptions & Required<Pick<SuiteOptions, 'reopen'>>): void {
  const skip = refuseRealTime(options);
  test('reopen finds everything: state, history, watches from history, compaction', async () => {
    const clock = createManualClock();
    const store = await start(clock);
    for (let index = 0; index < 10; index += 1) await put(store, { key: `/k${index % 5}`, expect: index < 5 ? 0 : index - 3, value: `${index}` });
    await remove(store, '/k0', 7);
    await store.compact(4);
    await store.close();
    const again = await reopen(clock);
    try {
      assert.equal(await again.revision(), 12);
      assert.equal((await again.range({ ...all, revision: 3 })).type, 'compacted');
      assert.deepEqual(ok(await again.range({ ...all, revision: 8 })).kvs.map((kv) => text(kv.value)), ['5', '6', '2', '3', '4']);
      const watch = new Recorder();
      again.watch(all, 7, watch);
      await eventually(() => assert.deepEqual([watch.summary[0], watch.summary.at(-1)], ['put /k0@7=5 was 0@2', 'delete /k0@12= was 5@7']));
      assert.equal(await put(again, { key: '/k0' }), 13);
    } finally {
      await again.close();
    }
  });

  test('reopen never falls back in revisions, even when the newest change was a delete that compaction removed', async () => {
    const clock = createManualClock();
    const store = await start(clock);
    await remove(store, '/a', await put(store, { key: '/a' }));
    await store.compact(3);
    await store.close();
    const again = await reopen(clock);
    assert.equal(await again.revision(), 3);
    assert.equal(await put(again, { key: '/a' }), 4);
    await again.close();
  });

  test('reopen finds ttl keys, those whose time passed meanwhile too', { skip }, async () => {
    const clock = createManualClock();
    const store = await start(clock);
    await put(store, { key: '/soon', ttlSeconds: 10 });
    await put(store, { key: '/later', ttlSeconds: 100 });
    await store.close();
    await advance(clock, 20_000);
    const again = await reopen(clock);
    await advance(clock, 1);
    await eventually(async () => {
      clock.advance(1);
      assert.deepEqual(keysOf(ok(await again.range(all)).kvs), ['/later']);
    });
    await advance(clock, 100_000);
    await eventually(async () => {
      clock.advance(1);
      assert.equal(ok(await again.range(all)).count, 0);
    });
    await again.close();
  });
}
