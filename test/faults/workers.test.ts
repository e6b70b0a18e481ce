// A server of several processes (`--workers`): one owns the store, the others serve its port. What clients did and saw over many connections, while
// processes are killed, is held against the store's own log, guarantee by guarantee (history.ts).
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/index.ts';
import { openEmbeddedStore } from '../../src/storage/index.ts';
import { type ClientResponse, createTestClient, eventually } from '../../src/test-support/index.ts';
import { readTruth } from './history.ts';
import { Load, path, readMarks } from './load.ts';
import { type Replica, startReplica } from './replica.ts';

const WORKERS = 3;
const allowedFailures: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'socket hang up', '429', '503', '504']);

/** The processes that serve, which are the children of the server's. */
const listChildren = ({ pid }: Replica): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter((text) => text !== '').map(Number);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** A directory, and servers on it. */
class Scene {
  readonly directory = mkdtempSync(join(tmpdir(), 'pintle-workers-'));
  #server: Replica | undefined;

  constructor(context: TestContext) {
    writeFileSync(join(this.directory, 'tokens.csv'), 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid\n', { mode: 0o600 });
    context.after(async () => {
      await this.#server?.kill();
      rmSync(this.directory, { recursive: true });
    });
  }

  async start(...flags: string[]): Promise<Replica> {
    return this.#server = await startReplica(['--data-dir', join(this.directory, 'data'), '--token-auth-file', join(this.directory, 'tokens.csv'),
      '--workers', String(WORKERS), ...flags]);
  }

  /** The store of a server that has ended. */
  openStore() {
    return openEmbeddedStore({ directory: join(this.directory, 'data', 'store'), clock: systemClock, historyMs: 600_000, compactionIntervalMs: 600_000 });
  }
}

/** 240 MB. */
const [LARGE_OBJECTS, LARGE_BYTES] = [8000, 30_000];
/** Copies alone would be more, and the work of making the objects leaves some. */
const MOST_GROWN_MB = 150;

/** Memory that a process has for itself. */
const readOwnMb = (pid: number): number => Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const urlOf = ({ port }: Replica): string => `https://127.0.0.1:${port}`;

/** A request over a connection of its own, and so of any process. */
async function ask(server: Replica, method: string, requestPath: string, body?: unknown, token = 'admin-token'): Promise<ClientResponse> {
  const client = createTestClient(urlOf(server), token);
  try {
    return await client.request({ method, path: requestPath, body });
  } finally {
    client.close();
  }
}

/** Fails unless each of the processes gets one of as many connections. */
async function checkSpread(server: Replica): Promise<void> {
  const children = listChildren(server);
  assert.equal(children.length, WORKERS);
  const countOpen = (): number[] => children.map((pid) => readdirSync(`/proc/${pid}/fd`).length);
  const before = countOpen();
  const clients = children.map(() => createTestClient(urlOf(server), 'admin-token'));
  for (const client of clients) assert.equal((await client.request({ path: '/version' })).status, 200);
  const opened = countOpen().map((count, index) => count - (before[index] as number));
  for (const client of clients) client.close();
  assert.ok(opened.every((count) => count > 0), `connections of each process: ${opened.join()}`);
}

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'gears.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
  },
};

describe('a server of several processes', { skip: process.platform === 'linux' ? false : 'it reads /proc', timeout: 120_000 }, () => {
  test('no acknowledged write is lost, no list is stale, no event is lost, doubled or out of order, while processes are killed and replaced', async (context) => {
    const scene = new Scene(context);
    const server = await scene.start();
    assert.equal(listChildren(server).length, WORKERS);
    await eventually(async () => assert.equal((await ask(server, 'GET', `${path}/kube-root-ca.crt`)).status, 200));
    const load = new Load(urlOf(server));
    const endWatch = load.watch((await ask(server, 'GET', path)).body.metadata.resourceVersion);
    load.start(6, 3);
    for (let round = 0; round < 2; round += 1) {
      await sleep(700);
      const before = load.history.acknowledged;
      const [victim] = listChildren(server);
      process.kill(victim as number, 'SIGKILL');
      await eventually(() => assert.ok(load.history.acknowledged > before + 50, 'work continues'));
      await eventually(() => assert.equal(listChildren(server).filter((pid) => pid !== victim).length, WORKERS), 10_000);
    }
    await sleep(700);
    await load.stop();
    const after = load.history.acknowledged;
    const last = await ask(server, 'POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'w-last' }, data: { mark: 'w-last' } });
    const revision = Number(last.body.metadata.resourceVersion);
    load.history.writes.push({ key: '/registry/configmaps/default/w-last', value: 'w-last', after, revision });
    await eventually(() => assert.equal(load.log.received.at(-1)?.kv.modRevision, revision, 'the watch has come to the last change'));
    await endWatch();
    assert.equal(await server.stop(), 0);
    const store = await scene.openStore();
    load.history.check(readMarks((await readTruth(store)).received));
    await store.close();
    assert.ok(load.history.reads.length > 20 && load.log.received.length > 100);
    assert.ok([...load.failures.keys()].every((what) => allowedFailures.has(what)), JSON.stringify([...load.failures]));
  });

  test('SIGTERM under load ends all of them with code 0; after a loss of the owner the others end, and the next start has all that was acknowledged', async (context) => {
    const scene = new Scene(context);
    const acknowledged: string[] = [];
    for (const end of ['kill', 'stop'] as const) {
      const server = await scene.start();
      const children = listChildren(server);
      let isOver = false;
      const write = async (writer: number): Promise<void> => {
        const client = createTestClient(urlOf(server), 'admin-token');
        for (let index = 0; !isOver; index += 1) {
          const name = `${end}-${writer}-${index}`;
          const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
          const answer = await client.request({ method: 'POST', path, body }).catch(() => undefined);
          if (answer === undefined) break;
          if (answer.status === 201) acknowledged.push(name);
        }
        client.close();
      };
      const writers = Array.from({ length: 8 }, (_, writer) => write(writer));
      await eventually(() => assert.ok(acknowledged.length > 200));
      assert.equal(await server[end](), end === 'stop' ? 0 : null);
      isOver = true;
      await Promise.all(writers);
      await eventually(() => assert.ok(!children.some(isAlive), 'all processes have ended'));
    }
    const store = await scene.openStore();
    const found = await store.range({ start: '/registry/configmaps/default/', end: '/registry/configmaps/default0' });
    const names = new Set(found.type === 'ok' ? found.kvs.map(({ key }) => key.split('/').at(-1)) : []);
    await store.close();
    assert.deepEqual(acknowledged.filter((name) => !names.has(name)), []);
  });

  test('definitions and rights hold on every connection as soon as they are answered; metrics are those of all processes', async (context) => {
    const scene = new Scene(context);
    const server = await scene.start();
    await eventually(() => checkSpread(server));
    assert.equal((await ask(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)).status, 201);
    await eventually(async () => {
      const { body } = await ask(server, 'GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gears.example.com');
      assert.ok(body.status.conditions?.some((condition: any) => condition.type === 'Established' && condition.status === 'True'));
    });
    const gears = '/apis/example.com/v1/namespaces/default/gears';
    for (let index = 0; index < 3 * WORKERS; index += 1) {
      const gear = { apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: `g${index}` } };
      assert.equal((await ask(server, 'POST', gears, gear)).status, 201);
      assert.equal((await ask(server, 'GET', gears)).body.items.length, index + 1);
    }
    for (let index = 0; index < 3 * WORKERS; index += 1) {
      const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: [`c${index}`] };
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: `r${index}` }, rules: [rule] };
      const binding = {
        apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: `r${index}` }, subjects: [{ kind: 'User', name: 'alice' }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: `r${index}` },
      };
      assert.equal((await ask(server, 'GET', `${path}/c${index}`, undefined, 'alice-token')).status, 403);
      assert.equal((await ask(server, 'POST', `${rbac}/roles`, role)).status, 201);
      assert.equal((await ask(server, 'POST', `${rbac}/rolebindings`, binding)).status, 201);
      assert.equal((await ask(server, 'GET', `${path}/c${index}`, undefined, 'alice-token')).status, 404);
    }
    const { text } = await ask(server, 'GET', '/metrics');
    const [, count] = /^apiserver_request_total\{code="403"[^}]*resource="configmaps"[^}]*\} (\d+)$/m.exec(text) ?? [];
    assert.equal(Number(count), 3 * WORKERS);
    assert.equal((await ask(server, 'GET', '/readyz')).text, 'ok');
  });

  test('processes read the objects of their caches from the file of the store, which they share: their memory does not grow by them', async (context) => {
    const scene = new Scene(context);
    const server = await scene.start();
    const clients = Array.from({ length: 4 * WORKERS }, () => createTestClient(urlOf(server), 'admin-token'));
    context.after(() => clients.forEach((client) => client.close()));
    for (const client of clients) assert.equal((await client.request({ path: `${path}?limit=1` })).status, 200);
    const before = Math.max(...listChildren(server).map(readOwnMb));
    const text = 'x'.repeat(LARGE_BYTES);
    await Promise.all(clients.map(async (client, first) => {
      for (let index = first; index < LARGE_OBJECTS; index += clients.length) {
        const metadata = { name: `large-${index}`, labels: { large: 'true' } };
        const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text, index: `${index}` } };
        assert.equal((await client.request({ method: 'POST', path, body })).status, 201);
      }
    }));
    const check = async (): Promise<void> => {
      const grown = listChildren(server).map((pid) => readOwnMb(pid) - before);
      assert.ok(grown.length === WORKERS && grown.every((mb) => mb < MOST_GROWN_MB), `MB of each process more than before: ${grown.join()}`);
    };
    await eventually(check, 60_000);
    process.kill(listChildren(server)[0] as number, 'SIGKILL');
    await eventually(() => checkSpread(server));
    for (let index = 0; index < 2 * WORKERS; index += 1) {
      const { body } = await ask(server, 'GET', `${path}/large-${index * 1000}`);
      assert.deepEqual(body.data, { text, index: `${index * 1000}` });
      assert.equal((await ask(server, 'GET', `${path}?labelSelector=large&limit=10`)).body.items.length, 10);
    }
    await eventually(check, 60_000);
    assert.equal(await server.stop(), 0);
  });

  test('a process that cannot start is replaced until it can', async (context) => {
    const scene = new Scene(context);
    const server = await scene.start();
    const [tokens, away] = ['tokens.csv', 'away.csv'].map((name) => join(scene.directory, name)) as [string, string];
    renameSync(tokens, away);
    const before = listChildren(server);
    process.kill(before[0] as number, 'SIGKILL');
    const seen = new Set<number>();
    await eventually(() => {
      for (const pid of listChildren(server)) if (!before.includes(pid)) seen.add(pid);
      assert.ok(seen.size > 1, 'successors begin, and end');
    });
    renameSync(away, tokens);
    await eventually(() => checkSpread(server));
    assert.equal(await server.stop(), 0);
  });

  test('the console ends the start, since its sessions are kept by one process; the audit log has the lines of all', async (context) => {
    const scene = new Scene(context);
    const policy = join(scene.directory, 'policy.yaml');
    writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n');
    await assert.rejects(scene.start('--console'));
    const server = await scene.start('--audit-policy-file', policy, '--audit-log-path', join(scene.directory, 'audit.log'));
    await Promise.all(Array.from({ length: 30 }, (_, index) => ask(server, 'GET', `${path}/c${index}`)));
    assert.equal(await server.stop(), 0);
    const events = readFileSync(join(scene.directory, 'audit.log'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    const asked = events.filter(({ stage, objectRef }) => stage === 'ResponseComplete' && objectRef?.resource === 'configmaps');
    assert.equal(new Set(asked.map(({ objectRef }) => objectRef.name)).size, 30);
  });
});
