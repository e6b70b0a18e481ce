// Sends generated requests to this server and to a kube-apiserver and compares the answers: `npm run differential -- [AREA…] --peer KUBE-APISERVER
// [--seed N] [--count N] [--only CASE,…] [--show N] [--shrink N] [--keep|--record] [--dump FILE]`. The peer needs an etcd, which PINTLE_ETCD names or PATH has.
// Prints, for each area, the differences by how often they were seen, with a minimal case; --keep adds those cases, with the peer's answers, to the corpus.
// --dump writes every difference, those that are documented and those that the peer shows to itself, as a line of JSON: the request and the answers.
// `harvest` is an area that has to be named: what upstream's own tests of validation use. It needs Go.
// --record asks the peer again for the answers to the cases that the corpus has, and sends nothing else.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { noEtcd } from '../../src/storage/etcd/cluster.suite.ts';
import { Dice } from '../fuzz/mutate.ts';
import { AREAS } from './areas/index.ts';
import type { Area, Case, Facts, Json } from './case.ts';
import { type Difference, compare, listDocumented } from './compare.ts';
import { readFacts } from './facts.ts';
import { readHarvest } from './harvest/harvest.ts';
import type { Answer } from './normalise.ts';
import { runCase, startBoth } from './servers.ts';
import { shrink } from './shrink.ts';

// Expressions need no servers: their peer is a program around Kubernetes' own packages.
if (process.argv.includes('cel')) {
  const { runCel } = await import('./cel/run.ts');
  process.exit(runCel() > 0 ? 1 : 0);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    peer: { type: 'string', default: process.env['PINTLE_KUBE_APISERVER'] ?? '' }, seed: { type: 'string', default: '1' }, count: { type: 'string' },
      only: { type: 'string' },
    show: { type: 'string', default: '10' }, shrink: { type: 'string', default: '10' }, keep: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false }, dump: { type: 'string' },
  },
});
if (values.peer === '') throw new Error('--peer or PINTLE_KUBE_APISERVER must name a kube-apiserver');
if (noEtcd !== false) throw new Error(noEtcd);
const CONCURRENCY = 6;
const SHRINK_MS = 15_000;
/** How often a difference has to show again: the order of two entries of a map in Go is the other one half of the time. */
const ROUNDS = 10;

interface Finding extends Difference {
  readonly index: number;
  readonly made: Case;
}

let serial = Math.floor(Math.random() * 1e6);
const nextId = (): string => `q${(serial++).toString(36).padStart(5, 'z')}x`;

const { ours, theirs, stop } = await startBoth(values.peer);

async function ask(made: Case): Promise<{ readonly theirs: Answer[]; readonly ours: Answer[] }> {
  const id = nextId();
  const [there, here] = await Promise.all([runCase(theirs.client, made, id), runCase(ours.client, made, id)]);
  return { theirs: there, ours: here };
}

/** Writes a line for --dump. */
function dump(line: Json): void {
  if (values.dump !== undefined) appendFileSync(values.dump, `${JSON.stringify(line)}\n`);
}

/** What differs in a case; a difference that the peer shows to itself (maps in Go have no order) is none. */
async function check(made: Case): Promise<{
  readonly difference: Difference | undefined; readonly answers: number; readonly unstable: boolean; readonly documented: readonly number[];
}> {
  const first = await ask(made);
  const answers = first.theirs.filter(({ status }) => status !== -1).length;
  const documented = listDocumented(made, first.theirs, first.ours);
  if (values.dump !== undefined) {
    for (const step of documented) dump({ sort: 'documented', request: made.requests[step], theirs: first.theirs[step], ours: first.ours[step] });
  }
  const difference = compare(made, first.theirs, first.ours);
  if (difference === undefined) return { difference, answers, unstable: false, documented };
  const again: Case = { requests: made.requests.slice(0, difference.step + 1) };
  for (let round = 0; round < ROUNDS; round++) {
    const { theirs: other, ours: mine } = await ask(again);
    const here = compare(again, other, mine);
    const itself = compare(again, first.theirs.slice(0, difference.step + 1), other);
    if (here !== undefined && itself === undefined) continue;
    const { step } = itself ?? difference;
    dump({ sort: 'unstable', request: made.requests[step], theirs: first.theirs[step], other: other[step], ours: first.ours[step] });
    return { difference: undefined, answers, unstable: true, documented };
  }
  const { sort, step } = difference;
  dump({ sort, request: made.requests[step], theirs: first.theirs[step], ours: first.ours[step] });
  return { difference, answers: answers - first.theirs.slice(difference.step + 1).filter(({ status }) => status !== -1).length, unstable: false, documented };
}

/** Another order of keys comes last. */
const weight = (alike: readonly Finding[]): number => (alike[0]?.sort === 'order' ? -1 / alike.length : alike.length);

const group = (findings: readonly Finding[]): readonly (readonly Finding[])[] => {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) groups.set(finding.signature, [...groups.get(finding.signature) ?? [], finding]);
  return [...groups.values()].sort((one, other) => weight(other) - weight(one));
};

const corpusFile = (area: string): string => path.join(fileURLToPath(new URL('../../..', import.meta.url)), 'test/differential/corpus', `${area}.json`);
const readCorpus = (area: string): readonly Json[] => (existsSync(corpusFile(area)) ? JSON.parse(readFileSync(corpusFile(area), 'utf8')) as Json[] : []);

/** Asks the peer for the answers to the corpus of an area. */
async function record(area: string): Promise<void> {
  const cases = readCorpus(area).map(({ requests }) => ({ requests }) as Case);
  const answered = await Promise.all(cases.map(async (made) => ({ ...made, answers: await runCase(theirs.client, made, nextId()) })));
  if (answered.length > 0) keep(area, answered);
}

/** Adds cases, with the answers that the peer gave, to the corpus of an area. */
function keep(area: string, kept: readonly Json[]): void {
  const file = corpusFile(area);
  const old = readCorpus(area);
  const all = new Map([...old, ...kept].map((entry) => [JSON.stringify(entry['requests']), entry]));
  writeFileSync(file, `[\n${[...all.values()].map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`);
}

/** The report on a group of findings, with the smallest case that shows it. */
async function describe(alike: readonly Finding[], { isShrunk }: { readonly isShrunk: boolean }): Promise<{ readonly text: string; readonly entry: Json }> {
  const { sort, signature, made, index, step } = alike[0]!;
  const isSame = async (smaller: Case): Promise<boolean> => {
    const answers = await ask(smaller);
    return compare(smaller, answers.theirs, answers.ours)?.signature === signature;
  };
  const minimal = await shrink(made, step, { deadlineMs: performance.now() + (isShrunk ? SHRINK_MS : 0), isSame });
  const answers = await ask(minimal);
  const { lines = [] } = compare(minimal, answers.theirs, answers.ours) ?? {};
  const requests = minimal.requests.map((request) => `  ${JSON.stringify(request)}\n`).join('');
  const text = `\n${alike.length} × ${sort}: ${signature} (--only ${index})\n${requests}${lines.map((line) => `    ${line}\n`).join('')}`;
  return { text, entry: { requests: minimal.requests, answers: answers.theirs } };
}

async function report(area: string, findings: readonly Finding[]): Promise<void> {
  const groups = [...group(findings).slice(0, Number(values.show)).entries()];
  const told: Awaited<ReturnType<typeof describe>>[] = [];
  const worker = async (): Promise<void> => {
    for (let next = groups.shift(); next !== undefined; next = groups.shift()) told[next[0]] = await describe(next[1],
      { isShrunk: next[0] < Number(values.shrink) });
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  for (const { text } of told) process.stdout.write(text);
  if (values.keep) keep(area, told.map(({ entry }) => entry));
}

async function runArea(area: Area, facts: Facts): Promise<number> {
  const started = Date.now();
  const count = Number(values.count ?? area.count);
  const indexes = values.only === undefined ? Array.from({ length: count }, (_, index) => index) : values.only.split(',').map(Number);
  const findings: Finding[] = [];
  let [asked, unstable, documented] = [0, 0, 0];
  const worker = async (): Promise<void> => {
    for (let index = indexes.shift(); index !== undefined; index = indexes.shift()) {
      const made = area.makeCase(new Dice(Number(values.seed) * 1_000_003 + index * 7919), facts, index);
      const found = await check(made);
      asked += found.answers;
      unstable += found.unstable ? 1 : 0;
      documented += found.documented.length;
      if (found.difference !== undefined) findings.push({ ...found.difference, index, made });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const orders = findings.filter(({ sort }) => sort === 'order').length;
  const codes = findings.filter(({ sort }) => sort === 'code').length;
  await report(area.name, findings);
  const differ = findings.length - orders;
  const rate = (1000 * differ / Math.max(1, asked)).toFixed(2);
  process.stdout.write(`${area.name.padEnd(14)} ${asked} requests, ${differ} differ (${rate} of 1000), ${codes} in code; ${orders} order keys otherwise; ${unstable} unstable, ${documented} as documented; `
    + `seed ${values.seed}, ${Math.round((Date.now() - started) / 1000)} s\n`);
  return differ;
}

let differ = 0;
try {
  const facts = await readFacts(ours.client);
  const harvested = positionals.includes('harvest') ? [await readHarvest(ours.client)] : [];
  const asked = AREAS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  for (const area of [...asked, ...harvested]) {
    if (values.record) await record(area.name);
    else differ += await runArea(area, facts);
  }
} finally {
  await stop();
}
process.exitCode = differ > 0 ? 1 : 0;
