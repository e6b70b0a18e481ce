// Protection finalizers on a whole server: deleted claims, volumes and classes go when nothing uses them any more, and not before.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ClientResponse, type TestServer, eventually, startTestServer } from '../../test-support/index.ts';

const namespaced = '/api/v1/namespaces/default';
const classes = '/apis/storage.k8s.io/v1/volumeattributesclasses';
const volumes = '/api/v1/persistentvolumes';

describe('createProtection', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  const call = (method: string, path: string, body?: unknown): Promise<ClientResponse> => server.client.request({ method, path, body });
  const gone = (path: string): Promise<void> => eventually(async () => assert.equal((await call('GET', path)).status, 404));
  const claim = (name: string, more: object = {}) => call('POST', `${namespaced}/persistentvolumeclaims`, {
    metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more } });
  const pod = (name: string, more: object) => call('POST', `${namespaced}/pods`, {
    metadata: { name }, spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], ...more } });
  const remove = async (path: string): Promise<void> => {
    assert.equal((await call('DELETE', path)).status, 200);
  };

  it('lets a claim go that no pod on a node uses', async () => {
    await claim('idle');
    await pod('unscheduled', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'idle' } }] });
    await remove(`${namespaced}/persistentvolumeclaims/idle`);
    await gone(`${namespaced}/persistentvolumeclaims/idle`);
  });

  it('keeps a claim until the last pod on a node that uses it is gone', async () => {
    const path = `${namespaced}/persistentvolumeclaims/used`;
    await claim('used');
    await claim('other');
    await Promise.all(['one', 'two'].map((name) => pod(name, { nodeName: 'n', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }] })));
    await remove(path);
    // By the time the other claim is removed, this one has been looked at.
    await remove(`${namespaced}/persistentvolumeclaims/other`);
    await gone(`${namespaced}/persistentvolumeclaims/other`);
    await remove(`${namespaced}/pods/one?gracePeriodSeconds=0`);
    const { status, body } = await call('GET', path);
    assert.deepEqual([status, body.metadata.finalizers], [200, ['kubernetes.io/pvc-protection']]);
    await remove(`${namespaced}/pods/two?gracePeriodSeconds=0`);
    await gone(path);
  });

  it('lets a volume go that is not bound', async () => {
    const volume = { metadata: { name: 'v' }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } };
    assert.equal((await call('POST', volumes, volume)).status, 201);
    await call('PATCH', `${volumes}/v/status`, { status: { phase: 'Bound' } });
    await remove(`${volumes}/v`);
    await claim('probe');
    await remove(`${namespaced}/persistentvolumeclaims/probe`);
    await gone(`${namespaced}/persistentvolumeclaims/probe`);
    assert.equal((await call('GET', `${volumes}/v`)).status, 200);
    await call('PATCH', `${volumes}/v/status`, { status: { phase: 'Released' } });
    await gone(`${volumes}/v`);
  });

  it('keeps a class of volume attributes while a claim names it', async () => {
    assert.equal((await call('POST', classes, { metadata: { name: 'fast' }, driverName: 'd.example.com', parameters: { iops: '9' } })).status, 201);
    await claim('classy', { volumeAttributesClassName: 'fast' });
    await remove(`${classes}/fast`);
    assert.equal((await call('GET', `${classes}/fast`)).status, 200);
    await remove(`${namespaced}/persistentvolumeclaims/classy`);
    await gone(`${classes}/fast`);
  });

  it('lets a namespace with a claim end', async () => {
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'ends' } });
    await call('POST', '/api/v1/namespaces/ends/persistentvolumeclaims', {
      metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } });
    await remove('/api/v1/namespaces/ends');
    await gone('/api/v1/namespaces/ends');
  });
});
