// Resources that another etcd keeps: which keys these are, and a server over two etcds.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '../base/index.ts';
import { openEtcdStore, prefixRange } from '../storage/index.ts';
import { noEtcd, startCluster } from '../storage/etcd/cluster.suite.ts';
import { type TestServer, startTestServer } from '../test-support/index.ts';
import { listStoreParts } from './store-parts.ts';

const partsOf = (...etcdServersOverrides: string[]): unknown => listStoreParts({ etcdServersOverrides }, '/k/x')
  .map(({ servers, prefixes }) => [servers.join(), ...prefixes]);

describe('listStoreParts', () => {
  test('names the keys of a resource, of a group, and of what the same servers keep', () => {
    assert.deepEqual(partsOf('/events#http://e:1;http://e:2', '/services#http://s:1', 'apps/*#http://e:2;http://e:1'), [
      ['http://e:2,http://e:1',
        ...['events', 'controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'].map((plural) => `/k/x/${plural}/`)],
      ['http://s:1', '/k/x/services/specs/'],
    ]);
  });

  test('takes a resource before its group, and the last of two', () => {
    assert.deepEqual(partsOf('batch/jobs#http://j:1', 'batch/*#http://b:1', 'batch/jobs#http://j:2'),
      [['http://b:1', '/k/x/cronjobs/'], ['http://j:2', '/k/x/jobs/']]);
  });

  test('leaves definitions, APIServices, custom resources and the second name of events where all else is', () => {
    assert.deepEqual(partsOf('apiextensions.k8s.io/*#http://a:1', 'apiregistration.k8s.io/apiservices#http://a:1', 'example.com/things#http://a:1',
      'events.k8s.io/events#http://a:1'), []);
  });
});

describe('a server over two etcds', { skip: noEtcd }, () => {
  test('keeps config maps in the other: lists, watches and large writes go there, also after a start', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pintle-parts-'));
    const [one, other] = [await startCluster(), await startCluster()];
    const start = (): Promise<TestServer> => startTestServer({ certDir: join(directory, 'pki'), etcdServers: one.endpoints,
      etcdServersOverrides: [`/configmaps#${other.endpoints.join(';')}`] });
    const path = '/api/v1/namespaces/default/configmaps';
    let server = await start();
    const create = (name: string, data: object): Promise<{ readonly status: number }> =>
      server.request({ method: 'POST', path, body: { metadata: { name }, data } });
    const list = async (): Promise<string[]> => {
      const { body } = await server.request({ path });
      return (body as { readonly items: { readonly metadata: { readonly name: string } }[] }).items.map(({ metadata }) => metadata.name);
    };
    // So that the revisions of the other are far behind.
    for (let index = 0; index < 20; index++) await server.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: `n${index}` } } });
    assert.equal((await create('small', { k: 'v' })).status, 201);
    // A worker writes what has as many members.
    assert.equal((await create('large', Object.fromEntries(Array.from({ length: 12_000 }, (_, index) => [`k${index}`, 'v'])))).status, 201);
    assert.deepEqual((await list()).filter((name) => name !== 'kube-root-ca.crt'), ['large', 'small']);
    await server.close();
    server = await start();
    assert.deepEqual((await list()).filter((name) => name !== 'kube-root-ca.crt'), ['large', 'small']);
    await server.close();
    const counts = await Promise.all([one, other].map(async ({ endpoints }) => {
      const store = await openEtcdStore({ endpoints, clock: systemClock, compactionIntervalMs: 0 });
      const found = await Promise.all(['/registry/configmaps/default/', '/registry/namespaces/'].map((prefix) => store.range(prefixRange(prefix))));
      await store.close();
      return found.map((range) => (range.type === 'ok' && range.count > 0));
    }));
    assert.deepEqual(counts, [[false, true], [true, false]]);
    await Promise.all([one.stop(), other.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });
});
