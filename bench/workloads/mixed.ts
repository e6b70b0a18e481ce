// A cluster at work: nodes that renew their leases and report their status, pods that are made, bound, reported on and deleted, and the watches of
// kubelets and controllers that follow all of it. What each request takes, and what the server burns for all of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, Connection } from '../load/connection.ts';
import { makeRow, quantile, round, type Row, type Scale } from '../load/measure.ts';
import { WatchSession } from '../load/streams.ts';
import { type Target, readCpuMs } from '../load/target.ts';
import { groundwork, namespace, written } from '../load/written-objects.ts';

const watchersOfNode = 5;
const controllers = 20;
const heartbeatMs = 10_000;
/** As many as a node of a hundred gets in ten minutes, in the time of a minute. */
const podsOfNodeAMinute = 30;
const statusPatches = 3;

const [pods, , nodes, leases] = written as [typeof written[0], typeof written[0], typeof written[0], typeof written[0]];
const followed = [pods.collection, nodes.collection, leases.collection, `/api/v1/namespaces/${namespace}/configmaps`,
  `/api/v1/namespaces/${namespace}/services`, `/apis/apps/v1/namespaces/${namespace}/deployments`];
const watchOf = (path: string, selector = ''): string =>
  `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=3600${selector}`;

/** One node's share of the load, on a connection of its own. */
class HollowNode {
  readonly name: string;
  readonly #connection: Connection;
  readonly #latencies: Map<string, number[]>;
  #leaseVersion = '';
  #beats = 0;

  constructor(target: Target, name: string, latencies: Map<string, number[]>) {
    this.name = name;
    this.#connection = new Connection(target);
    this.#latencies = latencies;
  }

  async join(): Promise<void> {
    await this.#send('join', post(nodes.collection, nodes.make(this.name, '0')));
    this.#leaseVersion = await this.#send('join', post(leases.collection, leases.make(this.name, '0')));
  }

  async beat(): Promise<void> {
    const count = String(this.#beats += 1);
    const lease = leases.make(this.name, count);
    Object.assign(lease['metadata'] as object, { resourceVersion: this.#leaseVersion });
    this.#leaseVersion = await this.#send('lease', { method: 'PUT', path: `${leases.collection}/${this.name}`, body: JSON.stringify(lease) });
    await this.#send('nodeStatus', patchStatus(`${nodes.collection}/${this.name}`, nodes.status?.(count)));
  }

  /** The whole life of a pod. */
  async runPod(name: string): Promise<void> {
    const path = `${pods.collection}/${name}`;
    await this.#send('create', post(pods.collection, pods.make(name, '0')));
    await this.#send('bind', post(`${path}/binding`, {
      apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { apiVersion: 'v1', kind: 'Node', name: this.name },
    }));
    for (let count = 1; count <= statusPatches; count += 1) await this.#send('podStatus', patchStatus(path, pods.status?.(String(count))));
    await this.#send('delete', { method: 'DELETE', path: `${path}?gracePeriodSeconds=0` });
  }

  close(): void {
    this.#connection.close();
  }

  /** Answers the version of the object that came back. */
  async #send(name: string, call: Call): Promise<string> {
    const { status, totalMs, body } = await this.#connection.send({ ...call, keep: true });
    if (status < 200 || status > 299) throw new Error(`mixed: ${call.method} ${call.path} was answered with ${status}: ${body?.toString()}`);
    this.#latencies.get(name)?.push(totalMs);
    return /"resourceVersion":"(\d+)"/.exec(body?.toString('latin1') ?? '')?.[1] ?? '';
  }
}

const post = (path: string, object: object): Call => ({ method: 'POST', path, body: JSON.stringify(object) });
const patchStatus = (path: string, status: object | undefined): Call => ({
  method: 'PATCH', path: `${path}/status`, contentType: 'application/strategic-merge-patch+json', body: JSON.stringify({ status }),
});

/** A node for every five watchers of the scale. Runs of a minute and more have the rates of a real cluster of that size. */
export async function measureMixed(target: Target, scale: Scale): Promise<Row[]> {
  const setup = new Connection(target);
  for (const call of groundwork) await setup.send(call);
  setup.close();
  const run = Math.round(performance.timeOrigin + performance.now()).toString(36);
  const latencies = new Map(['lease', 'nodeStatus', 'create', 'bind', 'podStatus', 'delete'].map((name) => [name, []]));
  const members = Array.from({ length: Math.ceil(scale.watchers / watchersOfNode) }, (_, index) => new HollowNode(target, `${run}-${index}`, latencies));
  for (const member of members) await member.join();
  const counter = await openWatches(target, members);
  try {
    const cpuMs = readCpuMs(target);
    const startedMs = performance.now();
    const span = { startedMs, endMs: startedMs + scale.seconds * 1000 };
    await Promise.all(members.map((member, index) => work(member, index / members.length, span)));
    const elapsedMs = performance.now() - startedMs;
    const usedMs = readCpuMs(target) - cpuMs;
    const extra = Object.fromEntries([...latencies].flatMap(([name, times]) =>
      [[`${name}P50Ms`, quantile(times, 0.5)], [`${name}P99Ms`, quantile(times, 0.99)]]));
    return [makeRow(target, {
      workload: `mixed: ${members.length} nodes, ${counter.watches} watches`, latencies: [...latencies.values()].flat(), elapsedMs, usedMs,
      extra: { ...extra, watchedMb: Math.round(counter.bytes / 1e6), watchesEnded: counter.ended, cpuShare: round(usedMs / elapsedMs) },
    })];
  } finally {
    counter.close();
    for (const member of members) member.close();
  }
}

/** What watches have brought so far; a server may end those that do not keep up. */
interface WatchCounter {
  bytes: number;
  watches: number;
  ended: number;
  readonly close: () => void;
}

/** The watches of every kubelet, on a connection each, and those of controllers. */
async function openWatches(target: Target, members: readonly HollowNode[]): Promise<WatchCounter> {
  const counter = { bytes: 0, watches: 0, ended: 0, close: () => sessions.forEach((session) => session.close()) };
  const sessions: WatchSession[] = [];
  const follow = async (paths: readonly string[]): Promise<void> => {
    const session = new WatchSession(target);
    sessions.push(session);
    for (const path of paths) {
      const stream = await session.open(path);
      stream.on('data', (chunk: Buffer) => void (counter.bytes += chunk.length)).on('end', () => void (counter.ended += 1));
    }
    counter.watches += paths.length;
  };
  for (const { name } of members) {
    await follow([
      watchOf('/api/v1/pods', `&fieldSelector=spec.nodeName%3D${name}`), watchOf('/api/v1/nodes', `&fieldSelector=metadata.name%3D${name}`),
      watchOf('/api/v1/services'), watchOf('/apis/node.k8s.io/v1/runtimeclasses'), watchOf('/apis/storage.k8s.io/v1/csidrivers'),
    ]);
  }
  for (let index = 0; index < controllers; index += 1) await follow(followed.map((path) => watchOf(path)));
  return counter;
}

/** When a load begins and ends. */
interface Span {
  readonly startedMs: number;
  readonly endMs: number;
}

/** Heartbeats and pods from the node's own moment on, `share` of the time between two; the requests of a node come one after the other. */
async function work(member: HollowNode, share: number, { startedMs, endMs }: Span): Promise<void> {
  const podMs = 60_000 / podsOfNodeAMinute;
  let [nextBeatMs, nextPodMs, pod] = [Math.min(startedMs + share * heartbeatMs, endMs - 1), startedMs + share * podMs, 0];
  while (Math.min(nextBeatMs, nextPodMs) < endMs) {
    const isBeat = nextBeatMs <= nextPodMs;
    await sleep(Math.max(0, (isBeat ? nextBeatMs : nextPodMs) - performance.now()));
    if (isBeat) {
      await member.beat();
      nextBeatMs += heartbeatMs;
    } else {
      await member.runPod(`${member.name}-${pod}`);
      pod += 1;
      nextPodMs += podMs;
    }
  }
}
