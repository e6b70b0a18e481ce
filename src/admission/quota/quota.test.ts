// Quotas on a whole server: many writers at once, refusals, dry runs, and what is released again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ClientResponse, type TestServer, eventually, startTestServer } from '../../testing/index.ts';

describe('createResourceQuota', () => {
  let server: TestServer;
  let namespace = '';
  let count = 0;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  const call = (method: string, path: string, body?: unknown): Promise<ClientResponse> =>
    server.client.request({ method, path: `/api/v1/namespaces/${namespace}/${path}`, body });
  const used = async (name = 'q'): Promise<unknown> => (await call('GET', `resourcequotas/${name}`)).body.status?.used;
  const eventuallyUsed = (amounts: object, name = 'q'): Promise<void> => eventually(async () => assert.deepEqual(await used(name), amounts));

  /** A namespace of its own with these quotas, each with its status. */
  async function prepare(...quotas: readonly (readonly [name: string, spec: object])[]): Promise<void> {
    namespace = `quota-${++count}`;
    await server.client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
    for (const [name, spec] of quotas) {
      assert.equal((await call('POST', 'resourcequotas', { metadata: { name }, spec })).status, 201);
      await eventually(async () => assert.ok(await used(name) !== undefined));
    }
  }
  const createMany = (plural: string, many: number, more: object = {}): Promise<ClientResponse[]> =>
    Promise.all(Array.from({ length: many }, (_, index) => call('POST', plural, { metadata: { name: `o${index}` }, ...more })));
  const statuses = (answers: readonly ClientResponse[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };

  it('is never exceeded by a hundred writers at once', async () => {
    await prepare(['q', { hard: { 'count/configmaps': '41', secrets: '10' } }]);
    await eventuallyUsed({ 'count/configmaps': '1', secrets: '0' });
    assert.deepEqual(statuses(await createMany('configmaps', 100)), { 201: 40, 403: 60 });
    assert.deepEqual(await used(), { 'count/configmaps': '41', secrets: '0' });
  });

  it('refuses in the words of the reference', async () => {
    await prepare(['q', { hard: { secrets: '1' } }]);
    assert.equal((await call('POST', 'secrets', { metadata: { name: 'a' } })).status, 201);
    const { status, body } = await call('POST', 'secrets', { metadata: { name: 'b' } });
    assert.equal(status, 403);
    assert.equal(body.message, 'secrets "b" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1');
  });

  it('charges no dry run, and not twice what another quota refuses', async () => {
    await prepare(['a', { hard: { 'count/secrets': '5' } }], ['b', { hard: { secrets: '1' } }]);
    assert.equal((await call('POST', 'secrets?dryRun=All', { metadata: { name: 'dry' } })).status, 201);
    assert.deepEqual(await used('a'), { 'count/secrets': '0' });
    assert.deepEqual(statuses(await createMany('secrets', 4)), { 201: 1, 403: 3 });
    await eventuallyUsed({ 'count/secrets': '1' }, 'a');
  });

  it('releases what is deleted and what has ended, and counts objects that were there before', async () => {
    await prepare();
    await call('POST', 'secrets', { metadata: { name: 'before' } });
    await call('POST', 'resourcequotas', { metadata: { name: 'q' }, spec: { hard: { secrets: '2', pods: '1' } } });
    await eventuallyUsed({ pods: '0', secrets: '1' });
    const pod = { spec: { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false } };
    assert.deepEqual(statuses(await createMany('pods', 2, pod)), { 201: 1, 403: 1 });
    const [name] = (await call('GET', 'pods')).body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    await call('PATCH', `pods/${name}/status`, { status: { phase: 'Succeeded' } });
    await call('DELETE', 'secrets/before');
    await eventuallyUsed({ pods: '0', secrets: '0' });
  });

  it('charges an update by what it adds', async () => {
    await prepare(['q', { hard: { 'services.nodeports': '2' } }]);
    const service = (ports: readonly number[]): object => ({ spec: { type: 'NodePort', ports: ports.map((port) => ({ port, name: `p${port}` })) } });
    assert.equal((await call('POST', 'services', { metadata: { name: 's' }, ...service([80]) })).status, 201);
    assert.equal((await call('PATCH', 'services/s', service([80, 81]))).status, 200);
    assert.deepEqual(await used(), { 'services.nodeports': '2' });
    assert.equal((await call('PATCH', 'services/s', service([80, 81, 82]))).status, 403);
    assert.equal((await call('PATCH', 'services/s', { metadata: { labels: { a: 'b' } } })).status, 200);
  });

  it('counts only pods that match all scopes', async () => {
    await prepare(['q', { hard: { pods: '1' }, scopes: ['Terminating', 'BestEffort'] }]);
    const pod = (more: object): object => ({ spec: { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false, ...more } });
    assert.deepEqual(statuses(await createMany('pods', 2, pod({}))), { 201: 2 });
    assert.equal((await call('POST', 'pods', { metadata: { name: 'x' }, ...pod({ activeDeadlineSeconds: 5 }) })).status, 201);
    assert.equal((await call('POST', 'pods', { metadata: { name: 'y' }, ...pod({ activeDeadlineSeconds: 5 }) })).status, 403);
  });
});
