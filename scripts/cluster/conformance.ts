// `npm run conformance`: Kubernetes' end-to-end tests against a cluster of one real node around this server, or around kube-apiserver. Their program
// (e2e.test) and ginkgo are in the folders of PINTLE_NODE_BIN, beside agnhost and the programs of the node.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Cluster, findObstacle, findProgram, nodeFolders, startCluster } from './cluster.ts';

const USAGE = `usage: npm run conformance -- [--focus REGEXP] [--skip REGEXP] [--procs N] [--report FILE] [--apiserver KUBE-APISERVER --etcd ETCD]
`;
/** Labels of tests that want the cluster for themselves. */
const SERIAL = '(Serial || Disruptive)';

/** A test that was run: its name, and what it ended with. */
interface Spec {
  readonly name: string;
  readonly state: string;
  readonly seconds: number;
  readonly message?: string;
}

/** What ginkgo writes about a test, as far as it is read here. */
interface GinkgoSpec {
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly State: string;
  /** Nanoseconds. */
  readonly RunTime: number;
  readonly Failure?: { readonly Message: string };
}

function readSpecs(file: string): Spec[] {
  const suites = JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly SpecReports: readonly GinkgoSpec[] }[];
  const ran = suites.flatMap(({ SpecReports }) => SpecReports).filter(({ LeafNodeType, State }) =>
    LeafNodeType === 'It' ? State !== 'skipped' && State !== 'pending' : State === 'failed');
  return ran.map((spec) => ({
    name: [...spec.ContainerHierarchyTexts ?? [], spec.LeafNodeText].filter((text) => text !== '').join(' ') || spec.LeafNodeType, state: spec.State,
    seconds: Math.round(spec.RunTime / 1e8) / 10, ...(spec.Failure && { message: spec.Failure.Message }),
  }));
}

interface Run {
  readonly focus: string;
  readonly skip: readonly string[];
  readonly labels: string;
  readonly procs: number;
}

async function runSpecs(cluster: Cluster, { focus, skip, labels, procs }: Run): Promise<Spec[]> {
  const work = mkdtempSync(join(tmpdir(), 'pintle-conformance-'));
  const [ginkgo, tests] = ['ginkgo', 'e2e.test'].map((name) => findProgram(name, nodeFolders()) as string) as [string, string];
  try {
    const args = [`--net=/run/netns/${cluster.namespace}`, ginkgo, `--procs=${procs}`, '--json-report=report.json', `--output-dir=${work}`, '--no-color',
      '--timeout=6h', `--focus=${focus}`, `--label-filter=${labels}`, ...skip.map((pattern) => `--skip=${pattern}`),
      tests, '--', `--kubeconfig=${cluster.kubeconfig}`,
      '--provider=skeleton', '--dump-logs-on-failure=false', '--num-nodes=1'];
    const child = spawn('nsenter', args, { stdio: ['ignore', 'inherit', 'inherit'] });
    await new Promise((resolve) => child.on('exit', resolve));
    return readSpecs(join(work, 'report.json'));
  } finally {
    rmSync(work, { recursive: true });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: {
    focus: { type: 'string', default: '\\[Conformance\\]' }, skip: { type: 'string' }, procs: { type: 'string', default: '2' }, report: { type: 'string' },
    apiserver: { type: 'string' }, etcd: { type: 'string' },
  } });
  const missing = ['ginkgo', 'e2e.test', 'agnhost'].filter((name) => findProgram(name, nodeFolders()) === undefined);
  const obstacle = findObstacle() ?? (missing.length === 0 ? undefined : `PINTLE_NODE_BIN has no ${missing.join(', ')}`);
  if (obstacle !== undefined || (values.apiserver === undefined) !== (values.etcd === undefined)) {
    process.stderr.write(`${obstacle ?? '--apiserver and --etcd want each other'}\n${USAGE}`);
    process.exitCode = 1;
    return;
  }
  const reference = values.apiserver === undefined ? {} : { reference: { apiserver: values.apiserver, etcd: values.etcd as string } };
  const cluster = await startCluster(reference);
  const skip = values.skip === undefined ? [] : [values.skip];
  try {
    const specs = [
      ...await runSpecs(cluster, { focus: values.focus, skip, labels: `!${SERIAL}`, procs: Number(values.procs) }),
      ...await runSpecs(cluster, { focus: values.focus, skip, labels: SERIAL, procs: 1 }),
    ];
    const failed = specs.filter(({ state }) => state !== 'passed');
    for (const { name, state, message } of failed) process.stdout.write(`${state}: ${name}\n  ${message?.split('\n')[0] ?? ''}\n`);
    process.stdout.write(`${specs.length} specs, ${specs.length - failed.length} passed, ${failed.length} failed\n`);
    if (values.report !== undefined) writeFileSync(values.report, `${specs.map((spec) => JSON.stringify(spec)).join('\n')}\n`);
    process.exitCode = failed.length === 0 ? 0 : 1;
  } finally {
    await cluster.stop();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
