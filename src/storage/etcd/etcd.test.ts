// The etcd Store against the suite of all Stores, each test on an etcd of its own; and what only etcd can show.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Clock, systemClock } from '../../base/index.ts';
import type { Store } from '../store.ts';
import { describeStore } from '../store.suite.ts';
import { eventually } from '../../test-support/wait.ts';
import { Recorder, all, bytes, keysOf, ok, put } from '../suite-tools.suite.ts';
import { type EtcdCluster, noEtcd, startCluster } from './cluster.suite.ts';
import { openEtcdStore } from './open.ts';

const clusters: EtcdCluster[] = [];

async function start(flags: readonly string[] = []): Promise<EtcdCluster> {
  const cluster = await startCluster({ flags });
  clusters.push(cluster);
  return cluster;
}

async function open(clock: Clock): Promise<Store> {
  const previous = clusters.splice(0);
  await Promise.all(previous.map((cluster) => cluster.stop()));
  return openEtcdStore({ endpoints: (await start()).endpoints, clock });
}

const reopen = (clock: Clock): Promise<Store> => openEtcdStore({ endpoints: (clusters.at(-1) as EtcdCluster).endpoints, clock });

after(() => Promise.all(clusters.map((cluster) => cluster.stop())));

if (noEtcd !== false) test('openEtcdStore', { skip: noEtcd });
else describeStore('openEtcdStore', open, { reopen, leasesInRealTime: true, unorderedCalls: true, lateDelivery: true, modelRuns: 15 });

describe('etcd by itself', { skip: noEtcd }, () => {
  test('a ttl deletes the key when etcd says so, unless it was written again without one', async () => {
    const store = await open(systemClock);
    await put(store, { key: '/short', ttlSeconds: 1 });
    const kept = await put(store, { key: '/kept', ttlSeconds: 1 });
    const watch = new Recorder();
    store.watch(all, 4, watch);
    await put(store, { key: '/kept', expect: kept });
    assert.equal(ok(await store.range(all)).count, 2);
    await eventually(async () => assert.deepEqual(keysOf(ok(await store.range(all)).kvs), ['/kept']));
    const seen = (): string[] => watch.received.map((event) => `${event.type} ${event.kv.key} ${event.kv.createRevision}`);
    await eventually(() => assert.deepEqual(seen(), ['put /kept 3', 'delete /short 2']));
    await store.close();
  });

  test('range reads what exceeds one message in pages of one revision', async () => {
    const store = await open(systemClock);
    const value = Buffer.alloc(1_000_000, 'x');
    await Promise.all(Array.from({ length: 80 }, (_, index) => store.txn({ key: `/large/${index}`, expect: 0, value })));
    const result = ok(await store.range(all));
    assert.deepEqual([result.kvs.length, result.count, result.more], [80, 80, false]);
    assert.ok(result.kvs.every((kv) => kv.value.length === value.length));
    await store.close();
  });

  test('openEtcdStore refuses a text that is not an endpoint, and reports that no server answers', async () => {
    await assert.rejects(openEtcdStore({ endpoints: ['ftp://x/y'], clock: systemClock }), RangeError);
    await assert.rejects(openEtcdStore({ endpoints: ['127.0.0.1:1'], clock: systemClock }), { name: 'StorageUnavailableError' });
  });

  test('two Stores on one etcd see one another, and a watch from far back is complete', async () => {
    const one = await open(systemClock);
    for (let index = 0; index < 300; index += 1) await one.txn({ key: `/k/${index % 7}`, expect: index < 7 ? 0 : index - 5, value: bytes(`${index}`) });
    const other = await reopen(systemClock);
    const far = new Recorder();
    const watch = other.watch(all, 2, far);
    watch.requestProgress();
    const single = new Recorder();
    other.watch({ start: '/k/3', end: '/k/4' }, 100, single);
    await eventually(() => assert.equal(far.received.length, 300));
    await eventually(() => assert.ok((far.progressed.at(-1) ?? 0) >= 301));
    assert.deepEqual(single.received.map((event) => event.kv.modRevision), far.received.map((event) => event.kv.modRevision)
      .filter((revision) => revision >= 100 && (revision - 2) % 7 === 3));
    const revision = await put(one, { key: '/last' });
    await eventually(() => assert.equal(far.received.at(-1)?.kv.modRevision, revision));
    await Promise.all([one.close(), other.close()]);
  });

  test('of several Stores one compacts in each interval, up to where the interval before began', async () => {
    const { endpoints } = await start();
    const intervalMs = 300;
    const stores = await Promise.all([1, 2, 3].map(() => openEtcdStore({ endpoints, clock: systemClock, compactionIntervalMs: intervalMs })));
    const [first] = stores as [Store, ...Store[]];
    const began = systemClock.monotonicMs();
    let expect = 0;
    for (let index = 0; index < 20; index += 1) expect = await put(first, { key: '/hot', expect });
    const atFirst = expect;
    await eventually(async () => assert.equal((await first.range({ ...all, revision: atFirst - 1 })).type, 'compacted'));
    const { kvs } = ok(await first.range({ start: 'compact_rev_key', end: 'compact_rev_key\u0000' }));
    assert.ok(Number(Buffer.from(kvs[0]?.value ?? []).toString()) >= atFirst);
    // Each interval is won by one of them: no more writes of the shared key than intervals, beside the one that began.
    const rounds = Math.ceil((systemClock.monotonicMs() - began) / intervalMs) + 1;
    const writes = (await first.revision()) - atFirst;
    assert.ok(writes <= rounds, `${writes} writes in ${rounds} intervals`);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('compaction by another Store: exact reads and watches from before it are compacted here', async () => {
    const one = await open(systemClock);
    const other = await reopen(systemClock);
    let expect = 0;
    for (let index = 0; index < 50; index += 1) expect = await put(one, { key: '/hot', expect });
    await one.compact(30);
    assert.deepEqual(await other.range({ ...all, revision: 20 }), { type: 'compacted', compactRevision: 30, revision: 51 });
    const fresh = await reopen(systemClock);
    const [before, behind] = [new Recorder(), new Recorder()];
    fresh.watch(all, 30, before);
    fresh.watch(all, 31, behind);
    await eventually(() => assert.deepEqual(before.end, { type: 'compacted', compactRevision: 30 }));
    await eventually(() => assert.equal(behind.received.length, 21));
    assert.deepEqual(await fresh.compact(10), { compactRevision: 30 });
    await Promise.all([one.close(), other.close(), fresh.close()]);
  });
});
