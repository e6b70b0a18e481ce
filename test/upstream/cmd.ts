// Kubernetes' own tests of kubectl (test/cmd), run against a program: shell functions that call kubectl and look at what it prints. The driver beside this
// file starts the program, with kube-controller-manager beside it, and lets the tests run as they are.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findPorts } from '../../src/test-support/index.ts';
import type { Outcome } from './ledger.ts';

/** Where the tests are, and what they are run against. */
interface CommandTests {
  /** The copy of Kubernetes. */
  readonly kubernetes: string;
  /** The driver. */
  readonly driver: string;
  /** For the output of the tests and the logs of the programs. */
  readonly logs: string;
  readonly etcd: string;
  readonly server: string;
  /** Names of tests; all of them where there is none. */
  readonly tests: readonly string[];
}

const programs = ['kubectl', 'kubectl-convert', 'kube-controller-manager', 'jq', 'openssl'];

/** The first program that the tests need and that is not on PATH, or false. */
export function findMissing(): string | false {
  return programs.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0) ?? false;
}

/** The outcomes in the output of the driver: each test is announced, and those that fail are named after it. */
export function readCommandOutcomes(output: string): Map<string, Outcome> {
  const namesIn = (pattern: RegExp): string[] => Array.from(output.matchAll(pattern), ([, name = '']) => name.replace(/^run_|_tests?$/g, ''));
  const tests = namesIn(/^Recording: (\w+)$/gm).filter((name) => name !== 'record_command_canary');
  const failed = new Set(namesIn(/^Error when running (\w+)$/gm));
  const isWhole = /^FAILED TESTS: |^All tests have run$/m.test(output);
  return new Map(tests.map((name, index) => [name, failed.has(name) ? 'FAIL' : !isWhole && index === tests.length - 1 ? 'missing' : 'PASS']));
}

/** Runs the tests, which takes some ten minutes, and returns their outcomes. */
export async function runCommandTests({ kubernetes, driver, logs, etcd, server, tests }: CommandTests): Promise<Map<string, Outcome>> {
  mkdirSync(logs, { recursive: true });
  const [port] = await findPorts(1) as [number];
  const child = spawn('bash', [driver], {
    stdio: ['ignore', 'pipe', 'pipe'], env: {
      ...process.env, KUBERNETES: kubernetes, APISERVER: server, ETCD_URL: etcd, LOGS: logs, TESTS: tests.join(' '), API_PORT: String(port),
      KUBE_JUNIT_REPORT_DIR: mkdtempSync(path.join(tmpdir(), 'pintle-cmd-')) },
  });
  const report = createWriteStream(path.join(logs, 'cmd.log'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      report.write(chunk);
    });
  }
  await new Promise((resolve) => child.once('close', resolve));
  report.end();
  return readCommandOutcomes(output);
}
