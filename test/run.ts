// Runs the tests of the built tree: `quick` (what `npm test` and every commit needs), `slow` (what CI runs besides) or `all`, or those whose path
// contains one of the texts given after that. Ends with one line that counts what passed, failed and was skipped.
// Every test file is a process of node:test; suites that start servers, kill them or need other programs are the slow ones.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('..', import.meta.url));
const slowFolders = ['test/audit', 'test/crash', 'test/fuzz', 'test/clients', 'test/oracle', 'test/faults', 'test/console'];

/** All compiled test files, slow or not, in a stable order. */
function findTests(): string[] {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  return files.map((file) => file.split(path.sep).join('/')).filter((file) => file.endsWith('.test.js')).sort();
}

const isSlow = (file: string): boolean => slowFolders.some((folder) => file.startsWith(`${folder}/`));

/** Suites that end or starve servers have the machine for themselves; the others wait for programs of their own much of their time. */
const aloneFolders = ['test/crash', 'test/faults', 'test/fuzz'];
const isAlone = (file: string): boolean => aloneFolders.some((folder) => file.startsWith(`${folder}/`));

/** A file that takes longer hangs: it is ended and counts as failed, so that the other files are reported. */
const longestFileMs = 10 * 60_000;

/** How many tests a run counted; a run without a report failed as a whole. */
interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Reads the totals that node:test writes at the end of its TAP report. */
function readCounts(report: string): Counts {
  const text = readFileSync(report, 'utf8');
  const total = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { passed: total('pass'), failed: total('fail') + total('cancelled'), skipped: total('skipped') + total('todo') };
}

function runFiles(name: string, files: readonly string[], concurrency: number): Counts {
  if (files.length === 0) return { passed: 0, failed: 0, skipped: 0 };
  const report = path.join(dist, `tests-${name}.tap`);
  const args = ['--test', `--test-concurrency=${concurrency}`, `--test-timeout=${longestFileMs}`,
    `--test-reporter=${path.join(dist, 'test/reporter.js')}`, '--test-reporter-destination=stdout',
    '--test-reporter=tap', `--test-reporter-destination=${report}`,
    ...files.map((file) => path.join(dist, file))];
  const env = { ...process.env, NODE_NO_WARNINGS: '1', PINTLE_TEST_FILES: String(files.length) };
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env });
  const counts = readCounts(report);
  return status === 0 || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

const [mode = 'quick', ...given] = process.argv.slice(2);
const only = given.map((part) => part.replace(/\.ts$/, '.js'));
const tests = findTests();
const unknown = only.filter((part) => !tests.some((file) => file.includes(part)));
if (unknown.length > 0) throw new Error(`no test is named like ${unknown.join(', ')}`);
const wanted = tests.filter((file) => only.length === 0 || only.some((part) => file.includes(part)));
const runs = [
  runFiles('quick', mode === 'slow' ? [] : wanted.filter((file) => !isSlow(file)), 2),
  runFiles('slow', mode === 'quick' ? [] : wanted.filter((file) => isSlow(file) && !isAlone(file)), 2),
  runFiles('alone', mode === 'quick' ? [] : wanted.filter((file) => isAlone(file)), 1),
];
const sum = (key: keyof Counts): number => runs.reduce((total, counts) => total + counts[key], 0);
process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`);
process.exit(sum('failed') === 0 && sum('passed') > 0 ? 0 : 1);
