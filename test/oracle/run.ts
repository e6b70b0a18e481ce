// Replays the oracle against a freshly started server and compares with the ledger: `npm run oracle [-- AREA…] [--accept] [--show N] [--only RE]
// [--etcd|--postgres] [--workers N]`. With --etcd or --postgres the server stores in an etcd or a PostgreSQL started for it. Prints a score per area.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { noPostgres, startPostgres } from '../../src/storage/postgres/server.suite.ts';
import { type StepResult, acceptResults, findSurprises, readLedger, writeLedger } from './ledger.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const oracle = path.join(root, 'test/oracle');
const ledgerFile = path.join(oracle, 'ledger.json');

/** Scenarios that wait for a compaction; their server compacts often and keeps little. Etcd is compacted as of the interval before. */
const slowAreas = new Map([['lists-expiry', ['--compaction-interval', '2s', '--history', '1s', '--etcd-compaction-interval', '2s']]]);

const tokens = 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid,"devs"\nbob-token,bob,bob-uid,"ops"\n';

/** The recordings were made without the controllers that take the finalizers of unused claims and volumes away. */
const CONTROLLERS = '*,-pvc-protection,-pv-protection,-vac-protection';

interface Server {
  readonly url: string;
  stop(): Promise<number | null>;
}

async function startServer(directory: string, flags: readonly string[] = []): Promise<Server> {
  const tokenFile = path.join(directory, 'tokens.csv');
  writeFileSync(tokenFile, tokens, { mode: 0o600 });
  const child = spawn(process.execPath, [path.join(root, 'dist/bin/pintle.js'), '--data-dir', path.join(directory, 'data'), '--secure-port', '0',
    '--token-auth-file', tokenFile, '--controllers', CONTROLLERS,
    '--allow-privileged', '--authorization-mode', 'RBAC', '--service-cluster-ip-range', '10.0.0.0/24', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /https:\/\/[0-9.:[\]a-z]+/.exec(output);
      if (found !== null && output.includes('ready in')) resolve(found[0]);
    });
    void exited.then((code) => reject(new Error(`the server stopped with code ${code} before it was ready:\n${output}`)));
  });
  return { url, stop() { child.kill('SIGTERM'); return exited; } };
}

function replay(url: string, area: string, options: { show: string; only?: string; verbose: boolean; report: string }): StepResult[] {
  const args = [path.join(oracle, 'replay.mjs'), 'check', '--server', url, '--golden', path.join(oracle, 'golden'), '--report', options.report, '--show',
    options.show];
  if (options.only !== undefined) args.push('--only', options.only);
  if (options.verbose) args.push('--verbose');
  spawnSync(process.execPath, [...args, path.join(oracle, 'scenarios', slowAreas.has(area) ? 'slow' : '', `${area}.mjs`)],
    { stdio: ['ignore', Number(options.show) > 0 ? 'inherit' : 'ignore', 'inherit'] });
  const results = JSON.parse(readFileSync(options.report, 'utf8')) as StepResult[];
  return results.sort((a, b) => a.step - b.step);
}

const isOnEtcd = process.argv.includes('--etcd');
const isOnPostgres = process.argv.includes('--postgres');
if (isOnEtcd && noEtcd !== false) throw new Error(noEtcd);
if (isOnPostgres && noPostgres !== false) throw new Error(noPostgres);

/** The store that the server is started on, if it is not its own. */
async function startStore(): Promise<{ readonly flags: readonly string[]; stop(): Promise<void> }> {
  if (isOnEtcd) {
    const etcd = await startCluster();
    return { flags: ['--etcd-servers', etcd.endpoints.join(',')], stop: () => etcd.stop() };
  }
  if (!isOnPostgres) return { flags: [], stop: async () => undefined };
  const postgres = await startPostgres();
  return { flags: ['--datastore-endpoint', postgres.url('pintle')], stop: () => postgres.stop() };
}

const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

const args = process.argv.slice(2);
const option = (name: string): string | undefined => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const flags = new Set(['--show', '--only', '--workers'].flatMap((name) => (args.includes(name) ? [name, option(name)] : [])));
const allAreas = readdirSync(path.join(oracle, 'scenarios')).filter((f) => f.endsWith('.mjs')).map((f) => f.slice(0, -4)).sort();
const named = args.filter((a) => !a.startsWith('--') && !flags.has(a));
const unknown = named.filter((area) => !allAreas.includes(area) && !slowAreas.has(area));
if (unknown.length > 0) throw new Error(`no such area: ${unknown.join(', ')}; there are ${[...allAreas, ...slowAreas.keys()].join(', ')}`);
const areas = named.length > 0 ? named : [...allAreas, ...slowAreas.keys()];

const results: StepResult[] = [];
const started = Date.now();
let failedExits = 0;

/** Replays areas against one server, started for them and stopped afterwards. */
async function replayAreas(areas: readonly string[], flags: readonly string[]): Promise<void> {
  if (areas.length === 0) return;
  const directory = mkdtempSync(path.join(tmpdir(), 'pintle-oracle-'));
  const store = await startStore();
  const workers = option('--workers');
  const server = await startServer(directory, [...flags, ...store.flags, ...(workers === undefined ? [] : ['--workers', workers])]);
  for (const area of areas) {
    const report = path.join(directory, 'report.json');
    const since = Date.now();
    const found = replay(server.url, area, { show: option('--show') ?? '0', only: option('--only'), verbose: args.includes('--verbose'), report });
    results.push(...found);
    const matched = found.filter((r) => r.ok).length;
    const score = `${String(matched).padStart(4)}/${String(found.length).padEnd(4)} ${percent(matched, found.length)}`;
    console.log(`${area.padEnd(16)} ${score.padEnd(20)} ${((Date.now() - since) / 1000).toFixed(0)} s`);
  }
  const code = await server.stop();
  await store.stop();
  if (code !== 0) console.log(`the server ended with code ${code}`);
  failedExits += code === 0 ? 0 : 1;
  rmSync(directory, { recursive: true, force: true });
}

await replayAreas(areas.filter((area) => !slowAreas.has(area)), []);
for (const [area, flags] of slowAreas) await replayAreas(areas.includes(area) ? [area] : [], flags);
const matched = results.filter((r) => r.ok).length;
console.log(`${'total'.padEnd(16)} ${String(matched).padStart(4)}/${String(results.length).padEnd(4)} ${percent(matched, results.length)} in ${Math.round((Date.now() - started) / 1000)} s`);

if (args.includes('--accept')) writeLedger(ledgerFile, acceptResults(readLedger(ledgerFile), results));
const { broken, mended } = findSurprises(readLedger(ledgerFile), results);
for (const r of broken) console.log(`differs, and the ledger does not say so: ${r.area}/${r.scenario} step ${r.step}: ${r.what}\n    ${r.differences.slice(0, 3).join('\n    ')}`);
for (const r of mended) console.log(`as the reference, and the ledger says otherwise: ${r.area}/${r.scenario} step ${r.step}: ${r.what}`);
console.log(`${results.length - broken.length - mended.length} passed, ${broken.length + mended.length} failed`);
process.exitCode = broken.length + mended.length + failedExits > 0 ? 1 : 0;
