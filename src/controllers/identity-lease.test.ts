// Servers on one etcd show themselves by Leases, and remove those that others have left behind.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type EtcdCluster, noEtcd, startCluster } from '../storage/etcd/cluster.suite.ts';
import { type TestServer, requestUntil, startTestServer } from '../test-support/index.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

describe('identity Leases', { skip: noEtcd }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-identity-'));
  let cluster: EtcdCluster;
  let server: TestServer;
  let nameOfFirst = '';
  const start = (options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> =>
    startTestServer({ certDir: directory, etcdServers: cluster.endpoints, ...options });
  before(async () => {
    cluster = await startCluster();
    server = await start();
  });
  after(async () => {
    await server.close();
    await cluster.stop();
    rmSync(directory, { recursive: true });
  });
  const list = (until: (items: any[]) => boolean) => requestUntil(server, { path: leases }, { until: ({ body }) => until(body.items) });

  it('have the labels and the spec of the reference, and stand for one server each', async () => {
    const { body } = await list((items) => items.length === 1);
    const { metadata, spec } = body.items[0];
    assert.match(metadata.name, /^apiserver-[a-z2-7]{26}$/);
    nameOfFirst = metadata.name;
    assert.equal(metadata.labels['apiserver.kubernetes.io/identity'], 'kube-apiserver');
    assert.ok(metadata.labels['kubernetes.io/hostname']);
    assert.equal(spec.leaseDurationSeconds, 3600);
    assert.ok(spec.holderIdentity.startsWith(`${metadata.name}_`));
    assert.match(spec.renewTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it('have the name of the machine, and of the port besides where another server of the machine has that one', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    const { body } = await list((items) => items.length === 3);
    const ports = new Map<string, number>(body.items.map(({ metadata }: any) => [metadata.name, Number(metadata.annotations['pintle.dev/port'])]));
    assert.equal(ports.get(nameOfFirst), server.port);
    assert.deepEqual([...ports.values()].sort(), [server.port, one.port, other.port].sort());
    for (const { metadata, spec } of body.items) assert.ok(spec.holderIdentity.startsWith(`${metadata.name}_`));
    await Promise.all([one.close(), other.close()]);
    for (const name of ports.keys()) if (name !== nameOfFirst) await server.request({ method: 'DELETE', path: `${leases}/${name}` });
  });

  it('are removed by another server once they have expired; other Leases stay', async () => {
    const old = { holderIdentity: 'gone', leaseDurationSeconds: 1, renewTime: '2020-01-01T00:00:00.000000Z' };
    const label = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
    for (const metadata of [{ name: 'apiserver-gone', labels: label }, { name: 'leader' }]) {
      assert.equal((await server.request({ method: 'POST', path: leases, body: { metadata, spec: old } })).status, 201);
    }
    const other = await start();
    const { body } = await list((items) => items.length === 3 && !items.some(({ metadata }) => metadata.name === 'apiserver-gone'));
    assert.equal(body.items.filter(({ metadata }: { metadata: { name: string } }) => metadata.name === 'leader').length, 1);
    await other.close();
  });

  it('say which servers the kubernetes Service leads to: those that run', async () => {
    const addressesOf = async (wanted: readonly string[]): Promise<void> => {
      const path = '/api/v1/namespaces/default/endpoints/kubernetes';
      await requestUntil(server, { path }, {
        until: ({ body }) => JSON.stringify(body.subsets?.flatMap((one: any) => one.addresses.map(({ ip }: any) => ip))) === JSON.stringify(wanted),
      });
      const slice = await requestUntil(server, { path: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes' }, {
        until: ({ body }) => JSON.stringify(body.endpoints.flatMap((one: any) => one.addresses)) === JSON.stringify(wanted),
      });
      assert.equal(slice.body.ports.length, 1);
    };
    // Leases of others, and those that name no address, lead nowhere.
    const spec = { holderIdentity: 'x', leaseDurationSeconds: 3600, renewTime: `${new Date().toISOString().slice(0, -1)}000Z` };
    const strangers = [{ name: 'a-stranger', annotations: { 'pintle.dev/endpoint': '10.0.9.66' } }, {
      name: 'apiserver-odd', labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }, annotations: { 'pintle.dev/endpoint': 'nowhere' },
    }];
    for (const metadata of strangers) assert.equal((await server.request({ method: 'POST', path: leases, body: { metadata, spec } })).status, 201);
    const first = await start({ advertiseAddress: '10.0.9.2' });
    await addressesOf(['10.0.9.2']);
    const second = await start({ advertiseAddress: '10.0.9.1', endpointReconcilerType: 'master-count' });
    await addressesOf(['10.0.9.1', '10.0.9.2']);
    await first.close();
    await addressesOf(['10.0.9.1']);
    await second.close();
    await addressesOf(['10.0.9.1']);
  });
});

describe('a server with a store of its own', () => {
  it('leads the kubernetes Service to the address that it has now', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'pintle-address-'));
    try {
      for (const advertiseAddress of ['10.0.9.3', '10.0.9.4']) {
        const server = await startTestServer({ dataDir, advertiseAddress });
        await requestUntil(server, { path: '/api/v1/namespaces/default/endpoints/kubernetes' }, {
          until: ({ body }) => body.subsets?.[0].addresses[0].ip === advertiseAddress,
        });
        await server.close();
      }
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});
