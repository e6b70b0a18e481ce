// Lists that are empty: what a client sends of a new object is validated as it came, and stored as null.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../test-support/index.ts';

test('createObject validates empty lists as they came and stores them as null', async (context) => {
  const server = await startTestServer();
  context.after(() => server.close());
  const send = async (path: string, body: object): Promise<Record<string, never>> => JSON.parse((await server.request({ method: 'POST', path, body })).text);
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const { message } = await send('/apis/batch/v1/namespaces/default/jobs', { metadata: { name: 'a' }, spec: { successPolicy: { rules: [] }, template } });
  assert.equal(message, 'Job.batch "a" is invalid: spec.successPolicy: Invalid value: {"Rules":[]}: requires indexed completion mode');
  const made = await send('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', { metadata: { name: 'a' }, rules: [] });
  assert.equal(made['rules'], null);
});
