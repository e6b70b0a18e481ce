// The audit: which observable behaviours are as kube-apiserver has them. `npm run audit [-- --show] [--record --peer KUBE-APISERVER]` prints for each area
// how many lines are equal, partly and not, by requests of their own (rows.ts), by servers with flags of their own (setups/), and by scenarios of the
// oracle (evidence/), how many other tests show, how many do not apply (elsewhere/), and a total. --record asks the peer for the answers first; it needs
// an etcd, as the differential test does. --only SETUP and --line BEGINNING leave
// out others. Rows that look into an etcd are left out where there is none.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { noEtcd } from '../../src/storage/etcd/cluster.suite.ts';
import { type TestClient, startTestServer } from '../../src/test-support/index.ts';
import { compare } from '../differential/compare.ts';
import type { Answer } from '../differential/normalise.ts';
import { CONTROLLERS, NEVER, runCase, startEtcd, startServer } from '../differential/servers.ts';
import { readLedger } from '../oracle/ledger.ts';
import { withAsides } from './asides.ts';
import { elsewhere } from './elsewhere/index.ts';
import { evidence } from './evidence/index.ts';
import { preparePlace } from './place.ts';
import type { Row, Setup } from './row.ts';
import { rows } from './rows.ts';
import { setups } from './setups/index.ts';

type State = 'equal' | 'not' | 'partly';

interface Finding {
  readonly line: string;
  readonly state: State;
  readonly why: string;
}

/** A row with the answers to its requests. */
type Result = readonly [row: Row, answers: readonly Answer[]];

const root = fileURLToPath(new URL('../../..', import.meta.url));
const answersFile = path.join(root, 'test/audit/answers.json');
const { values } = parseArgs({ options: {
  show: { type: 'boolean', default: false }, record: { type: 'boolean', default: false }, only: { type: 'string' },
  line: { type: 'string' }, peer: { type: 'string', default: process.env['PINTLE_KUBE_APISERVER'] ?? '' },
} });

const plain: Setup = { name: 'plain', flags: [], rows };
const all = [plain, ...setups];
/** The setups that are asked for, with those of their rows that are. */
const wanted = all.filter(({ name }) => values.only === undefined || values.only === name)
  .map((setup) => ({ ...setup, rows: setup.rows.filter(({ line }) => line.split(' ').some((each) => each.startsWith(values.line ?? ''))) }))
  .filter((setup) => setup.rows.length > 0);
const isWhole = values.only === undefined && values.line === undefined;
const idOf = (index: number): string => `qa${index.toString(36)}${Date.now().toString(36).slice(-5)}x`;
const keyOf = ({ line, what }: { readonly line: string; readonly what: string }): string => `${line} ${what}`;

/** Runs rows on a server; yields each with its answers. */
async function* runRows(client: TestClient, asked: readonly Row[]): AsyncGenerator<Result> {
  for (const [index, row] of asked.entries()) yield [row, await runCase(client, row, idOf(index))];
}

/** Runs the rows of a setup on a server of their own: this one, or the peer. */
async function* runSetup(setup: Setup, peer?: string): AsyncGenerator<Result> {
  const place = await preparePlace(setup);
  const etcd = peer !== undefined || setup.isOnEtcd === true ? await startEtcd() : undefined;
  const otherEtcd = setup.hasOtherEtcd === true ? await startEtcd() : undefined;
  const endpoint = etcd?.endpoints.join();
  const fill = (flag: string): string => place.fill(flag).replaceAll('{otherEtcd}', otherEtcd?.endpoints.join(';') ?? '');
  const server = await startServer({ directory: place.directory, flags: setup.flags.map(fill),
    ...(endpoint !== undefined && { etcd: endpoint }), ...(setup.loops !== undefined && { loops: setup.loops }) }, peer);
  try {
    yield* runRows(withAsides({ peer: server, place, etcd: endpoint ?? '', otherEtcd: otherEtcd?.endpoints[0] ?? '', program: peer,
      signalEtcd: (name) => etcd?.members.forEach((member) => member.signal(name)) }), setup.rows);
  } finally {
    await server.stop();
    await Promise.all([etcd?.stop(), otherEtcd?.stop()]);
    place.stop();
  }
}

/** The plain rows need no process. */
async function* runPlain(asked: readonly Row[]): AsyncGenerator<Result> {
  const server = await startTestServer({
    disableAdmissionPlugins: ['ServiceAccount'], controllers: CONTROLLERS, allowPrivileged: true, serviceClusterIpRange: '10.0.0.0/16',
  });
  yield* runRows(server.client, asked);
  await server.close();
}

/** How many setups run at once: most of their time is spent waiting for what time brings about. */
const AT_ONCE = 3;

/** Runs everything on this server. Results stand in the order of the setups. */
async function runAll(): Promise<Result[]> {
  const asked = wanted.filter(({ isOnEtcd }) => isOnEtcd !== true || noEtcd === false);
  const found = new Map<Setup['name'], Result[]>();
  const waiting = [...asked];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let setup = waiting.shift(); setup !== undefined; setup = waiting.shift()) {
      const results: Result[] = [];
      for await (const result of setup.name === plain.name ? runPlain(setup.rows) : runSetup(setup)) results.push(result);
      found.set(setup.name, results);
    }
  }));
  return asked.flatMap(({ name }) => found.get(name) ?? []);
}

const readAnswers = (): Record<string, readonly Answer[]> => JSON.parse(readFileSync(answersFile, 'utf8')) as Record<string, readonly Answer[]>;

async function record(): Promise<void> {
  const recorded = { ...readAnswers() };
  for (const setup of wanted) for await (const [row, answers] of runSetup(setup, values.peer)) {
    const step = answers.findIndex(({ status, body }) => status === 0 || body === NEVER);
    if (step !== -1) throw new Error(`${keyOf(row)}: request ${step + 1} shows nothing: ${JSON.stringify(answers[step])}`);
    recorded[keyOf(row)] = answers;
  }
  const lines = all.flatMap((setup) => setup.rows.map(keyOf)).filter((key) => recorded[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}: ${JSON.stringify(recorded[key])}`);
  writeFileSync(answersFile, `{\n${lines.join(',\n')}\n}\n`);
}

/** Managers by their text: those of one second stand in the order of their names, others in that of time, and how fast requests come decides which. */
function sortManagers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortManagers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name,
    name === 'managedFields' && Array.isArray(member) ? member.map((entry) => JSON.stringify(entry)).sort() : sortManagers(member)]));
}

/** Lines that requests show. */
async function ask(): Promise<Finding[]> {
  const recorded = readAnswers();
  const findings: Finding[] = [];
  for (const [row, answers] of await runAll()) {
    const expected = recorded[keyOf(row)];
    if (expected === undefined) throw new Error(`nothing is recorded for ${keyOf(row)}`);
    const difference = compare(row, sortManagers(expected) as readonly Answer[], sortManagers(answers) as readonly Answer[]);
    const isEqual = difference === undefined || difference.sort === 'order';
    const why = `${row.what}${difference === undefined ? '' : `: ${difference.lines.join('; ').slice(0, 400)}`}`;
    const state = isEqual ? 'equal' : difference.sort === 'code' ? 'not' : 'partly';
    findings.push(...row.line.split(' ').map((line) => ({ line, state, why } as const)));
  }
  return findings;
}

/** Lines that scenarios of the oracle show. */
function readEvidence(): Finding[] {
  const ledger = readLedger(path.join(root, 'test/oracle/ledger.json'));
  const areas = new Map<string, Record<string, unknown>>();
  const hasRecording = (area: string, scenario: string): boolean => {
    if (!areas.has(area)) areas.set(area, JSON.parse(readFileSync(path.join(root, 'test/oracle/golden', `${area}.json`), 'utf8')) as Record<string, unknown>);
    return areas.get(area)?.[scenario] !== undefined;
  };
  return Object.entries(evidence).flatMap(([line, scenarios]) => scenarios.map((name): Finding => {
    const [area, scenario] = name.split('/') as [string, string];
    if (!hasRecording(area, scenario)) throw new Error(`${area} has no scenario ${scenario}`);
    const known = ledger[area]?.[scenario];
    return { line, state: known === undefined ? 'equal' : 'partly', why: `${name}${known === undefined ? '' : `: ${known.reason}`}` };
  }));
}

/** The state of each line: the worst of what was found for it. */
function stateOfLines(findings: readonly Finding[]): ReadonlyMap<string, State> {
  const order: readonly State[] = ['equal', 'partly', 'not'];
  const lines = new Map<string, State>();
  for (const { line, state } of findings) lines.set(line, order[Math.max(order.indexOf(state), order.indexOf(lines.get(line) ?? 'equal'))]!);
  return lines;
}

if (values.record) await record();
const findings = [...await ask(), ...(isWhole ? readEvidence() : [])];
const lines = stateOfLines(findings);
const count = (area: string, state?: State): number => [...lines].filter(([line, found]) => line.startsWith(area)
  && (state === undefined || found === state)).length;
const countElsewhere = (area: string, sort: string): number => Object.entries(elsewhere).filter(([line, said]) => line.startsWith(area) && sort in said).length;
const printCounts = (name: string, area: string): void => {
  const compared = (['equal', 'partly', 'not'] as const).map((state) => count(area, state));
  const others = isWhole ? [countElsewhere(area, 'test'), countElsewhere(area, 'notApplicable')] : [0, 0];
  const sorts = [...compared, ...others];
  process.stdout.write(`${name.padEnd(6)} ${[...sorts, sorts.reduce((sum, each) => sum + each)].map((each) => String(each).padStart(9)).join(' ')}\n`);
};
process.stdout.write(`area   ${['equal', 'partly', 'not', 'elsewhere', 'n/a', 'all'].map((title) => title.padStart(9)).join(' ')}\n`);
for (const area of [...new Set([...lines.keys()].map((line) => line.slice(0, 1)))].sort()) printCounts(area, area);
printCounts('total', '');
for (const { line, state, why } of findings) if (state !== 'equal' || values.show) process.stdout.write(`${line} ${state}: ${why}\n`);
process.stdout.write(`${count('', 'equal')} of ${lines.size} lines are as the reference (${(100 * count('', 'equal') / lines.size).toFixed(1)} %)\n`);
process.exitCode = count('', 'equal') === lines.size ? 0 : 1;
