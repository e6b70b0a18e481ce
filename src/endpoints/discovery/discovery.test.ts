// Discovery documents of two built-in kinds and a custom one: bodies, headers, encodings, and what is not served.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { RemoteVersion } from '../remote/remote-apis.ts';
import { testRows } from '../rows.suite.ts';
import { createTestApi } from '../testing.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const remoteVersion: RemoteVersion = {
  group: 'remote.example.com', version: 'v1', groupPriority: 1, versionPriority: 1, discovery: undefined, openApiV3: new Map(), openApiV2: undefined,
};
const api = createTestApi({ remote: {
  generation: 1, versions: () => [remoteVersion], find: (group) => (group === 'remote.example.com' ? remoteVersion : undefined),
  forward: async (_exchange, { group, version }) => ({ status: 200, headers: {}, body: new TextEncoder().encode(`${group} ${version} answers`) }),
} });
after(() => api.close());

testRows('Discovery', api, [
  { name: 'lists the versions of the core group', request: { path: '/api' }, status: 200,
    text: '{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"test:6443"}]}\n' },
  { name: 'lists groups', request: { path: '/apis' }, status: 200,
    body: { 'kind': 'APIGroupList', 'groups.length': 2, 'groups.0.preferredVersion': { groupVersion: 'example.com/v1', version: 'v1' },
      'groups.1.name': 'remote.example.com' } },
  { name: 'describes a group', request: { path: '/apis/example.com/' }, status: 200, body: { kind: 'APIGroup', name: 'example.com' } },
  { name: 'lists built-in resources with sorted verbs', request: { path: '/api/v1' }, status: 200, body: {
    'apiVersion': undefined, 'groupVersion': 'v1', 'resources.0.shortNames': ['cm'], 'resources.1.namespaced': false,
    'resources.0.verbs': ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] } },
  { name: 'lists custom resources with an apiVersion', request: { path: '/apis/example.com/v1' }, status: 200,
    body: { 'apiVersion': 'v1', 'resources.0.kind': 'Widget' } },
  { name: 'answers YAML', request: { path: '/api', headers: { accept: 'application/yaml' } }, status: 200, headers: { 'content-type': 'application/yaml' } },
  { name: 'refuses other types of built-in documents', request: { path: '/api/v1', headers: { accept: 'text/html' } }, status: 406,
    body: { message: '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf' } },
  { name: 'refuses a Content-Type that built-in documents are not of', status: 415,
    request: { path: '/api/v1', headers: { 'content-type': 'text/plain', accept: 'text/html' } }, body: { message: '415: Unsupported Media Type' } },
  { name: 'refuses a Content-Type of aggregated documents', request: { path: '/api', headers: { 'content-type': '*/*', accept: AGGREGATED } }, status: 415,
    body: { reason: 'UnsupportedMediaType' } },
  { name: 'takes a Content-Type of the encodings', status: 200, request: { path: '/api/v1', headers: { 'content-type': 'a/b, application/yaml;x=y' } },
    body: {} },
  { name: 'takes any Content-Type for groups', request: { path: '/apis', headers: { 'content-type': 'text/plain' } }, status: 200, body: {} },
  { name: 'refuses other types of groups', request: { path: '/apis', headers: { accept: 'text/html' } }, status: 406, body: { reason: 'NotAcceptable' } },
  { name: 'aggregates the groups', request: { path: '/apis', headers: { accept: AGGREGATED } }, status: 200,
    headers: { 'content-type': AGGREGATED, 'cache-control': 'public', 'vary': 'Accept' },
    body: { 'items.0.metadata.name': 'example.com', 'items.0.versions.0.freshness': 'Current', 'items.0.versions.0.resources.0.scope': 'Namespaced',
      'items.1.versions.0': { version: 'v1', freshness: 'Stale' } } },
  { name: 'does not aggregate behind a slash', request: { path: '/apis/', headers: { accept: AGGREGATED } }, status: 406, body: { reason: 'NotAcceptable' } },
  { name: 'aggregates the core group, whose kinds name no group', request: { path: '/api', headers: { accept: `application/json,${AGGREGATED}` } }, status: 200,
    body: { 'items.0.metadata': {}, 'items.0.versions.0.resources.0.responseKind': { group: '', version: '', kind: 'ConfigMap' } } },
  { name: 'has no other group', request: { path: '/apis/none.example.com' }, status: 404, text: '404 page not found\n' },
  { name: 'has no other version of a built-in group', request: { path: '/api/v9' }, status: 404, body: { reason: 'NotFound' } },
  { name: 'has no other version of a custom group', request: { path: '/apis/example.com/v9' }, status: 404, text: '404 page not found\n' },
  { name: 'sends requests for versions of other servers there', request: { path: '/apis/remote.example.com/v1' }, status: 200,
    text: 'remote.example.com v1 answers' },
]);

test('Discovery answers 304 until the catalog changes', async () => {
  const own = createTestApi();
  const ask = (etag?: unknown) => own.send({ path: '/apis', headers: { accept: AGGREGATED, ...(etag !== undefined && { 'if-none-match': String(etag) }) } });
  const { etag } = (await ask()).headers;
  assert.equal((await ask(etag)).status, 304);
  own.catalog.remove('example.com', 'widgets');
  const changed = await ask(etag);
  assert.deepEqual([changed.status, changed.json.items], [200, []]);
  own.close();
});
