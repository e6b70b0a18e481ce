// What a server adds to the etcd that it stores in, and whether it reads as it does from its own disk. Writes one at a time beside the
// transaction of such a write on an etcd without a server, and beside a bare https answer, in turns; gets and lists on etcd beside the
// embedded store, in turns; watches beside those that etcd has open.
// Usage: node dist/bench/etcd.js [--seconds 3] [--objects 10000] [--watchers 1000] [--only writes,reads,watches] [--peer KUBE-APISERVER].
// PINTLE_ETCD names etcd's program; with --peer the writes take turns with the same ones through that program, on an etcd of the same sort.
import { parseArgs } from 'node:util';
import { type EtcdCluster, readMetric, startCluster } from '../src/storage/etcd/cluster.suite.ts';
import { EtcdConnection } from '../src/storage/etcd/grpc/connection.ts';
import { decodeTxn, encodeTxn } from '../src/storage/etcd/grpc/messages.ts';
import { type Call, Connection, formatCall, openSocket } from './load/connection.ts';
import { type Row, measureLoad, quantile } from './load/measure.ts';
import { collection, createCall, nameOf, populate, scratch } from './load/objects.ts';
import { startPeer } from './load/peer.ts';
import { type Target, startBareServer, startOwnServer } from './load/target.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' }, objects: { type: 'string', default: '10000' }, watchers: { type: 'string', default: '1000' },
    only: { type: 'string', default: 'writes,reads,watches' }, peer: { type: 'string' },
  },
});
const seconds = Number(flags.seconds);
const objects = Number(flags.objects);
const turns = 10;
const callsPerTurn = Math.ceil(40 * seconds);
const warmCalls = 2_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Latencies of some calls one after the other. */
async function timeCalls(call: (index: number) => Promise<unknown>, first: number): Promise<number[]> {
  const latencies: number[] = [];
  for (let index = first; index < first + callsPerTurn; index += 1) {
    const startedMs = performance.now();
    await call(index);
    latencies.push(performance.now() - startedMs);
  }
  return latencies;
}

type Writes = Readonly<Record<string, (index: number) => Call>>;

/** One write of each sort. Updates go to objects that are there, each sort to its own; deletes take what creates with the same numbers made. */
function describeWrites(): Writes {
  const path = (index: number): string => `${scratch}/${nameOf('warm', index)}`;
  const object = (index: number): Record<string, unknown> => JSON.parse(createCall(scratch, 'warm', index).body as string) as Record<string, unknown>;
  const applied = (n: string): string => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: nameOf('warm', 3) }, data: { n } });
  return {
    create: (index) => createCall(scratch, 'one', index),
    put: (index) => ({ method: 'PUT', path: path(1), body: JSON.stringify({ ...object(1), data: { n: `${index}` } }) }),
    'merge patch': (index) => ({ method: 'PATCH', path: path(2), contentType: 'application/merge-patch+json', body: `{"data":{"n":"${index}"}}` }),
    apply: (index) => ({ method: 'PATCH', path: `${path(3)}?fieldManager=bench`, contentType: 'application/apply-patch+yaml', body: applied(`${index}`) }),
    delete: (index) => ({ method: 'DELETE', path: `${scratch}/${nameOf('one', index)}` }),
  };
}

/** The same etcd without a server on it, by the connection that the server uses: what a transaction takes, from call to answer. */
function connectAlone(cluster: EtcdCluster): { readonly put: (index: number) => Promise<void>; readonly close: () => void } {
  const etcd = new EtcdConnection(cluster.endpoints, undefined);
  const value = Buffer.concat([Buffer.from(createCall(scratch, 'one', 0).body as string), Buffer.alloc(450, 'x')]);
  const put = async (index: number): Promise<void> => {
    const bytes = encodeTxn({ key: `/bench/${index}`, compare: { target: 'modRevision', equals: 0 }, value });
    if (!decodeTxn(await etcd.call('/etcdserverpb.KV/Txn', bytes, { type: 'write' })).succeeded) throw new Error('the key was taken');
  };
  return { put, close: () => etcd.close() };
}

/** A server warmed with every sort of write, and each of them on a connection to it. Compiled code is what a server runs that has been up for a minute. */
async function openWrites(target: Target): Promise<{ readonly sorts: Readonly<Record<string, (index: number) => Promise<void>>>; readonly close: () => void }> {
  const connection = new Connection(target);
  const writes = Object.entries(describeWrites());
  const warm = (workload: string, call: (index: number) => Call): Promise<Row> =>
    measureLoad(target, { workload, clients: 1, seconds: 600, limit: warmCalls, call });
  await populate(target, 0);
  await warm('warm-up', (index) => createCall(scratch, 'warm', index));
  for (const [name, call] of writes) await warm(name, (index) => call(1e6 + index));
  const sorts = Object.fromEntries(writes.map(([name, call]) => [name, (index: number) => send(connection, call(index))]));
  return { sorts, close: () => connection.close() };
}

async function send(to: Connection, call: Call): Promise<void> {
  const { status } = await to.send(call);
  if (status < 200 || status > 299) throw new Error(`${call.method} was answered with ${status}`);
}

/** Writes through the server, the transaction alone, and a bare https answer of the same size, in turns, so that all meet the same machine. */
async function benchWrites(target: Target, peer: Target | undefined): Promise<void> {
  const [cluster, bare] = await Promise.all([startCluster(), startBareServer(Buffer.alloc(1250, 'x'))]);
  const alone = connectAlone(cluster);
  const plain = new Connection(bare);
  const ours = await openWrites(target);
  const theirs = peer === undefined ? undefined : await openWrites(peer);
  const kinds: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
    'etcd alone, txn of one key': alone.put, 'bare https': (index) => send(plain, createCall(scratch, 'one', index)), ...ours.sorts,
    ...Object.fromEntries(Object.entries(theirs?.sorts ?? {}).map(([name, call]) => [`peer: ${name}`, call])),
  };
  const latencies = new Map(Object.keys(kinds).map((name) => [name, [] as number[]]));
  for (let turn = 2; turn < 2 + turns; turn += 1) {
    for (const [name, call] of Object.entries(kinds)) latencies.get(name)?.push(...await timeCalls(call, turn * 1_000_000));
  }
  const p50 = (name: string): number => quantile(latencies.get(name) ?? [], 0.5);
  const more = (name: string): number => p50(name) - p50('etcd alone, txn of one key');
  for (const [name, values] of latencies) {
    const beside = theirs !== undefined && name in ours.sorts ? `, ${(more(name) / more(`peer: ${name}`)).toFixed(2)} of what the peer adds` : '';
    const added = name in ours.sorts || name.startsWith('peer') ? `: etcd's and ${more(name).toFixed(3)} ms${beside}` : '';
    say(`${name.padEnd(34)} p50 ${p50(name)} ms, p99 ${quantile(values, 0.99)} ms (${values.length} calls, one at a time)${added}`);
  }
  for (const part of [ours, theirs, plain, alone]) part?.close();
  await Promise.all([cluster.stop(), bare.close()]);
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
  const peer = flags.peer === undefined ? undefined : await startPeer(flags.peer);
  const embedded = parts.has('reads') ? await startOwnServer() : undefined;
  try {
    if (parts.has('writes')) await benchWrites(onEtcd, peer);
    if (embedded !== undefined) await benchReads({ etcd: onEtcd, embedded });
    if (parts.has('watches')) await benchWatches(onEtcd, cluster);
  } finally {
    await Promise.all([onEtcd.close(), peer?.close(), embedded?.close()]);
    await cluster.stop();
  }
}

await main();
