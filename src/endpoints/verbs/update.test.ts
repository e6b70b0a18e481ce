// PUT: replacing, preconditions, and what the body has to have.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { badRequest, type StatusError, tooManyRequests } from '../../apimachinery/index.ts';
import { testRows } from '../rows.suite.ts';
import { createTestApi, makeResource, type TestRequest } from '../testing.ts';

const CM = '/api/v1/namespaces/ns/configmaps';
const api = createTestApi();
const put = (path: string, body: unknown): TestRequest => ({ method: 'PUT', path, body, headers: { 'content-type': 'application/json' } });
const configMap = (metadata: object, data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });

before(async () => {
  await api.send({ method: 'POST', path: CM, body: configMap({ name: 'a', labels: { l: '1' } }, { k: 'v' }), headers: { 'content-type': 'application/json' } });
});
after(() => api.close());

testRows('handleUpdate', api, [
  { name: 'replaces all fields', request: put(`${CM}/a`, configMap({ name: 'a' }, { n: '1' })), status: 200,
    body: { 'data': { n: '1' }, 'metadata.labels': undefined } },
  { name: 'stores nothing in a dry run', request: put(`${CM}/a?dryRun=All`, configMap({ name: 'a' }, { n: '2' })), status: 200, body: { 'data.n': '2' } },
  { name: 'has stored nothing in the dry run', request: { path: `${CM}/a` }, status: 200, body: { 'data.n': '1' } },
  { name: 'refuses another uid', request: put(`${CM}/a`, configMap({ name: 'a', uid: 'other' }, {})), status: 409, body: { reason: 'Conflict' } },
  { name: 'refuses a stale resourceVersion', request: put(`${CM}/a`, configMap({ name: 'a', resourceVersion: '1' }, {})), status: 409,
    body: { message: 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again' } },
  { name: 'refuses another name', request: put(`${CM}/a`, configMap({ name: 'b' }, {})), status: 400,
    body: { message: 'the name of the object (b) does not match the name on the URL (a)' } },
  { name: 'does not create where the resource does not allow it', request: put(`${CM}/none`, configMap({ name: 'none' }, {})), status: 404,
    body: { reason: 'NotFound', 'details.name': 'none' } },
  { name: 'reports invalid options before the body', request: put(`${CM}/a?dryRun=Some`, '{'), status: 422,
    body: { 'details.kind': 'UpdateOptions', 'details.causes.0.field': 'dryRun' } },
  { name: 'reports invalid options before a body of no known type', status: 422,
    request: { ...put(`${CM}/a?dryRun=Some`, '{'), headers: { 'content-type': 'text/plain' } }, body: { 'details.kind': 'UpdateOptions' } },
]);

test('handleUpdate has one text for Scales of custom resources that cannot be read, and none of its own for a worker that has no time', async () => {
  const answerTo = async (error: StatusError): Promise<unknown> => {
    const one = createTestApi({ parseYaml: () => Promise.reject(error) });
    one.catalog.add(makeResource({
      kind: 'Gadget', plural: 'gadgets', group: 'example.org', custom: true,
      subresources: [{ name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: ['get', 'patch', 'update'] }],
    }));
    const path = '/apis/example.org/v1/namespaces/ns/gadgets/a/scale';
    const { json } = await one.send({ method: 'PUT', path, body: 'a: b', headers: { 'content-type': 'application/yaml' } });
    one.close();
    return [json.code, json.message];
  };
  assert.deepEqual(await answerTo(tooManyRequests('too much work is waiting', 1)), [429, 'too much work is waiting']);
  assert.deepEqual(await answerTo(badRequest('no')), [400, 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"']);
});
