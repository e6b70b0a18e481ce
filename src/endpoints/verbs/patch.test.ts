// PATCH: one row for each type, and the order in which a request is refused.
import { after, before } from 'node:test';
import { testRows } from '../rows.suite.ts';
import { createTestApi, type TestRequest } from '../testing.ts';

const CM = '/api/v1/namespaces/ns/configmaps';
const W = '/apis/example.com/v1/namespaces/ns/widgets';
const api = createTestApi();
const patch = (path: string, type: string, body: unknown): TestRequest => ({ method: 'PATCH', path, body, headers: { 'content-type': type } });
const json = (path: string, body: unknown): TestRequest => patch(path, 'application/json-patch+json', body);
const merge = (path: string, body: unknown): TestRequest => patch(path, 'application/merge-patch+json', body);
const apply = (path: string, body: object): TestRequest =>
  patch(path, 'application/apply-patch+yaml', { apiVersion: 'v1', kind: 'ConfigMap', ...body });

before(async () => {
  const headers = { 'content-type': 'application/json' };
  await api.send({ method: 'POST', path: CM, headers, body: { metadata: { name: 'a' }, data: { k: 'v', l: 'w' } } });
  await api.send({ method: 'POST', path: W, headers, body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } } });
});
after(() => api.close());

testRows('handlePatch', api, [
  { name: 'merges', request: merge(`${CM}/a`, { data: { k: null, m: 'x' } }), status: 200, body: { data: { l: 'w', m: 'x' } } },
  { name: 'performs JSON patches', status: 200, body: { data: { n: 'w', m: 'x' } },
    request: json(`${CM}/a`, [{ op: 'test', path: '/data/l', value: 'w' }, { op: 'move', from: '/data/l', path: '/data/n' }]) },
  { name: 'tests numbers as they are written', status: 422, body: { reason: 'Invalid' },
    request: json(`${W}/w`, '[{"op":"test","path":"/metadata/generation","value":1.0}]') },
  { name: 'names the value of a patch that is too large a number', status: 400,
    body: { message: 'error decoding patch: json: cannot unmarshal number 1e400 into Go struct field jsonPatchOp.value of type float64' },
    request: json(`${W}/w`, '[{"op":"test","path":"/metadata/generation","value":1e400}]') },
  { name: 'merges strategically', request: patch(`${CM}/a`, 'application/strategic-merge-patch+json', { data: { $patch: 'replace', o: 'y' } }), status: 200,
    body: { data: { o: 'y' } } },
  { name: 'applies to an object', request: apply(`${CM}/a?fieldManager=m`, { metadata: { name: 'a' }, data: { p: 'z' } }), status: 200,
    body: { data: { o: 'y', p: 'z' } } },
  { name: 'applies without a name to an object that has it', request: apply(`${CM}/a?fieldManager=m`, { data: { p: 'z' } }), status: 200,
    body: { 'metadata.name': 'a' } },
  { name: 'creates nothing by an apply without a name', request: apply(`${CM}/none?fieldManager=m`, { data: { p: 'z' } }), status: 400,
    body: { message: 'the name of the object (none based on URL) was undeterminable: name must be provided' } },
  { name: 'creates by apply', request: apply(`${CM}/new?fieldManager=m`, { metadata: { name: 'new' }, data: { p: 'z' } }), status: 201,
    body: { 'metadata.managedFields.0.operation': 'Apply', 'metadata.namespace': 'ns' } },
  { name: 'reports a conflict of appliers', request: apply(`${CM}/new?fieldManager=n`, { metadata: { name: 'new' }, data: { p: 'q' } }), status: 409,
    body: { reason: 'Conflict', 'details.causes.0.field': '.data.p' } },
  { name: 'overrides a conflict by force', request: apply(`${CM}/new?fieldManager=n&force=1`, { metadata: { name: 'new' }, data: { p: 'q' } }), status: 200,
    body: { 'data.p': 'q' } },
  { name: 'requires a field manager to apply', request: apply(`${CM}/a`, { metadata: { name: 'a' } }), status: 422,
    body: { message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch' } },
  { name: 'refuses force without apply', request: merge(`${CM}/a?force=true`, {}), status: 422,
    body: { message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch' } },
  { name: 'refuses managedFields in a configuration', status: 400, body: { message: 'metadata.managedFields must be nil' },
    request: apply(`${CM}/a?fieldManager=m`, { metadata: { name: 'a', managedFields: [{}] } }) },
  { name: 'reports an absent object before a malformed patch', request: merge(`${CM}/none`, '{'), status: 404, body: { 'details.name': 'none' } },
  { name: 'reports an absent object before a configuration that has another type', status: 404, body: { 'details.name': 'none' },
    request: apply(`${W}/none/status?fieldManager=m`, { spec: 7 }) },
  { name: 'finds unknown fields in what has no version', status: 422, body: { 'details.causes.0.field': 'patch' },
    request: merge(`${CM}/a?fieldValidation=Strict`, { apiVersion: null }) },
  { name: 'refuses a custom resource whose version is null', status: 422, request: json(`${W}/w`, [{ op: 'replace', path: '/apiVersion', value: null },
    { op: 'remove', path: '/metadata' }]), body: { 'details.causes.0.field': 'patch' } },
  { name: 'refuses a wildcard for its type as the router does', request: patch(`${CM}/a`, '*/*', {}), status: 415,
    body: { message: '415: Unsupported Media Type' } },
  { name: 'refuses a malformed patch', request: merge(`${CM}/a`, '{'), status: 400, body: { message: 'error decoding patch: unexpected end of JSON input' } },
  { name: 'refuses a malformed patch in other words where fields are not validated', request: merge(`${CM}/a?fieldValidation=Ignore`, '{'), status: 400,
    body: { message: 'Invalid JSON Patch' } },
  { name: 'refuses operations that are none in other words there', request: json(`${CM}/a?fieldValidation=Ignore`, '[7]'), status: 400,
    body: { message: 'json: cannot unmarshal number into Go value of type jsonpatch.Operation' } },
  { name: 'lets a list take the place of the object there, which is no object then', request: merge(`${CM}/a?fieldValidation=Ignore`, '[]'), status: 422,
    body: { 'details.causes.0.field': 'patch' } },
  { name: 'refuses a time of deletion, even the zero one', status: 422, body: { 'details.causes.0.field': 'metadata.deletionTimestamp' },
    request: merge(`${CM}/a`, { metadata: { deletionTimestamp: '0001-01-01T00:00:00Z' } }) },
  { name: 'warns of all unknown fields that a strategic merge adds, by names as they are', status: 200,
    headers: { warning: [...Array(101).keys()].map((i) => `299 - "unknown field \\"u${i + 100}\\""`) },
    request: patch(`${CM}/a`, 'application/strategic-merge-patch+json', Object.fromEntries([...Array(101).keys()].map((i) => [`u${i + 100}`, 1]))) },
  { name: 'refuses a failed test', request: json(`${CM}/a`, [{ op: 'test', path: '/data/p', value: 'no' }]), status: 422, body: { reason: 'Invalid' } },
  { name: 'refuses too many operations', request: json(`${CM}/a`, Array(10_001).fill({ op: 'test', path: '/kind', value: 'ConfigMap' })), status: 413,
    body: { message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001' } },
  { name: 'reports unknown and duplicate fields of operations, then of the result', status: 422, body: {
    'details.causes.0.field': 'patch', reason: 'Invalid' }, request: json(`${CM}/a?fieldValidation=Strict`, '[{"op":"add","path":"/odd","value":1,"why":2}]') },
  { name: 'refuses an operation that is no text', status: 400, request: json(`${CM}/a`, [{ op: 'test', path: 7 }]),
    body: { message: 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string' } },
  { name: 'refuses it later where fields are not validated', status: 422, request: json(`${CM}/a?fieldValidation=Ignore`, [{ op: 'test', path: 7 }]),
    body: { message: 'the server rejected our request due to an error in our request' } },
  { name: 'reads null as an operation without a name', status: 422, request: json(`${CM}/a`, [null]),
    body: { message: 'the server rejected our request due to an error in our request' } },
  { name: 'warns of them', status: 200, headers: { warning: ['299 - "json patch unknown field \\"[0].why\\""', '299 - "unknown field \\"odd\\""'] },
    request: json(`${CM}/a`, '[{"op":"add","path":"/odd","value":1,"why":2}]') },
  { name: 'has no strategic merge for custom resources', request: patch(`${W}/w`, 'application/strategic-merge-patch+json', {}), status: 415,
    body: { reason: 'UnsupportedMediaType' } },
  { name: 'reports bad metadata of a custom resource before its type', request: merge(`${W}/w`, { apiVersion: 'a', metadata: { labels: { a: '-' } } }),
    status: 422, body: { 'details.causes.0.field': 'metadata.labels', 'details.causes.2.field': 'apiVersion' } },
  { name: 'reads the metadata of embedded objects', request: merge(`${W}/w`, { part: { metadata: { labels: { a: 7 } } } }), status: 422,
    body: { 'details.causes.0.field': 'patch' } },
  { name: 'reads no embedded objects of another type', request: merge(`${W}/w`, { apiVersion: null, part: { metadata: { labels: { a: 7 } } } }), status: 500,
    body: { message: "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'" } },
  { name: 'does not change the kind of a custom resource', request: merge(`${W}/w`, { kind: 'Other' }), status: 422,
    body: { message: 'Other.example.com "w" is invalid: kind: Invalid value: "Other": must be Widget' } },
]);
