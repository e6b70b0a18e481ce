// Owners of custom objects whose schema has changed, or whose versions differ.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestServer } from '../../testing/index.ts';

const define = (listType: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'lists.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'lists', kind: 'Lists' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
      items: { type: 'array', 'x-kubernetes-list-type': listType, ...(listType === 'map' && { 'x-kubernetes-list-map-keys': ['name'] }),
        items: { type: 'object', ...(listType === 'map' && { required: ['name'] }), properties: { name: { type: 'string' }, text: { type: 'string' } } } },
    } } } }],
  },
});

test('an apply over an object whose list has no keys any more names the object and the field', async () => {
  await using server = await createTestServer({ crds: [define('atomic')], namespaces: ['ns'] });
  await server.apply({ apiVersion: 'example.com/v1', kind: 'Lists', metadata: { name: 'one', namespace: 'ns' }, items: [{ text: 'a' }] });
  await server.apply(define('map'));
  const applied = { apiVersion: 'example.com/v1', kind: 'Lists', metadata: { name: 'one', namespace: 'ns' }, items: [{ name: 'b' }] };
  const expected = 'failed to create typed live object (ns/one; example.com/v1, Kind=Lists): .items: element 0: associative list with keys has an element ';
  await server.eventually(() => assert.rejects(server.apply(applied), ({ message }: Error) => message.includes(expected)));
});

const text = { type: 'string' };
const textMap = { type: 'object', additionalProperties: text };
const atomicStruct = { type: 'object', properties: { a: text, c: text }, 'x-kubernetes-map-type': 'atomic' };

/** A kind whose versions have these schemas of `spec.map`; those with a status are named. */
const defineVersions = (maps: Readonly<Record<string, object>>, withStatus: readonly string[] = []) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' },
    versions: Object.entries(maps).map(([name, map]) => ({
      name, served: true, storage: name === 'v1', ...(withStatus.includes(name) && { subresources: { status: {} } }),
      schema: { openAPIV3Schema: { type: 'object', properties: {
        spec: { type: 'object', properties: { map, text } }, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } },
    })),
  },
});
const thing = (version: string, spec: object) =>
  ({ apiVersion: `example.com/${version}`, kind: 'Thing', metadata: { name: 'one', namespace: 'ns' }, spec });

test('an apply with texts that are no times changes no time of a custom object', async () => {
  await using server = await createTestServer({ crds: [defineVersions({ v1: textMap })], namespaces: ['ns'] });
  const object = thing('v1', { map: { a: 'b' } });
  const made = await applyAt(server, path('v1', '?fieldManager=m'), object);
  for (const creationTimestamp of ['a', '2020-02-30T00:00:00Z']) {
    const odd = { ...object, metadata: { ...object.metadata, creationTimestamp, deletionTimestamp: 'b' } };
    const { status, body } = await applyAt(server, path('v1', '?fieldManager=m'), odd);
    assert.deepEqual([status, body.metadata.creationTimestamp, body.metadata.deletionTimestamp], [200, made.body.metadata.creationTimestamp, undefined]);
  }
});

test('an apply of fields that the schema drops is a change of the object each time', async () => {
  await using server = await createTestServer({ crds: [defineVersions({ v1: textMap }, ['v1'])], namespaces: ['ns'] });
  const open = { ...defineVersions({ v1: { type: 'object' } }, ['v1']) };
  await server.apply(open);
  const generationAfter = async (map: object, status?: object): Promise<number> => {
    const { body } = await applyAt(server, path('v1', '?fieldManager=m'), { ...thing('v1', { map }), ...(status && { status }) });
    return body.metadata.generation;
  };
  await server.eventually(async () => assert.deepEqual((await applyAt(server, path('v1', '?fieldManager=m&dryRun=All'), thing('v1', { map: { a: 'b' } })))
    .body.spec.map, {}));
  assert.deepEqual([await generationAfter({}), await generationAfter({ a: 'b' }), await generationAfter({ a: 'b' }), await generationAfter({})], [1, 2, 3, 3]);
});

type Server = Awaited<ReturnType<typeof createTestServer>>;

const path = (version: string, query = ''): string => `/apis/example.com/${version}/namespaces/ns/things/one${query}`;

const applyAt = (server: Server, at: string, body: object): ReturnType<Server['request']> =>
  server.request({ method: 'PATCH', path: at, body, headers: { 'content-type': 'application/apply-patch+yaml' } });
const mergeAt = (server: Server, at: string, body: object): ReturnType<Server['request']> =>
  server.request({ method: 'PATCH', path: at, body, headers: { 'content-type': 'application/merge-patch+json' } });

const ownersOf = (object: { metadata: { managedFields?: { manager?: string; fieldsV1?: unknown }[] } }): Record<string, unknown> =>
  Object.fromEntries((object.metadata.managedFields ?? []).map(({ manager = '', fieldsV1 }) => [manager, fieldsV1]));

test('owners of an object that does not fit the version of one of them are forgotten by an update, and refuse an apply', async () => {
  const closed = { type: 'object', properties: { a: text } };
  await using server = await createTestServer({ crds: [defineVersions({ v1: textMap, v2: closed })], namespaces: ['ns'] });
  await applyAt(server, path('v2', '?fieldManager=two'), thing('v2', { text: 'a' }));
  const { status, body } = await applyAt(server, path('v1', '?fieldManager=one'), thing('v1', { map: { c: 'd' } }));
  assert.deepEqual([status, body.message], [500, 'failed to convert new object: .spec.map.c: field not declared in schema']);
  const updated = (await mergeAt(server, path('v1'), { spec: { map: { c: 'd' } } })).body;
  assert.deepEqual([updated.spec, updated.metadata.managedFields], [{ map: { c: 'd' }, text: 'a' }, undefined]);
});

test('an apply leaves unknown fields and empty metadata in the store, which the next write takes away', async () => {
  await using server = await createTestServer({ crds: [defineVersions({ v1: { type: 'object' } })], namespaces: ['ns'] });
  const apply = async (spec: object, metadata: object = {}): Promise<string> => {
    const { kind, apiVersion, metadata: { name } } = thing('v1', {});
    const { body } = await applyAt(server, path('v1', '?fieldManager=one'), { kind, apiVersion, metadata: { name, ...metadata }, spec });
    assert.deepEqual(body.spec, { map: {} });
    return body.metadata.resourceVersion;
  };
  const merge = async (): Promise<string> => (await mergeAt(server, path('v1'), {})).body.metadata.resourceVersion;
  for (const metadata of [{ labels: {} }, { annotations: { a: null } }, { finalizers: [] }, { ownerReferences: null }]) {
    const versions = [await apply({ map: {} }, metadata), await apply({ map: {} }, metadata), await merge()];
    assert.deepEqual([new Set(versions).size, await merge()], [3, versions[2]], JSON.stringify(metadata));
  }
  const applied = await apply({ map: { a: 'b' } });
  const written = await merge();
  assert.deepEqual([written === applied, await merge() === written], [false, true]);
  await apply({ map: { a: 'b' } });
  await server.apply(defineVersions({ v1: textMap }));
  await server.eventually(async () => assert.deepEqual((await server.request({ path: path('v1') })).body.spec, { map: { a: 'b' } }));
});

test('owners in a version that is gone refuse an apply', async () => {
  await using server = await createTestServer({ crds: [defineVersions({ v1: textMap, v2: textMap })], namespaces: ['ns'] });
  await applyAt(server, path('v2', '?fieldManager=two'), thing('v2', { text: 'a' }));
  await server.apply(defineVersions({ v1: textMap }));
  await server.eventually(async () => {
    const { status, body } = await applyAt(server, path('v1', '?fieldManager=one'), thing('v1', { text: 'a' }));
    assert.deepEqual([status, body.message], [500, 'request to convert CR to an invalid group/version: example.com/v2']);
  });
});

test('owners of parts of a map that became atomic own the map', async () => {
  await using server = await createTestServer({ crds: [defineVersions({ v1: textMap })], namespaces: ['ns'] });
  await applyAt(server, path('v1', '?fieldManager=one'), thing('v1', { map: { a: 'b', c: 'd' } }));
  await server.apply(defineVersions({ v1: atomicStruct }));
  await server.eventually(async () => {
    const { body } = await mergeAt(server, path('v1'), { metadata: { labels: { time: String(server.now()) } } });
    assert.deepEqual(ownersOf(body)['one'], { 'f:spec': { 'f:map': {} } });
  });
});

test('a status that one version has not takes owners of that version along', async () => {
  await using server = await createTestServer({ crds: [defineVersions({ v1: textMap, v2: textMap }, ['v1'])], namespaces: ['ns'] });
  await applyAt(server, path('v2', '?fieldManager=two'), thing('v2', { text: 'a' }));
  const { body } = await applyAt(server, path('v1', '/status?fieldManager=one'), thing('v1', { text: 'b' }));
  assert.equal(body.message, 'Apply failed with 1 conflict: conflict with "two": .spec.text');
});

test('a configuration without metadata gives up the name with all that its applier had there', async () => {
  await using server = await createTestServer({ namespaces: ['ns'] });
  const apply = async (more: object): Promise<number> =>
    (await applyAt(server, '/api/v1/namespaces/ns/secrets/one?fieldManager=me', { apiVersion: 'v1', kind: 'Secret', ...more })).status;
  const labelled = { metadata: { name: 'one', labels: { a: 'b' } } };
  assert.deepEqual([await apply(labelled), await apply({ metadata: {} }), await apply(labelled), await apply({})], [201, 200, 200, 400]);
});

test('an apply that changes an object in another version than the stored one gives it the defaults of that version', async () => {
  const withDefault = { type: 'object', additionalProperties: text, default: { a: 'b' } };
  await using server = await createTestServer({ crds: [defineVersions({ v1: textMap, v2: withDefault })], namespaces: ['ns'] });
  await applyAt(server, path('v1', '?fieldManager=one'), thing('v1', { text: 'a' }));
  const apply = async (metadata: object): Promise<unknown> => {
    const { kind, apiVersion, metadata: { name } } = thing('v2', {});
    return (await applyAt(server, path('v2', '?fieldManager=two'), { kind, apiVersion, metadata: { name, ...metadata } })).body.spec;
  };
  assert.deepEqual(await apply({}), { text: 'a' });
  assert.deepEqual(await apply({ labels: { a: 'b' } }), { map: { a: 'b' }, text: 'a' });
});

test('an applier of a Scale keeps its replicas with an empty spec, and gives them up without one', async () => {
  await using server = await createTestServer({ namespaces: ['ns'] });
  const labels = { a: 'b' };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } } };
  await server.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', namespace: 'ns' }, spec });
  const at = '/apis/apps/v1/namespaces/ns/deployments/d';
  const ownsAfter = async (more: object): Promise<boolean> => {
    await applyAt(server, `${at}/scale?fieldManager=me&force=true`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, ...more });
    return 'me' in ownersOf((await server.request({ path: at })).body);
  };
  const seen = [await ownsAfter({ spec: { replicas: 1 } }), await ownsAfter({ spec: {} }), await ownsAfter({})];
  assert.deepEqual(seen, [true, true, false]);
});

test('a Scale is refused for metadata that no object may have', async () => {
  await using server = await createTestServer({ namespaces: ['ns'] });
  const labels = { a: 'b' };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } } };
  await server.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', namespace: 'ns' }, spec });
  const { status, body } = await mergeAt(server, '/apis/apps/v1/namespaces/ns/deployments/d/scale', { metadata: { generateName: '-a' } });
  assert.deepEqual([status, body.details.kind, body.details.causes[0].field], [422, 'Scale', 'metadata.generateName']);
});

test('an update owns the members of a map that an untyped value becomes, and gives up those of one that it was', async () => {
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  await using server = await createTestServer({ crds: [defineVersions({ v1: open })], namespaces: ['ns'] });
  await server.request({ method: 'POST', path: '/apis/example.com/v1/namespaces/ns/things?fieldManager=me', body: thing('v1', { map: { a: 1 } }) });
  const ownedAfter = async (map: unknown): Promise<unknown> => {
    const { body } = await mergeAt(server, path('v1', '?fieldManager=me'), { spec: { map } });
    return (ownersOf(body)['me'] as { 'f:spec': Record<string, unknown> })['f:spec']['f:map'];
  };
  assert.deepEqual(await ownedAfter([2]), {});
  assert.deepEqual(await ownedAfter({ b: 'c' }), { '.': {}, 'f:b': {} });
  assert.deepEqual(await ownedAfter('text'), {});
});

test('raw data of a built-in kind is owned as a whole where there was none', async () => {
  await using server = await createTestServer({ namespaces: ['ns'] });
  const revision = { metadata: { name: 'r' }, revision: 1, data: { a: 'b' } };
  const { body } = await server.request({ method: 'POST', path: '/apis/apps/v1/namespaces/ns/controllerrevisions?fieldManager=me', body: revision });
  assert.deepEqual(ownersOf(body)['me'], { 'f:data': {}, 'f:revision': {} });
});

test('an apply that leaves null of an untyped map is no conflict with the owner of the null', async () => {
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  await using server = await createTestServer({ crds: [defineVersions({ v1: open, v2: open })], namespaces: ['ns'] });
  await applyAt(server, path('v1', '?fieldManager=one'), thing('v1', { map: { a: { b: null } } }));
  assert.equal((await applyAt(server, path('v2', '?fieldManager=two'), thing('v2', { map: { a: null } }))).status, 200);
  const { kind, apiVersion, metadata } = thing('v1', {});
  const { status, body } = await applyAt(server, path('v1', '?fieldManager=one'), { kind, apiVersion, metadata });
  assert.deepEqual([status, body.spec], [200, { map: { a: null } }]);
});

test('the record of a client-side apply explains conflicts of the version that it is in', async () => {
  await using server = await createTestServer({ namespaces: ['ns'] });
  const applyOver = async (name: string, record: object): Promise<number> => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ kind: 'ConfigMap', data: { a: '1' }, ...record }) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
    await server.request({ method: 'POST', path: '/api/v1/namespaces/ns/configmaps', body: { ...object, metadata: { name, annotations }, data: { a: '1' } } });
    return (await applyAt(server, `/api/v1/namespaces/ns/configmaps/${name}?fieldManager=kubectl`, { ...object, data: { a: '2' } })).status;
  };
  assert.deepEqual([await applyOver('same', { apiVersion: 'v1' }), await applyOver('other', { apiVersion: 'v1beta1' }),
    await applyOver('unfit', { apiVersion: 'v1', unknown: true })], [200, 409, 409]);
});

test('the record of a client-side apply takes null for the empty text, and annotations that are null for none', async () => {
  await using server = await createTestServer({ namespaces: ['ns'] });
  const [key, object] = ['kubectl.kubernetes.io/last-applied-configuration', { apiVersion: 'v1', kind: 'ConfigMap' }];
  const metadata = { name: 'one', annotations: { [key]: '{}' } };
  await server.request({ method: 'POST', path: '/api/v1/namespaces/ns/configmaps', body: { ...object, metadata } });
  const recordOf = async (annotations: object | null): Promise<unknown> => {
    const { body } = await applyAt(server, '/api/v1/namespaces/ns/configmaps/one?fieldManager=kubectl', { ...object, metadata: { name: 'one', annotations } });
    return JSON.parse(body.metadata.annotations[key]).metadata;
  };
  assert.deepEqual([await recordOf({ k: null }), await recordOf(null)], [{ name: 'one', annotations: { k: '' } }, { name: 'one' }]);
});

test('a dry run that creates a custom object has no resourceVersion in any version', async () => {
  await using server = await createTestServer({ crds: [defineVersions({ v1: textMap, v2: textMap })], namespaces: ['ns'] });
  for (const version of ['v1', 'v2']) {
    const { status, body } = await applyAt(server, path(version, '?fieldManager=me&dryRun=All'), thing(version, { text: 'a' }));
    assert.deepEqual([status, 'resourceVersion' in body.metadata], [201, false]);
  }
});

test('a resize owns what it says of the status, which it does not write', async () => {
  await using server = await createTestServer({ namespaces: ['ns'] });
  const pods = '/api/v1/namespaces/ns/pods';
  await server.request({ method: 'POST', path: pods, body: { metadata: { name: 'one' }, spec: { containers: [{ name: 'c', image: 'i' }] } } });
  const { body } = await mergeAt(server, `${pods}/one/resize?fieldManager=me`, { status: { hostIP: '1.2.3.4' } });
  assert.deepEqual([ownersOf(body)['me'], body.status.hostIP], [{ 'f:status': { 'f:hostIP': {} } }, undefined]);
});

/** A kind whose first version alone has a Scale. */
const scaled = () => {
  const definition = defineVersions({ v1: textMap, v2: textMap }, ['v1']);
  const [v1, v2] = definition.spec.versions as any[];
  for (const { schema } of [v1, v2]) schema.openAPIV3Schema.properties.spec.properties.replicas = { type: 'integer' };
  v1.subresources.scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' };
  return definition;
};
const scaleOf = (replicas?: number) =>
  ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'one' }, ...(replicas !== undefined && { spec: { replicas } }) });

test('an apply of the Scale of a custom object fails as that of the reference does, unless it changes nothing', async () => {
  await using server = await createTestServer({ crds: [scaled()], namespaces: ['ns'] });
  const apply = async (replicas: number | undefined, query: string): Promise<string> => {
    const { status, body } = await applyAt(server, path('v1', `/scale${query}`), scaleOf(replicas));
    return `${status} ${body.message ?? body.spec.replicas}`;
  };
  const why = 'proper version: request to convert CR to an invalid group/version: autoscaling/v1';
  await applyAt(server, path('v1', '?fieldManager=one'), thing('v1', { text: 'a' }));
  assert.equal(await apply(1, '?fieldManager=two'),
    `500 failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to ${why}`);
  await applyAt(server, path('v1', '?fieldManager=one'), thing('v1', { replicas: 1 }));
  assert.match(await apply(2, '?fieldManager=two'), /^409 Apply failed with 1 conflict/);
  assert.equal(await apply(2, '?fieldManager=two&force=true'), `500 failed to convert new object (/one; autoscaling/v1, Kind=Scale) to ${why}`);
  assert.deepEqual([await apply(1, '?fieldManager=two'), await apply(undefined, '?fieldManager=three')], ['200 1', '200 1']);
});

test('owners in a version without a Scale keep what they have when the Scale of another version is written', async () => {
  await using server = await createTestServer({ crds: [scaled()], namespaces: ['ns'] });
  await applyAt(server, path('v2', '?fieldManager=two'), thing('v2', { text: 'a', replicas: 1 }));
  await server.request({ method: 'PUT', path: path('v1', '/scale?fieldManager=me'), body: scaleOf(2) });
  const { body } = await server.request({ path: path('v1') });
  assert.deepEqual(ownersOf(body), { two: { 'f:spec': { 'f:replicas': {}, 'f:text': {} } } });
});

test('the selector of a Scale may be any text', async () => {
  await using server = await createTestServer({ crds: [scaled()], namespaces: ['ns'] });
  await applyAt(server, path('v1', '?fieldManager=one'), thing('v1', { replicas: 1 }));
  assert.equal((await mergeAt(server, path('v1', '/status'), { status: { selector: '!!' } })).status, 200);
  assert.equal((await server.request({ path: path('v1', '/scale') })).body.status.selector, '!!');
  const { status, body } = await mergeAt(server, path('v1', '/status'), { status: { selector: 7 } });
  assert.deepEqual([status, body.details.causes[0].message], [422, 'Invalid value: "": .status.selector accessor error: 7 is of the type int64, expected string']);
});

test('what an applier gives up of a built-in kind in another version comes back as that version has it', async () => {
  await using server = await createTestServer({ namespaces: ['ns'] });
  const scaleTargetRef = { kind: 'D', name: 'd', apiVersion: 'apps/v1' };
  const metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }];
  const apply = (version: string, spec: object | undefined, metadata: object = {}): ReturnType<Server['request']> =>
    applyAt(server, `/apis/autoscaling/${version}/namespaces/ns/horizontalpodautoscalers/one?fieldManager=me&force=true`,
      { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'one', ...metadata }, ...(spec && { spec }) });
  await apply('v2', { scaleTargetRef, maxReplicas: 3, metrics });
  const { status, body } = await apply('v1', { scaleTargetRef });
  assert.deepEqual([status, body.spec], [200, { scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 50 }]);
  assert.deepEqual((await apply('v2', { scaleTargetRef }, { annotations: { a: 'b' } })).body.spec.metrics, metrics);
});
