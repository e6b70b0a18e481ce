// `npm run hollow`: many nodes without containers around this server, and around kube-apiserver where `--apiserver` names it. The nodes are kubelets of
// Kubernetes' kubemark, whose containers and images are pretended; server, kube-controller-manager and kube-scheduler are the real ones. Deployments
// fill the nodes with pods of one namespace and are rolled out once more; a watch from the start is compared with what is there at the end.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readCpuMs, readMemoryMb } from '../../bench/load/target.ts';
import { type ControlPlane, findObstacle, findProgram, nodeFolders, startControlPlane } from './cluster.ts';
import type { Reference } from './reference.ts';

const USAGE = 'usage: npm run hollow -- [--nodes N] [--pods N] [--rest SECONDS] [--apiserver KUBE-APISERVER --etcd ETCD]\n';
const PROGRAMS = { programs: ['kube-controller-manager', 'kube-scheduler', 'kubemark'], system: ['ip', 'nsenter', 'kubectl'], plugins: false };
const NAMESPACE = 'hollow';
const DEPLOYMENTS = 10;
const FIRST_PORT = 11_000;
/** Kubelets that start at a time, and the pause after them: each computes, reads and writes much at first. */
const STARTING = 10;
const PAUSE_MS = 8_000;
/** Kubelets that may be on their way: a node is ready half a minute after its start, whatever the server does. */
const JOINING = 40;
const STAGE_MS = 1_800_000;
const AGAIN_MS = 1_000;
const GONE = 410;
/**
 * Kubelets stand for machines of their own: they may not take the processor from the server, whose one thread is outweighed by a hundred of theirs. Where
 * the kernel shares the processor among sessions, which each of them is, the session must be nice as well.
 */
const NICENESS = '19';
/** With the defaults of kube-controller-manager, 20 requests a second, it would be the limit that is measured. */
const CONTROLLER_FLAGS = ['--kube-api-qps=300', '--kube-api-burst=600'];

interface Size {
  readonly nodes: number;
  readonly pods: number;
  readonly restSeconds: number;
}

/** What a part of the run took of the server, and of time. */
interface Stage {
  readonly name: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase?: string };
}

/** The pods of the namespace. */
interface PodList {
  readonly items: readonly Pod[];
  readonly metadata: { readonly resourceVersion: string };
}

/** The pods that a watch has shown; one that ends is continued where it was, and begins with a list where the server has forgotten that state. */
class Observed {
  readonly pods = new Map<string, Pod>();
  readonly #cluster: ControlPlane;
  readonly #list: () => PodList;
  #resourceVersion!: string;
  #child!: ChildProcess;
  #events = 0;
  #lists = 0;
  #isStopped = false;
  #error: string | undefined;

  constructor(cluster: ControlPlane, list: () => PodList) {
    this.#cluster = cluster;
    this.#list = list;
    this.#begin();
  }

  #begin(): void {
    if (this.#isStopped) return;
    let list: PodList;
    try {
      list = this.#list();
    } catch {
      // A server that is busy may cut a long list off.
      void setTimeout(AGAIN_MS).then(() => this.#begin());
      return;
    }
    const { items, metadata } = list;
    this.#lists++;
    this.pods.clear();
    for (const pod of items) this.pods.set(pod.metadata.uid, pod);
    this.#resourceVersion = metadata.resourceVersion;
    this.#watch();
  }

  #watch(): void {
    const { namespace, kubeconfig } = this.#cluster;
    const path = `/api/v1/namespaces/${NAMESPACE}/pods?watch=1&allowWatchBookmarks=true&resourceVersion=${this.#resourceVersion}`;
    const command = [`--net=/run/netns/${namespace}`, 'kubectl', '--kubeconfig', kubeconfig, 'get', '--raw', path];
    this.#child = spawn('nsenter', command, { stdio: ['ignore', 'pipe', 'ignore'] });
    let isExpired = false;
    createInterface(this.#child.stdout!).on('line', (line) => {
      isExpired = this.#take(line) || isExpired;
    }).on('close', () => {
      if (this.#isStopped || this.#error !== undefined) return;
      if (isExpired) this.#begin();
      else this.#watch();
    });
  }

  /** Whether the line says that the state the watch began at is forgotten. */
  #take(line: string): boolean {
    const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Pod & { readonly code?: number } };
    if (type === 'ERROR') {
      if (object.code !== GONE) this.#error = line;
      return object.code === GONE;
    }
    this.#resourceVersion = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') return false;
    this.#events++;
    if (type === 'DELETED') this.pods.delete(object.metadata.uid);
    else this.pods.set(object.metadata.uid, object);
    return false;
  }

  get events(): number {
    return this.#events;
  }

  /** Lists that the watch has begun with, the first one among them. */
  get lists(): number {
    return this.#lists;
  }

  /** The event of an error that ended the watch. */
  get error(): string | undefined {
    return this.#error;
  }

  stop(): void {
    this.#isStopped = true;
    this.#child.kill();
  }
}

const deployment = (index: number, replicas: number): object => ({
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: `app-${index}`, namespace: NAMESPACE }, spec: {
    replicas, selector: { matchLabels: { app: `app-${index}` } }, template: { metadata: { labels: { app: `app-${index}` } }, spec: {
      terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10', resources: { requests: { cpu: '1m' } } }],
    } },
  },
});

/** One server under the load of its nodes. */
class Run {
  readonly stages: Stage[] = [];
  readonly #cluster: ControlPlane;
  readonly #size: Size;

  constructor(cluster: ControlPlane, size: Size) {
    this.#cluster = cluster;
    this.#size = size;
  }

  async #measure(name: string, work: () => Promise<void>): Promise<void> {
    const [startedMs, cpuMs] = [performance.now(), this.#readCpuMs()];
    await work();
    const stage = { name, seconds: (performance.now() - startedMs) / 1000, cpuSeconds: (this.#readCpuMs() - cpuMs) / 1000 };
    this.stages.push(stage);
    process.stdout.write(`  ${name}: ${stage.seconds.toFixed(0)} s, server CPU ${stage.cpuSeconds.toFixed(1)} s\n`);
  }

  #readCpuMs(): number {
    return readCpuMs({ pids: this.#cluster.serverPids });
  }

  /** Asks until the answer is yes; a call that fails is an answer that has not come yet. */
  async #until(what: string, ask: () => boolean): Promise<void> {
    let reason = '';
    for (const endMs = performance.now() + STAGE_MS; performance.now() < endMs; await setTimeout(AGAIN_MS)) {
      try {
        if (ask()) return;
        reason = '';
      } catch (error) {
        reason = ` (${(error as Error).message})`;
      }
    }
    throw new Error(`${what}: not within ${STAGE_MS / 60_000} minutes${reason}; the logs are in ${this.#cluster.work}`);
  }

  #countReady(): number {
    return this.#cluster.kubectl('get', 'nodes', '--no-headers').split('\n').filter((line) => / Ready /.test(line)).length;
  }

  async #startNodes(): Promise<void> {
    const { work, bootstrapKubeconfig } = this.#cluster;
    const kubemark = findProgram('kubemark', nodeFolders()) as string;
    for (let index = 0; index < this.#size.nodes; index++) {
      const name = `hollow-${index}`;
      const own = join(work, name);
      mkdirSync(own);
      const kubelet = this.#cluster.run(name, 'nice', ['-n', NICENESS, 'env', `TMPDIR=${own}`, kubemark, '--morph=kubelet', `--name=${name}`,
        `--kubeconfig=${own}/kubeconfig`, `--bootstrap-kubeconfig=${bootstrapKubeconfig}`, `--cert-dir=${own}`, `--kubelet-port=${FIRST_PORT + index}`,
        '--kubelet-read-only-port=0', '--use-host-image-service=false']);
      const session = `/proc/${kubelet.pid}/autogroup`;
      if (existsSync(session)) writeFileSync(session, NICENESS);
      if ((index + 1) % STARTING !== 0) continue;
      await setTimeout(PAUSE_MS);
      await this.#until('the nodes', () => this.#countReady() > index - JOINING);
    }
    await this.#until('the nodes', () => this.#countReady() === this.#size.nodes);
  }

  #hasRolledOut(): boolean {
    const fields = ['spec.replicas', 'status.replicas', 'status.updatedReplicas', 'status.readyReplicas', 'status.observedGeneration', 'metadata.generation'];
    const columns = fields.map((field) => `{.${field}} `).join('');
    const text = this.#cluster.kubectl('get', 'deployments', '-n', NAMESPACE, '-o', `jsonpath={range .items[*]}${columns}{"\\n"}{end}`);
    const lines = text.split('\n').filter((line) => line !== '').map((line) => line.split(' ').map(Number));
    return lines.length === DEPLOYMENTS && lines.every(([wanted, all, updated, ready, seen, generation]) =>
      all === wanted && updated === wanted && ready === wanted && seen === generation);
  }

  #listPods(): PodList {
    return JSON.parse(this.#cluster.kubectl('get', '--raw', `/api/v1/namespaces/${NAMESPACE}/pods`));
  }

  /** Pods that the watch, the list or the node has otherwise than it should. */
  #findLosses(observed: Observed): string[] {
    const { items } = this.#listPods();
    const listed = new Map(items.map((pod) => [pod.metadata.uid, pod]));
    return [
      ...(observed.error === undefined ? [] : [observed.error]),
      ...(items.length === this.#size.pods ? [] : [`${items.length} pods`]),
      ...items.filter(({ spec, status }) => spec.nodeName === undefined || status.phase !== 'Running').map(({ metadata }) => `${metadata.name} does not run`),
      ...items.filter(({ metadata }) => observed.pods.get(metadata.uid)?.metadata.resourceVersion !== metadata.resourceVersion)
        .map(({ metadata }) => `the watch has another ${metadata.name}`),
      ...[...observed.pods.values()].filter(({ metadata }) => !listed.has(metadata.uid)).map(({ metadata }) => `the watch still has ${metadata.name}`),
    ];
  }

  /** Resolves with what was lost. */
  async run(): Promise<readonly string[]> {
    const { nodes, pods, restSeconds } = this.#size;
    await this.#measure(`${nodes} nodes join`, () => this.#startNodes());
    this.#cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }]);
    const observed = new Observed(this.#cluster, () => this.#listPods());
    try {
      await this.#measure(`${pods} pods run`, async () => {
        this.#cluster.apply(Array.from({ length: DEPLOYMENTS }, (_, index) => deployment(index, pods / DEPLOYMENTS)));
        await this.#until('the deployments', () => this.#hasRolledOut());
      });
      await this.#measure('all are rolled out again', async () => {
        this.#cluster.kubectl('rollout', 'restart', 'deployment', '-n', NAMESPACE);
        await this.#until('the deployments', () => this.#hasRolledOut());
        await this.#until('the end of old pods', () => observed.error !== undefined || observed.pods.size === pods);
      });
      await this.#measure(`${restSeconds} s of rest`, () => setTimeout(restSeconds * 1000));
      // The last events may still be under way.
      await this.#until('the watch', () => observed.error !== undefined || this.#findLosses(observed).length === 0);
      const { nowMb } = readMemoryMb({ pids: this.#cluster.serverPids });
      process.stdout.write(`  ${observed.events} events seen, ${observed.lists} lists before them, server memory ${nowMb.toFixed(0)} MB\n`);
      return this.#findLosses(observed);
    } finally {
      observed.stop();
    }
  }
}

/** The folders that kubelets have made beside their own: their log is the only place that names them. */
const findFolders = ({ work }: ControlPlane): string[] => readdirSync(work).filter((name) => /^hollow-\d+\.log$/.test(name)).flatMap((name) =>
  /Using (\/\S+\/hollow-kubelet\.\d+) as root dir/.exec(readFileSync(join(work, name), 'utf8'))?.[1] ?? []);

async function measure(reference: Reference | undefined, size: Size): Promise<readonly Stage[] | undefined> {
  process.stdout.write(`${reference === undefined ? 'Pintle' : 'kube-apiserver and etcd'}\n`);
  const cluster = await startControlPlane({ controllerFlags: CONTROLLER_FLAGS, ...(reference !== undefined && { reference }) });
  try {
    const run = new Run(cluster, size);
    const losses = await run.run();
    for (const loss of losses.slice(0, 20)) process.stdout.write(`  LOST: ${loss}\n`);
    process.stdout.write(`  ${losses.length === 0 ? 'nothing lost' : `${losses.length} differences`}\n`);
    return losses.length === 0 ? run.stages : undefined;
  } finally {
    const folders = findFolders(cluster);
    await cluster.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: {
    nodes: { type: 'string', default: '100' }, pods: { type: 'string', default: '3000' }, rest: { type: 'string', default: '60' },
    apiserver: { type: 'string' }, etcd: { type: 'string' },
  } });
  const size = { nodes: Number(values.nodes), pods: Number(values.pods), restSeconds: Number(values.rest) };
  const obstacle = findObstacle(PROGRAMS) ?? (size.pods % DEPLOYMENTS === 0 ? undefined : `--pods is a multiple of ${DEPLOYMENTS}`);
  if (obstacle !== undefined || (values.apiserver === undefined) !== (values.etcd === undefined)) {
    process.stderr.write(`${obstacle ?? '--apiserver and --etcd want each other'}\n${USAGE}`);
    process.exitCode = 1;
    return;
  }
  const reference = values.apiserver === undefined ? undefined : { apiserver: values.apiserver, etcd: values.etcd as string };
  const theirs = reference && await measure(reference, size);
  const ours = await measure(undefined, size);
  if (theirs && ours) {
    for (const [index, { name, cpuSeconds }] of ours.entries()) {
      process.stdout.write(`${name}: server CPU, ours ÷ theirs ${(cpuSeconds / (theirs[index] as Stage).cpuSeconds).toFixed(2)}\n`);
    }
  }
  process.exitCode = ours === undefined || (reference !== undefined && theirs === undefined) ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
