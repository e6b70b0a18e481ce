// The etcd Store while its cluster breaks: three members on loopback, two Stores with caches over them, clients at work all the time.
// Each guarantee is checked by its name against the log that the cluster itself keeps (history.ts).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/index.ts';
import { type Store, openEtcdStore, prefixRange } from '../../src/storage/index.ts';
import { type EtcdCluster, type EtcdMember, noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { readEtcdStatus } from '../../src/storage/etcd/open.ts';
import { eventually } from '../../src/test-support/index.ts';
import { Log, RunHistory, readTruth } from './history.ts';
import { PeerNetwork, startProxy } from './proxy.ts';
import { Workload } from './workload.ts';

interface Scene {
  readonly cluster: EtcdCluster;
  readonly network: PeerNetwork;
}

type Fault = (scene: Scene) => Promise<void>;
const calmMs = 1_500;
const longestCallMs = 25_000;

/** The member that leads, and its index. The others may serve clients already while one still starts. */
async function findLeader({ members }: EtcdCluster): Promise<{ readonly member: EtcdMember; readonly index: number }> {
  let leading: number[] = [];
  await eventually(async () => {
    const states = await Promise.all(members.map(({ url }) => readEtcdStatus({ endpoints: [url] })));
    leading = [...states.keys()].filter((index) => states[index]?.isLeader);
    assert.equal(leading.length, 1, 'one member leads');
  });
  const index = leading[0] as number;
  return { member: members[index] as EtcdMember, index };
}

async function endure(fault: Fault): Promise<void> {
  const network = new PeerNetwork();
  const cluster = await startCluster({ size: 3, advertisePeer: network.advertise });
  const stores: Store[] = [];
  const open = async (first: number): Promise<Store> => {
    const endpoints = [0, 1, 2].map((index) => cluster.endpoints[(first + index) % 3] as string);
    const store = await openEtcdStore({ endpoints, clock: systemClock, compactionIntervalMs: 0 });
    stores.push(store);
    return store;
  };
  let workload: Workload | undefined;
  try {
    const history = new RunHistory();
    workload = new Workload([await open(0), await open(1)], history);
    workload.start(6);
    await sleep(calmMs);
    await fault({ cluster, network });
    const before = history.acknowledged;
    await eventually(() => assert.ok(history.acknowledged > before + 20, 'work continues after the fault'));
    await sleep(calmMs);
    await workload.stop();
    const fresh = await open(2);
    const truth = await readTruth(fresh);
    const last = truth.received.at(-1)?.kv.modRevision ?? 0;
    await eventually(() => assert.ok(history.logs.slice(0, 2).every((log) => (log.received.at(-1)?.kv.modRevision ?? 0) >= last)));
    await eventually(() => history.check(truth.received), 5_000);
    assert.ok(workload.longestCallMs < longestCallMs, `no call hangs: ${workload.longestCallMs} ms`);
    report(history, workload);
  } finally {
    await workload?.stop();
    await Promise.all(stores.map((store) => store.close()));
    network.close();
    await cluster.stop();
  }
}

function report({ writes, reads, logs }: RunHistory, { failures, longestCallMs: longest }: Workload): void {
  const known = writes.filter(({ revision }) => revision !== undefined).length;
  const failed = [...failures].map(([name, count]) => `${count} ${name}`).join(', ');
  console.log(`# ${known} writes acknowledged, ${writes.length - known} unknown, ${reads.length} reads, ${logs.length} watches; failed: ${failed}; longest ${Math.round(longest)} ms`);
}

const guarantees = 'no acknowledged write is lost, no read is stale, no event is lost, doubled or out of order, revisions never go back';

describe(`etcd breaks, and ${guarantees}`, { skip: noEtcd, timeout: 170_000 }, () => {
  test('when the leader is killed, and comes back', () => endure(async ({ cluster }) => {
    const { member } = await findLeader(cluster);
    await member.kill();
    await sleep(3_000);
    member.start();
  }));

  test('when all members are killed at once and started again', () => endure(async ({ cluster: { members } }) => {
    await Promise.all(members.map((member) => member.kill()));
    await sleep(1_000);
    for (const member of members) member.start();
  }));

  test('when members are restarted one after the other', () => endure(async ({ cluster: { members } }) => {
    for (const member of members) {
      await member.kill();
      member.start();
      await sleep(1_500);
    }
  }));

  test('when the leader is paused longer than an election takes', () => endure(async ({ cluster }) => {
    const { member } = await findLeader(cluster);
    member.signal('SIGSTOP');
    await sleep(5_000);
    member.signal('SIGCONT');
  }));

  test('when all members are paused', () => endure(async ({ cluster: { members } }) => {
    for (const member of members) member.signal('SIGSTOP');
    await sleep(3_000);
    for (const member of members) member.signal('SIGCONT');
  }));

  test('when the leader is cut off from the other members, but not from its clients', () => endure(async ({ cluster, network }) => {
    network.cutOff((await findLeader(cluster)).index);
    await sleep(5_000);
    network.mend();
  }));

  test('when a follower is cut off from the other members, but not from its clients', () => endure(async ({ cluster, network }) => {
    network.cutOff(((await findLeader(cluster)).index + 1) % 3);
    await sleep(4_000);
    network.mend();
  }));
});

describe('a Store that is cut off from etcd', { skip: noEtcd, timeout: 60_000 }, () => {
  test('answers no read, and finds everything again by itself', async () => {
    const cluster = await startCluster();
    const proxy = await startProxy(cluster.members[0]?.clientPort as number);
    const urls = [cluster.endpoints[0] as string, `http://127.0.0.1:${proxy.port}`];
    const [near, far] = await Promise.all(urls.map((url) => openEtcdStore({ endpoints: [url], clock: systemClock })));
    const log = new Log(prefixRange('/'), 2);
    (far as Store).watch(log.range, 2, log);
    for (const mode of ['refuse', 'silent'] as const) {
      proxy.set(mode);
      for (let index = 0; index < 50; index += 1) await (near as Store).txn({ key: `/${mode}/${index}`, expect: 0, value: Buffer.from('v') });
      const began = systemClock.monotonicMs();
      await assert.rejects((far as Store).range(prefixRange('/')), { name: 'StorageUnavailableError' });
      assert.ok(systemClock.monotonicMs() - began < longestCallMs);
      proxy.set('open');
      const mended = systemClock.monotonicMs();
      await eventually(async () => assert.equal(((await (far as Store).range(prefixRange('/'))) as { count: number }).count, log.received.length));
      console.log(`# ${mode}: mended in ${Math.round(systemClock.monotonicMs() - mended)} ms`);
    }
    assert.deepEqual(log.received.map(({ kv }) => kv.modRevision), Array.from({ length: 100 }, (_, index) => index + 2));
    await Promise.all([near?.close(), far?.close()]);
    proxy.close();
    await cluster.stop();
  });

  test('ends its watches as compacted when the changes that they missed are compacted, and continues with new ones', async () => {
    const cluster = await startCluster();
    const proxy = await startProxy(cluster.members[0]?.clientPort as number);
    const near = await openEtcdStore({ endpoints: cluster.endpoints, clock: systemClock });
    const far = await openEtcdStore({ endpoints: [`http://127.0.0.1:${proxy.port}`], clock: systemClock });
    const log = new Log(prefixRange('/'), 2);
    far.watch(log.range, 2, log);
    proxy.set('refuse');
    let expect = 0;
    for (let index = 0; index < 100; index += 1) {
      const result = await near.txn({ key: '/hot', expect, value: Buffer.from(`${index}`) });
      expect = result.revision;
    }
    await near.compact(80);
    proxy.set('open');
    await eventually(() => assert.equal(log.end?.type, 'compacted'));
    assert.equal(log.received.length, 0);
    const fresh = new Log(prefixRange('/'), 81);
    far.watch(fresh.range, 81, fresh);
    const { revision } = await near.txn({ key: '/hot', expect, value: Buffer.from('last') });
    await eventually(() => assert.deepEqual(fresh.received.map(({ kv }) => kv.modRevision), Array.from({ length: revision - 80 }, (_, index) => index + 81)));
    await Promise.all([near.close(), far.close()]);
    proxy.close();
    await cluster.stop();
  });
});
