// A definition that changes while its kind is being watched: watches end, and go on where they were under the new definition.
import assert from 'node:assert/strict';
import { get } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { type TestServer, eventually, requestUntil, startTestServer } from '../../test-support/index.ts';
import { SchemaCache } from '../schemas.ts';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const at = '/apis/example.com/v1/gadgets';

interface Line {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name?: string; readonly resourceVersion: string } };
}

const gadget = (name: string, size: unknown): object => ({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name }, spec: { size } });

function define(type: string): object {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type } } } } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'gadgets.example.com' },
    spec: { group: 'example.com', scope: 'Cluster', names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
}

describe('a definition that changes', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  /** Opens a watch: `opened` when its first line is here, `lines` when it has ended. */
  function openWatch(query: string): { opened: Promise<void>; lines: Promise<Line[]> } {
    let markOpened = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      markOpened = resolve;
    });
    const lines = new Promise<Line[]>((resolve, reject) => {
      get(`${server.url}${at}?watch=1&timeoutSeconds=20&${query}`, { rejectUnauthorized: false, agent: false,
        headers: { authorization: 'Bearer admin-token' } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          markOpened();
        });
        response.on('end', () => resolve(Buffer.concat(chunks).toString().trim().split('\n').map((line) => JSON.parse(line) as Line)));
      }).on('error', reject);
    });
    return { opened, lines };
  }

  it('names its storage version as one that was stored, whatever its status is given', async () => {
    const made = await server.request({ method: 'POST', path, body: { ...define('integer'), metadata: { name: 'gizmos.example.com' },
      spec: { ...(define('integer') as { readonly spec: object }).spec, names: { plural: 'gizmos', kind: 'Gizmo' } } } });
    assert.equal(made.status, 201);
    const headers = { 'content-type': 'application/merge-patch+json' };
    for (const status of [{ storedVersions: [] }, { storedVersions: null }, null]) {
      const { body } = await server.request({ method: 'PATCH', path: `${path}/gizmos.example.com/status`, headers, body: { status } });
      assert.deepEqual(body.status.storedVersions, ['v1'], JSON.stringify(status));
    }
    await server.request({ method: 'DELETE', path: `${path}/gizmos.example.com` });
  });

  it('ends its watches, which go on under the new schema without losing anything', async () => {
    await server.request({ method: 'POST', path, body: define('integer') });
    await requestUntil(server, { method: 'POST', path: at, body: gadget('a', 1) }, { until: ({ status }) => status === 201 });
    const first = openWatch('resourceVersion=0');
    await first.opened;
    const headers = { 'content-type': 'application/merge-patch+json' };
    const changed = await server.request({ method: 'PATCH', path: `${path}/gadgets.example.com`, headers, body: define('string') });
    assert.equal(changed.status, 200);
    const seen = await first.lines;
    assert.deepEqual(seen.map(({ type, object }) => [type, object.metadata.name]), [['ADDED', 'a']]);
    assert.equal((await server.request({ method: 'POST', path: at, body: gadget('b', 'large') })).status, 201);
    assert.equal((await server.request({ method: 'POST', path: at, body: gadget('c', 2) })).status, 422);
    const second = openWatch(`resourceVersion=${seen[0]?.object.metadata.resourceVersion}`);
    await second.opened;
    await server.request({ method: 'DELETE', path: `${path}/gadgets.example.com` });
    const rest = (await second.lines).map(({ type, object }) => [type, object.metadata.name]);
    assert.deepEqual(rest, [['ADDED', 'b'], ['DELETED', 'a'], ['DELETED', 'b']]);
  });

  it('keeps no schemas of kinds that are gone, and those of the last form of a kind only', async (context) => {
    const caches = new Set<SchemaCache>();
    const { keep } = SchemaCache.prototype;
    context.mock.method(SchemaCache.prototype, 'keep', function (this: SchemaCache, ...args: Parameters<typeof keep>) {
      caches.add(this);
      keep.apply(this, args);
    });
    const countKept = (): number => [...caches].reduce((sum, { size }) => sum + size.schemas, 0);
    const headers = { 'content-type': 'application/merge-patch+json' };
    await server.request({ method: 'POST', path, body: define('integer') });
    await requestUntil(server, { method: 'POST', path: at, body: gadget('d', 1) }, { until: ({ status }) => status === 201 });
    await server.request({ method: 'PATCH', path: `${path}/gadgets.example.com`, headers, body: define('string') });
    await requestUntil(server, { method: 'POST', path: at, body: gadget('e', 'small') }, { until: ({ status }) => status === 201 });
    assert.equal(countKept(), 1);
    await server.request({ method: 'DELETE', path: `${path}/gadgets.example.com` });
    await requestUntil(server, { path: `${path}/gadgets.example.com` }, { until: ({ status }) => status === 404 });
    await eventually(() => assert.equal(countKept(), 0));
  });
});
