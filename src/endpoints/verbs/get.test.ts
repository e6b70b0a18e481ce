// GET of one object: the representations, and the options.
import { after, before } from 'node:test';
import { testRows } from '../rows.suite.ts';
import { createTestApi } from '../testing.ts';

const CM = '/api/v1/namespaces/ns/configmaps';
const W = '/apis/example.com/v1/namespaces/ns/widgets';
const api = createTestApi();

before(async () => {
  const headers = { 'content-type': 'application/json' };
  await api.send({ method: 'POST', path: CM, headers, body: { metadata: { name: 'a' }, data: { k: 'v' } } });
  await api.send({ method: 'POST', path: W, headers, body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } } });
});
after(() => api.close());

testRows('handleGet', api, [
  { name: 'answers JSON', request: { path: `${CM}/a` }, status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
    body: { kind: 'ConfigMap', data: { k: 'v' } } },
  { name: 'answers YAML', request: { path: `${CM}/a`, headers: { accept: 'application/yaml' } }, status: 200, headers: { 'content-type': 'application/yaml' } },
  { name: 'answers protobuf', request: { path: `${CM}/a`, headers: { accept: 'application/vnd.kubernetes.protobuf' } }, status: 200,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' } },
  { name: 'has no protobuf of custom resources', request: { path: `${W}/w`, headers: { accept: 'application/vnd.kubernetes.protobuf' } }, status: 406,
    body: { reason: 'NotAcceptable' } },
  { name: 'answers curl indented', request: { path: `${CM}/none`, headers: { 'user-agent': 'curl/8' } }, status: 404, text: `{
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "configmaps \\"none\\" not found",
  "reason": "NotFound",
  "details": {
    "name": "none",
    "kind": "configmaps"
  },
  "code": 404
}` },
  { name: 'refuses export', request: { path: `${CM}/a?export=true` }, status: 400,
    body: { message: 'the export parameter, deprecated since v1.14, is no longer supported' } },
  { name: 'ignores export=false', request: { path: `${CM}/a?export=false` }, status: 200 },
  { name: 'refuses a resourceVersion that is no number', request: { path: `${CM}/a?resourceVersion=x` }, status: 500,
    body: { message: 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax' } },
  { name: 'serves HEAD of custom resources', request: { method: 'HEAD', path: `${W}/w` }, status: 200 },
]);
