// What a server adds to the etcd that it stores in, and whether it reads as it does from its own disk. Writes one at a time beside the same
// writes put to etcd directly, in turns; gets and lists on etcd beside the embedded store, in turns; watches beside those that etcd has open.
// Usage: node dist/bench/etcd.js [--seconds 3] [--objects 10000] [--watchers 1000] [--only writes,reads,watches]. PINTLE_ETCD names etcd's program.
import { parseArgs } from 'node:util';
import { type EtcdCluster, readMetric, startCluster } from '../src/storage/etcd/cluster.suite.ts';
import { EtcdConnection } from '../src/storage/etcd/connection.ts';
import { decodeTxn, encodeTxn } from '../src/storage/etcd/messages.ts';
import { Connection, formatCall, openSocket } from './load/connection.ts';
import { type Row, measureLoad, quantile } from './load/measure.ts';
import { collection, createCall, nameOf, populate, scratch } from './load/objects.ts';
import { type Target, startOwnServer } from './load/target.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' }, objects: { type: 'string', default: '10000' }, watchers: { type: 'string', default: '1000' },
    only: { type: 'string', default: 'writes,reads,watches' },
  },
});
const seconds = Number(flags.seconds);
const objects = Number(flags.objects);
const turns = 5;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Latencies of calls one after the other. */
async function timeCalls(call: (index: number) => Promise<unknown>, first: number): Promise<number[]> {
  const latencies: number[] = [];
  const untilMs = performance.now() + (seconds * 1000) / turns;
  for (let index = first; performance.now() < untilMs; index += 1) {
    const startedMs = performance.now();
    await call(index);
    latencies.push(performance.now() - startedMs);
  }
  return latencies;
}

/** Creates and updates through the server and as etcd takes them, in turns, so that both meet the same machine. */
async function benchWrites(target: Target, cluster: EtcdCluster): Promise<void> {
  const etcd = new EtcdConnection(cluster.endpoints, undefined);
  const connection = new Connection(target);
  const sent = Buffer.from(createCall(scratch, 'one', 0).body as string);
  const value = Buffer.concat([sent, Buffer.alloc(450, 'x')]);
  const put = async (index: number): Promise<void> => {
    const bytes = encodeTxn({ key: `/bench/${index}`, compare: { target: 'modRevision', equals: 0 }, value });
    if (!decodeTxn(await etcd.call('/etcdserverpb.KV/Txn', bytes, { type: 'write' })).succeeded) throw new Error('the key was taken');
  };
  const expect = async (status: number, call: Parameters<Connection['send']>[0]): Promise<void> => {
    const answer = await connection.send(call);
    if (answer.status !== status) throw new Error(`the server answered ${answer.status}`);
  };
  const create = (index: number): Promise<void> => expect(201, createCall(scratch, 'one', index));
  const update = (index: number): Promise<void> => expect(200, { ...createCall(`${scratch}/${nameOf('one', 0)}`, 'one', 0), method: 'PATCH',
    contentType: 'application/merge-patch+json', body: `{"data":{"n":"${index}"}}` });
  const get = (index: number): Promise<void> => expect(200, { path: `${scratch}/${nameOf('warm', index % 100)}?resourceVersion=0` });
  const kinds = [put, create, update, get];
  // Compiled code is what a server runs that has been up for a minute.
  await measureLoad(target, { workload: 'warm-up', clients: 8, seconds: 4 * seconds, limit: 6_000, call: (index) => createCall(scratch, 'warm', index) });
  const latencies: number[][] = kinds.map(() => []);
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [at, call] of kinds.entries()) {
      const taken = await timeCalls(call, turn * 1_000_000);
      if (turn > 0) latencies[at]?.push(...taken);
    }
  }
  const [raw = 0, ...ours] = latencies.map((values) => quantile(values, 0.5));
  say(`etcd alone, txn of one key         p50 ${raw} ms, p99 ${quantile(latencies[0] ?? [], 0.99)} ms (${latencies[0]?.length} calls, one at a time)`);
  for (const [at, name] of ['create', 'merge patch'].entries()) {
    const p50 = ours[at] ?? 0;
    say(`${name.padEnd(34)} p50 ${p50} ms, p99 ${quantile(latencies[at + 1] ?? [], 0.99)} ms: etcd's and ${(p50 - raw).toFixed(3)} ms`);
  }
  say(`${'get from the cache, for comparison'.padEnd(34)} p50 ${ours[2]} ms`);
  connection.close();
  etcd.close();
}

const show = ({ workload, target, opsPerSecond, p50Ms, p99Ms, cpuMsPerOp }: Row, name: string): void =>
  say(`${`${workload}, ${name}`.padEnd(34)} ${opsPerSecond}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${target} CPU ${cpuMsPerOp} ms each`);

/** The median of some runs. */
const middle = (rows: readonly Row[]): Row => [...rows].sort((left, right) => left.opsPerSecond - right.opsPerSecond)[rows.length >> 1] as Row;

async function benchReads(targets: Readonly<Record<string, Target>>): Promise<void> {
  for (const target of Object.values(targets)) await populate(target, objects);
  const getOf = (index: number) => ({ path: `${collection}/${nameOf('item', (index * 7919) % objects)}` });
  for (const [workload, clients, call] of [
    ['get c=1', 1, getOf], ['get c=64', 64, getOf], [`list of ${objects}`, 1, () => ({ path: collection })],
    ['page of 500', 1, () => ({ path: `${collection}?limit=500` })],
  ] as const) {
    const rows = new Map<string, Row[]>();
    for (let turn = 0; turn < 3; turn += 1) {
      for (const [name, target] of Object.entries(targets)) {
        rows.set(name, [...rows.get(name) ?? [], await measureLoad(target, { workload, clients, seconds: seconds / 2, call })]);
      }
    }
    for (const [name, some] of rows) show(middle(some), name);
  }
}

const watched = ['configmaps', 'secrets', 'pods', 'services', 'serviceaccounts', 'endpoints', 'events', 'limitranges', 'resourcequotas', 'podtemplates'];

async function benchWatches(target: Target, cluster: EtcdCluster): Promise<void> {
  const member = cluster.members[0] as EtcdCluster['members'][number];
  const count = (): Promise<number> => readMetric(member, 'etcd_debugging_mvcc_watcher_total');
  const before = await count();
  const sockets = await Promise.all(Array.from({ length: Number(flags.watchers) }, async (_, index) => {
    const socket = await openSocket(target);
    const begun = new Promise((resolve) => socket.once('data', resolve));
    socket.write(formatCall({ path: `/api/v1/${watched[index % watched.length]}?watch=1` }, target));
    await begun;
    return socket;
  }));
  say(`${sockets.length} watches of ${watched.length} kinds: etcd has ${await count()} watches open, ${before} before`);
  for (const socket of sockets) socket.destroy();
}

async function main(): Promise<void> {
  const parts = new Set(flags.only.split(','));
  const cluster = await startCluster();
  const onEtcd = await startOwnServer(['--etcd-servers', cluster.endpoints.join(',')]);
  const embedded = parts.has('reads') ? await startOwnServer() : undefined;
  try {
    await populate(onEtcd, 0);
    if (parts.has('writes')) await benchWrites(onEtcd, cluster);
    if (embedded !== undefined) await benchReads({ etcd: onEtcd, embedded });
    if (parts.has('watches')) await benchWatches(onEtcd, cluster);
  } finally {
    await Promise.all([onEtcd.close(), embedded?.close()]);
    await cluster.stop();
  }
}

await main();
