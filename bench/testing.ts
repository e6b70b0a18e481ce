// What servers for tests cost: one for each test, forks of large states, resets. Processor time is the measure where other work disturbs the clock.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { type KubernetesObject, type TestServer, createTestServer } from '../src/testing/index.ts';

/** How much is measured. */
interface TestingScale {
  readonly objects: number;
  readonly definitions: number;
  readonly rounds: number;
  /** Tests of the suite, each with a server of its own. */
  readonly suite: number;
}

const FULL: TestingScale = { objects: 10_000, definitions: 50, rounds: 20, suite: 500 };

interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function measure(work: () => Promise<unknown>): Promise<Cost> {
  const [before, startMs] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}

/** The costs of several rounds in one line. */
function show(name: string, costs: readonly Cost[]): string {
  const of = (pick: (cost: Cost) => number): string => {
    const sorted = costs.map(pick).sort((a, b) => a - b);
    const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] as number).toFixed(1);
    return `${at(0)} least, ${at(0.5)} median`;
  };
  return `${name}: CPU ms ${of(({ cpuMs }) => cpuMs)}; wall ms ${of(({ wallMs }) => wallMs)}`;
}

async function repeat(rounds: number, work: () => Promise<unknown>): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round++) costs.push(await measure(work));
  return costs;
}

const configMap = (name: string): KubernetesObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text: 'x'.repeat(200) } });

function define(index: number): KubernetesObject {
  const properties = Object.fromEntries(Array.from({ length: 40 }, (_, field) => [`field${field}`, {
    type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer' } },
  }]));
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `kinds${index}.example.com` },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural: `kinds${index}`, kind: `Kind${index}` },
      versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
}

/** Measures; answers lines for people. */
export async function measureTesting(scale: TestingScale = FULL): Promise<string[]> {
  const { objects, definitions, rounds, suite } = scale;
  const first = await measure(async () => (await createTestServer()).close());
  const lines = [show('the first server of a process', [first])];
  const oneTest = async (write: boolean): Promise<void> => {
    const server = await createTestServer();
    if (write) await server.apply(configMap('a'));
    await server.close();
  };
  lines.push(show('a server, not used', await repeat(rounds, () => oneTest(false))), show('a server with a write', await repeat(rounds, () => oneTest(true))));
  const whole = await measure(() => repeat(suite, () => oneTest(true)));
  lines.push(`${suite} tests with a server and a write each: ${(whole.wallMs / 1000).toFixed(1)} s, CPU ${(whole.cpuMs / 1000).toFixed(1)} s`);
  const large = await createTestServer({ manifests: Array.from({ length: objects }, (_, index) => configMap(`c${index}`)) });
  lines.push(...await measureForks(`${objects} objects`, large, rounds));
  await large.close();
  const many = await createTestServer({ crds: Array.from({ length: definitions }, (_, index) => define(index)) });
  lines.push(...await measureForks(`${definitions} definitions`, many, rounds));
  await many.close();
  lines.push(await measureCheck(definitions * 2, objects / 10));
  return lines;
}

/** Every third manifest is a Deployment, one of a custom kind, a ConfigMap. */
function writeManifest(index: number, definitions: number): KubernetesObject {
  const metadata = { name: `m${index}`, namespace: 'shop', labels: { app: 'bench' } };
  if (index % 3 === 0) return { ...configMap(''), metadata };
  if (index % 3 === 1) {
    return { apiVersion: 'example.com/v1', kind: `Kind${index % definitions}`, metadata, spec: { field1: { text: 'a', count: index } } };
  }
  const labels = { app: `m${index}` };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 2, selector: { matchLabels: labels }, template: {
    metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry.example.com/app:1', ports: [{ containerPort: 80 }],
      resources: { requests: { cpu: '100m', memory: '64Mi' } }, env: [{ name: 'A', value: 'b' }] }] } } } };
}

/** `pintle check` as a program, from its start to its end. */
async function measureCheck(definitions: number, manifests: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-bench-'));
  try {
    const write = (name: string, objects: readonly KubernetesObject[]): void =>
      writeFileSync(join(folder, name), objects.map((object) => stringify(object)).join('---\n'));
    for (let index = 0; index < definitions; index++) write(`definition-${index}.yaml`, [define(index)]);
    for (let from = 0; from < manifests; from += 10) {
      write(`manifests-${from}.yaml`, Array.from({ length: 10 }, (_, index) => writeManifest(from + index, definitions)));
    }
    const program = fileURLToPath(new URL('../bin/pintle.js', import.meta.url));
    const startMs = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'check', folder], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${stdout}${stderr}`.slice(0, 2000));
    return `pintle check of ${manifests} manifests and ${definitions} definitions: ${((performance.now() - startMs) / 1000).toFixed(1)} s; ${stdout.trim()}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureForks(what: string, server: TestServer, rounds: number): Promise<string[]> {
  const forks: TestServer[] = [];
  await (await server.fork()).close();
  const before = process.memoryUsage();
  const costs = await repeat(rounds, async () => forks.push(await server.fork()));
  const after = process.memoryUsage();
  const snapshot = server.snapshot();
  await server.apply(configMap('late'));
  const reset = await measure(() => server.reset(snapshot));
  for (const fork of forks) await fork.close();
  const megabytes = (after.heapUsed + after.external - before.heapUsed - before.external) / rounds / 2 ** 20;
  return [
    show(`a fork with ${what}`, costs), `memory of a fork with ${what}: ${megabytes.toFixed(2)} MiB, garbage included`, show(`a reset with ${what}`, [reset]),
  ];
}
