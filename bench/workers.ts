// What a server of several processes answers beside a server of one, in turns: Pods created, applied, read and listed through TLS. The rate is what this
// machine gives to both and to the load; the CPU of the busiest process bounds the rate where cores are free, whatever else the machine does. With
// --share S each process of a server has a core of its own that is S as fast as one of the machine's, as long as all of them and the load fit into it.
// Usage: node dist/bench/workers.js [--workers N] [--rounds N] [--calls N] [--clients N] [--share S]
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Call } from './load/connection.ts';
import { limitToShare } from './load/cpu-share.ts';
import { callOnce, measureLoad } from './load/measure.ts';
import { type Target, readCpuMs, readMemoryMb, startOwnServer } from './load/target.ts';
import { type Written, groundwork, written } from './load/written-objects.ts';

const pods = written.find(({ name }) => name === 'Pod') as Written;
const nameOf = (index: number): string => `pod-${String(index).padStart(8, '0')}`;
const podAt = (index: number): string => JSON.stringify(pods.make(nameOf(index), String(10_000_000 + index)));
/** Pods that are listed and read. */
const LISTED = 500;

const operations: Readonly<Record<string, (index: number) => Call>> = {
  create: (index) => ({ method: 'POST', path: pods.collection, body: podAt(LISTED + index) }),
  apply: (index) => ({
    method: 'PATCH', path: `${pods.collection}/${nameOf(index % LISTED)}?fieldManager=bench&force=true`, contentType: 'application/apply-patch+yaml',
    body: JSON.stringify(pods.make(nameOf(index % LISTED), String(10_000_000 + index))),
  }),
  get: (index) => ({ path: `${pods.collection}/${nameOf(index % LISTED)}` }),
  list: () => ({ path: `${pods.collection}?limit=${LISTED}` }),
};

/** The processes of a server, the owner first. */
function findProcesses(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean));
  return [pid, ...children.map(Number)];
}

interface Side {
  readonly target: Target;
  /** The number of the next call. */
  index: number;
}

interface Figure {
  readonly rate: number;
  readonly cpuMs: number;
  /** CPU of the busiest process, in milliseconds for each call of all. */
  readonly busiestMs: number;
}

async function measure(side: Side, name: string, { calls, clients }: { readonly calls: number; readonly clients: number }): Promise<Figure> {
  const { target } = side;
  const first = side.index;
  side.index += calls;
  const before = target.pids.map((pid) => readCpuMs({ pids: [pid] }));
  const call = operations[name] as (index: number) => Call;
  const row = await measureLoad(target, { workload: name, clients, seconds: 600, limit: calls, call: (index) => call(first + index) });
  const used = target.pids.map((pid, at) => readCpuMs({ pids: [pid] }) - (before[at] as number));
  return { rate: row.opsPerSecond, cpuMs: row.cpuMsPerOp, busiestMs: Math.max(...used) / row.ops };
}

async function startSide(workers: number): Promise<Side> {
  const server = await startOwnServer(['--workers', String(workers), '--max-requests-inflight', '4000', '--max-mutating-requests-inflight', '2000']);
  const target = { ...server, name: `${workers}`, pids: findProcesses(server.pids[0] as number) };
  for (const call of groundwork) await callOnce(target, call);
  await sleep(1000);
  for (let index = 0; index < LISTED; index += 1) await callOnce(target, { method: 'POST', path: pods.collection, body: podAt(index) });
  return { target, index: 0 };
}

const middle = (values: readonly number[]): number => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] as number;

interface Load {
  readonly rounds: number;
  readonly calls: number;
  readonly clients: number;
}

/** Calls of each operation before any is measured: V8 compiles for thousands of them, and for longer than a measurement in a process with a share of a core. */
const WARMING_CALLS = 8000;

async function warmUp(sides: readonly Side[], clients: number): Promise<void> {
  for (const name of Object.keys(operations)) for (const side of sides) await measure(side, name, { calls: name === 'list' ? 500 : WARMING_CALLS, clients });
}

async function compare(sides: readonly Side[], name: string, { rounds, calls, clients }: Load): Promise<string> {
  const figures: Figure[][] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) figures[at]?.push(await measure(sides[at] as Side, name, { calls, clients }));
  }
  const columns = figures.map((each, at) => `${(sides[at] as Side).target.name}: ${middle(each.map(({ rate }) => rate)).toFixed(0)}/s `
    + `${Math.min(...each.map(({ cpuMs }) => cpuMs)).toFixed(3)} ms, busiest ${Math.min(...each.map(({ busiestMs }) => busiestMs)).toFixed(3)}`);
  const rate = middle((figures[1] as Figure[]).map((figure, round) => figure.rate / (figures[0]?.[round] as Figure).rate));
  const [one, several] = figures.map((each) => Math.min(...each.map(({ busiestMs }) => busiestMs))) as [number, number];
  return `${name.padEnd(8)}${columns.join('   ')}   rate ${rate.toFixed(2)} x, bound ${(one / several).toFixed(2)} x\n`;
}

if (process.argv[1] === import.meta.filename) {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { workers: text, rounds: text, calls: text, clients: text, share: text } });
  const [workers, rounds, calls, clients] = [values.workers ?? 2, values.rounds ?? 5, values.calls ?? 2000, values.clients ?? 32].map(Number) as [
    number, number, number, number,
  ];
  const sides = [await startSide(1), await startSide(workers)];
  await warmUp(sides, clients);
  const release = values.share === undefined ? undefined : limitToShare(sides.flatMap(({ target }) => target.pids), Number(values.share));
  for (const name of Object.keys(operations)) process.stdout.write(await compare(sides, name, { rounds, calls, clients }));
  release?.();
  for (const { target } of sides) {
    const memory = target.pids.map((pid) => readMemoryMb({ pids: [pid] }).nowMb.toFixed(0));
    process.stdout.write(`memory of ${target.name}: ${memory.join(' + ')} MB\n`);
    await target.close();
  }
}
