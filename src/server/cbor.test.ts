// CBORServingAndStorage: bodies, answers, lists, watches and stored custom resources in CBOR, and none of it without the gate.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { encodeCbor, parseCbor } from '../codec/index.ts';
import { type ClientResponse, type TestServer, requestUntil, startTestServer } from '../test-support/index.ts';

const gate = { featureGates: ['CBORServingAndStorage=true'] };
const CBOR = 'application/cbor';
const configMaps = '/api/v1/namespaces/default/configmaps';
const things = '/apis/example.com/v1/namespaces/default/things';

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: {
      type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, share: { type: 'number' }, text: { type: 'string' } } } },
    } } }],
  },
};

interface CborAnswer extends ClientResponse {
  /** The body, where it is CBOR. */
  readonly value: any;
}

async function send(server: TestServer, method: string, path: string, document?: unknown, type = CBOR): Promise<CborAnswer> {
  const body = document instanceof Uint8Array ? document : document === undefined ? undefined : encodeCbor(document);
  const answer = await server.request({
    method, path, headers: { accept: CBOR, ...(body !== undefined && { 'content-type': type }) }, ...(body !== undefined && { body }),
  });
  return { ...answer, value: answer.headers['content-type'] === CBOR ? parseCbor(answer.bytes).value : undefined };
}

async function defineThings(server: TestServer): Promise<void> {
  assert.equal((await server.request({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: definition })).status, 201);
  await requestUntil(server, { path: things }, { until: ({ status }) => status === 200 });
}

test('built-in objects are written, read, listed and applied as CBOR', async () => {
  const server = await startTestServer(gate);
  try {
    const metadata = { name: 'a' };
    const created = await send(server, 'POST', configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { k: 'ü' }, binaryData: { b: 'AP8=' } });
    assert.deepEqual([created.status, created.value.data, created.value.binaryData], [201, { k: 'ü' }, { b: 'AP8=' }]);
    // Base64 in a text string is taken, too.
    const text = Buffer.from('d9d9f7a3446b696e6449436f6e6669674d61704a62696e61727944617461a14162644150383d486d65746164617461a1446e616d654174', 'hex');
    assert.deepEqual((await send(server, 'POST', configMaps, text)).value?.binaryData, { b: 'AP8=' });
    // Bytes are bytes, in the tag that expects base64.
    assert.ok(Buffer.from(created.bytes).includes(Buffer.from('d64200ff', 'hex')));
    assert.deepEqual((await server.request({ path: `${configMaps}/a` })).body.binaryData, { b: 'AP8=' });
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data: { k: 'v' } };
    const answer = await send(server, 'PATCH', `${configMaps}/b?fieldManager=m`, applied, 'application/apply-patch+cbor');
    assert.deepEqual([answer.status, answer.value.metadata.managedFields[0].operation], [201, 'Apply']);
    const list = (await send(server, 'GET', `${configMaps}?limit=2`)).value;
    assert.deepEqual([list.kind, list.items.map((item: any) => [item.kind, item.metadata.name])], ['ConfigMapList', [[undefined, 'a'], [undefined, 'b']]]);
    const partial = await server.request({ path: configMaps, headers: { accept: `${CBOR};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io` } });
    const names = (parseCbor(partial.bytes).value as any).items.map((item: any) => [item.kind, item.metadata.name]);
    assert.deepEqual(names.slice(0, 2), [['PartialObjectMetadata', 'a'], ['PartialObjectMetadata', 'b']]);
    const removed = await send(server, 'DELETE', `${configMaps}/a`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] });
    assert.deepEqual([removed.status, removed.value.status], [200, 'Success']);
    assert.equal((await send(server, 'GET', '/apis/apps/v1')).value.kind, 'APIResourceList');
    const openapi = (await server.request({ path: '/openapi/v3/api/v1' })).text;
    assert.ok(['application/cbor"', 'application/cbor-seq"', 'application/apply-patch+cbor"'].every((type) => openapi.includes(type)));
  } finally {
    await server.close();
  }
});

test('a watch is a CBOR sequence', async () => {
  const server = await startTestServer(gate);
  try {
    await send(server, 'POST', configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
    const path = `${configMaps}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Da`;
    const { headers, bytes } = await send(server, 'GET', path);
    const event = parseCbor(bytes).value as any;
    assert.deepEqual([headers['content-type'], event.type, event.object.kind, event.object.metadata.name], ['application/cbor-seq', 'ADDED', 'ConfigMap', 'a']);
  } finally {
    await server.close();
  }
});

test('CBOR that does not fit is refused in the words of the reference', async () => {
  const server = await startTestServer(gate);
  const broken = encodeCbor({ apiVersion: 'v1' }).subarray(0, -1);
  const named = (more: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, ...more });
  const twice = Buffer.concat([Buffer.from('d9d9f7a4', 'hex'), ...Object.entries(named({})).map(([key, value]) =>
    Buffer.concat([encodeCbor(key).subarray(3), encodeCbor(value).subarray(3)])), Buffer.from('4464617461a2416140416140', 'hex')]);
  const prefix = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: ';
  try {
    const cases: [unknown, string, string][] = [
      [broken, '', 'the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: unexpected EOF ' +
        '(d9d9f7a14a61706956657273696f6e4276)'],
      [twice, '', `${prefix}cbor: found duplicate map key "a" at map element index 1`],
      [named({ data: { a: -1 } }), '', `${prefix}cbor: cannot unmarshal negative integer into Go struct field v1.ConfigMap.data of type string`],
      [named({ data: {}, size: 1 }), '?fieldValidation=Strict', `${prefix}strict decoding error: cbor: found unknown field at map element index 4`],
    ];
    for (const [document, query, message] of cases) {
      const { status, value } = await send(server, 'POST', `${configMaps}${query}`, document);
      assert.deepEqual([status, value.message], [400, message]);
    }
    const warned = await send(server, 'POST', configMaps, named({ size: 1 }));
    assert.deepEqual([warned.status, warned.headers['warning']], [201, '299 - "cbor: found unknown field at map element index 3"']);
    // The router and the documents above the resources know no CBOR.
    const lost = await send(server, 'GET', '/api/v1/nothing');
    assert.deepEqual([lost.status, lost.headers['content-type']], [404, 'application/json']);
  } finally {
    await server.close();
  }
});

test('custom resources are stored as CBOR, and read whatever the gate says', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-cbor-'));
  try {
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a', labels: { l: 'm' } }, spec: { size: 2, share: 0.5, text: 'x' } };
    const server = await startTestServer({ ...gate, dataDir: directory });
    await defineThings(server);
    const created = await send(server, 'POST', things, thing);
    assert.deepEqual([created.status, created.value.spec], [201, thing.spec]);
    assert.equal((await send(server, 'POST', things, { ...thing, metadata: { name: 'b' }, spec: { size: 'x' } })).status, 422);
    await server.close();
    const plain = await startTestServer({ dataDir: directory });
    await requestUntil(plain, { path: things }, { until: ({ status }) => status === 200 });
    const { body } = await plain.request({ path: `${things}?labelSelector=l%3Dm` });
    assert.deepEqual(body.items.map((item: any) => [item.metadata.name, item.metadata.uid, item.spec]), [['a', created.value.metadata.uid, thing.spec]]);
    const patched = await plain.request({ method: 'PATCH', path: `${things}/a`, body: { spec: { size: 3 } } });
    assert.deepEqual([patched.status, patched.body.spec.size], [200, 3]);
    await plain.close();
    const again = await startTestServer({ ...gate, dataDir: directory });
    const read = await requestUntil(again, { path: `${things}/a` }, { until: ({ status }) => status === 200 });
    assert.equal(read.body.spec.size, 3);
    await again.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('without the gate CBOR is neither read nor written', async () => {
  const server = await startTestServer();
  try {
    const { status, body } = await server.request({ method: 'POST', path: configMaps, headers: { 'content-type': CBOR }, body: encodeCbor({}) });
    assert.deepEqual([status, body.message.includes(CBOR)], [415, false]);
    assert.equal((await send(server, 'GET', configMaps)).status, 406);
    assert.equal((await send(server, 'PATCH', `${configMaps}/a?fieldManager=m`, {}, 'application/apply-patch+cbor')).status, 415);
  } finally {
    await server.close();
  }
});
