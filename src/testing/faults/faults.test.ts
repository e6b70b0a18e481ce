// Faults on demand, as clients see them.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { startTestService } from '../../server/testing.ts';
import { type ClientResponse, type TestClient, createTestClient } from '../../test-support/index.ts';
import { type TestServer, createTestServer } from '../index.ts';

const path = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('server.faults', () => {
  let server: TestServer;
  let client: TestClient;
  before(async () => {
    server = await createTestServer({ users: [{ name: 'ann', groups: ['system:masters'], token: 'ann-token' }, { name: 'bob', token: 'bob-token' }] });
    client = createTestClient(server.url, 'ann-token');
  });
  afterEach(() => server.faults.clear());
  after(() => {
    client.close();
    return server.close();
  });
  const create = (name: string): Promise<ClientResponse> => client.request({ method: 'POST', path, body: configMap(name) });

  it('answer a Status to requests that fit, by user, verb, resource, name, count and chance', async () => {
    server.faults.add({ verb: 'create', resource: 'configmaps', nth: [2], status: { code: 429, retryAfterSeconds: 7 } });
    const fault = server.faults.add({ user: 'bob', status: 503 });
    assert.equal((await create('first')).status, 201);
    const second = await create('second');
    assert.deepEqual([second.status, second.headers['retry-after'], second.body.reason, second.body.details],
      [429, '7', 'TooManyRequests', { retryAfterSeconds: 7 }]);
    assert.equal((await create('second')).status, 201);
    assert.deepEqual([(await client.request({ path, token: 'bob-token' })).status, fault.hits], [503, 1]);
    server.faults.clear();
    server.faults.add({ verb: 'get', name: 'first', status: 409, times: 1 });
    assert.deepEqual([(await client.request({ path: `${path}/second` })).status, (await client.request({ path: `${path}/first` })).status,
      (await client.request({ path: `${path}/first` })).status], [200, 409, 200]);
    server.faults.add({ verb: 'read', resource: 'configmaps', probability: 0.5, status: 500 });
    const statuses = await Promise.all(Array.from({ length: 40 }, () => client.request({ path: `${path}/first` })));
    assert.deepEqual([...new Set(statuses.map(({ status }) => status))].sort(), [200, 500]);
    assert.throws(() => server.faults.add({ verb: 'get' }), /nothing happens/);
    assert.throws(() => server.faults.add({ status: 200 }), /status must be a code/);
  });

  it('lose the answer after the commit, delay it, and cut connections', async () => {
    server.faults.add({ verb: 'create', name: '', status: 500, afterCommit: true, times: 1 });
    assert.equal((await create('done')).status, 500);
    assert.equal((await create('done')).status, 409);
    server.faults.add({ verb: 'delete', cut: true, latencyMs: 5, times: 1 });
    await assert.rejects(client.request({ method: 'DELETE', path: `${path}/done` }));
    assert.equal((await client.request({ method: 'DELETE', path: `${path}/done` })).status, 200);
  });

  it('end, expire and cut watches after some events', async () => {
    await create('seen');
    const events = async (): Promise<string[]> => {
      const { text } = await client.request({ path: `${path}?watch=1&timeoutSeconds=30&allowWatchBookmarks=true` });
      return text.trim().split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as { type: string; object: { code?: number } }).map(
        ({ type, object }) => `${type}${object.code ?? ''}`);
    };
    const ended = server.faults.add({ verb: 'watch', watch: 'end', afterEvents: 1 });
    assert.deepEqual(await events(), ['ADDED']);
    ended.remove();
    server.faults.add({ watch: 'expire', times: 1 });
    assert.deepEqual(await events(), ['ERROR410']);
    server.faults.add({ watch: 'cut', afterEvents: 1, times: 1 });
    await assert.rejects(events());
    const stalled = server.faults.add({ watch: 'stall', afterEvents: 1, times: 1 });
    const silent = client.request({ path: `${path}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true` });
    await server.eventually(() => assert.equal(stalled.hits, 1));
    await create('unseen');
    assert.equal((await silent).text.trim().split('\n').length, 1);
    assert.match((await client.request({ path: `${path}?watch=1&timeoutSeconds=1` })).text, /unseen/);
  });

  it('give a bookmark on demand, at the revision that the watch has reached, and let the watch go on', async () => {
    const { resourceVersion } = (await client.request({ path })).body.metadata as { resourceVersion: string };
    const begin = async (name: string, query: string) => {
      const before = server.faults.list()[0]?.hits ?? 0;
      const watch = client.request({ path: `${path}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}${query}` });
      await server.eventually(() => assert.equal(server.faults.list()[0]?.hits, before + 1));
      await create(`${name}-1`);
      await create(`${name}-2`);
      const lines = (await watch).text.trim().split('\n').map((line) => JSON.parse(line) as { type: string; object: { metadata: {
        name?: string; resourceVersion: string } } }).filter(({ object: { metadata } }) => metadata.name === undefined || metadata.name.startsWith(name));
      return lines.map(({ type, object: { metadata } }) => [type, metadata.name, metadata.resourceVersion] as const);
    };
    server.faults.add({ verb: 'watch', watch: 'bookmark' });
    const [first, ...others] = await begin('early', '&allowWatchBookmarks=true');
    assert.deepEqual(first, ['BOOKMARK', undefined, resourceVersion]);
    assert.deepEqual(others.slice(0, 2).map(([type, name]) => [type, name]), [['ADDED', 'early-1'], ['ADDED', 'early-2']]);
    server.faults.clear();
    server.faults.add({ verb: 'watch', watch: 'bookmark', afterEvents: 3 });
    const events = await begin('later', '&allowWatchBookmarks=true');
    assert.deepEqual(events.map(([type]) => type).slice(0, 3), ['ADDED', 'BOOKMARK', 'ADDED']);
    assert.equal(events[1]?.[2], events[0]?.[2]);
    assert.ok((await begin('plain', '')).every(([type]) => type === 'ADDED'));
  });

  it('show lists and objects as they were when the fault was added', async () => {
    const names = async (query = ''): Promise<string[]> => {
      const { items } = (await client.request({ path: `${path}${query}` })).body as { items: { metadata: { name: string } }[] };
      return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('stale'));
    };
    await create('stale-1');
    await create('stale-2');
    const fault = server.faults.add({ verb: ['list', 'get'], stale: true });
    const read = (query = '', accept = 'application/json'): Promise<ClientResponse> => client.request({ path: `${path}/stale-1${query}`, headers: { accept } });
    const changed = await client.request({ method: 'PATCH', path: `${path}/stale-1`, body: { data: { color: 'red' } } });
    await client.request({ method: 'DELETE', path: `${path}/stale-2` });
    await create('stale-3');
    assert.deepEqual([await names(), await names('?resourceVersion=0')], [['stale-1', 'stale-2'], ['stale-1', 'stale-2']]);
    assert.deepEqual([(await read()).body.data, (await client.request({ path: `${path}/stale-2` })).status], [undefined, 200]);
    assert.equal((await client.request({ path: `${path}/stale-3` })).status, 404);
    assert.match(String((await read('', 'application/vnd.kubernetes.protobuf')).headers['content-type']), /protobuf/);
    const table = await read('', 'application/json;as=Table;v=v1;g=meta.k8s.io');
    assert.deepEqual([table.body.kind, table.body.rows[0].cells.slice(0, 2)], ['Table', ['stale-1', 0]]);
    const { resourceVersion } = changed.body.metadata as { resourceVersion: string };
    const late = await read(`?resourceVersion=${resourceVersion}`);
    const lateList = await client.request({ path: `${path}?resourceVersion=${resourceVersion}` });
    assert.deepEqual([late.status, late.body.reason, lateList.status], [504, 'Timeout', 504]);
    const stale = await client.request({ method: 'PUT', path: `${path}/stale-1`, body: (await read()).body });
    assert.deepEqual([stale.status, stale.body.reason], [409, 'Conflict']);
    fault.remove();
    assert.deepEqual([(await read()).body.data, await names()], [{ color: 'red' }, ['stale-1', 'stale-3']]);
  });

  it('show every page of a list as it was', async () => {
    await Promise.all(['a', 'b', 'c'].map((name) => create(`page-${name}`)));
    server.faults.add({ verb: 'list', stale: true });
    await create('page-d');
    const names: string[] = [];
    for (let token = ''; ;) {
      const { body } = await client.request({ path: `${path}?limit=1${token === '' ? '' : `&continue=${token}`}` });
      names.push(...(body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name));
      if (body.metadata.continue === undefined) break;
      token = encodeURIComponent(body.metadata.continue as string);
    }
    assert.deepEqual(names.filter((name) => name.startsWith('page')), ['page-a', 'page-b', 'page-c']);
  });

  it('let webhooks time out', async (context) => {
    const service = await startTestService((_, review) => ({ ...review, response: { uid: review.request.uid, allowed: true } }));
    context.after(() => service.close());
    await server.apply({
      apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: 'guard' },
      webhooks: [{
        name: 'guard.example.com', clientConfig: { url: `${service.url}/guard`, caBundle: Buffer.from(service.authority).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        sideEffects: 'None', admissionReviewVersions: ['v1'],
      }],
    });
    context.after(() => server.delete('validatingwebhookconfigurations/guard'));
    assert.equal((await create('guarded')).status, 201);
    server.faults.add({ webhook: '/guard', outcome: 'timeout', times: 1 });
    const late = await create('late');
    assert.deepEqual([late.status, late.body.message], [500, 'Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: '
      + `Post "${service.url}/guard?timeout=10s": context deadline exceeded`]);
    assert.equal((await create('late')).status, 201);
  });
});
