// POST: the object in the answer, its headers, and creates that are not simply stored.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { SpecialRequest } from '../dependencies.ts';
import { testRows } from '../rows.suite.ts';
import { createTestApi, type TestRequest } from '../testing.ts';

const CM = '/api/v1/namespaces/ns/configmaps';
const seen: SpecialRequest[] = [];
const performed: Record<string, KubeObject> = {
  created: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'made' } },
  refused: { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code: 429 } as unknown as KubeObject,
};
const api = createTestApi({
  special: new Map([['/nodes', async (request: SpecialRequest) => {
    seen.push(request);
    return performed[request.object.metadata.name as string] as KubeObject;
  }]]),
});
after(() => api.close());

const post = (path: string, body: unknown, headers: Record<string, string> = {}): TestRequest =>
  ({ method: 'POST', path, body, headers: { 'content-type': 'application/json', ...headers } });
const configMap = (metadata: object, more: object = {}): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...more });

testRows('handleCreate', api, [
  { name: 'answers 201 with the stored object', request: post(CM, configMap({ name: 'a' }, { data: { k: 'v' } })), status: 201,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private', warning: undefined },
    body: { 'metadata.namespace': 'ns', data: { k: 'v' } } },
  { name: 'warns in document order', status: 201, headers: { warning: ['299 - "unknown field \\"odd\\""', '299 - "duplicate field \\"data.k\\""'] },
    request: post(CM, '{"odd":1,"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"e"},"data":{"k":"1","k":"2"}}') },
  { name: 'warns of a duplicate field where it occurs again', status: 201,
    headers: { warning: ['299 - "unknown field \\"odd\\""', '299 - "duplicate field \\"data\\""'] },
    request: post(CM, '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"i"},"data":{"k":"1"},"odd":1,"data":{"l":"2"}}'),
    body: { data: { k: '1', l: '2' } } },
  { name: 'warns in the order of sorted keys of YAML', status: 201,
    headers: { warning: ['299 - "unknown field \\"metadata.nick\\""', '299 - "unknown field \\"odd\\""'] },
    request: post(CM, 'odd: 1\nkind: ConfigMap\nmetadata:\n  nick: 1\n  name: j\n', { 'content-type': 'application/yaml' }) },
  { name: 'reads YAML', request: post(CM, 'kind: ConfigMap\nmetadata:\n  name: f\ndata: {k: v}\n', { 'content-type': 'application/yaml' }), status: 201,
    body: { 'data.k': 'v' } },
  { name: 'answers a table', status: 201, request: post(CM, configMap({ name: 'g' }), { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
    body: { 'kind': 'Table', 'rows.0.cells': ['g'], 'rows.0.object.kind': 'PartialObjectMetadata' } },
  { name: 'refuses an Accept header before the body', request: post(CM, '{', { accept: 'text/html' }), status: 406 },
  { name: 'refuses a body of another namespace', request: post(CM, configMap({ name: 'h', namespace: 'other' })), status: 400,
    body: { message: 'the namespace of the provided object does not match the namespace sent on the request' } },
  { name: 'answers 409 for a name that exists', request: post(CM, configMap({ name: 'a' })), status: 409, body: { reason: 'AlreadyExists' } },
  { name: 'answers a special create with what its function returns', status: 201, body: { kind: 'Node', 'metadata.name': 'made' },
    request: post('/api/v1/nodes', { metadata: { name: 'created' } }) },
  { name: 'answers the code of a Status that a special create returns', status: 429, body: { kind: 'Status' },
    request: post('/api/v1/nodes', { metadata: { name: 'refused' } }) },
]);

test('handleCreate hands special creates over as admitted, with the manager of the query or of the user agent', async () => {
  seen.length = 0;
  const body = { metadata: { name: 'created' } };
  await api.send(post('/api/v1/nodes?fieldManager=me', body));
  for (const agent of ['kubectl/v1.36.2 (linux)', `${'x'.repeat(200)}/1`, 'a\u0007b', '']) await api.send(post('/api/v1/nodes', body, { 'user-agent': agent }));
  assert.deepEqual(seen.map(({ context }) => context.fieldManager), ['me', 'kubectl', 'x'.repeat(128), 'ab', 'unknown']);
  assert.ok(seen.every(({ context }) => context.admitted === true));
});
