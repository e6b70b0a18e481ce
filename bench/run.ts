// The workloads of the benches, on one or two servers. Usage: node dist/bench/run.js [workloads…] [--tiny] [--objects N] [--seconds N] [--watchers N]
// [--a URL --b URL --token T [--a-pid N --b-pid N]] [--peer KUBE-APISERVER] [--json]; without URLs it starts the built server itself, and with --peer
// that program on an etcd as a beside it. `micro` runs the benches of single rooms,
// `testing` that of the test library.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { round, type Row, type Scale } from './load/measure.ts';
import { startPeer } from './load/peer.ts';
import { startOwnServer, type Target } from './load/target.ts';
import { measureAdmission } from './workloads/admission.ts';
import { measureAudit } from './workloads/audit.ts';
import { measureBackup } from './workloads/backup.ts';
import { measureCreates } from './workloads/create.ts';
import { measureFanOut } from './workloads/fan-out.ts';
import { measureGrowth } from './workloads/growth.ts';
import { measureInformers } from './workloads/informers.ts';
import { measureMemory } from './workloads/memory.ts';
import { measureMixed } from './workloads/mixed.ts';
import { measureGets, measureLists, measurePages } from './workloads/read.ts';
import { measureRestarts } from './workloads/restart.ts';
import { measureSelects } from './workloads/select.ts';
import { measureSessions } from './workloads/sessions.ts';
import { measureStarts } from './workloads/start.ts';
import { measureIdleWatches } from './workloads/watches.ts';

const workloads: Readonly<Record<string, (target: Target, scale: Scale) => Promise<Row[]>>> = {
  w3: measureMemory, w4: measureCreates, w5: measureGets, w8: measureLists, w9: measurePages, w10: measureSelects, w11: measureFanOut,
  w12: measureBackup, w13: measureAdmission, w14: measureAudit, w15: measureSessions, w16: measureGrowth,
  watches: measureIdleWatches, informers: measureInformers, mixed: measureMixed,
};
/** Those that have servers of their own: without objects. */
const beginEmpty: ReadonlySet<string> = new Set(['w16']);
/** Those that start servers themselves; nothing is measured on one somewhere else. */
const starts: Readonly<Record<string, (scale: Scale) => Promise<Row[]>>> = { w1: measureStarts, w2: measureStarts, restart: measureRestarts };
const TESTING = 'testing';
const micro = ['storage', 'cache', 'schema', 'codec', 'requests', 'rbac'];

const options = {
  tiny: { type: 'boolean' }, json: { type: 'boolean' }, a: { type: 'string' }, b: { type: 'string' }, token: { type: 'string' },
  'a-pid': { type: 'string' }, 'b-pid': { type: 'string' }, objects: { type: 'string' }, seconds: { type: 'string' }, watchers: { type: 'string' },
  updates: { type: 'string' }, peer: { type: 'string' },
} as const;

type Flags = ReturnType<typeof parseFlags>['values'];

const parseFlags = (args: string[]) => parseArgs({ args, options, allowPositionals: true });

/** Runs what the arguments ask for and answers the rows. */
export async function runBench(args: string[]): Promise<Row[]> {
  const { values, positionals } = parseFlags(args);
  const wanted = positionals.length > 0 ? positionals.map((name) => name.toLowerCase()) : [...Object.keys(starts), ...Object.keys(workloads)];
  const unknown = wanted.find((name) => name !== 'micro' && name !== TESTING && starts[name] === undefined && workloads[name] === undefined);
  if (unknown !== undefined) throw new Error(`no workload ${unknown}: micro, testing, ${[...Object.keys(starts), ...Object.keys(workloads)].join(', ')}`);
  const scale = chooseScale(values);
  if (wanted.includes('micro')) await runMicro(scale);
  if (wanted.includes(TESTING)) await printTesting(values.tiny === true);
  const own = values.a === undefined;
  const rows: Row[] = [];
  for (const measure of new Set(own ? wanted.flatMap((name) => starts[name] ?? []) : [])) rows.push(...await measure(scale));
  const known = wanted.filter((name) => workloads[name] !== undefined);
  for (const names of [known.filter((name) => beginEmpty.has(name)), known.filter((name) => !beginEmpty.has(name))]) {
    if (names.length > 0) rows.push(...await runWorkloads(names, scale, () => (own ? startTargets(values.peer) : listTargets(values))));
  }
  return rows;
}

async function runWorkloads(names: readonly string[], scale: Scale, start: () => Promise<Target[]> | Target[]): Promise<Row[]> {
  const rows: Row[] = [];
  const targets = await start();
  try {
    for (const name of names) for (const target of targets) rows.push(...await workloads[name]!(target, scale));
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
  return rows;
}

async function startTargets(peer: string | undefined): Promise<Target[]> {
  if (peer === undefined) return [await startOwnServer()];
  return [{ ...await startPeer(peer), name: 'a' }, { ...await startOwnServer(), name: 'b' }];
}

function chooseScale(values: Flags): Scale {
  const chosen = values.tiny === true
    ? { seconds: 0.2, objects: 200, watchers: 20, updatesPerSecond: 40, idleMs: 100, starts: 1 }
    : { seconds: 5, objects: 10_000, watchers: 1000, updatesPerSecond: 40, idleMs: 10_000, starts: 5 };
  const given = (text: string | undefined, otherwise: number): number => (text === undefined ? otherwise : Number(text));
  return {
    ...chosen, seconds: given(values.seconds, chosen.seconds), objects: given(values.objects, chosen.objects), watchers: given(values.watchers,
      chosen.watchers),
    updatesPerSecond: given(values.updates, chosen.updatesPerSecond),
  };
}

function listTargets(values: Flags): Target[] {
  const make = (name: string, url: string | undefined, pids: string | undefined): Target[] => (url === undefined ? [] : [{
    name, url, token: values.token ?? '', pids: (pids ?? '').split(',').filter((pid) => pid !== '').map(Number), close: async () => {},
  }]);
  return [...make('a', values.a, values['a-pid']), ...make('b', values.b, values['b-pid'])];
}

/** The figures of the test library. */
async function printTesting(isTiny: boolean): Promise<void> {
  const { measureTesting } = await import('./testing.ts');
  const lines = await measureTesting(isTiny ? { objects: 50, definitions: 2, rounds: 2, suite: 3 } : undefined);
  for (const line of lines) process.stdout.write(`testing: ${line}\n`);
}

async function runMicro(scale: Scale): Promise<void> {
  for (const name of micro) {
    const { run } = await import(`./${name}.js`) as { readonly run: (options: { readonly seconds: number }) => Promise<readonly MicroRow[] | undefined> };
    for (const row of (await run({ seconds: scale.seconds }))
      ?? []) process.stdout.write(`${name}: ${row.name}: ${round(row.nsPer / 1000)} us x ${row.count}\n`);
  }
}

interface MicroRow {
  readonly name: string;
  readonly nsPer: number;
  readonly count: number;
}

function printRows(rows: readonly Row[]): void {
  const show = (value: number): string => (Number.isFinite(value) ? String(round(value)) : '-');
  process.stdout.write(`load ${loadavg().map((value) => value.toFixed(1)).join(' ')}\n`);
  const head = ['workload', 'server', 'ops', 'ops/s', 'p50 ms', 'p99 ms', 'CPU ms/op', 'RSS MB', 'hash', ''];
  const lines = [head, ...rows.map((row) => [
    row.workload, row.target, show(row.ops), show(row.opsPerSecond), show(row.p50Ms), show(row.p99Ms), show(row.cpuMsPerOp), show(row.rssMb), row.hash,
    Object.entries(row.extra ?? {}).map(([name, value]) => `${name}=${show(value)}`).join(' '),
  ])];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) process.stdout.write(`${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()}\n`);
  for (const text of compareRows(rows)) process.stdout.write(`${text}\n`);
}

/** B against A, where both ran the same workload. */
function compareRows(rows: readonly Row[]): string[] {
  return rows.filter(({ target }) => target === 'a').flatMap((a) => {
    const b = rows.find((row) => row.target === 'b' && row.workload === a.workload);
    if (b === undefined) return [];
    const same = a.hash === b.hash ? '' : ', DIFFERENT RESULTS';
    return [`${a.workload}: b/a CPU ${round(b.cpuMsPerOp / a.cpuMsPerOp)}, p50 ${round(b.p50Ms / a.p50Ms)}, p99 ${round(b.p99Ms / a.p99Ms)}${same}`];
  });
}

if (process.argv[1] === import.meta.filename) {
  const rows = await runBench(process.argv.slice(2));
  printRows(rows);
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`);
}
