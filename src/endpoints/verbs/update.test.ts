// PUT: replacing, preconditions, and what the body has to have.
import { after, before } from 'node:test';
import { testRows } from '../rows.suite.ts';
import { createTestApi, type TestRequest } from '../testing.ts';

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
