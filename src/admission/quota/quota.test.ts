// Quotas on a whole server: many writers at once, refusals, dry runs, and what is released again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createManualClock } from '../../base/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { type ClientResponse, type TestServer, eventually, startTestServer } from '../../test-support/index.ts';
import { createEvaluators } from './evaluators.ts';
import { QuotaLedger } from './ledger.ts';
import { createResourceQuota } from './quota.ts';

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
    // A change can bring an object into the scope of a quota that has not counted it before.
    const { status, body } = await call('PATCH', 'pods/o0', { spec: { activeDeadlineSeconds: 5 } });
    assert.deepEqual([status, body.message], [403, 'pods "o0" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1']);
  });
});

describe('createResourceQuota without a server', () => {
  const attributes = (uid: string): AdmissionAttributes => ({
    operation: 'CREATE', namespace: 'ns', name: uid, subresource: '', resource: { group: '', plural: 'secrets', namespaced: true }, version: 'v1',
    object: { metadata: { name: uid, uid } }, oldObject: undefined, context: { dryRun: false },
  }) as unknown as AdmissionAttributes;
  const makeQuota = (name: string): KubeObject => ({
    metadata: { name, namespace: 'ns' }, status: { hard: { secrets: '9' }, used: { secrets: '0' } },
  }) as unknown as KubeObject;

  /** A plugin over two quotas; writes of `b` fail where they are to. */
  function createPlugin(failsOn: (name: string) => boolean) {
    const clock = createManualClock();
    const quotas = new Map(['a', 'b'].map((name) => [name, makeQuota(name)]));
    const ledger = new QuotaLedger(clock);
    const plugin = createResourceQuota({
      clock, ledger, evaluatorOf: createEvaluators(undefined), store: {
        list: () => [...quotas.values()],
        async updateStatus({ name }, change) {
          if (failsOn(name)) throw new Error('no store');
          quotas.set(name, change(quotas.get(name) as KubeObject));
          return true;
        },
      },
    });
    return { plugin, ledger, used: () => Array.from(quotas.values(), (quota) => (quota['status'] as { used: { secrets: string } }).used.secrets) };
  }

  it('gives back what one quota was charged when the next one cannot be written', async () => {
    const { plugin, ledger, used } = createPlugin((name) => name === 'b');
    await assert.rejects(async () => plugin.validate?.(attributes('x')), /no store/);
    await eventually(async () => assert.deepEqual(used(), ['0', '0']));
    assert.equal(ledger.pending({ namespace: 'ns', quota: 'a' }, new Set()), undefined);
  });

  it('charges requests that come while others are charged', async () => {
    const { plugin, used } = createPlugin(() => false);
    await Promise.all(['x', 'y', 'z'].map(async (uid) => plugin.validate?.(attributes(uid))));
    assert.deepEqual(used(), ['3', '3']);
  });
});
