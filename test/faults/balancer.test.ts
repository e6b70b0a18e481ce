// Servers behind a balancer of TCP connections: writers, readers, kubectl and informers go on while servers are killed and replaced under
// load. What they did and saw is held against the store's own log, guarantee by guarantee (history.ts).
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api, KubeConfig, type V1ConfigMap, makeInformer } from '@kubernetes/client-node';
import { noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { type TestServer, createTestClient, eventually, startTestServer } from '../../src/test-support/index.ts';
import { type Program, buildInformer, startProgram } from '../clients/program.ts';
import { readTruth } from './history.ts';
import { Load, path, readMarks } from './load.ts';
import { type Balancer, type Replica, startBalancer, startReplica } from './replica.ts';
import { type SharedStore, flagsOf, sharedStores } from './shared-store.ts';

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const token = 'admin-token';
const calmMs = 1_200;
/** Errors that clients may meet while a server stops; they repeat the request. */
const allowedFailures: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'socket hang up', '429', '503', '504']);

/** The servers of one store, and the balancer before them. */
class Fleet {
  readonly store: SharedStore;
  readonly balancer: Balancer;
  readonly url: string;
  readonly directory = mkdtempSync(join(tmpdir(), 'pintle-balancer-'));
  readonly #replicas: Replica[] = [];

  constructor(store: SharedStore, balancer: Balancer) {
    this.store = store;
    this.balancer = balancer;
    this.url = `https://127.0.0.1:${balancer.port}`;
    writeFileSync(join(this.directory, 'tokens.csv'), `${token},admin,admin-uid,"system:masters"\n`, { mode: 0o600 });
  }

  async add(): Promise<Replica> {
    const replica = await startReplica([...flagsOf(this.store.optionsAt(this.store.port)), '--cert-dir', join(this.directory, 'pki'),
      '--data-dir', join(this.directory, `data-${this.#replicas.length}`), '--token-auth-file', join(this.directory, 'tokens.csv')]);
    this.#replicas.push(replica);
    this.balancer.targets.add(replica.port);
    return replica;
  }

  /** Ends one as `end` says, at the latest then out of the balancer, and starts another one. */
  async replace(victim: Replica, end: () => Promise<unknown>): Promise<Replica> {
    await end();
    this.balancer.targets.delete(victim.port);
    await sleep(calmMs);
    return this.add();
  }

  get kubeconfig(): string {
    const cluster = { server: this.url, 'insecure-skip-tls-verify': true };
    return JSON.stringify({
      apiVersion: 'v1', kind: 'Config', 'current-context': 'c', clusters: [{ name: 'c', cluster }], users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.kill()));
    this.balancer.close();
    await this.store.stop();
    rmSync(this.directory, { recursive: true });
  }
}

/** `kubectl get` again and again; what it says when it fails. */
async function runKubectl(fleet: Fleet, isOver: () => boolean): Promise<{ readonly good: number; readonly bad: readonly string[] }> {
  const bad: string[] = [];
  let good = 0;
  const args = ['--server', fleet.url, '--token', token, '--insecure-skip-tls-verify', 'get', 'configmaps', '-o', 'name'];
  while (!isOver() && hasKubectl) {
    const error = await new Promise<string | undefined>((resolve) => {
      execFile('kubectl', args, { maxBuffer: 1 << 26 }, (failure, _output, stderr) => resolve(failure === null ? undefined : stderr));
    });
    if (error === undefined) good += 1;
    else bad.push(error);
    await sleep(150);
  }
  return { good, bad };
}

/** An informer in this process that is started again whenever it fails, and the versions of each object that it reported. */
function runNodeInformer(context: TestContext, fleet: Fleet): { readonly read: () => Record<string, string>; readonly seen: ReadonlyMap<string, number[]> } {
  const config = new KubeConfig();
  config.loadFromString(fleet.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const informer = makeInformer<V1ConfigMap>(config, path, () => core.listNamespacedConfigMap({ namespace: 'default' }));
  const seen = new Map<string, number[]>();
  let stopped = false;
  const start = (): void => void informer.start().catch(restart);
  const restart = (): void => void (stopped || setTimeout(start, 50));
  const note = ({ metadata }: V1ConfigMap): void => {
    const versions = seen.get(metadata?.name ?? '') ?? [];
    seen.set(metadata?.name ?? '', [...versions, Number(metadata?.resourceVersion)]);
  };
  informer.on('error', restart);
  informer.on('add', note);
  informer.on('update', note);
  start();
  context.after(() => {
    stopped = true;
    return informer.stop();
  });
  return { seen, read: () => Object.fromEntries(informer.list().map(({ metadata }) => [metadata?.name ?? '', metadata?.resourceVersion ?? ''])) };
}

/** client-go's informer, where `go` can build it. */
async function startGoInformer(context: TestContext, fleet: Fleet): Promise<Program | undefined> {
  const command = join(fleet.directory, 'informer');
  const missing = buildInformer(command);
  if (missing !== undefined) return void context.diagnostic(`no client-go: ${missing}`);
  const program = startProgram(context, { command, args: [], kubeconfig: fleet.kubeconfig });
  await program.until((answer) => answer['synced']);
  return program;
}

async function listObjects(url: string): Promise<{ readonly revision: string; readonly versions: Record<string, string> }> {
  const client = createTestClient(url, token);
  const { body } = await client.request({ path });
  client.close();
  const versions = Object.fromEntries(body.items.map(({ metadata }: any) => [metadata.name, metadata.resourceVersion]));
  return { revision: body.metadata.resourceVersion, versions };
}

for (const sort of sharedStores) describe(`servers behind a balancer, on ${sort.name}`, { skip: sort.skip, timeout: 400_000 }, () => {
  test('no acknowledged write is lost, no list is stale, no event is lost, doubled or out of order, revisions never go back: two killed, one stopped, all replaced', async (context) => {
    const fleet = new Fleet(await sort.start(), await startBalancer());
    context.after(() => fleet.close());
    const [first, second] = [await fleet.add(), await fleet.add()];
    await eventually(async () => assert.ok('kube-root-ca.crt' in (await listObjects(fleet.url)).versions));
    const go = await startGoInformer(context, fleet);
    const node = runNodeInformer(context, fleet);
    const load = new Load(fleet.url);
    const endWatch = load.watch((await listObjects(fleet.url)).revision);
    load.start(4, 2);
    let isOver = false;
    const kubectl = runKubectl(fleet, () => isOver);
    await sleep(calmMs);
    const before = load.history.acknowledged;
    const third = await fleet.replace(first, first.kill);
    assert.ok(load.history.acknowledged > before + 20, 'work continues at the other one');
    await fleet.replace(second, second.kill);
    await fleet.replace(third, third.stop);
    await sleep(calmMs);
    isOver = true;
    await load.stop();
    const answers = await kubectl;
    const { versions } = await listObjects(fleet.url);
    await checkInformers(versions, { node, go });
    await checkHistory(fleet, load);
    await endWatch();
    for (const key of load.deleted) assert.ok(!((key.split('/').at(-1) ?? '') in versions), `no acknowledged write lost: ${key} was deleted`);
    const failures = [...load.failures].map(([what, count]) => `${count} ${what}`).join(', ');
    assert.ok([...load.failures.keys()].every((what) => allowedFailures.has(what)), failures);
    assert.ok(answers.bad.every((text) => /connection|EOF|reset|refused|handshake/i.test(text)), answers.bad.join('\n'));
    const { writes, reads } = load.history;
    const seen = `${writes.length} writes, ${reads.length} lists, ${load.log.received.length} events over ${load.watches} watches`;
    context.diagnostic(`${seen}; failed: ${failures}`);
    context.diagnostic(`kubectl ${answers.good} times good, ${answers.bad.length} times cut off`);
  });
});

/** Both end with the objects of a list; the one with visible events reports each version of an object once and in order. */
async function checkInformers(versions: Record<string, string>, { node, go }: {
  readonly node: ReturnType<typeof runNodeInformer>; readonly go: Program | undefined;
}): Promise<void> {
  await eventually(() => assert.deepEqual(node.read(), versions, 'the informer of client-node ends equal to a list'));
  for (const [name, seen] of node.seen) {
    assert.deepEqual(seen, [...new Set(seen)].sort((left, right) => left - right), `no event doubled or out of order: ${name} of client-node`);
  }
  if (go !== undefined) await eventually(async () => assert.deepEqual((await go.ask())['state'], versions, 'the informer of client-go ends equal to a list'));
}

async function checkHistory(fleet: Fleet, load: Load): Promise<void> {
  const store = await fleet.store.open();
  const truth = readMarks((await readTruth(store)).received);
  await store.close();
  await eventually(() => assert.equal(load.log.received.at(-1)?.kv.modRevision, truth.at(-1)?.kv.modRevision));
  load.history.check(truth);
}

describe('servers with authorities of their own on one etcd', { skip: noEtcd, timeout: 60_000 }, () => {
  test('publish kube-root-ca.crt once each, and still put right what is no authority', async () => {
    const cluster = await startCluster();
    const directory = mkdtempSync(join(tmpdir(), 'pintle-authorities-'));
    const rootCa = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt';
    const read = async (server: TestServer) => (await server.request({ path: rootCa })).body;
    /** A server that has published its own authority. */
    const open = async (name: string): Promise<TestServer> => {
      const server = await startTestServer({ certDir: join(directory, name), etcdServers: cluster.endpoints });
      const own = readFileSync(join(directory, name, 'ca.crt'), 'utf8');
      await eventually(async () => assert.equal((await read(server)).data?.['ca.crt'], own));
      return server;
    };
    const [one, other] = [await open('one'), await open('other')];
    try {
      const { metadata: { resourceVersion }, data } = await read(one);
      await sleep(1_000);
      assert.equal((await read(one)).metadata.resourceVersion, resourceVersion, 'no client writes any more');
      await one.request({ method: 'PATCH', path: rootCa, body: { data: { 'ca.crt': 'forged' } } });
      await eventually(async () => assert.match((await read(one)).data['ca.crt'], /^-----BEGIN CERTIFICATE-----/));
      await sleep(1_000);
      const mended = await read(one);
      assert.match(mended.data['ca.crt'], /^-----BEGIN CERTIFICATE-----/);
      await sleep(500);
      assert.equal((await read(one)).metadata.resourceVersion, mended.metadata.resourceVersion);
      assert.match(data['ca.crt'], /^-----BEGIN CERTIFICATE-----/);
    } finally {
      await Promise.all([one.close(), other.close()]);
      await cluster.stop();
      rmSync(directory, { recursive: true });
    }
  });
});
