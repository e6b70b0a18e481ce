// Claims of devices and quotas of extended resources, on a whole server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ClientResponse, type TestServer, eventually, startTestServer } from '../../test-support/index.ts';

const GPU = 'requests.example.com/gpu';
const CLASS = 'requests.deviceclass.resource.kubernetes.io/gpu';
const NONE = 'requests.deviceclass.resource.kubernetes.io/none';

describe('quotas of extended resources', () => {
  let server: TestServer;
  let namespace = '';
  let count = 0;
  before(async () => {
    server = await startTestServer();
    const classes = '/apis/resource.k8s.io/v1/deviceclasses';
    await server.client.request({ method: 'POST', path: classes, body: { metadata: { name: 'gpu' }, spec: { extendedResourceName: 'example.com/gpu' } } });
  });
  after(() => server.close());

  const call = (method: string, path: string, body?: unknown): Promise<ClientResponse> =>
    server.client.request({ method, path: `/api/v1/namespaces/${namespace}/${path}`, body });
  const used = async (): Promise<unknown> => (await call('GET', 'resourcequotas/q')).body.status?.used;
  const eventuallyUsed = (amounts: object): Promise<void> => eventually(async () => assert.deepEqual(await used(), amounts));
  const claim = (name: string, devices: number, metadata: object = {}, deviceClassName = 'gpu') =>
    server.client.request({ method: 'POST', path: `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims`, body: {
      metadata: { name, ...metadata }, spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName, count: devices } }] } } } });
  const pod = (name: string, requests: object) => call('POST', 'pods', {
    metadata: { name }, spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i', resources: { requests, limits: requests } }] } });
  const ownedBy = ({ body: { metadata } }: ClientResponse, uid = metadata.uid) => ({
    annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid, controller: true }] });

  async function prepare(hard: Readonly<Record<string, string>>): Promise<void> {
    namespace = `devices-${++count}`;
    await server.client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
    await call('POST', 'resourcequotas', { metadata: { name: 'q' }, spec: { hard } });
    await eventuallyUsed(Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])));
  }

  it('count claims by the extended resources that their class stands for', async () => {
    await prepare({ [GPU]: '2', [CLASS]: '3' });
    assert.equal((await claim('a', 1)).status, 201);
    assert.deepEqual(await used(), { [CLASS]: '1', [GPU]: '1' });
    const { status, body } = await claim('b', 2);
    assert.deepEqual([status, body.message], [403,
      `resourceclaims.resource.k8s.io "b" is forbidden: exceeded quota: q, requested: ${GPU}=2, used: ${GPU}=1, limited: ${GPU}=2`]);
    // Pods may ask for the resource that every class has by its own name.
    assert.equal((await pod('implicit', { 'deviceclass.resource.kubernetes.io/gpu': '2' })).status, 201);
    assert.deepEqual(await used(), { [CLASS]: '3', [GPU]: '1' });
    assert.equal((await pod('more', { 'deviceclass.resource.kubernetes.io/gpu': '1' })).status, 403);
  });

  it('count what is there, under the names of classes that are not there too', async () => {
    await prepare({ secrets: '9' });
    for (const [name, deviceClassName] of [['a', 'gpu'], ['b', 'none']] as const) assert.equal((await claim(name, 2, {}, deviceClassName)).status, 201);
    await call('DELETE', 'resourcequotas/q');
    const quota = { metadata: { name: 'q' }, spec: { hard: { [GPU]: '9', [CLASS]: '9', [NONE]: '9', 'requests.example.com/other': '9' } } };
    assert.equal((await call('POST', 'resourcequotas', quota)).status, 201);
    await eventuallyUsed({ [CLASS]: '2', [NONE]: '2', [GPU]: '2', 'requests.example.com/other': '0' });
  });

  it('do not count twice what a pod asks for: in the pod and in the claim that is made for it', async () => {
    await prepare({ [GPU]: '2' });
    const owner = await pod('owner', { 'example.com/gpu': '1' });
    assert.deepEqual([owner.status, await used()], [201, { [GPU]: '1' }]);
    assert.equal((await claim('own', 1, ownedBy(owner))).status, 201);
    assert.deepEqual(await used(), { [GPU]: '1' });
    // A claim that stops being the one of its pod is charged then.
    const change = (annotations: object) => server.client.request({ method: 'PATCH',
      path: `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims/own`, body: { metadata: { annotations } } });
    assert.equal((await change({ 'resource.kubernetes.io/extended-resource-claim': null })).status, 200);
    assert.deepEqual(await used(), { [GPU]: '2' });
    assert.equal((await change({ 'resource.kubernetes.io/extended-resource-claim': 'true' })).status, 200);
    await call('DELETE', 'resourcequotas/q');
    await call('POST', 'resourcequotas', { metadata: { name: 'q' }, spec: { hard: { [GPU]: '2' } } });
    await eventuallyUsed({ [GPU]: '1' });
    // A second claim of the pod, and one of another pod by the name, are charged as any.
    assert.equal((await claim('second', 1, ownedBy(owner))).status, 201);
    assert.deepEqual(await used(), { [GPU]: '2' });
    assert.equal((await claim('third', 1, ownedBy(owner, 'other'))).status, 403);
    // The count of what is stored comes to the same.
    await call('DELETE', 'resourcequotas/q');
    await call('POST', 'resourcequotas', { metadata: { name: 'q' }, spec: { hard: { [GPU]: '9' } } });
    await eventuallyUsed({ [GPU]: '2' });
  });

  it('count the claim that the pod names', async () => {
    await prepare({ [GPU]: '3' });
    const owner = await pod('owner', { 'example.com/gpu': '1' });
    const named = { extendedResourceClaimStatus: { resourceClaimName: 'chosen', requestMappings: [
      { containerName: 'c', resourceName: 'example.com/gpu', requestName: 'r' }] } };
    assert.equal((await call('PATCH', 'pods/owner/status', { status: named })).status, 200);
    assert.equal((await claim('another', 1, ownedBy(owner))).status, 201);
    assert.deepEqual(await used(), { [GPU]: '2' });
    assert.equal((await claim('chosen', 1, ownedBy(owner))).status, 201);
    assert.deepEqual(await used(), { [GPU]: '2' });
  });
});
