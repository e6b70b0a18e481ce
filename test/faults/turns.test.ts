// kube-apiserver and Pintle in turns on one etcd: what one has written the other reads, changes and deletes as if it were its own, and finds
// not a byte to write again. PINTLE_KUBE_APISERVER names the program; etcd 3.5 or later is needed, by the reference.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startPeer } from '../../bench/load/peer.ts';
import type { Target } from '../../bench/load/target.ts';
import type { KubeObject } from '../../src/apimachinery/index.ts';
import { type EtcdCluster, noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { type TestClient, type TestServer, createTestClient, eventually, startTestServer } from '../../src/test-support/index.ts';

const program = process.env['PINTLE_KUBE_APISERVER'];
const skip = noEtcd || (program === undefined && 'PINTLE_KUBE_APISERVER names no kube-apiserver');
const namespace = 'turns';
const { created } = JSON.parse(readFileSync('test/data/builtin-objects.json', 'utf8')) as { created: readonly KubeObject[] };
/** The reference keeps them in a version that is not served here (docs/differences.md). */
const storedElsewhere = /MutatingAdmissionPolicy/;

/** The path of a kind's collection, by discovery. */
async function findCollections(client: TestClient): Promise<(object: KubeObject) => string | undefined> {
  const paths = new Map<string, string>();
  const { body } = await client.request({ path: '/apis' });
  const versions = ['v1', ...body.groups.flatMap(({ versions }: any) => versions.map(({ groupVersion }: any) => groupVersion))];
  for (const version of versions) {
    const root = version === 'v1' ? '/api/v1' : `/apis/${version}`;
    for (const { name, kind, namespaced } of (await client.request({ path: root })).body.resources) {
      if (!name.includes('/')) paths.set(`${version} ${kind}`, namespaced ? `${root}/namespaces/${namespace}/${name}` : `${root}/${name}`);
    }
  }
  return ({ apiVersion, kind }) => paths.get(`${apiVersion} ${kind}`);
}

/** A recorded answer as a request: without what the server adds, and what only one object can have. */
function asRequest(object: KubeObject, name: string): KubeObject {
  const { status: _, ...rest } = JSON.parse(JSON.stringify(object).replaceAll('{ns}', namespace).replaceAll('{id}', 'x')) as KubeObject;
  const { labels, annotations } = rest.metadata;
  const spec = Object.entries((rest['spec'] ?? {}) as object)
    .filter(([key, value]) => key !== 'finalizers' && (!key.startsWith('clusterIP') || value === 'None'));
  const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
  return { ...rest, metadata, ...(rest['spec'] !== undefined && { spec: Object.fromEntries(spec) }) };
}

describe('kube-apiserver and Pintle on one etcd', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-turns-'));
  let [cluster, peer, server] = [] as unknown as [EtcdCluster, Target, TestServer];
  let clients: readonly [TestClient, TestClient];

  before(async () => {
    cluster = await startCluster();
    peer = await startPeer(program as string, cluster);
    server = await startTestServer({
      certDir: directory, etcdServers: cluster.endpoints, storageMediaType: 'application/vnd.kubernetes.protobuf', serviceClusterIpRange: '10.0.0.0/24',
    });
    clients = [createTestClient(peer.url, peer.token), server.client];
    await server.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    await eventually(async () => assert.equal((await clients[0].request({ path: account })).status, 200));
  });
  after(async () => {
    clients[0].close();
    await Promise.all([server.close(), peer.close()]);
    await cluster.stop();
    rmSync(directory, { recursive: true });
  });

  /** Runs twice, so that each of the two servers writes first once. */
  const inTurns = async (run: (writer: TestClient, other: TestClient, turn: string) => Promise<void>): Promise<void> => {
    await run(clients[0], clients[1], 'k');
    await run(clients[1], clients[0], 'p');
  };

  test('each reads, changes and deletes what the other has written, of every kind', async () => {
    const collectionOf = await findCollections(clients[0]);
    const kinds = new Set<string>();
    for (const [index, object] of created.entries()) {
      const collection = collectionOf(object);
      await inTurns(async (writer, other, turn) => {
        const body = asRequest(object, `t${index}${turn}`);
        const made = await writer.request({ method: 'POST', path: collection ?? '/', body });
        if (made.status !== 201) return;
        const { kind = '' } = object;
        kinds.add(kind);
        const path = `${collection}/${body.metadata.name}`;
        const what = `${turn} ${object.apiVersion} ${kind}`;
        // Controllers of both have their say about some kinds first.
        await eventually(async () => {
          const first = (await writer.request({ path })).body;
          assert.deepEqual((await other.request({ path })).body, first, what);
          const { metadata } = (await other.request({ method: 'PATCH', path, body: {} })).body;
          if (!storedElsewhere.test(kind)) assert.equal(metadata.resourceVersion, first.metadata.resourceVersion, `${what} was written again`);
        });
        const changed = await other.request({ method: 'PATCH', path, body: { metadata: { annotations: { by: 'other' }, finalizers: null } } });
        assert.deepEqual((await writer.request({ path })).body, changed.body, what);
        assert.equal((await other.request({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` })).status, 200, what);
        await eventually(async () => assert.equal((await writer.request({ path })).status, 404, what));
      });
    }
    assert.ok(kinds.size >= 45, `only ${kinds.size} kinds were taken: ${[...kinds].join(' ')}`);
  });

  test('custom resources are defined at one and written at the other', () => inTurns(async (writer, other, turn) => {
    const names = { plural: `${turn}things`, singular: `${turn}thing`, kind: `Thing${turn}`, listKind: `Thing${turn}List` };
    const schema = { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer', default: 3 } } } };
    await writer.request({
      method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: {
        metadata: { name: `${names.plural}.example.com` },
        spec: { group: 'example.com', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
      },
    });
    const path = `/apis/example.com/v1/namespaces/${namespace}/${names.plural}`;
    for (const client of clients) await eventually(async () => assert.equal((await client.request({ path })).status, 200), 20_000);
    const body = { apiVersion: 'example.com/v1', kind: names.kind, metadata: { name: 'a' }, text: 'pruned' };
    const made = await other.request({ method: 'POST', path, body });
    assert.deepEqual([made.status, made.body.size, made.body.text], [201, 3, undefined]);
    assert.deepEqual((await writer.request({ path: `${path}/a` })).body, made.body);
    const unchanged = await writer.request({ method: 'PATCH', path: `${path}/a`, body: {} });
    assert.equal(unchanged.body.metadata.resourceVersion, made.body.metadata.resourceVersion);
  }));

  test('counting in turns with optimistic locks loses nothing, and both show the same history to a watch', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const { body } = await clients[0].request({ method: 'POST', path, body: { metadata: { name: 'counter' }, data: { n: '0' } } });
    const increment = async (client: TestClient): Promise<void> => {
      for (let done = 0; done < 50;) {
        const read = (await client.request({ path: `${path}/counter` })).body;
        const { status } = await client.request({ method: 'PUT', path: `${path}/counter`, body: { ...read, data: { n: String(Number(read.data.n) + 1) } } });
        if (status === 200) done += 1;
        else assert.equal(status, 409);
      }
    };
    await Promise.all([clients[0], clients[1], clients[1]].map(increment));
    const query = `watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dcounter&resourceVersion=${body.metadata.resourceVersion}`;
    const [theirs, ours] = await Promise.all(clients.map(async (client) => (await client.request({ path: `${path}?${query}` })).text));
    const events = (ours as string).trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(events.map(({ object }) => object.data.n), Array.from({ length: 150 }, (_, index) => String(index + 1)));
    assert.equal(ours, theirs);
  });
});
