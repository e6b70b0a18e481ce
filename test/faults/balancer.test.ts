// Servers behind a balancer of TCP connections: writers, kubectl and an informer go on while servers are killed and replaced under load.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EtcdCluster, noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { createTestClient, startTestServer } from '../../src/testing/index.ts';
import { type Balancer, type Replica, startBalancer, startReplica } from './replica.ts';

const path = '/api/v1/namespaces/load/configmaps';
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

interface Load {
  readonly url: string;
  /** Version by name of what was acknowledged; undefined where a repeated request found it done. */
  readonly acknowledged: Map<string, string | undefined>;
  readonly failures: Map<string, number>;
  stopped: boolean;
}

const isRetriable = (status: number): boolean => status === 429 || status === 503 || status === 504;
const note = ({ failures }: Load, what: string): void => void failures.set(what, (failures.get(what) ?? 0) + 1);

/** Creates one object after the other, each until it is there. */
async function writeAll(load: Load, writer: number): Promise<void> {
  const client = createTestClient(load.url, 'admin-token');
  for (let index = 0; !load.stopped; index += 1) {
    const name = `w${writer}-${index}`;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
    for (let tries = 0; !load.acknowledged.has(name); tries += 1) {
      const answer = await client.request({ method: 'POST', path, body }).catch((error: NodeJS.ErrnoException) => error);
      if (answer instanceof Error) note(load, answer.code ?? answer.message);
      else if (answer.status === 201) load.acknowledged.set(name, answer.body.metadata.resourceVersion);
      else if (answer.status === 409 && tries > 0) load.acknowledged.set(name, undefined);
      else if (isRetriable(answer.status)) note(load, String(answer.status));
      else throw new Error(`${name}: ${answer.status} ${answer.text}`);
      if (!load.acknowledged.has(name)) await sleep(20);
    }
  }
  client.close();
}

/** Lists once, and watches from there on, again and again from where it was. */
class Informer {
  readonly seen: { readonly type: string; readonly name: string; readonly version: string }[] = [];
  reconnects = 0;
  #stop = (): void => undefined;
  #stopped = false;

  async run(load: Load, from: string): Promise<void> {
    for (let version = from; !this.#stopped; version = this.seen.at(-1)?.version ?? version) {
      await this.#watch(load, version);
      this.reconnects += 1;
      await sleep(20);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#stop();
  }

  #watch(load: Load, version: string): Promise<void> {
    return new Promise((resolve) => {
      let rest = '';
      const url = `${load.url}${path}?watch=1&resourceVersion=${version}`;
      const request = requestHttps(url, { agent: false, rejectUnauthorized: false, headers: { authorization: 'Bearer admin-token' } }, (response) => {
        if (response.statusCode !== 200 && !isRetriable(response.statusCode ?? 0)) note(load, `watch: ${response.statusCode}`);
        response.setEncoding('utf8');
        response.on('error', () => undefined);
        response.on('data', (part: string) => {
          const lines = (rest + part).split('\n');
          rest = lines.pop() ?? '';
          if (response.statusCode === 200) for (const line of lines) this.#take(JSON.parse(line));
        });
        response.on('close', resolve);
      });
      this.#stop = () => request.destroy();
      request.on('error', () => resolve());
      request.end();
    });
  }

  #take({ type, object }: { type: string; object: any }): void {
    assert.ok(type === 'ADDED', `${type} ${JSON.stringify(object)}`);
    this.seen.push({ type, name: object.metadata.name, version: object.metadata.resourceVersion });
  }
}

/** `kubectl get` again and again; what it says when it fails. */
async function runKubectl(load: Load): Promise<{ readonly good: number; readonly bad: readonly string[] }> {
  const bad: string[] = [];
  let good = 0;
  const args = ['--server', load.url, '--token', 'admin-token', '--insecure-skip-tls-verify', '-n', 'load', 'get', 'configmaps', '-o', 'name'];
  while (!load.stopped && hasKubectl) {
    const error = await new Promise<string | undefined>((resolve) => {
      execFile('kubectl', args, { maxBuffer: 1 << 26 }, (failure, _output, stderr) => resolve(failure === null ? undefined : stderr));
    });
    if (error === undefined) good += 1;
    else bad.push(error);
    await sleep(150);
  }
  return { good, bad };
}

describe('servers behind a balancer', { skip: noEtcd, timeout: 120_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-balancer-'));
  let cluster: EtcdCluster;
  let balancer: Balancer;
  const replicas: Replica[] = [];

  before(async () => {
    cluster = await startCluster();
    balancer = await startBalancer();
    writeFileSync(join(directory, 'tokens.csv'), 'admin-token,admin,admin-uid,"system:masters"\n', { mode: 0o600 });
  });
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    balancer.close();
    await cluster.stop();
    rmSync(directory, { recursive: true });
  });

  const add = async (): Promise<Replica> => {
    const replica = await startReplica(['--etcd-servers', cluster.endpoints.join(','), '--cert-dir', join(directory, 'pki'),
      '--data-dir', join(directory, `data-${replicas.length}`), '--token-auth-file', join(directory, 'tokens.csv')]);
    replicas.push(replica);
    balancer.targets.add(replica.port);
    return replica;
  };

  test('no acknowledged write is lost and no event lost or doubled while both are killed under load and replaced, one after the other', async () => {
    const first = await add();
    const second = await add();
    const load: Load = { url: `https://127.0.0.1:${balancer.port}`, acknowledged: new Map(), failures: new Map(), stopped: false };
    const client = createTestClient(load.url, 'admin-token');
    assert.equal((await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'load' } } })).status, 201);
    let from = '';
    for (let isThere = false; !isThere; await sleep(20)) {
      const { body } = await client.request({ path });
      isThere = body.items.some((item: any) => item.metadata.name === 'kube-root-ca.crt');
      from = body.metadata.resourceVersion;
    }
    client.close();
    const informer = new Informer();
    const watching = informer.run(load, from);
    const working = Promise.all([0, 1, 2, 3].map((writer) => writeAll(load, writer)));
    const kubectl = runKubectl(load);
    for (const victim of [first, second]) {
      await sleep(1_500);
      const before = load.acknowledged.size;
      await victim.kill();
      balancer.targets.delete(victim.port);
      await sleep(1_000);
      assert.ok(load.acknowledged.size > before, 'work goes on at the other one');
      await add();
    }
    await sleep(1_500);
    load.stopped = true;
    await working;
    const told = await kubectl;
    const fresh = createTestClient(load.url, 'admin-token');
    const items: any[] = (await fresh.request({ path })).body.items.filter((item: any) => item.metadata.name !== 'kube-root-ca.crt');
    fresh.close();
    const stored = new Map(items.map(({ metadata }) => [metadata.name as string, metadata.resourceVersion as string]));
    for (let waited = 0; informer.seen.length < stored.size && waited < 5_000; waited += 20) await sleep(20);
    informer.stop();
    await watching;
    for (const [name, version] of load.acknowledged) assert.equal(stored.get(name), version ?? stored.get(name), `${name} was acknowledged`);
    assert.ok([...load.acknowledged.keys()].every((name) => stored.has(name)));
    const inOrder = [...stored].sort(([, a], [, b]) => Number(a) - Number(b));
    assert.deepEqual(informer.seen.map(({ name, version }) => [name, version]), inOrder, 'each event once and in order');
    const failures = [...load.failures].map(([what, count]) => `${count} ${what}`).join(', ');
    assert.ok([...load.failures.keys()].every((what) => ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', '429', '503', '504'].includes(what)), failures);
    assert.ok(told.bad.every((text) => /connection|EOF|reset|refused|handshake/i.test(text)), told.bad.join('\n'));
    console.log(`# ${stored.size} written, ${informer.reconnects} watches, kubectl ${told.good} good and ${told.bad.length} cut off; failed: ${failures}`);
  });
});

describe('servers with authorities of their own on one etcd', { skip: noEtcd, timeout: 60_000 }, () => {
  test('publish kube-root-ca.crt once each, and still put right what is no authority', async () => {
    const cluster = await startCluster();
    const directory = mkdtempSync(join(tmpdir(), 'pintle-authorities-'));
    const open = (name: string) => startTestServer({ certDir: join(directory, name), etcdServers: cluster.endpoints });
    const [one, other] = [await open('one'), await open('other')];
    const rootCa = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt';
    const read = async () => (await one.request({ path: rootCa })).body;
    try {
      await sleep(1_000);
      const { metadata: { resourceVersion }, data } = await read();
      await sleep(1_000);
      assert.equal((await read()).metadata.resourceVersion, resourceVersion, 'nobody writes any more');
      await one.request({ method: 'PATCH', path: rootCa, body: { data: { 'ca.crt': 'forged' } } });
      await sleep(1_000);
      const mended = await read();
      assert.match(mended.data['ca.crt'], /^-----BEGIN CERTIFICATE-----/);
      await sleep(500);
      assert.equal((await read()).metadata.resourceVersion, mended.metadata.resourceVersion);
      assert.match(data['ca.crt'], /^-----BEGIN CERTIFICATE-----/);
    } finally {
      await Promise.all([one.close(), other.close()]);
      await cluster.stop();
      rmSync(directory, { recursive: true });
    }
  });
});
