// Definitions on etcd, whose watch follows its writes later: the next request of the client that wrote a definition finds what it wrote, and
// servers that share the store come to serve the same kinds.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type TestServer, requestUntil, startTestServer } from '../../test-support/index.ts';
import { type EtcdCluster, noEtcd, startCluster } from '../../storage/etcd/cluster.suite.ts';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const patch = { 'content-type': 'application/merge-patch+json' };

function define(plural: string, size: object): object {
  const schema = { openAPIV3Schema: { type: 'object', properties: { size } } };
  const kind = `K${plural}`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.example.com` },
    spec: { group: 'example.com', scope: 'Cluster', names: { plural, kind }, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
}

const pattern = { type: 'string', pattern: '^[a-z]+$' };
const object = (plural: string, name: string, size: unknown): object => ({ apiVersion: 'example.com/v1', kind: `K${plural}`, metadata: { name }, size });
const isEstablished = ({ body }: { body: { status?: { conditions?: { type: string; status: string }[] } } }): boolean =>
  body.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true;

describe('definitions on etcd', { skip: noEtcd }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-definitions-'));
  let cluster: EtcdCluster;
  let one: TestServer;
  let two: TestServer;
  const start = (): Promise<TestServer> => startTestServer({ certDir: join(directory, 'pki'), etcdServers: cluster.endpoints });
  before(async () => {
    cluster = await startCluster();
    [one, two] = [await start(), await start()];
  });
  after(async () => {
    await Promise.all([one?.close(), two?.close()]);
    await cluster?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('serve a kind to the client that sees it established, and validate by the schema that it wrote last', async () => {
    await one.request({ method: 'POST', path, body: define('gadgets', { type: 'integer' }) });
    await requestUntil(one, { path: `${path}/gadgets.example.com` }, { until: isEstablished });
    assert.equal((await one.request({ path: '/apis/example.com/v1/gadgets' })).status, 200);
    for (let round = 0; round < 40; round++) {
      const isText = round % 2 === 0;
      const body = define('gadgets', isText ? pattern : { type: 'integer' });
      assert.equal((await one.request({ method: 'PATCH', path: `${path}/gadgets.example.com`, headers: patch, body })).status, 200);
      const [good, bad] = isText ? ['large', 'L'] : [7, 'seven'];
      const create = (name: string, size: unknown) =>
        one.request({ method: 'POST', path: '/apis/example.com/v1/gadgets', body: object('gadgets', `${name}-${round}`, size) });
      assert.equal((await create('bad', bad)).status, 422, `round ${round}`);
      assert.equal((await create('good', good)).status, 201, `round ${round}`);
    }
  });

  it('give a name to one of two definitions that ask for it at the same time', async () => {
    const rivals = ['first', 'second'].map((plural) => {
      const definition = define(plural, pattern) as { spec: { names: { shortNames?: string[] } } };
      definition.spec.names.shortNames = ['rival'];
      return definition;
    });
    await Promise.all(rivals.map((body) => one.request({ method: 'POST', path, body })));
    const accepted = (plural: string) => requestUntil(one, { path: `${path}/${plural}.example.com` },
      { until: ({ body }) => body.status?.conditions?.some(({ type }: { type: string }) => type === 'NamesAccepted') === true });
    const states = await Promise.all(['first', 'second'].map(accepted));
    const holders = states.filter(({ body }) => body.status.acceptedNames.shortNames?.includes('rival'));
    assert.equal(holders.length, 1);
  });

  it('are served by the other server, patterns included', async () => {
    await one.request({ method: 'POST', path, body: define('widgets', pattern) });
    await requestUntil(two, { path: `${path}/widgets.example.com` }, { until: isEstablished });
    const create = (name: string, size: string) => two.request({ method: 'POST', path: '/apis/example.com/v1/widgets', body: object('widgets', name, size) });
    assert.equal((await create('a', 'UPPER')).status, 422);
    assert.equal((await create('a', 'lower')).status, 201);
    await two.request({ method: 'DELETE', path: `${path}/widgets.example.com` });
    await requestUntil(one, { path: `${path}/widgets.example.com` }, { until: ({ status }) => status === 404 });
    assert.equal((await one.request({ path: '/apis/example.com/v1/widgets' })).status, 404);
  });
});
