// Generated expressions, compiled and evaluated by this engine and by Kubernetes' own packages: `npm run differential -- cel [--seed N] [--count N] [--show N]
// [--only TEXT] [--record]`. The peer is built with Go from the folder `reference`; without Go nothing is compared. Differences are printed by shape.
// --record writes the expressions with the peer's answers as the corpus of the quick suite.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Difference, KINDS, compareAnswers, shapeOf } from './compare.ts';
import { briefly, packCorpus } from './corpus.ts';
import { type Answer, type Question, answer } from './engine.ts';
import { makeExpression } from './generate.ts';
import { SCHEMA, VALUES } from './subject.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const HERE = path.join(ROOT, 'test/differential/cel');
const MAX_ANSWER_BYTES = 1 << 28;
/** Longer expressions are not worth their place in the corpus. */
const LONGEST_RECORDED = 160;

/** The expressions of a seed. */
function makeQuestions(seed: number, count: number): Question[] {
  return Array.from({ length: count }, (_, index) => ({ text: makeExpression(seed, index), value: index % 7 === 0 ? 1 : index % 5 === 0 ? 2 : 0 }));
}

/** The answers of Kubernetes' packages; why there are none otherwise. */
function askReference(questions: readonly Question[]): readonly Answer[] | { readonly missing: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'cel-reference-'));
  try {
    const program = path.join(folder, 'reference');
    const build = spawnSync('go', ['build', '-o', program, '.'], { cwd: path.join(HERE, 'reference'), encoding: 'utf8' });
    if (build.error !== undefined) return { missing: `go: ${build.error.message}` };
    if (build.status !== 0) return { missing: `go build: ${build.stderr}` };
    const input = [{ schema: SCHEMA, values: VALUES }, ...questions].map(exactJson).join('\n');
    const { stdout, stderr, status } = spawnSync(program, { input, encoding: 'utf8', maxBuffer: MAX_ANSWER_BYTES });
    if (status !== 0) throw new Error(`the reference ended with ${status}: ${stderr}`);
    return stdout.trim().split('\n').map((line) => JSON.parse(line) as Answer);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
  const questions = values.only === undefined ? makeQuestions(Number(values.seed), Number(values.count)) : [0, 1, 2].map((value) => ({ text: values.only!,
  value }));
  const answers = askReference(questions);
  if ('missing' in answers) {
    process.stdout.write(`cel: skipped, for there is no reference (${answers.missing})\n`);
    return 0;
  }
  if (values.record) {
    const recorded = questions.map((question, at) => ({ question, answer: answers[at]! })).filter(({ question }) => question.text.length < LONGEST_RECORDED);
    writeFileSync(path.join(HERE, '../corpus/cel.jsonl'), packCorpus(recorded));
  }
  const findings = questions.flatMap((question, at): Finding[] => {
    const difference = compareAnswers(answers[at]!, answer(question));
    return difference === undefined ? [] : [{ ...difference, question }];
  });
  report(findings, { shapes: Number(values.show), each: Number(values.each) });
  const kinds = KINDS.map((kind) => `${findings.filter((finding) => finding.kind === kind).length} ${kind}`).join(', ');
  const accepted = answers.filter(({ problem }) => problem === undefined).length;
  process.stdout.write(`\ncel: ${questions.length} expressions (${accepted} compile), ${findings.length} differ (${kinds}); seed ${values.seed}\n`);
  return findings.length;
}
