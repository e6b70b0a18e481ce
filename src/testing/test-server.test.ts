// The test server as tests see it: start states, users, waiting, forks, snapshots, history.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CoreV1Api, type V1ConfigMap } from '@kubernetes/client-node';
import { ApiError, type KubernetesObject, ManifestError, TestServer, TimeoutError, createTestServer } from './index.ts';

const configMap = (name: string, value = '1'): KubernetesObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } });

const gadgets: KubernetesObject = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['gd'] },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: { type: 'object', properties: {
      spec: { type: 'object', properties: { size: { type: 'integer', maximum: 10 } } },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    } } } }],
  },
};

describe('createTestServer', () => {
  let server: TestServer;
  before(async () => {
    server = await createTestServer({
      crds: gadgets, namespaces: ['team'], users: [{ name: 'ann', token: 'ann-token' }],
      manifests: ['{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"one","namespace":"team"},"spec":{"size":3},"status":{"ready":true}}'],
    });
  });
  after(() => server.close());

  it('hands over definitions, namespaces and objects with their statuses', async () => {
    assert.deepEqual((await server.get('gadgets/one', { namespace: 'team' }))?.['status'], { ready: true });
    assert.deepEqual((await server.list('gd')).map(({ metadata }) => metadata?.namespace), ['team']);
    assert.equal((await server.get('Namespace/team'))?.['status'].phase, 'Active');
    await assert.rejects(server.apply({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'two', namespace: 'team' }, spec: { size: 11 } }),
      (error) => error instanceof ApiError && error.code === 422 && error.reason === 'Invalid');
    await assert.rejects(server.apply({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'x' } }), ManifestError);
  });

  it('makes clients of @kubernetes/client-node for the administrator and for users', async () => {
    const core = await server.client(CoreV1Api);
    await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'mine' } } });
    const guest = await server.client(CoreV1Api, { user: { name: 'guest', groups: ['guests'] } });
    const refusal = await guest.listNamespacedConfigMap({ namespace: 'default' }).then(() => '', (error: { body: string }) => error.body);
    assert.match(refusal, /User \\"guest\\" cannot list resource/);
    assert.equal(server.kubeconfigFor('guest'), server.kubeconfigFor('guest'));
    assert.match(server.kubeconfigFor({ name: 'ann', token: 'ann-token' }), /token: "ann-token"/);
  });

  it('waits for conditions, functions, existence and deletion, and says what it saw when the time is up', async () => {
    await server.apply(configMap('slow'));
    const waiting = server.waitFor<V1ConfigMap & KubernetesObject>('cm/slow', ({ data }) => data?.['value'] === '2');
    await server.apply(configMap('slow', '2'));
    assert.equal((await waiting).data?.['value'], '2');
    assert.equal((await server.waitFor('crd/gadgets.example.com', 'Established')).kind, 'CustomResourceDefinition');
    await server.delete('cm/slow');
    await server.waitFor('cm/slow', 'deleted');
    const late = server.waitFor('cm/slow', 'exists', { timeoutMs: 30 });
    await assert.rejects(late, (error) => error instanceof TimeoutError && /cm\/slow does not exist/.test(error.message));
  });

  it('forks: each server has the state, and none sees what the other writes', async () => {
    await server.apply(configMap('shared'));
    await using fork = await server.fork();
    await Promise.all([server.apply(configMap('shared', 'here')), fork.apply(configMap('shared', 'there'))]);
    await fork.delete('ns/team');
    await fork.waitFor('ns/team', 'deleted');
    assert.deepEqual([(await server.get('cm/shared'))?.['data'], (await fork.get('cm/shared'))?.['data']], [{ value: 'here' }, { value: 'there' }]);
    assert.equal((await server.get('gd/one', { namespace: 'team' }))?.kind, 'Gadget');
    assert.notEqual(fork.url, server.url);
    await assert.rejects(fork.apply({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'a' }, spec: { size: 'large' } }), ApiError);
  });

  it('resets to a snapshot under the same address, as a restart or as changes that watches see', async () => {
    const snapshot = server.snapshot();
    const { url } = server;
    await server.apply(configMap('later'));
    await server.reset(snapshot);
    assert.deepEqual([server.url, server.resourceVersion, await server.get('cm/later')], [url, snapshot.resourceVersion, undefined]);
    await server.apply(configMap('later'));
    const events: string[] = [];
    const token = /token: "(.*)"/.exec(server.kubeconfigFor({ name: 'eve', groups: ['system:masters'] }))?.[1];
    const request = get(`${url}/api/v1/configmaps?watch=1&resourceVersion=${server.resourceVersion}`, {
      rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` },
    }, (response) => response.on('data', (chunk: Buffer) => {
      events.push(...chunk.toString().trim().split('\n').map((line) => `${JSON.parse(line).type} ${JSON.parse(line).object.metadata.name}`));
    }));
    await server.eventually(() => assert.equal(server.expectRequests({ verb: 'watch', user: 'eve' }).length, 1));
    await server.reset(snapshot, { watches: 'continue' });
    await server.eventually(() => assert.ok(events.includes('DELETED later')));
    assert.equal(await server.get('cm/later'), undefined);
    request.destroy();
  });

  it('shows the history of an object and reads the past', async () => {
    await server.apply(configMap('old', 'a'));
    const { resourceVersion } = server;
    const core = await server.client(CoreV1Api, { user: { name: 'editor', groups: ['system:masters'] } });
    await core.replaceNamespacedConfigMap({ namespace: 'default', name: 'old', body: { metadata: { name: 'old' }, data: { value: 'b' } } });
    await server.delete('cm/old');
    const history = await server.history('cm/old');
    assert.deepEqual(history.map(({ type, object, request }) => [type, object['data'].value, request?.user]),
      [['created', 'a', undefined], ['updated', 'b', 'editor'], ['deleted', 'b', undefined]]);
    assert.deepEqual(history[0]?.managers, ['pintle-testing']);
    assert.equal((await server.at(resourceVersion).get('cm/old'))?.['data'].value, 'a');
    assert.equal(await server.get('cm/old'), undefined);
    assert.ok((await server.at(resourceVersion).list('cm', { namespace: 'default' })).some(({ metadata }) => metadata?.name === 'old'));
  });
});

describe('server.requests', () => {
  it('records what clients asked, with bodies and in a file where that is wanted, and checks expectations', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'pintle-requests-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    await using server = await createTestServer({ recordBodies: true, requestLog: join(folder, 'requests.jsonl') });
    const core = await server.client(CoreV1Api);
    await core.readNamespace({ name: 'default' });
    server.expectNoWrites();
    await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'a' }, data: { color: 'red' } } });
    const [write] = server.expectRequests({ verb: 'create', resource: 'configmaps' }, { exactly: 1 });
    assert.deepEqual([write?.user, write?.status, (write?.requestBody as KubernetesObject)['data'], write?.revisions.length],
      ['kubernetes-admin', 201, { color: 'red' }, 1]);
    assert.throws(() => server.expectNoWrites(), /#2 kubernetes-admin create \/api\/v1\/namespaces\/default\/configmaps → 201/);
    assert.throws(() => server.expectRequests({ verb: 'delete' }), /1 to Infinity requests were expected/);
    server.clearRequests();
    assert.equal(server.requests.length, 0);
  });
});

describe('manifests', () => {
  it('come from files, folders, globs, text of many documents, lists and objects', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'pintle-manifests-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'a', 'b'), { recursive: true });
    const text = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;
    writeFileSync(join(folder, 'a', 'one.yaml'), `# a comment\n---\n${text('one')}---\n${text('two')}`);
    writeFileSync(join(folder, 'a', 'b', 'three.yml'), text('three'));
    writeFileSync(join(folder, 'a', 'b', 'four.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [configMap('four')] }));
    writeFileSync(join(folder, 'a', 'b', 'not.txt'), 'no: manifest');
    const names = async (manifests: string | string[]): Promise<string[]> => {
      await using server = await createTestServer({ manifests });
      const found = await server.list('configmaps', { namespace: 'default' });
      return found.map(({ metadata }) => metadata?.name ?? '').filter((name) => name !== 'kube-root-ca.crt');
    };
    assert.deepEqual(await names(folder), ['four', 'one', 'three', 'two']);
    assert.deepEqual(await names([join(folder, 'a', '*.yaml'), join(folder, '**', 'f?ur.json')]), ['four', 'one', 'two']);
    assert.deepEqual(await names(join(folder, '**', '*.{json,yml}')), ['four', 'three']);
    await assert.rejects(createTestServer({ manifests: join(folder, 'absent.yaml') }), ManifestError);
    await assert.rejects(createTestServer({ manifests: 'kind: [' }), ManifestError);
  });
});
