// What differs from the reference on purpose, as docs/differences.md lists it, where no other test pins it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../src/test-support/index.ts';

test('startTestServer answers map keys that look like whole numbers first, in the order of their values', async (context) => {
  const server = await startTestServer();
  context.after(() => server.close());
  const headers = { 'content-type': 'application/json' };
  const created = await server.request({
    method: 'POST', path: '/api/v1/namespaces/default/configmaps', headers, body: '{"metadata":{"name":"keys"},"data":{"b":"","10":"","2":"","A":""}}',
  });
  assert.equal(created.status, 201);
  const { text } = await server.request({ path: '/api/v1/namespaces/default/configmaps/keys' });
  assert.match(text, /"data":\{"2":"","10":"","A":"","b":""\}/);
});
