// The audit: which observable behaviours are as kube-apiserver has them. `npm run audit [-- --show] [--record --peer KUBE-APISERVER]` prints for each
// area how many lines are equal, partly and not, by requests of their own (rows.ts) and by scenarios of the oracle (evidence/), and a total.
// --record asks the peer for the answers first; it needs an etcd, as the differential test does.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startTestServer } from '../../src/test-support/index.ts';
import { compare } from '../differential/compare.ts';
import type { Answer } from '../differential/normalise.ts';
import { CONTROLLERS, runCase, startBoth } from '../differential/servers.ts';
import { readLedger } from '../oracle/ledger.ts';
import { evidence } from './evidence/index.ts';
import { rows } from './rows.ts';

type State = 'equal' | 'not' | 'partly';

interface Finding {
  readonly line: string;
  readonly state: State;
  readonly why: string;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const answersFile = path.join(root, 'test/audit/answers.json');
const { values } = parseArgs({ options: {
  show: { type: 'boolean', default: false }, record: { type: 'boolean', default: false },
    peer: { type: 'string', default: process.env['PINTLE_KUBE_APISERVER'] ?? '' },
} });

const idOf = (index: number): string => `qa${index.toString(36)}${Date.now().toString(36).slice(-5)}x`;
const keyOf = ({ line, what }: { readonly line: string; readonly what: string }): string => `${line} ${what}`;

async function record(): Promise<void> {
  const both = await startBoth(values.peer);
  try {
    const answered: string[] = [];
    for (const [index, row] of rows.entries()) {
      answered.push(`${JSON.stringify(keyOf(row))}: ${JSON.stringify(await runCase(both.theirs.client, row, idOf(index)))}`);
    }
    writeFileSync(answersFile, `{\n${answered.join(',\n')}\n}\n`);
  } finally {
    await both.stop();
  }
}

/** Lines that requests show. */
async function ask(): Promise<Finding[]> {
  const recorded = JSON.parse(readFileSync(answersFile, 'utf8')) as Record<string, Answer[]>;
  const server = await startTestServer({
    disableAdmissionPlugins: ['ServiceAccount'], controllers: CONTROLLERS, allowPrivileged: true, serviceClusterIpRange: '10.0.0.0/16',
  });
  const findings: Finding[] = [];
  for (const [index, row] of rows.entries()) {
    const wanted = recorded[keyOf(row)];
    if (wanted === undefined) throw new Error(`nothing is recorded for ${keyOf(row)}`);
    const difference = compare(row, wanted, await runCase(server.client, row, idOf(index)));
    const isEqual = difference === undefined || difference.sort === 'order';
    const why = `${row.what}${difference === undefined ? '' : `: ${difference.lines.join('; ').slice(0, 400)}`}`;
    const state = isEqual ? 'equal' : difference.sort === 'code' ? 'not' : 'partly';
    findings.push(...row.line.split(' ').map((line) => ({ line, state, why } as const)));
  }
  await server.close();
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
const findings = [...await ask(), ...readEvidence()];
const lines = stateOfLines(findings);
const count = (area: string, state?: State): number => [...lines].filter(([line, found]) => line.startsWith(area)
  && (state === undefined || found === state)).length;
const printCounts = (name: string, area: string): void => {
  process.stdout.write(`${name.padEnd(6)} ${[count(area, 'equal'), count(area, 'partly'), count(area, 'not')].map((each) => String(each).padStart(6)).join(' ')}\n`);
};
process.stdout.write('area    equal partly    not\n');
for (const area of [...new Set([...lines.keys()].map((line) => line.slice(0, 1)))].sort()) printCounts(area, area);
printCounts('total', '');
for (const { line, state, why } of findings) if (state !== 'equal' || values.show) process.stdout.write(`${line} ${state}: ${why}\n`);
process.stdout.write(`${count('', 'equal')} of ${lines.size} lines are as the reference (${(100 * count('', 'equal') / lines.size).toFixed(1)} %)\n`);
process.exitCode = count('', 'equal') === lines.size ? 0 : 1;
