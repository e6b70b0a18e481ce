// The faults over HTTP: each kind is added as a program in another language adds it, and its effect is what a client of the server sees.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { startTestService } from '../../server/testing.ts';
import { type ClientRequest, type ClientResponse, type TestClient, createTestClient, startTestServer } from '../../test-support/index.ts';
import { type TestServer, createTestServer } from '../index.ts';

const FAULTS = '/debug/pintle/faults';
const path = '/api/v1/namespaces/default/configmaps';
const users = [{ name: 'ann', groups: ['system:masters'], token: 'ann-token' }, { name: 'bob', groups: ['system:masters'], token: 'bob-token' },
  { name: 'guest', token: 'guest-token' }];

describe('/debug/pintle/faults', () => {
  let server: TestServer;
  let client: TestClient;
  before(async () => {
    server = await createTestServer({ users, seed: 'faults' });
    client = createTestClient(server.url, 'ann-token');
    await create('first');
  });
  afterEach(() => client.request({ method: 'DELETE', path: FAULTS }));
  after(() => {
    client.close();
    return server.close();
  });
  const create = (name: string): Promise<ClientResponse> =>
    client.request({ method: 'POST', path, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } } });
  const add = async (fault: object): Promise<number> => {
    const { status, body } = await client.request({ method: 'POST', path: FAULTS, body: fault });
    assert.deepEqual([status, body.fault, body.hits], [201, fault, 0]);
    return body.id as number;
  };
  const remove = async (id: number): Promise<void> => assert.equal((await client.request({ method: 'DELETE', path: `${FAULTS}/${id}` })).body.removed, 1);
  const hits = async (id: number): Promise<number> =>
    ((await client.request({ path: FAULTS })).body.faults as { id: number; hits: number }[]).find((fault) => fault.id === id)?.hits ?? NaN;
  const statusOf = async (request: ClientRequest): Promise<number> => (await client.request(request)).status;
  const watch = async (query = ''): Promise<string[]> => {
    const { text } = await client.request({ path: `${path}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=first${query}` });
    return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as { type: string; object: { code?: number } }).map(
      ({ type, object }) => `${type}${object.code ?? ''}`);
  };

  for (const [code, reason] of [[409, 'Conflict'], [410, 'Expired'], [429, 'TooManyRequests'], [500, 'InternalError'], [503, 'ServiceUnavailable']] as const) {
    it(`answers a Status of ${code}`, async () => {
      await add({ verb: 'get', status: { code, message: 'not today', retryAfterSeconds: 3 } });
      const { status, headers, body } = await client.request({ path: `${path}/first` });
      assert.deepEqual([status, headers['retry-after'], body.kind, body.code, body.reason, body.message], [code, '3', 'Status', code, reason, 'not today']);
    });
  }

  it('picks requests by user, verb, group, resource, namespace and name', async () => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const only: readonly (readonly [object, ClientRequest, ClientRequest])[] = [
      [{ user: 'bob' }, { path, token: 'bob-token' }, { path }],
      [{ verb: ['list', 'watch'] }, { path }, { path: `${path}/first` }],
      [{ verb: 'write' }, { method: 'PATCH', path: `${path}/first`, body: {} }, { path }],
      [{ group: 'apps' }, { path: deployments }, { path }],
      [{ resource: 'namespaces/status' }, { path: '/api/v1/namespaces/default/status' }, { path: '/api/v1/namespaces/default' }],
      [{ namespace: 'kube-system' }, { path: '/api/v1/namespaces/kube-system/configmaps' }, { path }],
      [{ name: 'first' }, { path: `${path}/first` }, { path }],
    ];
    for (const [match, befallen, spared] of only) {
      const id = await add({ ...match, status: 503 });
      assert.deepEqual([await statusOf(befallen), await statusOf(spared), await hits(id)], [503, 200, 1], JSON.stringify(match));
      await remove(id);
    }
  });

  it('picks requests by count and by chance', async () => {
    const get = { path: `${path}/first` };
    const several = async (count: number): Promise<number[]> => {
      const statuses: number[] = [];
      while (statuses.length < count) statuses.push(await statusOf(get));
      return statuses;
    };
    const nth = await add({ verb: 'get', nth: [2, 4], status: 500 });
    assert.deepEqual(await several(5), [200, 500, 200, 500, 200]);
    await remove(nth);
    const times = await add({ verb: 'get', times: 2, status: 500 });
    assert.deepEqual(await several(3), [500, 500, 200]);
    await remove(times);
    const chance = await add({ verb: 'get', probability: 0.5, status: 500 });
    const struck = (await several(20)).filter((status) => status === 500).length;
    assert.ok(struck > 0 && struck < 20);
    assert.equal(await hits(chance), struck);
  });

  it('loses the answer after the commit', async () => {
    await add({ verb: 'create', times: 1, status: 500, afterCommit: true });
    assert.deepEqual([(await create('done')).status, (await create('done')).status], [500, 409]);
    await add({ verb: 'delete', times: 1, cut: true, afterCommit: true });
    await assert.rejects(client.request({ method: 'DELETE', path: `${path}/done` }));
    assert.equal(await statusOf({ path: `${path}/done` }), 404);
  });

  it('delays', async () => {
    await add({ verb: 'get', latencyMs: 200 });
    const startMs = performance.now();
    assert.equal(await statusOf({ path: `${path}/first` }), 200);
    assert.ok(performance.now() - startMs >= 199);
  });

  it('cuts the connection before anything is done', async () => {
    await add({ verb: 'create', times: 1, cut: true });
    await assert.rejects(create('never'));
    assert.equal(await statusOf({ path: `${path}/never` }), 404);
  });

  it('ends, expires, cuts and silences watches', async () => {
    const ends = [
      [{ watch: 'end', afterEvents: 1 }, ['ADDED']], [{ watch: 'expire', afterEvents: 1 }, ['ADDED', 'ERROR410']],
      [{ watch: 'expire' }, ['ERROR410']], [{ watch: 'stall' }, []],
    ] as const;
    for (const [fault, events] of ends) {
      const id = await add({ verb: 'watch', ...fault });
      assert.deepEqual(await watch(), events);
      await remove(id);
    }
    await add({ verb: 'watch', watch: 'cut', times: 1 });
    await assert.rejects(watch());
    assert.deepEqual(await watch(), ['ADDED']);
  });

  it('gives a watch a bookmark', async () => {
    await add({ verb: 'watch', watch: 'bookmark', afterEvents: 1, times: 1 });
    const events = await watch('&allowWatchBookmarks=true');
    assert.deepEqual(events.slice(0, 2), ['ADDED', 'BOOKMARK']);
  });

  it('shows lists and objects as they were', async () => {
    await create('mine');
    const { resourceVersion } = (await client.request({ path })).body.metadata as { resourceVersion: string };
    await client.request({ method: 'PATCH', path: `${path}/mine`, body: { data: { a: 'b' } } });
    const data = async (): Promise<unknown[]> => {
      const { items } = (await client.request({ path })).body as { items: { metadata: { name: string }; data?: unknown }[] };
      return [(await client.request({ path: `${path}/mine` })).body.data, items.find(({ metadata }) => metadata.name === 'mine')?.data];
    };
    const id = await add({ resource: 'configmaps', verb: ['get', 'list'], stale: Number(resourceVersion) });
    assert.deepEqual(await data(), [undefined, undefined]);
    await remove(id);
    await add({ resource: 'configmaps', verb: 'read', stale: true });
    await client.request({ method: 'DELETE', path: `${path}/mine` });
    assert.deepEqual(await data(), [{ a: 'b' }, { a: 'b' }]);
  });

  it('lets calls of webhooks time out or be refused', async (context) => {
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
    for (const [outcome, text] of [['timeout', 'context deadline exceeded'], ['refuse', 'connection refused']] as const) {
      await add({ webhook: '/guard', outcome, times: 1 });
      const { status, body } = await create('guarded');
      assert.equal(status, 500);
      assert.ok((body.message as string).endsWith(text), body.message as string);
    }
    assert.equal((await create('guarded')).status, 201);
  });

  it('sets the time of the server apart', async () => {
    const made = async (name: string): Promise<number> => Date.parse((await create(name)).body.metadata.creationTimestamp as string);
    const now = await made('now');
    const id = await add({ clockSkewMs: -3_600_000 });
    assert.equal(await made('earlier'), now - 3_600_000);
    await remove(id);
    assert.equal(await made('again'), now);
  });

  it('refuses others than administrators, bodies that are no fault, and faults that are not there', async () => {
    const asked: readonly (readonly [ClientRequest, number, string])[] = [
      [{ path: FAULTS, token: 'guest-token' }, 403, 'Forbidden'],
      [{ method: 'POST', path: FAULTS, body: { status: 500 }, token: 'guest-token' }, 403, 'Forbidden'],
      [{ path: FAULTS, token: null }, 403, 'Forbidden'], [{ path: FAULTS, token: 'unknown' }, 401, 'Unauthorized'],
      [{ method: 'POST', path: FAULTS, body: '{' }, 400, 'BadRequest'], [{ method: 'POST', path: FAULTS, body: {} }, 400, 'BadRequest'],
      [{ method: 'DELETE', path: `${FAULTS}/999` }, 404, 'NotFound'],
      [{ method: 'PUT', path: FAULTS, body: {} }, 405, 'MethodNotAllowed'],
    ];
    for (const [request, status, reason] of asked) {
      const answer = await client.request(request);
      assert.deepEqual([answer.status, answer.body.kind, answer.body.reason], [status, 'Status', reason], JSON.stringify(request));
    }
    const problems: readonly (readonly [unknown, RegExp])[] = [
      [{ status: 500, nth: '1' }, /: nth must be a number from 1 on/], [{ status: null }, /: status must be a code from 400 to 599/],
      [{ status: { code: 500, retryAfter: 1 } }, /: status must be/], [{ latencyMs: '20' }, /: latencyMs must be a number of milliseconds/],
      [{ stale: 'yes' }, /: stale must be true or a resourceVersion/], [{ webhook: '', outcome: 'timeout', nth: 2 }, /: a webhook fault has no nth/],
      [{ clockSkewMs: 1, verb: 'get' }, /: a fault of the clock has no verb/], [{ colour: 'red' }, /^the body is no fault: unknown field colour$/],
    ];
    for (const [body, problem] of problems) {
      const answer = await client.request({ method: 'POST', path: FAULTS, body });
      assert.equal(answer.status, 400);
      assert.match(answer.body.message as string, problem);
    }
    assert.deepEqual((await client.request({ path: FAULTS })).body, { faults: [] });
  });
});

describe('a server that is not for tests', () => {
  it('has no faults: the path is as unknown as any other', async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    for (const method of ['GET', 'POST', 'DELETE']) {
      const [faults, nothing] = await Promise.all([FAULTS, '/debug/pintle/nothing'].map((of) => server.request({ method, path: of })));
      assert.deepEqual([faults?.status, faults?.text], [404, nothing?.text]);
      assert.equal((await server.request({ method, path: FAULTS, token: 'alice-token' })).body.reason, 'Forbidden');
    }
  });
});
