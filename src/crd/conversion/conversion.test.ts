// Conversion webhooks over real sockets: reads, lists of mixed versions, writes, watches and deletes through an HTTPS service of ours, and what
// the answers to a client when that service fails or returns other objects.
import assert from 'node:assert/strict';
import { type Server, createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import { type TestServer, requestUntil, startTestServer } from '../../test-support/index.ts';
import { createCertificate } from '../../server/tls/certificates.ts';

interface Item {
  apiVersion: string;
  kind: string;
  metadata: Record<string, unknown>;
  spec?: { size?: number; width?: number };
}
interface Review {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: Item[] };
}
type Answer = (review: Review) => { status?: number; body: unknown; headers?: Record<string, string> };

const context = { clock: systemClock, random: systemRandom };
const lifetimeMs = 3_600_000;
const authority = createCertificate({ commonName: 'test-ca', lifetimeMs }, context);
/** Slices do not take loopback addresses. */
const ownAddress = Object.values(networkInterfaces()).flat().find((one) => one?.family === 'IPv4' && !one.internal)?.address ?? '';
const isAlone = ownAddress === '' && 'this machine has loopback addresses only';
const serving = createCertificate({ commonName: 'webhook', hosts: ['127.0.0.1', 'convert.default.svc'], issuer: authority, lifetimeMs }, context);
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** v1 has a size, v2 calls it width. */
function convertItem(item: Item, desired: string): Item {
  const number = item.spec?.size ?? item.spec?.width ?? 0;
  return { ...item, apiVersion: desired, spec: desired.endsWith('/v2') ? { width: number } : { size: number } };
}

const respond = ({ apiVersion, request: { uid, desiredAPIVersion, objects } }: Review, convert = convertItem): ReturnType<Answer> => ({ body: {
  apiVersion, kind: 'ConversionReview',
  response: { uid, result: { status: 'Success' }, convertedObjects: objects.map((item) => convert(item, desiredAPIVersion)) },
} });
const honest: Answer = (review) => respond(review);

const version = (name: string, field: string, storage: boolean): object => ({
  name, served: true, storage, selectableFields: [{ jsonPath: `.spec.${field}` }],
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { [field]: { type: 'integer' } } } } } },
});

/** The lines of a watch, up to its end. */
function readWatch(url: string): Promise<{ type: string; object: Item & { message?: string } }[]> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false, headers: { authorization: 'Bearer admin-token' } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString().trim().split('\n').map((line) => JSON.parse(line) as never)));
    }).on('error', reject);
  });
}

describe('conversion webhooks', () => {
  let server: TestServer;
  let webhook: Server;
  let port = 0;
  let answer = honest;
  const asked: Review[] = [];
  const at = (name: string): string => `/apis/example.com/${name}/namespaces/default/widgets`;
  const widget = (name: string, spec: object, v = 'v1'): object => ({ apiVersion: `example.com/${v}`, kind: 'Widget', metadata: { name }, spec });

  before(async () => {
    webhook = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
        asked.push(review);
        const { status = 200, body, headers } = answer(review);
        response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => webhook.listen(0, '0.0.0.0', resolve));
    port = (webhook.address() as AddressInfo).port;
    server = await startTestServer();
    const caBundle = Buffer.from(authority.certificate).toString('base64');
    const { status, text } = await server.request({ method: 'POST', path: definitions, body: {
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' },
        versions: [version('v1', 'size', true), version('v2', 'width', false)],
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `https://127.0.0.1:${port}/convert`, caBundle } },
        },
      },
    } });
    assert.equal(status, 201, text);
    await requestUntil(server, { path: at('v1') }, { until: (reply) => reply.status === 200 });
    for (const name of ['a', 'b']) assert.equal((await server.request({ method: 'POST', path: at('v1'), body: widget(name, { size: 3 }) })).status, 201);
  });
  after(async () => {
    await server.close();
    webhook.close();
  });

  it('calls no webhook for what is stored in the version asked for', async () => {
    asked.length = 0;
    assert.deepEqual((await server.request({ path: `${at('v1')}/a` })).body.spec, { size: 3 });
    assert.equal(asked.length, 0);
  });

  it('converts an object each time that it is read, without its resourceVersion; reads of any state keep the answer', async () => {
    asked.length = 0;
    const { body } = await server.request({ path: `${at('v2')}/a` });
    assert.deepEqual([body.apiVersion, body.spec], ['example.com/v2', { width: 3 }]);
    assert.match(body.metadata.resourceVersion, /^\d+$/);
    assert.equal(asked.length, 1);
    assert.equal(asked[0]?.request.objects[0]?.metadata['resourceVersion'], undefined);
    await server.request({ path: `${at('v2')}/a` });
    assert.equal(asked.length, 2);
    for (let reads = 0; reads < 2; reads++) await server.request({ path: `${at('v2')}/a?resourceVersion=0` });
    assert.equal(asked.length, 3);
  });

  it('converts what is written to the stored version, and the answer back', async () => {
    const created = await server.request({ method: 'POST', path: at('v2'), body: widget('c', { width: 7 }, 'v2') });
    assert.deepEqual([created.status, created.body.spec], [201, { width: 7 }]);
    assert.deepEqual((await server.request({ path: `${at('v1')}/c` })).body.spec, { size: 7 });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patched = await server.request({ method: 'PATCH', path: `${at('v2')}/c`, headers, body: { spec: { width: 8 } } });
    assert.deepEqual([patched.status, patched.body.spec, patched.body.metadata.generation], [200, { width: 8 }, 2]);
    assert.deepEqual((await server.request({ path: `${at('v1')}/c` })).body.spec, { size: 8 });
  });

  it('lists what is stored in two versions, with one question', async () => {
    const path = `${definitions}/widgets.example.com`;
    const headers = { 'content-type': 'application/json-patch+json' };
    const body = [{ op: 'replace', path: '/spec/versions/0/storage', value: false }, { op: 'replace', path: '/spec/versions/1/storage', value: true }];
    asked.length = 0;
    assert.equal((await server.request({ method: 'PATCH', path, headers, body: body })).status, 200);
    await requestUntil(server, { method: 'POST', path: at('v1'), body: widget('d', { size: 9 }) }, { until: (reply) => reply.status === 201 });
    const { body: list } = await server.request({ path: at('v2') });
    const items = (list.items as Item[]).map((item) => [item.metadata['name'], item.apiVersion, item.spec?.width]);
    assert.deepEqual(items, [['a', 'example.com/v2', 3], ['b', 'example.com/v2', 3], ['c', 'example.com/v2', 8], ['d', 'example.com/v2', 9]]);
    // The garbage collector may have asked; a written object is converted by itself.
    const questions = asked.map(({ request }) => request.objects.map(({ apiVersion }) => apiVersion)).filter((versions) => versions.length > 1);
    assert.deepEqual(questions, [['example.com/v1', 'example.com/v1', 'example.com/v1']]);
    const old = await server.request({ path: at('v1') });
    assert.deepEqual((old.body.items as Item[]).map(({ spec }) => spec?.size), [3, 3, 8, 9]);
  });

  it('converts the events of a watch', async () => {
    const events = await readWatch(`${server.url}${at('v1')}?watch=1&resourceVersion=0&timeoutSeconds=1`);
    assert.deepEqual(events.map(({ type, object }) => [type, object.apiVersion, object.spec?.size]), [3, 3, 8, 9].map((n) => ['ADDED', 'example.com/v1', n]));
  });

  it('prints tables and metadata of converted objects', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await server.request({ path: at('v1'), headers: { accept } });
    assert.deepEqual((body.rows as { cells: unknown[] }[]).map(({ cells }) => cells[0]), ['a', 'b', 'c', 'd']);
  });

  describe('selectors', () => {
    const select = async (v: string, selector: string): Promise<{ names: unknown[]; next: string; message: string }> => {
      const { body } = await server.request({ path: `${at(v)}?${selector}` });
      const names = ((body.items ?? []) as Item[]).map(({ metadata }) => metadata['name']);
      return { names, next: encodeURIComponent(String(body.metadata?.continue ?? '')), message: String(body.message) };
    };

    it('look at the fields that the version asked for has, as they were converted', async () => {
      assert.deepEqual((await select('v2', 'fieldSelector=spec.width=3')).names, ['a', 'b']);
      assert.deepEqual((await select('v1', 'fieldSelector=spec.size=9')).names, ['d']);
      assert.deepEqual((await select('v1', 'fieldSelector=spec.size!=3,metadata.name!=c')).names, ['d']);
      assert.equal((await select('v1', 'fieldSelector=spec.width=9')).message, 'field label not supported: spec.width');
    });

    it('divide what they select into pages', async () => {
      const first = await select('v2', 'fieldSelector=spec.width=3&limit=1');
      const second = await select('v2', `fieldSelector=spec.width=3&limit=1&continue=${first.next}`);
      assert.deepEqual([first.names, second.names], [['a'], ['b']]);
    });

    it('look at labels that the webhook gave', async () => {
      answer = (review) => respond(review, (item, desired) => {
        const converted = convertItem(item, desired);
        return { ...converted, metadata: { ...converted.metadata, labels: { in: desired.slice(-2) } } };
      });
      assert.equal((await server.request({ method: 'POST', path: at('v2'), body: widget('marked', { width: 4 }, 'v2') })).status, 201);
      assert.deepEqual([(await select('v1', 'labelSelector=in=v1')).names, (await select('v2', 'labelSelector=in=v1')).names], [['marked'], []]);
      answer = honest;
      await server.request({ method: 'DELETE', path: `${at('v2')}/marked` });
    });

    it('of a watch look at objects before and after a change', async () => {
      const reading = readWatch(`${server.url}${at('v1')}?watch=1&resourceVersion=0&fieldSelector=spec.size=9&timeoutSeconds=3`);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const headers = { 'content-type': 'application/merge-patch+json' };
      for (const width of [10, 9]) await server.request({ method: 'PATCH', path: `${at('v2')}/d`, headers, body: { spec: { width } } });
      await server.request({ method: 'PATCH', path: `${at('v2')}/d`, headers, body: { metadata: { annotations: { a: 'b' } } } });
      const events = (await reading).map(({ type, object }) => [type, object.metadata['name'], object.spec?.size]);
      assert.deepEqual(events, [['ADDED', 'd', 9], ['DELETED', 'd', 9], ['ADDED', 'd', 9], ['MODIFIED', 'd', 9]]);
    });
  });

  it('name owners in the versions that they wrote in', async () => {
    const apply = (spec: object) => server.request({ method: 'PATCH', path: `${at('v2')}/owned?fieldManager=applier`,
      headers: { 'content-type': 'application/apply-patch+yaml' }, body: widget('owned', spec, 'v2') });
    assert.equal((await apply({ width: 5 })).status, 201);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { body } = await server.request({ method: 'PATCH', path: `${at('v1')}/owned?fieldManager=patcher`, headers, body: { spec: { size: 6 } } });
    const owners = (body.metadata.managedFields as { manager: string; apiVersion: string; fieldsV1: object }[]);
    assert.deepEqual(owners.map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, fieldsV1]),
      [['patcher', 'example.com/v1', { 'f:spec': { 'f:size': {} } }]]);
    const refused = await apply({ width: 7 });
    assert.deepEqual([refused.status, refused.body.message],
      [409, 'Apply failed with 1 conflict: conflict with "patcher" using example.com/v1: .spec.size']);
    const same = await apply({ width: 6 });
    assert.deepEqual([same.status, (same.body.metadata.managedFields as unknown[]).length], [200, 2]);
    await server.request({ method: 'DELETE', path: `${at('v2')}/owned` });
  });

  it('get what an applier of another version is left with, unless that is nothing', async () => {
    const apply = (v: string, manager: string, body: object) => server.request({ method: 'PATCH', path: `${at(v)}/moved?fieldManager=${manager}`,
      headers: { 'content-type': 'application/apply-patch+yaml' }, body: { ...widget('moved', {}, v), spec: undefined, ...body } });
    const labelled = (key: string): object => ({ metadata: { name: 'moved', labels: { [key]: 'a' } } });
    const isPart = (item: Item): boolean => !('metadata' in item);
    const parts = () => asked.flatMap(({ request: { objects } }) => objects).filter(isPart);
    assert.equal((await apply('v1', 'mover', { ...labelled('first'), spec: { size: 5 } })).status, 201);
    asked.length = 0;
    const moved = await apply('v2', 'mover', { ...labelled('second'), spec: { width: 6 } });
    assert.deepEqual([moved.status, moved.body.metadata.labels, moved.body.spec, parts().length], [200, { second: 'a' }, { width: 6 }, 0]);
    assert.equal((await apply('v1', 'other', { spec: { size: 6 } })).status, 200);
    assert.equal((await apply('v2', 'mover', labelled('third'))).status, 200);
    asked.length = 0;
    answer = (review) => respond(review, (item, desired) => convertItem({ ...item, metadata: item.metadata ?? {} }, desired));
    const back = await apply('v1', 'mover', labelled('fourth'));
    answer = honest;
    assert.deepEqual([back.status, back.body.metadata.labels, back.body.spec, parts().length], [200, { fourth: 'a' }, { size: 6 }, 1]);
    await server.request({ method: 'DELETE', path: `${at('v2')}/moved` });
  });

  describe('that fail', () => {
    /** The answer to a client that reads a fresh object when the webhook answers like this. */
    async function told(lie: Answer): Promise<string> {
      answer = honest;
      const name = `x${asked.length}`;
      assert.equal((await server.request({ method: 'POST', path: at('v2'), body: widget(name, { width: 1 }, 'v2') })).status, 201);
      answer = lie;
      const { status, body } = await server.request({ path: `${at('v1')}/${name}` });
      answer = honest;
      assert.equal(status, 500);
      await server.request({ method: 'DELETE', path: `${at('v2')}/${name}` });
      const text = (body.message as string).replace('conversion webhook for example.com/v2, Kind=Widget ', '');
      return text.replaceAll(/[0-9a-f-]{36}/g, 'UID').replace(name, 'x');
    }
    const changed = (change: (item: Item) => unknown): Answer => (review) => respond(review, (item, desired) => change(convertItem(item, desired)) as Item);

    it('are reported in the words of the reference', async () => {
      const metadata = (more: object) => changed((item) => ({ ...item, metadata: { ...item.metadata, ...more } }));
      const review = (response?: object, more?: object): Answer => ({ request: { uid } }) => ({
        body: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response: response && { uid, ...response }, ...more },
      });
      assert.deepEqual([
        await told(review()), await told(review({ uid: 'other', result: { status: 'Success' } })),
        await told(review({ result: { status: 'Failed', message: 'no' } })), await told(review({ result: {} })),
        await told(review({ result: { status: 'Success' }, convertedObjects: [] })), await told(review({}, { kind: 'Other' })),
        await told(changed((item) => ({ ...item, apiVersion: 'example.com/v3' }))), await told(changed((item) => ({ ...item, kind: 'Gadget' }))),
        await told(metadata({ name: 'y' })), await told(metadata({ uid: 'u' })), await told(metadata({ labels: { '-': 'x' } })),
        await told(metadata({ labels: { a: 1 } })), await told(changed(({ metadata: _metadata, ...item }) => item)),
        await told(() => ({ status: 500, body: 'broken' })), await told(() => ({ status: 404, body: '' })),
      ], [
        'failed: no response provided', 'failed: expected response.uid="UID", got "other"', 'failed: no',
        "failed: response.result.status was '', not 'Success'",
        'returned 0 objects, expected 1',
        'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=Other',
        'returned invalid object at index 0: invalid groupVersion (expected example.com/v1, received example.com/v3)',
        'returned invalid object at index 0: invalid kind (expected Widget, received Gadget)',
        'returned invalid object: must have the same name: x != y', 'returned invalid object: must have the same UID: UID != u',
        'returned invalid metadata: metadata.labels: Invalid value: "-": name part must consist of alphanumeric characters, \'-\', \'_\' or \'.\', and must ' +
          'start and end with an alphanumeric character (e.g. \'MyName\',  or \'my.name\',  or \'123-abc\', regex used for validation is ' +
          '\'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\')',
        'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
        'returned invalid object: must have the same name: x != ',
        'failed: an error on the server ("broken") has prevented the request from succeeding', 'failed: the server could not find the requested resource',
      ]);
    });

    it('fail a whole list, and end a watch with the error', async () => {
      assert.equal((await server.request({ method: 'POST', path: at('v2'), body: widget('fresh', { width: 1 }, 'v2') })).status, 201);
      answer = () => ({ status: 302, body: '', headers: { location: 'https://127.0.0.1:1/' } });
      assert.equal((await server.request({ path: at('v1') })).status, 500);
      const events = await readWatch(`${server.url}${at('v1')}?watch=1&resourceVersion=0&timeoutSeconds=5`);
      assert.deepEqual(events.map(({ type }) => type), ['ERROR']);
      assert.match(events[0]?.object.message ?? '', /^conversion webhook for example.com\/v2, Kind=Widget failed: /);
      answer = honest;
      assert.equal((await server.request({ path: at('v1') })).status, 200);
    });

    it('do not keep metadata that a webhook changed, but its labels', async () => {
      answer = changed((item) => ({ ...item, metadata: { ...item.metadata, labels: { by: 'webhook' }, finalizers: ['a.b/c'] } }));
      await server.request({ method: 'POST', path: at('v2'), body: widget('labelled', { width: 1 }, 'v2') });
      const { body } = await server.request({ path: `${at('v1')}/labelled` });
      answer = honest;
      assert.deepEqual([body.metadata.labels, body.metadata.finalizers], [{ by: 'webhook' }, undefined]);
    });
  });

  it('are found through a Service and its EndpointSlice', { skip: isAlone }, async () => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const clientConfig = { url: null, service: { name: 'convert', namespace: 'default', path: '/convert', port: 8443 } };
    const patch = { spec: { conversion: { webhook: { clientConfig } } } };
    await server.request({ method: 'PATCH', path: `${definitions}/widgets.example.com`, headers, body: patch });
    const absent = await requestUntil(server, { path: `${at('v1')}/a?fresh` }, { until: ({ status }) => status === 500 || status === 200 });
    assert.equal(absent.status, 200, 'stored in v1');
    const missing = await requestUntil(server, { path: `${at('v2')}/a` }, { until: ({ status }) => status === 500 });
    assert.equal(missing.body.message, 'conversion webhook for example.com/v1, Kind=Widget failed: ' +
      'Post "https://convert.default.svc:8443/convert?timeout=30s": service "convert" not found');
    const service = { metadata: { name: 'convert' }, spec: { ports: [{ name: 'https', port: 8443 }] } };
    await server.request({ method: 'POST', path: '/api/v1/namespaces/default/services', body: service });
    await server.request({ method: 'POST', path: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', body: {
      metadata: { name: 'convert-1', labels: { 'kubernetes.io/service-name': 'convert' } }, addressType: 'IPv4', endpoints: [{ addresses: [ownAddress] }],
      ports: [{ name: 'https', port }],
    } });
    const { body, status } = await requestUntil(server, { path: `${at('v2')}/a` }, { until: (reply) => reply.status === 200 });
    assert.deepEqual([status, body.spec], [200, { width: 3 }]);
  });

  it('deletes through them', { skip: isAlone }, async () => {
    assert.equal((await server.request({ method: 'DELETE', path: `${at('v2')}/a` })).status, 200);
    assert.equal((await server.request({ method: 'DELETE', path: at('v1') })).status, 200);
    assert.equal(((await server.request({ path: at('v1') })).body.items as Item[]).length, 0);
  });
});
