// Runs Kubernetes' own integration tests against this tree: `npm run upstream -- PACKAGE… [--run REGEX] [--server COMMAND] [--build]`, where a package is
// `apiextensions`, `cmd` (the tests of kubectl) or a path below Kubernetes' test/integration, such as apiserver/apply. Prints the tests, and a score of
// those that pass on kube-apiserver 1.36.3; ends with an error where a test fails whose cause the ledger does not have, or passes although it has one. Go
// and etcd are on PATH (or PINTLE_ETCD names etcd); the tests come from Go's module proxy and are kept in PINTLE_UPSTREAM, by default below ~/.cache.
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { findMissing, runCommandTests } from './cmd.ts';
import { compare, type Outcome, readLedger, readOutcomes, type Verdict } from './ledger.ts';
import { build, noGo, prepare, type TestProgram, upstreamDirectory } from './prepare.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const ours = path.join(root, 'test/upstream');

/** Tests bring the controllers of kube-controller-manager that they need, and look on while these do their work. */
const CONTROLLERS = ['garbage-collector', 'namespace', 'serviceaccount', 'serviceaccount-token', 'root-ca-cert-publisher', 'clusterrole-aggregation',
  'csrsigning', 'resourcequota'];
const ownServer = `${process.execPath} ${path.join(root, 'dist/bin/pintle.js')} --controllers=*,${CONTROLLERS.map((name) => `-${name}`).join(',')}`;

/** What the process of tests has beside them. */
interface ProcessOptions {
  /** The file that its output is appended to. */
  readonly report: string;
  readonly environment: NodeJS.ProcessEnv;
}

interface RunOptions {
  readonly directory: string;
  readonly mark: string;
  readonly etcd: string;
  readonly server: string;
  /** Go's pattern of the tests; without it those are left out that kube-apiserver fails as well: one of them ends the whole process. */
  readonly pattern: string | undefined;
}

/** Runs tests in one process; the outcomes of those that it came to. */
async function runTests(program: TestProgram, tests: readonly string[], { report, environment }: ProcessOptions): Promise<Map<string, Outcome>> {
  const child = spawn(program.file, ['-test.v', '-test.run', `^(${tests.join('|')})$`, '-test.timeout', '60m'], {
    cwd: program.directory, env: environment, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      appendFileSync(report, chunk);
    });
  }
  await new Promise((resolve) => child.once('close', resolve));
  return readOutcomes(output, tests);
}

async function runPackage(name: string, { directory, mark, etcd, server, pattern }: RunOptions): Promise<Verdict> {
  const known = readLedger(path.join(ours, 'ledger.json'))[name];
  const skipped = pattern === undefined ? known?.reference ?? [] : [];
  const program = build(directory, name, mark);
  const logs = path.join(directory, 'logs');
  mkdirSync(logs, { recursive: true });
  const environment = { ...process.env, KUBE_INTEGRATION_ETCD_URL: etcd, APISERVER: server, APISERVER_LOGS: logs };
  const listed = execFileSync(program.file, ['-test.list', pattern ?? '.'], { cwd: program.directory, env: environment, encoding: 'utf8' });
  const tests = listed.split('\n').filter((line) => line.startsWith('Test') && !skipped.includes(line));
  const report = path.join(directory, `${name.replaceAll('/', '-')}.log`);
  writeFileSync(report, '');
  const outcomes = new Map<string, Outcome>();
  // A test that panics ends its process: the tests after it run in another.
  for (let left = tests; left.length > 0;) {
    const found = await runTests(program, left, { report, environment });
    for (const [test, outcome] of found) outcomes.set(test, outcome);
    const missing = left.filter((test) => found.get(test) === 'missing');
    if (missing.length === left.length) break;
    left = missing;
  }
  for (const [test, outcome] of outcomes) console.log(`${outcome} ${name} ${test}`);
  console.log(`The output is in ${report}, that of servers in ${logs}.`);
  return compare(outcomes, known);
}

/** The tests of kubectl, with `--run` those of the names that it has with commas between. */
async function runKubectlTests(_name: string, { directory, etcd, server, pattern }: RunOptions): Promise<Verdict> {
  const absent = findMissing();
  if (absent !== false) throw new Error(`Kubernetes' tests of kubectl need ${absent} on PATH`);
  const logs = path.join(directory, 'logs');
  const outcomes = await runCommandTests({
    kubernetes: path.join(directory, 'kubernetes'), driver: path.join(ours, 'cmd/driver.sh'), logs, etcd, server, tests: pattern?.split(',') ?? [],
  });
  for (const [test, outcome] of outcomes) console.log(`${outcome} cmd ${test}`);
  console.log(`The output and the logs of the programs are in ${logs}.`);
  return compare(outcomes, readLedger(path.join(ours, 'ledger.json'))['cmd']);
}

const { values, positionals } = parseArgs({ allowPositionals: true,
  options: { run: { type: 'string' }, server: { type: 'string' }, build: { type: 'boolean' } } });
const missing = noGo || noEtcd;
if (missing !== false || positionals.length === 0) {
  console.error(missing === false ? 'Which packages? For example: npm run upstream -- apiserver/apply' : `Kubernetes' tests need it: ${missing}.`);
  process.exit(2);
}
const directory = upstreamDirectory;
const mark = prepare(directory, path.join(ours, 'go'));
if (values.build === true) {
  for (const name of positionals) build(directory, name, mark);
  process.exit(0);
}
const cluster = await startCluster();
let surprises = 0;
try {
  for (const name of positionals) {
    const verdict = await (name === 'cmd' ? runKubectlTests : runPackage)(name, {
      directory, mark, etcd: cluster.endpoints[0] as string, server: values.server ?? ownServer, pattern: values.run,
    });
    surprises += verdict.surprises.length;
    for (const surprise of verdict.surprises) console.log(`surprise: ${name} ${surprise}`);
    console.log(`${name}: ${verdict.passed} of the ${verdict.expected} tests that pass on kube-apiserver`);
  }
} finally {
  await cluster.stop();
}
process.exitCode = surprises > 0 ? 1 : 0;
