// Runs the tests of the built tree: `quick` (what `npm test` and every commit needs), `slow` (what CI runs besides) or `all`, or those whose path has
// one of the texts given after that.
// Every test file is a process of node:test; suites that start servers, kill them or need other programs are the slow ones.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('..', import.meta.url));
const slowFolders = ['test/crash', 'test/clients', 'test/oracle', 'test/faults'];

/** All compiled test files, slow or not, in a stable order. */
function findTests(): string[] {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  return files.map((file) => file.split(path.sep).join('/')).filter((file) => file.endsWith('.test.js')).sort();
}

const isSlow = (file: string): boolean => slowFolders.some((folder) => file.startsWith(`${folder}/`));

/** A file that takes longer hangs: it is ended and counts as failed, so that the others are heard of. */
const longestFileMs = 20 * 60_000;

function runFiles(files: readonly string[], concurrency: number): boolean {
  if (files.length === 0) return true;
  const reporter = process.stdout.isTTY ? 'spec' : 'dot';
  const args = ['--test', `--test-concurrency=${concurrency}`, `--test-timeout=${longestFileMs}`,
    `--test-reporter=${reporter}`, '--test-reporter-destination=stdout', '--test-reporter=tap', `--test-reporter-destination=${path.join(dist, 'tests.tap')}`,
    ...files.map((file) => path.join(dist, file))];
  const result = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, NODE_NO_WARNINGS: '1' } });
  return result.status === 0;
}

const [mode = 'quick', ...only] = process.argv.slice(2);
const wanted = findTests().filter((file) => only.length === 0 || only.some((part) => file.includes(part)));
const quick = mode === 'slow' ? [] : wanted.filter((file) => !isSlow(file));
const slow = mode === 'quick' ? [] : wanted.filter(isSlow);
const ok = [runFiles(quick, 2), runFiles(slow, 1)].every(Boolean);
process.exit(ok ? 0 : 1);
