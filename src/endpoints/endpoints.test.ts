// Scenario rows: one API call each, what it must answer.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '../base/index.ts';
import { parseRequestInfo } from './request/request-info.ts';
import { createTestApi, type TestRequest } from './testing.ts';

const api = createTestApi();
after(() => api.close());

const CM = '/api/v1/namespaces/ns/configmaps';
const W = '/apis/example.com/v1/namespaces/ns/widgets';
const json = { 'content-type': 'application/json' };
const post = (path: string, body: unknown, headers: Record<string, string> = json): TestRequest => ({ method: 'POST', path, body, headers });
const patch = (path: string, body: unknown): TestRequest => ({ method: 'PATCH', path, body, headers: { 'content-type': 'application/merge-patch+json' } });
const cm = (name: string, data: unknown = { k: 'v' }) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
/** A document as it stands in a message in a Status. */
const quoted = (text: string): string => [1, 2].reduce((inner) => JSON.stringify(inner).slice(1, -1), text);
const strategic = (body: unknown): TestRequest =>
  ({ method: 'PATCH', path: `${CM}/a`, body, headers: { 'content-type': 'application/strategic-merge-patch+json' } });
const apply = (body: object): TestRequest => ({
  method: 'PATCH', path: `${CM}/a?fieldManager=m`, body: { ...body, metadata: { name: 'a' } }, headers: { 'content-type': 'application/apply-patch+yaml' },
});
const widget = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } });
const notServed = 'the server could not find the requested resource';
const notAllowed = 'the server does not allow this method on the requested resource';

/** Request, status, and the message of the Status or a text that the body holds. */
const rows: [string, TestRequest, number, string?][] = [
  ['creates', post(CM, cm('a')), 201, '"name":"a"'],
  ['refuses a second object of a name', post(CM, cm('a')), 409, 'configmaps \\"a\\" already exists'],
  ['creates a custom resource with its type first', post(W, widget('w')), 201, '{"apiVersion":"example.com/v1","kind":"Widget"'],
  ['reads', { path: `${CM}/a` }, 200, '"data":{"k":"v"}}\n'],
  ['reads as YAML', { path: `${CM}/a`, headers: { accept: 'application/yaml' } }, 200, 'kind: ConfigMap\n'],
  ['reads indented', { path: `${CM}/a?pretty=1` }, 200, '\n  "kind": "ConfigMap",\n'],
  ['reads as a table', { path: `${CM}/a`, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }, 200, '"cells":["a"]'],
  ['reads metadata', { path: `${CM}/a`, headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } }, 200,
    '{"kind":"PartialObjectMetadata"'],
  ['refuses a list form for an object', { path: `${CM}/a`, headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' } }, 406,
    'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)'],
  ['misses what is absent', { path: `${CM}/none` }, 404, 'configmaps \\"none\\" not found'],
  ['lists with a head of its own', { path: CM }, 200, '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"'],
  ['lists custom resources with sorted keys', { path: W }, 200, '],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"'],
  ['refuses a watch in the form that is wanted most, if that is no stream',
    { path: `${CM}?watch=1`, headers: { accept: 'application/yaml,application/json' } }, 406, 'application/json;stream=watch'],
  ['tells a bad version of a watch before its encoding', { path: `${CM}?watch=1&resourceVersion=abc`, headers: { accept: 'application/yaml' } }, 500,
    'Invalid value: "abc"'],
  ['lists nothing', { path: '/api/v1/namespaces/other/configmaps' }, 200, '"items":[]}\n'],
  ['refuses a limit that is no number', { path: `${CM}?limit=x` }, 400, 'strconv.ParseInt: parsing \\"x\\": invalid syntax'],
  ['refuses a match rule without a version', { path: `${CM}?resourceVersionMatch=Exact` }, 422,
    'resourceVersionMatch is forbidden unless resourceVersion is provided'],
  ['replaces', { method: 'PUT', path: `${CM}/a`, body: cm('a', { k: 'w' }), headers: json }, 200, '"k":"w"'],
  ['refuses another name', { method: 'PUT', path: `${CM}/a`, body: cm('b'), headers: json }, 400,
    'the name of the object (b) does not match the name on the URL (a)'],
  ['merges a patch', patch(`${CM}/a`, { data: { l: 'x' } }), 200, '"data":{"k":"w","l":"x"}'],
  ['refuses a patch that is no object', patch(`${CM}/a`, ['x']), 400,
    'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ['shows the document of a merge with sorted keys only where the patch reached', patch(`${CM}/a`, { data: { z: 1, a: '' } }), 422,
    quoted('"data":{"a":"","k":"w","l":"x","z":1},"kind":"ConfigMap","metadata":{"name":"a","')],
  ['refuses a merge into another version', patch(`${CM}/a`, { apiVersion: 'v9' }), 422, 'no kind \\"ConfigMap\\" is registered for version \\"v9\\"'],
  ['refuses a merge into another kind', patch(`${CM}/a`, { kind: 'None' }), 422, 'no kind \\"None\\" is registered for version \\"v1\\" in scheme'],
  ['refuses a merge into another kind that there is', patch(`${CM}/a`, { kind: 'Node' }), 422,
    'converting (v1.Node) to (core.ConfigMap): unknown conversion'],
  ['refuses a merge into no type', patch(`${CM}/a`, { kind: 7 }), 422,
    "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string"],
  ['refuses to apply what has no type', apply({ apiVersion: true, kind: 'ConfigMap' }), 400, 'invalid object type: /, Kind=ConfigMap'],
  ['refuses to apply what has no kind', apply({ apiVersion: 'v1', kind: {} }), 400, 'invalid object type: /v1, Kind="'],
  ['refuses to apply what has no group version', apply({ apiVersion: 'a/b/c', kind: 'ConfigMap' }), 400, 'invalid object type: /, Kind="'],
  ['finds no name in what has no version', patch(`${CM}/a`, { apiVersion: null }), 400, 'the name of the object (a based on URL) was undeterminable'],
  ['words a number for a text as the converter of patches does', strategic({ data: { k: 5 } }), 422, 'cannot convert int64 to string'],
  ['words another type for a text so too', strategic({ data: { k: true } }), 422, 'unrecognized type: string'],
  ['words a text for a flag so too', strategic({ immutable: 'x' }), 422, 'unrecognized type: bool'],
  ['words a fraction for a map so too', strategic({ data: 1.5 }), 422, 'cannot restore map from float64'],
  ['words a fraction for a struct so too', strategic({ metadata: 1.5 }), 422, 'cannot restore struct from: float64'],
  ['words a number for a time so too', strategic({ metadata: { creationTimestamp: 1 } }), 422, 'json: cannot unmarshal number into Go value of type string'],
  ['words what is no time so too', strategic({ metadata: { creationTimestamp: 'x' } }), 422, 'map[metadata:map[creationTimestamp:x]]\\": parsing time'],
  ['refuses a patch of no patch type', { method: 'PATCH', path: `${CM}/a`, body: {}, headers: json }, 415, '415: Unsupported Media Type'],
  ['refuses a body of no known type', post(CM, cm('z'), { 'content-type': 'text/plain' }), 415, 'the body of the request was in an unknown format'],
  ['refuses broken JSON', post(CM, '{'), 400, "couldn't get version/kind; json parse error: unexpected end of JSON input ({)"],
  ['refuses a list as body', post(CM, '[]'), 400, 'json: cannot unmarshal array into Go value of type struct { APIVersion string'],
  ['refuses an unknown kind', post(CM, { apiVersion: 'v1', kind: 'None' }), 400, 'no kind \\"None\\" is registered for version \\"v1\\" in scheme'],
  ['quotes an unknown version', post(CM, { apiVersion: 'x\ny', kind: 'ConfigMap' }), 400, 'for version \\"x\\\\ny\\" in scheme'],
  ['refuses what is wrong with another kind first', post(CM, { apiVersion: 'v1', kind: 'Node', metadata: [] }), 400,
    'Node in version \\"v1\\" cannot be handled as a ConfigMap: json: cannot unmarshal array'],
  ['refuses another kind', post(CM, { apiVersion: 'v1', kind: 'Node' }), 400, 'converting (v1.Node) to (core.ConfigMap): unknown conversion'],
  ['refuses a custom resource without kind', post(W, { metadata: { name: 'x' } }), 400, "Object 'Kind' is missing in"],
  ['refuses a custom resource of another version', post(W, { apiVersion: 'example.com/v2', kind: 'Widget' }), 400,
    'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)'],
  ['refuses a wrong type of a value', post(CM, cm('z', { k: 1 })), 400,
    'ConfigMap in version \\"v1\\" cannot be handled as a ConfigMap: json: cannot unmarshal number'],
  ['refuses unknown fields when strict', post(`${CM}?fieldValidation=Strict`, { ...cm('z'), extra: 1 }), 400,
    'strict decoding error: unknown field \\"extra\\"'],
  ['refuses unknown levels', post(`${CM}?fieldValidation=Maybe`, cm('z')), 422,
    'CreateOptions.meta.k8s.io \\"\\" is invalid: fieldValidation: Unsupported value'],
  ['refuses unknown dry runs', post(`${CM}?dryRun=Some`, cm('z')), 422, 'dryRun: Unsupported value: [\\"Some\\"]: supported values: \\"All\\"'],
  ['does not store a dry run', post(`${CM}?dryRun=All`, cm('dry')), 201],
  ['does not find a dry run', { path: `${CM}/dry` }, 404],
  ['has no POST on objects', post(`${CM}/a`, cm('a')), 405, notAllowed],
  ['has no PUT on collections', { method: 'PUT', path: CM, body: cm('a') }, 405, notAllowed],
  ['only reads across namespaces', post('/api/v1/configmaps', cm('a')), 405, notAllowed],
  ['refuses HEAD on built-ins', { method: 'HEAD', path: `${CM}/a` }, 405],
  ['does not know other resources', { path: '/api/v1/nothings' }, 404, notServed],
  ['does not know other versions', { path: '/api/v9/configmaps' }, 404, notServed],
  ['does not know cluster resources in a namespace', { path: '/api/v1/namespaces/ns/nodes' }, 404, notServed],
  ['does not know a slash in a name', { path: `${CM}/a%2Fc` }, 404, notServed],
  ['does not know other subresources', { path: `${CM}/a/status` }, 404, notServed],
  ['answers text for custom resources out of scope', { path: '/apis/example.com/v1/widgets/w' }, 404, '404 page not found\n'],
  ['answers NotFound for subresources of custom resources', { path: `${W}/w/none` }, 404, 'widgets.example.com \\"w\\" not found'],
  ['answers text for other groups', { path: '/apis/none.example.com/v1/things' }, 404, '404 page not found\n'],
  ['refuses an Accept of half a wildcard', { path: `${CM}/a`, headers: { accept: 'application/*' } }, 406, '406: Not Acceptable'],
  ['does not delete below the old proxy prefix, for which another verb was authorized',
    { method: 'DELETE', path: '/api/v1/proxy/namespaces/ns/configmaps/a' }, 404, notServed],
  ['does not read below the old proxy prefix', { path: '/api/v1/proxy/namespaces/ns/configmaps' }, 404, notServed],
  ['refuses the verb proxy on custom resources', { path: `${W.replace('/v1/', '/v1/proxy/')}/w` }, 405, 'proxy is not supported on resources of kind'],
  ['refuses delete options whose kind is no text', { method: 'DELETE', path: `${CM}/a`, body: { kind: 5 }, headers: json }, 400,
    'cannot unmarshal number into Go struct field .kind of type string'],
  ['refuses delete options of another kind', { method: 'DELETE', path: `${CM}/a`, body: cm('a'), headers: json }, 400, 'internalversion/scheme/register.go:27'],
  ['refuses an unknown propagation policy', { method: 'DELETE', path: `${CM}/a?propagationPolicy=No` }, 422,
    'supported values: \\"Foreground\\", \\"Background\\", \\"Orphan\\", \\"nil\\"'],
  ['deletes', { method: 'DELETE', path: `${CM}/a` }, 200, '"status":"Success","details":{"name":"a","kind":"configmaps","uid":"'],
  ['deletes a collection', { method: 'DELETE', path: CM }, 200, '"kind":"ConfigMapList"'],
  ['lists API versions', { path: '/api' }, 200, '"versions":["v1"]'],
  ['lists groups', { path: '/apis' }, 200, '"preferredVersion":{"groupVersion":"example.com/v1"'],
  ['lists resources', { path: '/api/v1' }, 200, '{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps"'],
  ['lists verbs of custom resources in their order', { path: '/apis/example.com/v1' }, 200,
    '"verbs":["delete","deletecollection","get","list","patch","create","update","watch"]'],
  ['does not write to documents', post('/api/v1', {}), 405, notAllowed],
  ['reads documents of built-ins by GET alone', { method: 'HEAD', path: '/api' }, 405],
  ['answers groups whatever the method', { method: 'PUT', path: '/apis/example.com', body: {}, headers: json }, 200, '"kind":"APIGroup"'],
  ['answers documents of custom resources whatever the method', { method: 'OPTIONS', path: '/apis/example.com/v1' }, 200, '"kind":"APIResourceList"'],
  ['answers OpenAPI documents whatever the method', post('/openapi/v3', {}), 200, '"paths"'],
  ['serves nothing below no segment', { path: `/${CM}/a` }, 404, '404 page not found\n'],
  ['serves nothing below no group', { path: '/apis//example.com' }, 404, '404 page not found\n'],
  ['has nothing below its version', { path: '/version/a' }, 404, notServed],
  ['indents where the media type says so', { path: `/api/v1`, headers: { accept: 'application/json; pretty=1' } }, 200, '{\n  "kind": "APIResourceList"'],
  ['tells its version', { path: '/version' }, 200, '"gitVersion": "v1.36.2"'],
  ['lists paths', { path: '/' }, 200, '"/apis/example.com/v1"'],
  ['has an index of OpenAPI documents', { path: '/openapi/v3' }, 200, '"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash='],
  ['has no other OpenAPI documents', { path: '/openapi/v3/apis/none/v1' }, 404],
  ['has an OpenAPI v2 document', { path: '/openapi/v2' }, 200, '"swagger":"2.0"'],
  ['names types of bodies even for reads in OpenAPI v2', { path: '/openapi/v2' }, 200,
    '{"consumes":["application/json","application/yaml"],"produces":["application/json","application/yaml"],"schemes":["https"],'],
];

for (const [name, request, status, holds] of rows) {
  test(`handler ${name}`, async () => {
    const answer = await api.send(request);
    assert.equal(answer.status, status, answer.text);
    if (holds !== undefined) assert.ok(answer.text.includes(holds), `${answer.text} should hold ${holds}`);
  });
}

test('handler warns of unknown and duplicate fields', async () => {
  const { status, headers } = await api.send(post(CM, '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"warned","nick":1},"data":{"k":"1","k":"2"}}'));
  assert.equal(status, 201);
  assert.deepEqual(headers['warning'], ['299 - "unknown field \\"metadata.nick\\""', '299 - "duplicate field \\"data.k\\""']);
});

test('handler takes creations of custom objects at the path of a name, and wants a name for other writes', async () => {
  const path = '/apis/example.com/v1/namespaces/default/widgets';
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'own' } };
  const created = await api.send({ method: 'POST', path: `${path}/other`, body });
  assert.deepEqual([created.status, created.json.metadata.name], [201, 'own']);
  for (const method of ['PUT', 'PATCH']) {
    const headers = { 'content-type': method === 'PUT' ? 'application/json' : 'application/merge-patch+json' };
    const { status, json } = await api.send({ method, path, body, headers });
    assert.deepEqual([status, json.reason, json.message], [400, 'BadRequest', 'name must be provided']);
  }
});

test('handler refuses bodies whose Content-Type has no valid parameters', async () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const send = async (type: string): Promise<number> => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'typed-' } };
    return (await api.send({ method: 'POST', path, body, headers: { 'content-type': type } })).status;
  };
  for (const type of ['application/json', 'application/json;charset=utf-8', 'application/json; charset="utf-8";']) assert.equal(await send(type), 201, type);
  for (const type of ['application/json;bogus', 'application/json;a=b;a=c', 'application/json;=b']) assert.equal(await send(type), 415, type);
});

test('handler answers aggregated discovery with an ETag, and 304 to a client that has it', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
  const first = await api.send({ path: '/apis', headers: { accept } });
  assert.equal(first.headers['content-type'], 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
  assert.equal(first.headers['cache-control'], 'public');
  assert.deepEqual(first.json.items[0].versions[0].resources[0].responseKind, { group: 'example.com', version: 'v1', kind: 'Widget' });
  const again = await api.send({ path: '/apis', headers: { accept, 'if-none-match': String(first.headers['etag']) } });
  assert.equal(again.status, 304);
});

test('handler sends a stale OpenAPI hash on, and lets the right one be kept for ever', async () => {
  const index = JSON.parse((await api.send({ path: '/openapi/v3' })).text);
  const url = index.paths['api/v1'].serverRelativeURL as string;
  const right = await api.send({ path: url });
  assert.equal(right.headers['cache-control'], 'public, immutable');
  const { parameters } = right.json.paths[`${CM.replace('/ns/', '/{namespace}/')}/{name}`].patch;
  assert.ok(parameters.some((parameter: { name: string }) => parameter.name === 'fieldValidation'));
  const stale = await api.send({ path: '/openapi/v3/api/v1?hash=0000' });
  assert.equal(stale.status, 301);
  assert.equal(stale.headers['location'], url);
});

test('an error with a long message is written in a turn of its own', async () => {
  const list = (resourceVersionMatch: string) => api.handler({
    ...{ method: 'GET', path: CM, headers: {}, clock: systemClock, remoteAddress: '', auditId: '', warnings: [], aborted: false },
    query: new URLSearchParams({ resourceVersionMatch, resourceVersion: '1' }), signal: new AbortController().signal, user: { name: 'a', groups: [] },
    readBody: async () => new Uint8Array(0), info: parseRequestInfo({ method: 'GET', path: CM, query: new URLSearchParams() }),
  });
  let hasTurned = false;
  setImmediate(() => (hasTurned = true));
  assert.equal((await list('x')).status, 422);
  assert.equal(hasTurned, false);
  assert.equal((await list('x'.repeat(300_000))).status, 422);
  assert.equal(hasTurned, true);
});
