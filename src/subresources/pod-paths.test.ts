// Paths below pods that are more than reads and writes: evictions that ask a budget, connections that lead nowhere.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, startTestServer } from '../test-support/index.ts';

const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

describe('paths below pods', () => {
  let server: TestServer;
  const send = (method: string, path: string, body?: unknown) => server.request({ method, path, body });
  const evict = (name: string, rest: object = {}) =>
    send('POST', `${pods}/${name}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...rest });
  const makePod = async (name: string, phase = 'Running'): Promise<void> => {
    const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'nginx' }, { name: 'd', image: 'nginx' }] };
    const made = await send('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } }, spec });
    assert.equal(made.status, 201, made.text);
    const status = { phase, conditions: [{ type: 'Ready', status: 'True' }] };
    assert.equal((await send('PATCH', `${pods}/${name}/status`, { status })).status, 200);
  };
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('evict a pod that no budget protects', async () => {
    await makePod('free');
    const dry = await send('POST', `${pods}/free/eviction?dryRun=All`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'free' } });
    assert.equal(dry.status, 201);
    assert.equal((await send('GET', `${pods}/free`)).status, 200);
    const other = await evict('free', { deleteOptions: { preconditions: { uid: 'x' } } });
    assert.deepEqual([other.status, other.body.details.kind], [409, 'Pod']);
    assert.equal((await evict('free')).status, 201);
    assert.equal((await send('GET', `${pods}/free`)).status, 404);
    assert.equal((await evict('free')).status, 404);
  });

  it('evict the revision of a pod that the client has seen, and no other', async () => {
    await makePod('seen');
    const { resourceVersion } = (await send('GET', `${pods}/seen`)).body.metadata;
    const stale = await evict('seen', { deleteOptions: { preconditions: { resourceVersion: '1' } } });
    assert.deepEqual([stale.status, stale.body.message], [409, 'Operation cannot be fulfilled on Pod "seen": the ResourceVersion in the precondition (1) '
      + `does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`]);
    assert.equal((await evict('seen', { deleteOptions: { preconditions: { resourceVersion } } })).status, 201);
    assert.equal((await send('GET', `${pods}/seen`)).status, 404);
  });

  it('ask the budget, which counts down', async () => {
    await makePod('guarded');
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } };
    await send('POST', budgets, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'guard' }, spec });
    const early = await evict('guarded');
    assert.deepEqual([early.status, early.headers['retry-after'], early.body.details.causes[0].message],
      [429, '10', 'The disruption budget guard is still being processed by the server.']);
    const counts = { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    await send('PATCH', `${budgets}/guard/status`, { status: { ...counts, disruptionsAllowed: 0 } });
    assert.equal((await evict('guarded')).body.details.causes[0].message, 'The disruption budget guard needs 1 healthy pods and has 1 currently');
    await send('PATCH', `${budgets}/guard/status`, { status: { ...counts, disruptionsAllowed: 1 } });
    assert.equal((await evict('guarded')).status, 201);
    const { status } = (await send('GET', `${budgets}/guard`)).body;
    assert.deepEqual([status.disruptionsAllowed, Object.keys(status.disruptedPods), status.conditions[0].reason], [0, ['guarded'], 'InsufficientPods']);
  });

  it('lead nowhere, in the words of the reference', async () => {
    await makePod('idle', 'Pending');
    const answers = await Promise.all([
      send('GET', `${pods}/idle/log`), send('GET', `${pods}/idle/log?container=zz`), send('GET', `${pods}/idle/exec?container=c&command=ls`),
      send('GET', `${pods}/idle/portforward`), send('GET', `${pods}/idle/proxy`), send('GET', `${pods}/none/log`),
    ]);
    assert.deepEqual(answers.map(({ body }) => body.message), [
      'a container name must be specified for pod idle, choose one of: [c d]', 'container zz is not valid for pod idle',
      'pod idle does not have a host assigned', 'pod idle does not have a host assigned', 'address not allowed', 'pods "none" not found',
    ]);
    assert.equal((await send('GET', `${pods}/idle/log?container=c`)).status, 204);
    assert.equal((await send('DELETE', `${pods}/idle/exec`)).status, 405);
  });

  it('find services by their endpoints', async () => {
    const core = '/api/v1/namespaces/default';
    await send('POST', `${core}/services`, { metadata: { name: 'lone' }, spec: { ports: [{ port: 80 }] } });
    const proxy = async (name: string): Promise<unknown> => (await send('GET', `${core}/services/${name}/proxy/`)).body.message;
    assert.equal(await proxy('lone:81'), 'no service port 81 found for service "lone"');
    assert.equal(await proxy('lone'), 'services "lone" not found');
    await send('POST', `${core}/endpoints`, { metadata: { name: 'lone' } });
    assert.equal(await proxy('https:lone:80'), 'no endpoints available for service "lone"');
  });

  it('leave pods alone where the plugin of service accounts is disabled', async () => {
    const bare = await startTestServer({ disableAdmissionPlugins: ['ServiceAccount'] });
    try {
      const pod = { metadata: { name: 'bare' }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
      const { spec } = (await bare.request({ method: 'POST', path: pods, body: pod })).body;
      assert.deepEqual([spec.serviceAccountName, spec.volumes, spec.tolerations.length], [undefined, undefined, 2]);
    } finally {
      await bare.close();
    }
  });

  it('evict in the version before, too', async () => {
    await makePod('old', 'Succeeded');
    const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'old' } };
    assert.equal((await send('POST', `${pods}/old/eviction`, eviction)).status, 201);
  });
});
