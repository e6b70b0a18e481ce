// Large requests are handled in a worker and answered as small ones are; what they wrote is there for the next request.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { handleInWorkers } from './large-requests.ts';
import { type ClientResponse, type TestServer, requestUntil, startTestServer } from '../../test-support/index.ts';

const path = '/api/v1/namespaces/default/configmaps';
const apply = { 'content-type': 'application/apply-patch+yaml' };
const merge = { 'content-type': 'application/merge-patch+json' };
const keys = (count: number, value: string): Record<string, string> => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
const configMap = (name: string, data: object, meta: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...meta }, data });

/** What an answer says besides the members that make it large. */
function outline({ status, headers, body }: ClientResponse): unknown {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, name: _name, managedFields, ...meta } = body.metadata;
  const managers = (managedFields ?? []).map(({ manager, operation, apiVersion }: Record<string, string>) => ({ manager, operation, apiVersion }));
  return { status, warning: headers['warning'], type: headers['content-type'], kind: body.kind, message: body.message, meta, managers, first: body.data?.k0 };
}

describe('large requests', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  /** Sends a request once with few members and once with many, and compares the answers. */
  async function compare(make: (name: string, count: number) => Parameters<TestServer['request']>[0]): Promise<ClientResponse> {
    const small = await server.request(make('small', 3));
    const large = await server.request(make('large', 8000));
    assert.deepEqual(outline(large), outline(small));
    return large;
  }

  it('create, replace, patch, apply and delete answer as small requests do', async () => {
    const created = await compare((name, count) => ({
      method: 'POST', path: `${path}?fieldManager=me`, body: { ...configMap(name, keys(count, 'a')), odd: 1 },
    }));
    assert.equal(created.status, 201);
    assert.equal(Object.keys(created.body.data).length, 8000);
    const indented = await server.request({ path: `${path}/large?pretty=true` });
    assert.equal(indented.text, JSON.stringify(created.body, null, 2));
    const yaml = await server.request({ path: `${path}/large`, headers: { accept: 'application/yaml' } });
    assert.match(yaml.text, /^apiVersion: v1\ndata:\n  k0: a\n  k1: a\n/);
    const read = await server.request({ path: `${path}/large` });
    assert.deepEqual(read.body, created.body);
    await compare((name, count) => ({ method: 'PUT', path: `${path}/${name}`, body: configMap(name, keys(count, 'b')) }));
    const patched = await compare((name) => ({ method: 'PATCH', path: `${path}/${name}`, headers: merge, body: { data: { k0: 'c' } } }));
    assert.equal(patched.body.data.k0, 'c');
    await compare((name, count) => ({
      method: 'PATCH', path: `${path}/${name}?fieldManager=other&force=true`, headers: apply, body: configMap(name, keys(count, 'd')),
    }));
    const list = await server.request({ path });
    assert.equal(list.body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'large').data.k0, 'd');
    assert.equal((await server.request({ method: 'DELETE', path: `${path}/large` })).status, 200);
    assert.equal((await server.request({ path: `${path}/large` })).status, 404);
  });

  it('a conflict names all fields and owners', async () => {
    const send = (manager: string, value: string) => server.request({
      method: 'PATCH', path: `${path}/fought?fieldManager=${manager}`, headers: apply, body: configMap('fought', keys(8000, value)),
    });
    assert.equal((await send('one', 'a')).status, 201);
    const { status, body } = await send('two', 'b');
    assert.equal(status, 409);
    assert.match(body.message, /^Apply failed with 8000 conflicts: conflicts with "one":/);
    assert.equal(body.details.causes.length, 8000);
  });

  it('errors are those of small requests: unknown names, other versions, broken rules', async () => {
    const missing = await server.request({ method: 'PUT', path: '/api/v1/namespaces/absent/configmaps/x', body: configMap('x', keys(8000, 'a')) });
    assert.equal(missing.status, 404);
    const created = await server.request({ method: 'POST', path, body: configMap('taken', keys(8000, 'a')) });
    assert.equal(created.status, 201);
    assert.equal((await server.request({ method: 'POST', path, body: configMap('taken', keys(8000, 'a')) })).body.reason, 'AlreadyExists');
    const stale = await server.request({ method: 'PUT', path: `${path}/taken`, body: configMap('taken', keys(8000, 'b'), { resourceVersion: '1' }) });
    assert.equal(stale.body.reason, 'Conflict');
    const invalid = await server.request({ method: 'POST', path, body: configMap('Bad_Name', keys(8000, 'a')) });
    assert.equal(invalid.status, 422);
    const cut = await server.request({ method: 'POST', path, body: JSON.stringify(configMap('cut', keys(8000, 'a'))).slice(0, -3) });
    assert.equal(cut.status, 400);
  });

  it('users without rights are refused as they are with small requests', async () => {
    const { status, body } = await server.request({ method: 'POST', path, token: 'alice-token', body: configMap('x', keys(8000, 'a')) });
    assert.equal(status, 403);
    assert.match(body.message, /^configmaps is forbidden: User "alice" cannot create/);
  });

  it('reviews and other requests that are not stored are refused', async () => {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: {
      verb: 'list', resource: 'pods', labelSelector: { requirements: Array.from({ length: 8000 }, (_, i) => ({ key: `k${i}`, operator: 'Exists' })) } } } };
    const answers = await Promise.all([
      server.request({ method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body: review }),
      server.request({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts/default/token', body: {
        spec: { audiences: Object.keys(keys(12_000, 'a')) } } }),
    ]);
    for (const { status, body } of answers) assert.deepEqual([status, body.message], [413, 'Request entity too large: limit is 10000 members']);
  });

  it('options of deletes with very many members are refused, and definitions with twenty times as many', async () => {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', more: keys(8000, 'a') };
    for (const at of [path, `${path}/any`]) {
      const { status, body } = await server.request({ method: 'DELETE', path: at, body: options });
      assert.deepEqual([status, body.message], [413, 'Request entity too large: limit is 10000 members']);
    }
    const definition = (count: number) => ({
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', spec: { versions: Array(count).fill(1) },
    });
    const [allowed, refused] = await Promise.all([100_000, 200_001].map((count) => server.request({
      method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: definition(count),
    })));
    assert.deepEqual([allowed?.status, refused?.status, refused?.body.message], [400, 413, 'Request entity too large: limit is 200000 members']);
  });

  it('definitions of very many fields take effect before they are answered, as small ones do', async () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, { type: 'string' }]));
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'broads.large.io' },
      spec: {
        group: 'large.io', scope: 'Cluster', names: { plural: 'broads', kind: 'Broad' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
          spec: { type: 'object', properties } } } } }],
      },
    };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const created = await server.request({ method: 'POST', path: definitions, body: definition });
    assert.deepEqual([created.status, created.body.metadata.generation], [201, 1]);
    assert.equal((await server.request({ path: `${definitions}/broads.large.io` })).status, 200);
    assert.equal((await server.request({ method: 'POST', path: definitions, body: definition })).body.reason, 'AlreadyExists');
    await requestUntil(server, { path: '/apis/large.io/v1/broads' }, { until: ({ status }) => status === 200 });
    const changed = { spec: { names: { shortNames: ['bd'] } } };
    assert.equal((await server.request({ method: 'PATCH', path: `${definitions}/broads.large.io`, headers: merge, body: changed })).status, 200);
    const discovery = await server.request({ path: '/apis/large.io/v1' });
    assert.deepEqual(discovery.body.resources.map(({ name }: { name: string }) => name), ['broads']);
    assert.equal((await server.request({ method: 'DELETE', path: `${definitions}/broads.large.io` })).status, 200);
  });

  it('heavy bodies of few members that come at once are stored as those that come alone', async () => {
    const text = (at: number): string => String(at).repeat(900_000);
    const send = (at: number) => server.request({ method: 'POST', path, body: configMap(`heavy${at}`, { text: text(at) }) });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => send(at)));
    assert.deepEqual(answers.map(({ status }) => status), answers.map(() => 201));
    for (const [at, { body }] of answers.entries()) {
      const read = await server.request({ path: `${path}/heavy${at}` });
      assert.deepEqual([read.body.metadata, read.body.data.text === text(at)], [body.metadata, true]);
    }
  });

  it('custom objects are handled by the definition that the server has', async () => {
    const definition = (type: string) => ({
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'wides.large.io' },
      spec: {
        group: 'large.io', scope: 'Cluster', names: { plural: 'wides', kind: 'Wide' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
          spec: { type: 'object', additionalProperties: { type } } } } } }],
      },
    });
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const at = '/apis/large.io/v1/wides';
    const wide = (name: string) => ({ apiVersion: 'large.io/v1', kind: 'Wide', metadata: { name }, spec: keys(8000, 'a'), pruned: true });
    assert.equal((await server.request({ method: 'POST', path: definitions, body: definition('string') })).status, 201);
    await requestUntil(server, { path: at }, { until: ({ status }) => status === 200 });
    const created = await server.request({ method: 'POST', path: at, body: wide('a') });
    assert.equal(created.status, 201);
    assert.equal(created.body.pruned, undefined);
    assert.deepEqual((await server.request({ path: `${at}/a` })).body, created.body);
    // A changed definition holds for the next request.
    const changed = { spec: { versions: definition('integer').spec.versions } };
    assert.equal((await server.request({ method: 'PATCH', path: `${definitions}/wides.large.io`, headers: merge, body: changed })).status, 200);
    assert.equal((await server.request({ method: 'POST', path: at, body: wide('b') })).status, 422);
  });
});

describe('places of heavy bodies', () => {
  it('are in the server for a few, and in workers for all that come within ten seconds of more', () => {
    let nowMs = 0;
    const workers = { run: () => Promise.reject(new Error('unused')), stop: async () => {} };
    const { placeOf } = handleInWorkers({ workers, registry: () => assert.fail(), metrics: { applyTallies() {} }, clock: { monotonicMs: () => nowMs } });
    const megabyte = 2 ** 20;
    const places = [placeOf(3 * megabyte), placeOf(megabyte), placeOf(megabyte)];
    assert.deepEqual(places.map(({ isHere }) => isHere), [true, true, false]);
    for (const place of places) place.leave();
    nowMs += 9000;
    placeOf(megabyte).leave();
    nowMs += 9000;
    assert.equal(placeOf(megabyte).isHere, false);
    nowMs += 10_000;
    assert.equal(placeOf(20 * megabyte).isHere, true, 'nothing else is at work');
  });
});
