// A Service that is deleted takes the Endpoints of its name along, as in kube-apiserver; its controller may lag.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../test-support/index.ts';

test('the Endpoints of a Service are removed with it, those of other names stay', async () => {
  const server = await startTestServer();
  const path = '/api/v1/namespaces/default';
  const subsets = [{ addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 80 }] }];
  try {
    const spec = { ports: [{ port: 80 }] };
    for (const name of ['a', 'b']) await server.request({ method: 'POST', path: `${path}/services`, body: { metadata: { name }, spec } });
    for (const name of ['a', 'other']) await server.request({ method: 'POST', path: `${path}/endpoints`, body: { metadata: { name }, subsets } });
    const statusOf = async (name: string): Promise<number> => (await server.request({ path: `${path}/endpoints/${name}` })).status;
    for (const [name, query, left] of [['a', '?dryRun=All', 200], ['b', '', 200], ['a', '', 404]] as const) {
      assert.equal((await server.request({ method: 'DELETE', path: `${path}/services/${name}${query}` })).status, 200);
      assert.deepEqual([await statusOf('a'), await statusOf('other')], [left, 200], `${name}${query}`);
    }
  } finally {
    await server.close();
  }
});
