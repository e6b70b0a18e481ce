// Two servers over one store, etcd or PostgreSQL: what is written through one is read through the other, tokens and versions are good on both, watches go on
// elsewhere, and a server that has lost its store answers no consistent read and says that it is not ready.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type EtcdMember, readMetric } from '../../src/storage/etcd/cluster.suite.ts';
import { type TestServer, eventually, requestUntil, startTestServer } from '../../src/test-support/index.ts';
import { type Proxy, startProxy } from './proxy.ts';
import { type SharedStore, sharedStores } from './shared-store.ts';

const path = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, value: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } });

interface Seen {
  readonly type: string;
  readonly name: string;
  readonly version: string;
}

/** Watches until it is stopped; returns the events. */
function watchConfigMaps(server: TestServer, resourceVersion: string): { readonly seen: Seen[]; stop(): void } {
  const seen: Seen[] = [];
  const url = `${server.url}${path}?watch=1&resourceVersion=${resourceVersion}`;
  const request = requestHttps(url, { rejectUnauthorized: false, headers: { authorization: 'Bearer admin-token' } }, (response) => {
    let rest = '';
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('data', (part: string) => {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      for (const { type, object } of lines.filter((line) => line !== '').map((line) => JSON.parse(line))) {
        seen.push({ type, name: object.metadata.name, version: object.metadata.resourceVersion });
      }
    });
  });
  request.on('error', () => undefined);
  request.end();
  return { seen, stop: () => request.destroy() };
}

for (const sort of sharedStores) describe(`two servers over one ${sort.name}`, { skip: sort.skip, timeout: 120_000 }, () => {
  const notEtcd = sort.name !== 'etcd' && 'it counts what etcd counts';
  let store: SharedStore;
  let proxy: Proxy;
  let one: TestServer;
  let other: TestServer;
  let certDir: string;

  before(async () => {
    store = await sort.start();
    proxy = await startProxy(store.port);
    // One authority for all servers, as their clients need it.
    certDir = mkdtempSync(join(tmpdir(), 'pintle-replicas-'));
    one = await startTestServer({ certDir, ...store.optionsAt(store.port) });
    other = await startTestServer({ certDir, ...store.optionsAt(proxy.port) });
  });
  after(async () => {
    proxy.set('open');
    await Promise.all([one.close(), other.close()]);
    proxy.close();
    await store.stop();
    rmSync(certDir, { recursive: true });
  });

  const create = async (server: TestServer, name: string, value = 'v'): Promise<any> => {
    const { status, body, text } = await server.request({ method: 'POST', path, body: configMap(name, value) });
    assert.equal(status, 201, text);
    return body;
  };

  test('a read begun after a write through the other one sees it: gets and lists', async () => {
    for (let index = 0; index < 50; index += 1) {
      const [writer, reader] = index % 2 === 0 ? [one, other] : [other, one];
      const { metadata } = await create(writer, `seen-${index}`);
      const [single, list] = await Promise.all([reader.request({ path: `${path}/seen-${index}` }), reader.request({ path })]);
      assert.deepEqual([single.status, list.status], [200, 200], `${single.text} ${list.text}`);
      assert.equal(single.body.metadata.resourceVersion, metadata.resourceVersion);
      assert.ok(list.body.items.some((item: any) => item.metadata.name === `seen-${index}`));
    }
  });

  test('a continue token of one is good on the other, and names the same state', async () => {
    const first = await one.request({ path: `${path}?limit=10` });
    await create(one, 'aaa-late');
    const names = first.body.items.map((item: any) => item.metadata.name);
    let token: string | undefined = first.body.metadata.continue;
    for (let turn = 0; token !== undefined && token !== ''; turn += 1) {
      const page = await (turn % 2 === 0 ? other : one).request({ path: `${path}?limit=10&continue=${encodeURIComponent(token)}` });
      assert.deepEqual([page.status, page.body.metadata.resourceVersion], [200, first.body.metadata.resourceVersion]);
      names.push(...page.body.items.map((item: any) => item.metadata.name));
      token = page.body.metadata.continue;
    }
    const exact = await other.request({ path: `${path}?resourceVersion=${first.body.metadata.resourceVersion}&resourceVersionMatch=Exact` });
    assert.deepEqual(names, exact.body.items.map((item: any) => item.metadata.name));
    assert.equal(new Set(names).size, names.length);
  });

  test('a watch that breaks off on one continues at the other without losing or doubling an event', async () => {
    const { body } = await one.request({ path });
    let version: string = body.metadata.resourceVersion;
    const seen: Seen[] = [];
    const written: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const watch = watchConfigMaps(turn % 2 === 0 ? one : other, version);
      for (let index = 0; index < 10; index += 1) written.push((await create(index % 2 === 0 ? one : other, `w-${turn}-${index}`)).metadata.resourceVersion);
      await eventually(() => assert.ok(watch.seen.length >= 5));
      watch.stop();
      seen.push(...watch.seen);
      version = seen.at(-1)?.version as string;
    }
    const last = watchConfigMaps(one, version);
    await eventually(() => assert.ok(seen.length + last.seen.length >= written.length));
    last.stop();
    assert.deepEqual([...seen, ...last.seen].map((event) => event.version), written);
  });

  test('a thousand watches of ten kinds are one watch on etcd', { skip: notEtcd }, async () => {
    const kinds = ['configmaps', 'secrets', 'pods', 'services', 'serviceaccounts', 'endpoints', 'events', 'limitranges', 'resourcequotas', 'podtemplates'];
    const member = store.member as EtcdMember;
    const sessions = Array.from({ length: 10 }, () => connect(one.url, { rejectUnauthorized: false }));
    const begun = await Promise.all(Array.from({ length: 1_000 }, (_, index) => new Promise<number>((resolve, reject) => {
      const headers = { ':path': `/api/v1/${kinds[Math.floor(index / 10) % 10]}?watch=1`, authorization: 'Bearer admin-token' };
      const stream = (sessions[index % 10] as ClientHttp2Session).request(headers);
      stream.on('error', reject);
      stream.on('response', (answer) => resolve(answer[':status'] as number));
    })));
    assert.ok(begun.every((status) => status === 200));
    // One of each server, for all its kinds together.
    assert.equal(await readMetric(member, 'etcd_debugging_mvcc_watcher_total'), 2);
    for (const session of sessions) session.destroy();
  });

  test('consistent reads that wait at the same time share their questions to etcd; reads of any version and watches put none', { skip: notEtcd }, async () => {
    await create(one, 'shared');
    const member = store.member as EtcdMember;
    const count = (): Promise<number> => readMetric(member, 'grpc_server_started_total');
    const session = connect(one.url, { rejectUnauthorized: false });
    const read = (query: string) => new Promise<number>((resolve, reject) => {
      const stream = session.request({ ':path': `${path}/shared${query}`, authorization: 'Bearer admin-token' });
      stream.on('error', reject);
      stream.on('response', (answer) => resolve(answer[':status'] as number));
      stream.resume();
    });
    const readMany = async (query: string): Promise<number> => {
      const before = await count();
      const statuses = await Promise.all(Array.from({ length: 200 }, () => read(query)));
      assert.ok(statuses.every((status) => status === 200));
      return (await count()) - before;
    };
    const [consistent, any] = [await readMany(''), await readMany('?resourceVersion=0')];
    session.destroy();
    assert.ok(consistent >= 1 && consistent <= 50, `${consistent} calls for 200 reads`);
    // Compactions and controllers may ask something meanwhile.
    assert.ok(any <= 5, `${any} calls for 200 reads of any version`);
  });

  test('of writers of one object through both, each version is written once', async () => {
    await create(one, 'contended', '0');
    const bump = async (server: TestServer): Promise<number> => {
      for (let conflicts = 0; ; conflicts += 1) {
        const { body } = await server.request({ path: `${path}/contended` });
        body.data.value = String(Number(body.data.value) + 1);
        const { status } = await server.request({ method: 'PUT', path: `${path}/contended`, body });
        if (status === 200) return conflicts;
        assert.equal(status, 409);
      }
    };
    await Promise.all([one, other].map(async (server) => {
      for (let index = 0; index < 20; index += 1) await bump(server);
    }));
    assert.equal((await other.request({ path: `${path}/contended` })).body.data.value, '40');
  });

  for (const mode of ['silent', 'refuse'] as const) {
    test(`a server that has lost its store (${mode}) is unready within 5 s and answers no consistent read; it heals by itself`, async (context) => {
      const hidden = `behind-its-back-${mode}`;
      proxy.set(mode);
      await create(one, hidden);
      const began = Date.now();
      await requestUntil(other, { path: '/readyz' }, { until: ({ status }) => status !== 200, timeoutMs: 5_000 });
      const unreadyMs = Date.now() - began;
      for (const request of [{ path }, { path: `${path}/${hidden}` }, { path: `${path}?limit=5` }, { method: 'POST', path, body: configMap('unheard', 'v') }]) {
        const asked = Date.now();
        const { status, body } = await other.request(request);
        assert.ok(status === 503 || status === 504 || (request.method === 'POST' && status >= 500), `${status}`);
        if (request.method === undefined) assert.ok(Date.now() - asked < 4_000, `a read failed after ${Date.now() - asked} ms`);
        assert.equal(body.kind, 'Status');
      }
      assert.equal((await other.request({ path: `${path}?resourceVersion=0` })).status, 200, 'what may be old is still served');
      proxy.set('open');
      const mended = Date.now();
      await requestUntil(other, { path: '/readyz' }, { until: ({ status }) => status === 200, timeoutMs: 15_000 });
      assert.equal((await other.request({ path: `${path}/${hidden}` })).status, 200);
      context.diagnostic(`unready after ${unreadyMs} ms, ready again after ${Date.now() - mended} ms`);
    });
  }

  test('a watch on a server that was cut off while the other one compacted loses no event in silence: it ends with 410', async () => {
    const { body: { metadata } } = await other.request({ path });
    const watch = watchConfigMaps(other, metadata.resourceVersion);
    const seen = (count: number): Promise<void> => eventually(() => assert.ok(watch.seen.length >= count));
    await create(one, 'cut-0');
    await seen(1);
    proxy.set('refuse');
    for (let index = 1; index < 10; index += 1) await create(one, `cut-${index}`);
    await one.request({ method: 'DELETE', path: `${path}/cut-5` });
    const raw = await store.open();
    await raw.compact(await raw.revision());
    await raw.close();
    proxy.set('open');
    await seen(2);
    assert.deepEqual(watch.seen.map(({ type, name }) => [type, name]), [['ADDED', 'cut-0'], ['ERROR', undefined]]);
    await requestUntil(other, { path: '/readyz' }, { until: ({ status }) => status === 200, timeoutMs: 15_000 });
    const [here, there] = await Promise.all([one, other].map(async (server) => (await server.request({ path })).body));
    assert.deepEqual(there.items, here.items);
    const again = watchConfigMaps(other, there.metadata.resourceVersion);
    await create(one, 'cut-10');
    await eventually(() => assert.equal(again.seen.length, 1));
    again.stop();
  });
});
