// DELETE: options of the query and of the body, preconditions, the Status or list in the answer.
import { after, before } from 'node:test';
import { testRows } from '../rows.suite.ts';
import { createTestApi, type TestRequest } from '../testing.ts';

const CM = '/api/v1/namespaces/ns/configmaps';
const api = createTestApi();
const remove = (path: string, body?: unknown, type = 'application/json'): TestRequest =>
  ({ method: 'DELETE', path, ...(body !== undefined && { body, headers: { 'content-type': type } }) });
const invalid = (message: string): { readonly message: string } => ({ message: `DeleteOptions.meta.k8s.io "" is invalid: ${message}` });

before(async () => {
  for (const name of ['a', 'b', 'c', 'd']) {
    const body = { metadata: { name, labels: { name }, ...(name === 'd' && { finalizers: ['example.com/f'] }) } };
    await api.send({ method: 'POST', path: CM, body, headers: { 'content-type': 'application/json' } });
  }
});
after(() => api.close());

testRows('handleDelete', api, [
  { name: 'stores nothing in a dry run', request: remove(`${CM}/a?dryRun=All`), status: 200, body: { status: 'Success', 'details.name': 'a' } },
  { name: 'refuses another uid', request: remove(`${CM}/a`, { preconditions: { uid: 'other' } }), status: 409, body: { reason: 'Conflict' } },
  { name: 'reads options in YAML', request: remove(`${CM}/a`, 'propagationPolicy: Never\n', 'application/yaml'), status: 422,
    body: invalid('propagationPolicy: Unsupported value: "Never": supported values: "Foreground", "Background", "Orphan", "nil"') },
  { name: 'refuses a body that is no object', request: remove(`${CM}/a`, '[]'), status: 400, body: { reason: 'BadRequest' } },
  { name: 'refuses fields of wrong types', request: remove(`${CM}/a`, { gracePeriodSeconds: 'x' }), status: 400, body: { reason: 'BadRequest' } },
  { name: 'refuses two policies', request: remove(`${CM}/a?propagationPolicy=Orphan&orphanDependents=true`), status: 422,
    body: invalid('propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set') },
  { name: 'ignores the option for unreadable objects while its feature is off', status: 200, body: { status: 'Success' },
    request: remove(`${CM}/a?ignoreStoreReadErrorWithClusterBreakingPotential=true`) },
  { name: 'answers 404 the second time', request: remove(`${CM}/a`), status: 404, body: { message: 'configmaps "a" not found' } },
  { name: 'answers an object whose finalizers remain', request: remove(`${CM}/d`), status: 200, body: { kind: 'ConfigMap', 'metadata.name': 'd' } },
  { name: 'answers 202 for it when dependents are deleted as well', request: remove(`${CM}/d?orphanDependents=false`), status: 202, body: { kind: 'ConfigMap' } },
]);

testRows('handleDeleteCollection', api, [
  { name: 'refuses options of a version that is none before their kind', status: 400, body: { message: 'unexpected GroupVersion string: a/b/c' },
    request: remove(CM, { apiVersion: 'a/b/c', kind: 'ConfigMap' }) },
  { name: 'takes options without a version for those of meta', request: remove(CM, { kind: 'ConfigMap' }), status: 400,
    body: { message: 'no kind "ConfigMap" is registered for version "meta.k8s.io/v1" in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"' } },
  { name: 'refuses a bad selector', request: remove(`${CM}?labelSelector=()`), status: 400 },
  { name: 'deletes the objects that the selector matches, and never watches', request: remove(`${CM}?labelSelector=name%3Db&watch=true`), status: 200,
    body: { 'kind': 'ConfigMapList', 'items.length': 1, 'items.0.metadata.name': 'b' } },
  { name: 'leaves the others', request: { path: CM }, status: 200, body: { 'items.length': 2, 'items.0.metadata.name': 'c' } },
]);
