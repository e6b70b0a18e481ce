// useTestServer with the hooks of node:test: each test begins with the same state.
import assert from 'node:assert/strict';
import * as nodeTest from 'node:test';
import { useTestServer } from './index.ts';

nodeTest.describe('useTestServer', () => {
  const server = useTestServer(nodeTest, { namespaces: ['team'], faults: [{ verb: 'delete', status: 500 }] });
  const counts: number[] = [];
  const urls = new Set<string>();

  for (const name of ['first', 'second']) {
    nodeTest.it(`hands the start state to the ${name} test`, async () => {
      counts.push((await server.list('cm', { namespace: 'team' })).length);
      urls.add(server.url);
      assert.equal(server.faults.list().length, 1);
      await server.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'team' } });
      assert.equal(server.hasChanged, true);
    });
  }

  nodeTest.it('keeps the address', () => {
    assert.deepEqual([counts, urls.size], [[1, 1], 1]);
  });

  nodeTest.it('refuses what are no hooks', () => {
    assert.throws(() => useTestServer({}), /needs the hooks of a test runner/);
  });
});
