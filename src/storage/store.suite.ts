// What every Store must do. Each implementation runs the whole suite; one that keeps nothing after close leaves `reopen` out.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { type Clock, createManualClock } from '../base/index.ts';
import { describeModel } from './store-model.suite.ts';
import { type Start, type SuiteOptions, describeReopen, describeTime } from './store-time.suite.ts';
import { type KeyRange, type Store, type StoreEvent, type WatchObserver, keyRange, prefixRange } from './store.ts';
import { eventually } from '../test-support/wait.ts';
import { Recorder, all, bytes, keysOf, ok, put, remove, settle, answerWritersLast, text } from './suite-tools.suite.ts';

/** Runs the suite on the Stores that `open` makes, each of them new and empty. */
export function describeStore(name: string, open: (clock: Clock) => Promise<Store>, options: SuiteOptions = {}): void {
  const { lateDelivery = false } = options;
  describe(name, () => {
    const opened: Store[] = [];
    const start = async (clock: Clock = createManualClock()): Promise<Store> => {
      const store = await open(clock);
      opened.push(store);
      return lateDelivery ? answerWritersLast(store) : store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    describeTxn(start, options);
    describeLimits(start);
    describeRange(start);
    describeConcurrentReads(start);
    describeWatch(start);
    describeDelivery(start, options);
    describeCompaction(start);
    describeCompactionRace(start);
    describeTime(start, options);
    describeModel(start, options.modelRuns ?? 40);
    if (options.reopen) describeReopen(start, { ...options, reopen: options.reopen });
  });
}

function describeTxn(start: Start, { unorderedCalls = false }: SuiteOptions): void {
  test('a new Store is empty and at revision 1', async () => {
    const store = await start();
    assert.equal(await store.revision(), 1);
    assert.deepEqual(await store.range(all), { type: 'ok', revision: 1, kvs: [], more: false, count: 0 });
  });

  test('txn creates, updates and deletes with revisions that grow by one', async () => {
    const store = await start();
    assert.equal(await put(store, { key: '/a' }), 2);
    assert.equal(await put(store, { key: '/a', expect: 2, value: 'w' }), 3);
    assert.deepEqual(ok(await store.range(keyRange('/a'))).kvs.map((kv) => [kv.createRevision, kv.modRevision, text(kv.value)]), [[2, 3, 'w']]);
    assert.equal(await remove(store, '/a', 3), 4);
    assert.equal(ok(await store.range(keyRange('/a'))).count, 0);
    assert.equal(await put(store, { key: '/a' }), 5);
    assert.equal(ok(await store.range(keyRange('/a'))).kvs[0]?.createRevision, 5);
    assert.equal(await store.revision(), 5);
  });

  test('txn answers conflict with the current version, and without one when the key is absent', async () => {
    const store = await start();
    await put(store, { key: '/a' });
    const taken = await store.txn({ key: '/a', expect: 0, value: bytes('x') });
    assert.ok(taken.type === 'conflict' && taken.current?.modRevision === 2 && text(taken.current.value) === 'v' && taken.revision === 2);
    const stale = await store.txn({ key: '/a', expect: 7 });
    assert.ok(stale.type === 'conflict' && stale.current?.modRevision === 2);
    const absent = await store.txn({ key: '/b', expect: 2 });
    assert.deepEqual(absent, { type: 'conflict', revision: 2 });
    assert.equal(await store.revision(), 2);
  });

  test('txn decides between concurrent writers of one key: one commits, the others see it', async () => {
    const store = await start();
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => store.txn({ key: '/a', expect: 0, value: bytes(`${index}`) })));
    assert.equal(results.filter((result) => result.type === 'committed').length, 1);
    for (const result of results) {
      if (result.type === 'conflict') assert.ok(result.current?.modRevision === 2 && result.revision >= 2 && (unorderedCalls || text(result.current.value) === '0'));
    }
  });

  const unordered = unorderedCalls && 'of writes under way at once, this Store may decide a later one first';
  test('txn chains on versions that are not acknowledged yet', { skip: unordered }, async () => {
    const store = await start();
    const results = await Promise.all([
      store.txn({ key: '/a', expect: 0, value: bytes('1') }), store.txn({ key: '/a', expect: 2, value: bytes('2') }),
      store.txn({ key: '/a', expect: 3 }), store.txn({ key: '/a', expect: 3 }), store.txn({ key: '/a', expect: 0, value: bytes('3') }),
    ]);
    assert.deepEqual(results.map((result) => [result.type, result.type === 'committed' ? result.revision : 'absent']),
      [['committed', 2], ['committed', 3], ['committed', 4], ['conflict', 'absent'], ['committed', 5]]);
  });
}

function describeLimits(start: Start): void {
  test('txn keeps values byte for byte, empty and large ones too', async () => {
    const store = await start();
    const large = Buffer.alloc(1_500_000, 'pintle');
    await store.txn({ key: '/empty', expect: 0, value: new Uint8Array(0) });
    await store.txn({ key: '/large', expect: 0, value: large });
    await store.txn({ key: '/zero', expect: 0, value: new Uint8Array([0, 255, 0]) });
    const { kvs } = ok(await store.range(all));
    assert.deepEqual(kvs.map((kv) => kv.value.length), [0, large.length, 3]);
    assert.ok(large.equals(kvs[1]?.value as Uint8Array));
    assert.deepEqual([...(kvs[2]?.value ?? [])], [0, 255, 0]);
  });

  test('txn refuses keys that no Store can hold', async () => {
    const store = await start();
    for (const key of ['', 'k'.repeat(2000), 'a\ud800']) await assert.rejects(store.txn({ key, expect: 0, value: bytes('v') }), RangeError);
    await assert.rejects(store.txn({ key: '/a', expect: 0 }), /invariant/);
  });

  test('ranges whose bounds are longer than any key hold what is between them, now and earlier', async () => {
    const store = await start();
    const longest = `/${'k'.repeat(1899)}`;
    for (const key of ['/a', longest, '/z']) await put(store, { key });
    const before = await put(store, { key: '/zz' });
    await put(store, { key: longest, expect: 3 });
    const [beyond, farBeyond] = [`${longest}k`, `/${'k'.repeat(5000)}`];
    const ranges: [KeyRange, string[]][] = [
      [keyRange(farBeyond), []], [keyRange(beyond), []], [keyRange(longest), [longest]], [prefixRange(`${farBeyond}/`), []],
      [{ start: farBeyond, end: '/zz' }, ['/z']], [{ start: '/', end: farBeyond }, ['/a', longest]], [{ start: longest, end: beyond }, [longest]],
      [{ start: `/${'k'.repeat(1898)}é`, end: '/zz' }, ['/z']]];
    for (const [range, keys] of ranges) {
      for (const revision of [undefined, before]) {
        assert.deepEqual(ok(await store.range({ ...range, ...(revision !== undefined && { revision }) })).kvs.map((kv) => kv.key), keys);
        assert.equal(ok(await store.range({ ...range, countOnly: true, ...(revision !== undefined && { revision }) })).count, keys.length);
      }
    }
  });

  test('close refuses what comes after and answers what came before', async () => {
    const store = await start();
    const watch = new Recorder();
    store.watch(all, 2, watch);
    const [before] = await Promise.all([put(store, { key: '/a' }), store.close()]);
    assert.equal(before, 2);
    assert.deepEqual(watch.end, { type: 'closed' });
    await assert.rejects(store.txn({ key: '/b', expect: 0, value: bytes('v') }), { name: 'StorageClosedError' });
    await assert.rejects(store.range(all), { name: 'StorageClosedError' });
    const late = new Recorder();
    store.watch(all, 1, late);
    await settle();
    assert.deepEqual(late.end, { type: 'closed' });
    await store.close();
  });
}

function describeRange(start: Start): void {
  test('range answers in byte order of keys, limited, with more and count', async () => {
    const store = await start();
    const keys = ['/b/\u{10000}', '/b/\uffee', '/b/z', '/b', '/b/', '/a', '/c', '/b/é', '/b\u0000x'];
    await Promise.all(keys.map((key) => put(store, { key })));
    const sorted = [...keys].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
    assert.deepEqual(keysOf(ok(await store.range(all)).kvs), sorted);
    const limited = ok(await store.range({ ...prefixRange('/b/'), limit: 2 }));
    assert.deepEqual([keysOf(limited.kvs), limited.more, limited.count], [['/b/', '/b/z'], true, 5]);
    const whole = ok(await store.range({ ...prefixRange('/b/'), limit: 5 }));
    assert.deepEqual([whole.kvs.length, whole.more, whole.count], [5, false, 5]);
    const counted = ok(await store.range({ ...prefixRange('/b'), countOnly: true }));
    assert.deepEqual([counted.kvs.length, counted.count], [0, 7]);
    assert.deepEqual(keysOf(ok(await store.range(keyRange('/b'))).kvs), ['/b']);
    assert.equal(ok(await store.range({ start: '/c', end: '/a' })).count, 0);
  });

  test('range at a revision answers the state of that revision', async () => {
    const store = await start();
    await put(store, { key: '/a', value: 'a1' });
    await put(store, { key: '/b', value: 'b1' });
    await put(store, { key: '/a', expect: 2, value: 'a2' });
    await remove(store, '/b', 3);
    await put(store, { key: '/b', value: 'b2' });
    const states = [];
    for (let revision = 1; revision <= 6; revision += 1) {
      const result = ok(await store.range({ ...all, revision }));
      assert.equal(result.revision, 6);
      states.push(result.kvs.map((kv) => `${kv.key}=${text(kv.value)}@${kv.createRevision},${kv.modRevision}`).join(' '));
    }
    assert.deepEqual(states, ['', '/a=a1@2,2', '/a=a1@2,2 /b=b1@3,3', '/a=a2@2,4 /b=b1@3,3', '/a=a2@2,4', '/a=a2@2,4 /b=b2@6,6']);
    const page = ok(await store.range({ ...all, revision: 4, limit: 1 }));
    assert.deepEqual([keysOf(page.kvs), page.more, page.count], [['/a'], true, 2]);
    for (const [limit, more] of [[1, true], [2, false], [3, false]] as const) {
      for (const revision of [4, 5, undefined]) {
        const uncounted = ok(await store.range({ ...all, limit, uncounted: true, ...(revision !== undefined && { revision }) }));
        const kept = revision === 5 ? ['/a'] : ['/a', '/b'];
        assert.deepEqual([keysOf(uncounted.kvs), uncounted.more], [kept.slice(0, limit), more && revision !== 5]);
      }
    }
    assert.deepEqual(await store.range({ ...all, revision: 7 }), { type: 'future', revision: 6 });
  });

  test('range of many keys is one snapshot and lets others have turns', async () => {
    const store = await start();
    const total = 3000;
    const fill = (index: number) => put(store, { key: `/k/${String(index).padStart(6, '0')}`, value: 'v'.repeat(500) });
    // In batches: what is asked of a busy machine all at once is not all answered in time.
    for (let from = 0; from < total; from += 250) await Promise.all(Array.from({ length: 250 }, (_, index) => fill(from + index)));
    const reading = store.range(all);
    const writing = put(store, { key: '/k/999999' });
    const result = ok(await reading);
    await writing;
    assert.equal(result.count, result.kvs.length);
    assert.ok(result.kvs.every((kv) => kv.modRevision <= result.revision));
    const paged: string[] = [];
    for (let from = all.start; ;) {
      const page = ok(await store.range({ start: from, end: all.end, limit: 700, revision: total + 1 }));
      assert.equal(page.count, total - paged.length);
      paged.push(...keysOf(page.kvs));
      if (!page.more) break;
      from = `${paged.at(-1)}\u0000`;
    }
    assert.equal(paged.length, total);
  });
}

function describeConcurrentReads(start: Start): void {
  test('range among concurrent writers answers whole states that never go back', async () => {
    const store = await start();
    let acknowledged = 1;
    let isDone = false;
    const write = async (writer: number): Promise<void> => {
      for (let index = 0; index < 60; index += 1) {
        const revision = await put(store, { key: `/w${writer}/${index}`, value: 'v'.repeat(300) });
        acknowledged = Math.max(acknowledged, revision);
      }
    };
    const read = async (): Promise<void> => {
      while (!isDone) {
        const before = acknowledged;
        const result = ok(await store.range(all));
        assert.ok(result.revision >= before && (await store.revision()) >= result.revision);
        assert.deepEqual([result.count, result.kvs.length], [result.revision - 1, result.revision - 1]);
        const exact = ok(await store.range({ ...all, revision: Math.ceil(result.revision / 2), countOnly: true }));
        assert.equal(exact.count, Math.ceil(result.revision / 2) - 1);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const reading = Promise.all([read(), read(), read()]);
    await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)));
    isDone = true;
    await reading;
  });
}

function describeWatch(start: Start): void {
  test('watch replays history with previous versions, then continues live', async () => {
    const store = await start();
    await put(store, { key: '/a', value: '1' });
    await put(store, { key: '/b' });
    await put(store, { key: '/a', expect: 2, value: '2' });
    const watch = new Recorder();
    store.watch(keyRange('/a'), 2, watch);
    assert.equal(watch.received.length, 0, 'nothing is delivered within the call');
    await remove(store, '/a', 4);
    await put(store, { key: '/a', value: '3' });
    await settle();
    assert.deepEqual(watch.summary, ['put /a@2=1', 'put /a@4=2 was 1@2', 'delete /a@5= was 2@4', 'put /a@6=3']);
    assert.deepEqual(watch.received.map((event) => event.kv.createRevision), [2, 2, 2, 6]);
  });

  test('watch from the middle of history starts there', async () => {
    const store = await start();
    for (let index = 0; index < 700; index += 1) void put(store, { key: `/k${index}` });
    await put(store, { key: '/last' });
    const watch = new Recorder();
    store.watch(all, 300, watch);
    await eventually(() => assert.deepEqual([watch.received[0]?.kv.modRevision, watch.received.length], [300, 403]));
  });

  test('watch of a future revision waits silently for it', async () => {
    const store = await start();
    const watch = new Recorder();
    store.watch(all, 4, watch).requestProgress();
    await put(store, { key: '/a' });
    await put(store, { key: '/b' });
    await settle();
    assert.deepEqual(watch.summary, []);
    await put(store, { key: '/c' });
    await settle();
    assert.deepEqual(watch.summary, ['put /c@4=v']);
    assert.ok(watch.progressed.every((revision) => revision >= 3));
  });
}

function describeDelivery(start: Start, { lateDelivery = false }: SuiteOptions): void {
  test('watch delivers only its range: prefixes, single keys and odd intervals', async () => {
    const store = await start();
    const ranges = [prefixRange('/a/'), prefixRange('/a/b/'), keyRange('/a/b/c'), { start: '/a/b', end: '/a/z' }, prefixRange('/ab/')];
    const watches = ranges.map((range) => {
      const watch = new Recorder();
      store.watch(range, 1, watch);
      return watch;
    });
    await settle();
    for (const key of ['/a/b/c', '/a/c', '/ab/x', '/a', '/a/b', '/a/b/c/d']) await put(store, { key });
    assert.deepEqual(watches.map((watch) => watch.received.map((event) => event.kv.key)),
      [['/a/b/c', '/a/c', '/a/b', '/a/b/c/d'], ['/a/b/c', '/a/b/c/d'], ['/a/b/c'], ['/a/b/c', '/a/c', '/a/b', '/a/b/c/d'], ['/ab/x']]);
  });

  const late = lateDelivery && 'this Store may answer a writer before its watches have the change';
  test('watch has delivered a change no later than its writer is answered', { skip: late }, async () => {
    const store = await start();
    const watch = new Recorder();
    store.watch(all, 2, watch);
    for (let index = 0; index < 20; index += 1) {
      const revision = await put(store, { key: `/k${index}` });
      assert.equal(watch.received.at(-1)?.kv.modRevision, revision);
    }
  });

  test('watch requestProgress answers a revision that covers all acknowledged writes', async () => {
    const store = await start();
    const watch = new Recorder();
    const handle = store.watch(prefixRange('/quiet/'), 1, watch);
    const revision = await put(store, { key: '/loud/a' });
    handle.requestProgress();
    await settle();
    assert.ok((watch.progressed.at(-1) ?? 0) >= revision);
  });

  test('watch close ends delivery without a word', async () => {
    const store = await start();
    const watch = new Recorder();
    const handle = store.watch(all, 2, watch);
    await put(store, { key: '/a' });
    for (let turn = 0; turn < 2; turn += 1) handle.close();
    handle.requestProgress();
    await put(store, { key: '/b' });
    await settle();
    assert.deepEqual([watch.received.length, watch.progressed.length, watch.end], [1, 0, undefined]);
  });

  test('watch observers may write, watch and close from within a delivery', async () => {
    const store = await start();
    const late = new Recorder();
    const order: string[] = [];
    const observer = (name: string, react: (event: StoreEvent) => void): WatchObserver => ({
      events: (batch) => batch.forEach((event) => {
        order.push(`${name}${event.kv.modRevision}`);
        react(event);
      }),
      progress: () => undefined,
      ended: () => undefined,
    });
    store.watch(all, 2, observer('a', (event) => {
      if (event.kv.modRevision > 3) return;
      void put(store, { key: `/from${event.kv.modRevision}` });
      if (event.kv.modRevision === 2) store.watch(all, 3, late);
    }));
    store.watch(all, 2, observer('b', () => undefined));
    await put(store, { key: '/first' });
    await eventually(() => assert.deepEqual(order, ['a2', 'b2', 'a3', 'b3', 'a4', 'b4']));
    assert.deepEqual(late.received.map((event) => event.kv.modRevision), [3, 4]);
  });
}

function describeCompaction(start: Start): void {
  const prepare = async (): Promise<Store> => {
    const store = await start();
    await put(store, { key: '/a', value: '1' });
    await put(store, { key: '/a', expect: 2, value: '2' });
    await put(store, { key: '/b', value: '1' });
    await remove(store, '/b', 4);
    await put(store, { key: '/a', expect: 3, value: '3' });
    return store;
  };

  test('compact forgets what was superseded and refuses reads before', async () => {
    const store = await prepare();
    assert.deepEqual(await store.compact(4), { compactRevision: 4 });
    assert.deepEqual(await store.range({ ...all, revision: 3 }), { type: 'compacted', compactRevision: 4, revision: 6 });
    assert.deepEqual(ok(await store.range({ ...all, revision: 4 })).kvs.map((kv) => `${kv.key}=${text(kv.value)}`), ['/a=2', '/b=1']);
    assert.deepEqual(keysOf(ok(await store.range({ ...all, revision: 5 })).kvs), ['/a']);
    assert.deepEqual(await store.compact(2), { compactRevision: 4 }, 'never goes back');
    await assert.rejects(store.compact(7), RangeError);
    assert.equal(await store.revision(), 6);
  });

  test('compact on the very revision of a delete loses no event and keeps the revision', async () => {
    const store = await prepare();
    await store.compact(5);
    const watch = new Recorder();
    store.watch(all, 6, watch);
    const compacted = new Recorder();
    store.watch(all, 5, compacted);
    assert.equal(compacted.end, undefined, 'a watch ends after the call, not within it');
    await settle();
    assert.deepEqual(watch.summary, ['put /a@6=3 was 2@3']);
    assert.deepEqual(compacted.end, { type: 'compacted', compactRevision: 5 });
    await remove(store, '/a', 6);
    await store.compact(7);
    assert.equal(await store.revision(), 7);
    assert.equal(await put(store, { key: '/a' }), 8);
  });

  test('compact does not disturb watches that have caught up', async () => {
    const store = await prepare();
    const watch = new Recorder();
    store.watch(all, 2, watch);
    await settle();
    await store.compact(6);
    await remove(store, '/a', 6);
    assert.equal(watch.summary.at(-1), 'delete /a@7= was 3@6');
    assert.equal(watch.received.length, 6);
  });
}

function describeCompactionRace(start: Start): void {
  test('compact racing with watch starts: every event or compacted, never silence', async () => {
    const store = await start();
    let expect = 0;
    for (let index = 0; index < 600; index += 1) expect = await put(store, { key: '/hot', expect, value: `${index}` });
    const watches = Array.from({ length: 30 }, (_, index) => {
      const watch = new Recorder();
      const from = 2 + index * 20;
      store.watch(all, from, watch);
      return { watch, from };
    });
    await store.compact(500);
    await put(store, { key: '/hot', expect, value: 'end' });
    await eventually(() => assert.ok(watches.every(({ watch }) => watch.end ?? watch.received.at(-1)?.kv.modRevision === 602)));
    for (const { watch, from } of watches) {
      const expected = Array.from({ length: 602 - from + 1 }, (_, index) => from + index);
      if (watch.end) assert.ok(from <= 500 && watch.end.type === 'compacted');
      else assert.deepEqual(watch.received.map((event) => event.kv.modRevision), expected);
    }
    assert.ok(watches.some(({ watch }) => !watch.end));
  });
}
