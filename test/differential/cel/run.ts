// Generated expressions, compiled and evaluated by this engine and by Kubernetes' own packages: `npm run differential -- cel [--seed N] [--count N] [--show N]
// [--only TEXT] [--record]`. The peer is built with Go from the folder `reference`; without Go nothing is compared. Differences are printed by shape.
// --record writes the expressions with the peer's answers as the corpus of the quick suite.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Difference, KINDS, compareAnswers, isDocumented, shapeOf } from './compare.ts';
import { briefly, packCorpus } from './corpus.ts';
import { type Answer, type Question, answer } from './engine.ts';
import { makeExpression } from './generate.ts';
import { SCHEMA, VALUES } from './subject.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const HERE = path.join(ROOT, 'test/differential/cel');
const MAX_ANSWER_BYTES = 1 << 28;
/** The reference has no bound for what some functions make: `lists.range` of a large number. */
const START_MS = 3000;
const QUESTION_MS = 20;
const MOST_MEMORY_KB = 6_000_000;
const SHOWN_ERROR = 200;
/** Longer expressions are not worth their place in the corpus. */
const LONGEST_RECORDED = 160;

/** The expressions of a seed. */
function makeQuestions(seed: number, count: number): Question[] {
  return Array.from({ length: count }, (_, index) => ({ text: makeExpression(seed, index), value: index % 7 === 0 ? 1 : index % 5 === 0 ? 2 : 0 }));
}

/** The answers of Kubernetes' packages; why there are none otherwise. */
function askReference(questions: readonly Question[]): readonly (Answer | undefined)[] | { readonly missing: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'cel-reference-'));
  try {
    const program = path.join(folder, 'reference');
    const build = spawnSync('go', ['build', '-o', program, '.'], { cwd: path.join(HERE, 'reference'), encoding: 'utf8' });
    if (build.error !== undefined) return { missing: `go: ${build.error.message}` };
    if (build.status !== 0) return { missing: `go build: ${build.stderr}` };
    return askProgram(program, questions);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The answers of the program; those of an expression that takes it longer, or more memory, than it may are unknown. */
function askProgram(program: string, questions: readonly Question[]): readonly (Answer | undefined)[] {
  const input = [{ schema: SCHEMA, values: VALUES }, ...questions].map(exactJson).join('\n');
  const timeout = START_MS + questions.length * QUESTION_MS;
  const { stdout, stderr, status } = spawnSync('sh', ['-c', `ulimit -v ${MOST_MEMORY_KB}; exec "$0"`, program], {
    input, encoding: 'utf8', maxBuffer: MAX_ANSWER_BYTES, timeout, killSignal: 'SIGKILL' });
  if (status === 0) return stdout.trim().split('\n').map((line) => JSON.parse(line) as Answer);
  if (questions.length > 1) {
    const half = questions.length >> 1;
    return [...askProgram(program, questions.slice(0, half)), ...askProgram(program, questions.slice(half))];
  }
  process.stdout.write(`the reference ended with ${status ?? 'its time'} at ${JSON.stringify(questions[0]?.text)}: ${stderr.slice(0, SHOWN_ERROR)}\n`);
  return [undefined];
}

/** JSON whose big whole numbers keep all their digits. */
function exactJson(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `#${inner}#` : inner));
  return text.replace(/"#(-?\d+)#"/g, '$1');
}

interface Finding extends Difference {
  readonly question: Question;
}

function report(findings: readonly Finding[], limits: { readonly shapes: number; readonly each: number }): void {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) groups.set(shapeOf(finding), [...groups.get(shapeOf(finding)) ?? [], finding]);
  const sorted = [...groups].sort(([, one], [, other]) => other.length - one.length);
  for (const [shape, alike] of sorted.slice(0, limits.shapes)) {
    process.stdout.write(`\n${alike.length} × ${shape}\n`);
    for (const { question, theirs, ours } of alike.sort((one, other) => one.question.text.length - other.question.text.length).slice(0, limits.each)) {
      process.stdout.write(`  ${JSON.stringify(question.text)} on ${question.value}\n    theirs: ${briefly(theirs)}\n    ours:   ${briefly(ours)}\n`);
    }
  }
}

/** Compares the expressions of a seed; the number of differences. */
export function runCel(): number {
  const { values } = parseArgs({
    allowPositionals: true, strict: false,
    options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '2000' }, show: { type: 'string',
    default: '20' }, only: { type: 'string' },
      each: { type: 'string', default: '2' }, record: { type: 'boolean', default: false } },
  }) as { values: Record<'seed' | 'count' | 'show' | 'each', string> & { only?: string; record: boolean } };
  const asked = values.only === undefined ? makeQuestions(Number(values.seed), Number(values.count)) : [0, 1, 2].map((value) => ({ text: values.only!,
  value }));
  const found = askReference(asked);
  if ('missing' in found) {
    process.stdout.write(`cel: skipped, for there is no reference (${found.missing})\n`);
    return 0;
  }
  const answered = asked.flatMap((question, at) => (found[at] === undefined ? [] : [{ question, answer: found[at] }]));
  const questions = answered.map(({ question }) => question);
  const answers = answered.map((one) => one.answer);
  if (values.record) {
    const recorded = questions.map((question, at) => ({ question, answer: answers[at]! })).filter(({ question }) => question.text.length < LONGEST_RECORDED);
    writeFileSync(path.join(HERE, '../corpus/cel.jsonl'), packCorpus(recorded));
  }
  let documented = 0;
  const findings = questions.flatMap((question, at): Finding[] => {
    const [theirs, ours] = [answers[at]!, answer(question)];
    const difference = compareAnswers(theirs, ours);
    if (difference?.kind === 'value' && isDocumented(theirs, ours)) documented += 1;
    else if (difference !== undefined) return [{ ...difference, question }];
    return [];
  });
  report(findings, { shapes: Number(values.show), each: Number(values.each) });
  const kinds = KINDS.map((kind) => `${findings.filter((finding) => finding.kind === kind).length} ${kind}`).join(', ');
  const accepted = answers.filter(({ problem }) => problem === undefined).length;
  process.stdout.write(`\ncel: ${questions.length} expressions (${accepted} compile), ${findings.length} differ (${kinds}), ${documented} as documented; `
    + `seed ${values.seed}\n`);
  return findings.length;
}
