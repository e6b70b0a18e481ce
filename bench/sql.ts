// Pintle on PostgreSQL, beside kube-apiserver on kine on the same PostgreSQL, in turns: creates by one client and by 64, updates, gets, lists, pages,
// and how long an event takes to reach a watch. CPU is that of the server's own processes (kube-apiserver and kine together), not of the database.
// Usage: node dist/bench/sql.js [--seconds 3] [--rounds 3] [--objects 10000] [--only create,update,read,watch,start] [--peer KUBE-APISERVER --kine KINE].
// The database is in memory and waits for no disk, as the etcd of the other benches.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type EtcdCluster } from '../src/storage/etcd/cluster.suite.ts';
import { findPorts } from '../src/test-support/index.ts';
import { type PostgresServer, startPostgres } from '../src/storage/postgres/server.suite.ts';
import { type Call, formatCall, openSocket } from './load/connection.ts';
import { type Row, callOnce, makeRow, measureLoad } from './load/measure.ts';
import { collection, createCall, nameOf, populate, scratch } from './load/objects.ts';
import { startPeer } from './load/peer.ts';
import { type Target, endChild, readCpuMs, startOwnServer } from './load/target.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '3' }, objects: { type: 'string', default: '10000' },
    only: { type: 'string', default: 'create,update,read,watch' }, peer: { type: 'string' }, kine: { type: 'string' },
  },
});
const seconds = Number(flags.seconds);
const objects = Number(flags.objects);
const parts = new Set(flags.only.split(','));
const warmCalls = 3_000;
const watchedCreates = 3_000;

/** A workload, and the group that `--only` names it by. */
interface Workload {
  readonly part: string;
  readonly name: string;
  readonly run: (target: Target, round: number) => Promise<Row>;
}

const load = (part: string, name: string, clients: number, call: (index: number, round: number) => Call): Workload =>
  ({ part, name, run: (target, round) => measureLoad(target, { workload: name, clients, seconds, call: (index) => call(index, round) }) });

/** Merge patches of as many objects as there are clients, each of them again and again. */
const update = (of: number) => (index: number): Call => ({
  method: 'PATCH', path: `${collection}/${nameOf('item', index % of)}`, contentType: 'application/merge-patch+json',
  body: `{"data":{"n":"${index}-${performance.now()}"}}`,
});

const create = (clients: number) => (index: number, round: number): Call => createCall(scratch, `c${clients}-${round}`, index);

const workloads: readonly Workload[] = [
  load('create', 'create, 1 client', 1, create(1)),
  load('create', 'create, 64 clients', 64, create(64)),
  load('update', 'merge patch, 1 client', 1, update(1)),
  load('update', 'merge patch, 64 clients', 64, update(512)),
  load('read', 'get, 1 client', 1, (index) => ({ path: `${collection}/${nameOf('item', (index * 7919) % objects)}` })),
  load('read', 'get, 64 clients', 64, (index) => ({ path: `${collection}/${nameOf('item', (index * 7919) % objects)}` })),
  load('read', `list of ${objects}`, 1, () => ({ path: collection })),
  load('read', 'first page of 500', 1, () => ({ path: `${collection}?limit=500` })),
  { part: 'watch', name: 'event of a create', run: measureEvents },
];

/** From the call of a create until its event has come to a watch of the collection. */
async function measureEvents(target: Target, round: number): Promise<Row> {
  const { body } = await callOnce(target, { path: `${scratch}?limit=1`, keep: true });
  const { resourceVersion } = (JSON.parse(String(body)) as { metadata: { resourceVersion: string } }).metadata;
  const socket = await openSocket(target);
  let seen: (text: string) => void = () => undefined;
  socket.on('data', (bytes: Buffer) => seen(bytes.toString('latin1')));
  const begun = new Promise<void>((resolve) => (seen = () => resolve()));
  socket.write(formatCall({ path: `${scratch}?watch=1&resourceVersion=${resourceVersion}` }, target));
  await begun;
  await sleep(500);
  const caller = await openSocket(target);
  const latencies: number[] = [];
  let [cpuMs, beganMs] = [0, 0];
  for (let index = -warmCalls; index < watchedCreates; index += 1) {
    if (index === 0) [cpuMs, beganMs] = [readCpuMs(target), performance.now()];
    const startedMs = performance.now();
    const name = nameOf(`w-${round}`, index + warmCalls);
    const came = new Promise<void>((resolve) => (seen = (text) => void (text.includes(name) && resolve())));
    const answered = new Promise((resolve) => caller.once('data', resolve));
    caller.write(formatCall(createCall(scratch, `w-${round}`, index + warmCalls), target));
    await Promise.all([came, answered]);
    if (index >= 0) latencies.push(performance.now() - startedMs);
  }
  for (const each of [socket, caller]) each.destroy();
  return makeRow(target, { workload: 'event of a create', latencies, elapsedMs: performance.now() - beganMs, usedMs: readCpuMs(target) - cpuMs });
}

/** Kine as an etcd for the reference's program. */
async function startKine(program: string, { port }: PostgresServer): Promise<EtcdCluster> {
  const [own] = await findPorts(1) as [number];
  const child = spawn(program, [
    `--endpoint=postgres://pintle@127.0.0.1:${port}/kine?sslmode=disable`, `--listen-address=127.0.0.1:${own}`, '--metrics-bind-address=0',
  ], { stdio: 'ignore' });
  await sleep(2_000);
  if (child.exitCode !== null) throw new Error(`${program} ended with code ${child.exitCode}`);
  const idle = { start: () => undefined, signal: () => undefined };
  const member = { ...idle, name: 'kine', url: '', clientPort: own, peerPort: 0, pid: child.pid as number, kill: () => endChild(child, 'SIGKILL') };
  return { endpoints: [`http://127.0.0.1:${own}`], members: [member], stop: member.kill };
}

/** The round in the middle, by its median latency. */
const middle = (rows: readonly Row[]): Row => [...rows].sort((left, right) => left.p50Ms - right.p50Ms)[rows.length >> 1] as Row;

function say(name: string, rows: ReadonlyMap<Target, readonly Row[]>): void {
  const chosen = [...rows].map(([target, some]) => ({ target, row: middle(some) }));
  for (const { target, row: { opsPerSecond, p50Ms, p99Ms, cpuMsPerOp } } of chosen) {
    process.stdout.write(`${`${name}, ${target.name}`.padEnd(40)} ${opsPerSecond}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms, CPU ${cpuMsPerOp} ms each\n`);
  }
  const [ours, theirs] = chosen.map(({ row }) => row);
  if (ours === undefined || theirs === undefined) return;
  const ratio = (key: 'opsPerSecond' | 'p50Ms' | 'cpuMsPerOp'): string => (ours[key] / theirs[key]).toFixed(2);
  process.stdout.write(`${''.padEnd(40)} ours ÷ theirs: rate ${ratio('opsPerSecond')}, p50 ${ratio('p50Ms')}, CPU ${ratio('cpuMsPerOp')}\n`);
}

async function measureStart(database: PostgresServer): Promise<void> {
  const again = await startOwnServer(['--datastore-endpoint', database.url('pintle')]);
  const startedMs = performance.now();
  const { status } = await callOnce(again, { path: `${collection}?limit=1` });
  const pageMs = Math.round(performance.now() - startedMs);
  process.stdout.write(`another server on ${objects} objects: ready after ${Math.round(again.firstAnswerMs)} ms, first page (${status}) ${pageMs} ms later\n`);
  await again.close();
}

async function main(): Promise<void> {
  // Kine opens as many connections as there are calls.
  const database = await startPostgres({ settings: ['max_connections = 300', 'shared_buffers = 256MB'] });
  const kine = flags.kine === undefined ? undefined : await startKine(flags.kine, database);
  const own = await startOwnServer(['--datastore-endpoint', database.url('pintle')]);
  const peer = flags.peer === undefined || kine === undefined ? undefined : await startPeer(flags.peer, kine);
  const targets: readonly Target[] = peer === undefined ? [own] : [own, { ...peer, name: 'kube-apiserver on kine' }];
  try {
    for (const target of targets) {
      await populate(target, parts.has('read') || parts.has('update') || parts.has('start') ? objects : 0);
      await measureLoad(target, { workload: 'warm-up', clients: 16, seconds: 600, limit: warmCalls, call: (index) => createCall(scratch, 'warm', index) });
    }
    for (const { name, run } of workloads.filter(({ part }) => parts.has(part))) {
      const rows = new Map<Target, Row[]>(targets.map((target) => [target, []]));
      for (let round = 0; round < Number(flags.rounds); round += 1) for (const target of targets) rows.get(target)?.push(await run(target, round));
      say(name, rows);
    }
    if (parts.has('start')) await measureStart(database);
  } finally {
    await Promise.all([own.close(), peer?.close()]);
    await kine?.stop();
    await database.stop();
  }
}

await main();
