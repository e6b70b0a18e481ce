// Definitions of the names of built-in resources: they are stored, and take nothing away.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestUntil, startTestServer } from '../../test-support/index.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function define(group: string, plural: string, kind: string, version = 'v1'): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, test-only' } },
    spec: { group, scope: 'Cluster', names: { plural, singular: plural.slice(0, -1), kind },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] },
  };
}

describe('definitions of built-in names', () => {
  it('leave the built-in resources and their objects as they are, also when they are deleted', async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    const wide = [
      ['rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole'], ['apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition'],
      ['rbac.authorization.k8s.io', 'others', 'Role', 'v9'],
    ] as const;
    for (const [group, plural, kind, version] of wide) {
      assert.equal((await server.request({ method: 'POST', path: definitions, body: define(group, plural, kind, version) })).status, 201);
      await requestUntil(server, { path: `${definitions}/${plural}.${group}` }, {
        until: ({ body }) => body.status?.conditions?.some((one: { type: string; status: string }) => one.type === 'Established' && one.status === 'True') });
    }
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const checkRoles = async (): Promise<void> => {
      const { status, body } = await server.request({ path: `${roles}/cluster-admin` });
      assert.deepEqual([status, body.rules?.length], [200, 2]);
      const made = await server.request({ method: 'POST', path: `${roles}?dryRun=All`, body: { metadata: { name: 'a' }, rules: [{ verbs: [] }] } });
      assert.equal(made.status, 422, 'the kind keeps its validation');
    };
    await checkRoles();
    assert.equal((await server.request({ method: 'POST', path: definitions, body: define('example.com', 'things', 'Thing') })).status, 201);
    await requestUntil(server, { path: '/apis/example.com/v1/things' }, { until: ({ status }) => status === 200 });
    for (const [group, plural] of wide) {
      await server.request({ method: 'DELETE', path: `${definitions}/${plural}.${group}` });
      await requestUntil(server, { path: `${definitions}/${plural}.${group}` }, { until: ({ status }) => status === 404 });
    }
    await checkRoles();
    assert.equal((await server.request({ path: '/apis/example.com/v1/things' })).status, 200);
    assert.equal((await server.request({ path: `${definitions}/things.example.com` })).status, 200);
  });
});
