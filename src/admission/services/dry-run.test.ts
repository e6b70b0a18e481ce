// What a dry run gives to a Service stays out of the object that the next update begins with.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../test-support/index.ts';

test('a node port that a dry run finds for ports that it leaves as they were is not there after it', async (context) => {
  const server = await startTestServer();
  context.after(() => server.close());
  const path = '/api/v1/namespaces/default/services';
  await server.request({ method: 'POST', path, body: { metadata: { name: 'a' }, spec: { selector: { app: 'a' }, ports: [{ port: 80 }] } } });
  const patch = async (body: object, query = '') => {
    const { text } = await server.request({ method: 'PATCH', path: `${path}/a${query}`, headers: { 'content-type': 'application/merge-patch+json' }, body });
    const { type, ports: [{ nodePort }] } = JSON.parse(text).spec;
    return [type, nodePort !== undefined];
  };
  for (const value of ['1', '2']) assert.deepEqual(await patch({ metadata: { labels: { value } } }), ['ClusterIP', false]);
  assert.deepEqual(await patch({ spec: { type: 'NodePort' } }, '?dryRun=All'), ['NodePort', true]);
  assert.deepEqual(await patch({ metadata: { labels: { value: '3' } } }), ['ClusterIP', false]);
});
