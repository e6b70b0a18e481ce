// Objects that the server keeps for its clients: they come back when they are deleted, some cannot be, and aggregated roles are owned by apply.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, requestUntil, startTestServer } from '../test-support/index.ts';

const priorities = '/apis/scheduling.k8s.io/v1/priorityclasses';
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

describe('objects of the server', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());
  const get = (path: string) => server.request({ path });
  const remove = (path: string) => server.request({ method: 'DELETE', path });

  const own = [
    '/api/v1/namespaces/default/services/kubernetes', '/api/v1/namespaces/default/endpoints/kubernetes',
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes', '/api/v1/namespaces/default/serviceaccounts/default',
    '/api/v1/namespaces/default/configmaps/kube-root-ca.crt',
  ];
  for (const path of own) {
    it(`${path} comes back`, async () => {
      const { uid } = (await requestUntil(server, { path }, { until: ({ status }) => status === 200 })).body.metadata;
      assert.equal((await remove(path)).status, 200);
      await requestUntil(server, { path }, { until: ({ status, body }) => status === 200 && body.metadata.uid !== uid });
    });
  }

  it('PriorityClasses of the system are not deleted by name, and come back when a collection is', async () => {
    const refused = await remove(`${priorities}/system-node-critical`);
    assert.deepEqual([refused.status, refused.body.message], [403,
      'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted']);
    const { uid } = (await get(`${priorities}/system-node-critical`)).body.metadata;
    assert.equal((await remove(priorities)).status, 200);
    const path = `${priorities}/system-node-critical`;
    await requestUntil(server, { path }, { until: ({ status, body }) => status === 200 && body.metadata.uid !== uid });
  });

  it('aggregated rules are applied by their controller', async () => {
    const label = { 'example.com/part': 'true' };
    const rules = (resource: string) => [{ apiGroups: [''], resources: [resource], verbs: ['get'] }];
    const post = (body: object) => server.request({ method: 'POST', path: roles, body });
    await post({ metadata: { name: 'whole' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: label }] } });
    await post({ metadata: { name: 'part-b', labels: label }, rules: rules('pods') });
    await post({ metadata: { name: 'part-a', labels: label }, rules: rules('secrets') });
    const whole = await requestUntil(server, { path: `${roles}/whole` }, { until: ({ body }) => body.rules?.length === 2 });
    assert.deepEqual(whole.body.rules, [...rules('secrets'), ...rules('pods')]);
    const owner = whole.body.metadata.managedFields.find(({ manager }: { manager: string }) => manager === 'clusterrole-aggregation-controller');
    assert.deepEqual([owner.operation, Object.keys(owner.fieldsV1)], ['Apply', ['f:rules']]);
    await remove(`${roles}/part-a`);
    await requestUntil(server, { path: `${roles}/whole` }, { until: ({ body }) => body.rules?.length === 1 });
    await remove(`${roles}/part-b`);
    await requestUntil(server, { path: `${roles}/whole` }, { until: ({ body }) => (body.rules ?? []).length === 0 });
  });
});
