// Large requests: those with very many members, in their body or in the object that they change.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestApi } from '../testing.ts';
import type { MemberBounds } from '../dependencies.ts';
import { hasManyMembers } from './large-requests.ts';

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const keys = (count: number): Record<string, string> => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '']));

describe('hasManyMembers', () => {
  it('counts members, not bytes', () => {
    assert.equal(hasManyMembers(encode(keys(6000))), true);
    assert.equal(hasManyMembers(encode(keys(3000))), false);
    assert.equal(hasManyMembers(encode({ text: 'x'.repeat(1_000_000) })), false);
    assert.equal(hasManyMembers(encode(Array.from({ length: 20_000 }, () => 1))), true);
    assert.equal(hasManyMembers(new TextEncoder().encode(Array.from({ length: 8000 }, (_, i) => `k${i}: v`).join('\n'))), true);
  });
});

describe('handleBySize', () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const largeRequests: string[] = [];
  const inPlace: number[] = [];
  let isRoomHere = true;
  let bounds: MemberBounds | undefined;
  const api = createTestApi({
    largeRequests: {
      boundsOf: () => bounds,
      placeOf: (bytes) => {
        inPlace.push(bytes);
        return { isHere: isRoomHere, leave: () => void inPlace.pop() };
      },
      handle: async ({ method, path: at }, { body }) => {
        largeRequests.push(`${method} ${at} ${body.length}`);
        return { status: 299, headers: {}, body: new Uint8Array() };
      },
      makeReadable: async (_, json, form) => new TextEncoder().encode(`${form} of ${json.length > 20_000}`),
    },
  });
  const configMap = (name: string, data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

  it('hands large bodies over, and handles small ones', async () => {
    assert.equal((await api.send({ method: 'POST', path, body: configMap('small', { a: 'b' }) })).status, 201);
    assert.deepEqual(largeRequests.splice(0), []);
    const body = configMap('large', keys(6000));
    assert.equal((await api.send({ method: 'POST', path, body })).status, 299);
    assert.deepEqual(largeRequests.splice(0), [`POST ${path} ${encode(body).length}`]);
  });

  it('hands heavy bodies of few members over where there is no room for them here', async () => {
    const send = (name: string, bytes: number) => api.send({ method: 'POST', path, body: configMap(name, { a: 'x'.repeat(bytes) }) });
    assert.equal((await send('heavy', 300_000)).status, 201);
    isRoomHere = false;
    assert.equal((await send('light', 200_000)).status, 201);
    assert.deepEqual(largeRequests.splice(0), []);
    assert.equal((await send('heavier', 400_000)).status, 299);
    assert.equal(largeRequests.splice(0).length, 1);
    assert.equal((await api.send({ method: 'PUT', path: `${path}/heavy`, body: '{'.padEnd(300_000) })).status, 299);
    isRoomHere = true;
    assert.equal((await api.send({ method: 'PUT', path: `${path}/heavy`, body: '{'.padEnd(300_000) })).status, 400);
    assert.deepEqual(inPlace, [], 'each has left its place');
    largeRequests.splice(0);
  });

  it('counts the items of CBOR, however its type is written', async () => {
    for (const type of ['application/cbor', 'Application/CBOR']) {
      assert.equal((await api.send({ method: 'POST', path, headers: { 'content-type': type }, body: '\0'.repeat(20_000) })).status, 299);
      assert.deepEqual(largeRequests.splice(0), [`POST ${path} 20000`]);
    }
  });

  it('counts the steps of the paths of a JSON patch', async () => {
    const patch = (type: string, text: string) => api.send({ method: 'PATCH', path: `${path}/small`, headers: { 'content-type': type },
      body: JSON.stringify([{ op: 'add', path: text, value: '1' }]) });
    for (const text of ['/a'.repeat(11_000), `/data/${'~0'.repeat(11_000)}`]) assert.equal((await patch('application/json-patch+json', text)).status, 299);
    assert.equal(largeRequests.splice(0).length, 2);
    assert.equal((await patch('application/json-patch+json', `/data/${'a'.repeat(22_000)}`)).status, 200);
    assert.notEqual((await patch('application/merge-patch+json', '/a'.repeat(11_000))).status, 299);
    assert.deepEqual(largeRequests, []);
  });

  it('keeps to the bounds of the resource', async () => {
    bounds = { here: 20_000, most: 30_000 };
    const send = (name: string, count: number) => api.send({ method: 'POST', path, body: configMap(name, keys(count)) });
    assert.deepEqual([(await send('bound', 9000)).status, (await send('bound', 12_000)).status, (await send('bound', 16_000)).status], [201, 299, 413]);
    bounds = undefined;
    assert.equal(largeRequests.splice(0).length, 1);
  });

  it('hands small changes of large objects over', async () => {
    bounds = { here: 20_000, most: 30_000 };
    assert.equal((await api.send({ method: 'POST', path, body: configMap('stored', keys(6000)) })).status, 201);
    bounds = undefined;
    const headers = { 'content-type': 'application/merge-patch+json' };
    assert.equal((await api.send({ method: 'PATCH', path: `${path}/stored`, headers, body: { data: { a: 'b' } } })).status, 299);
    assert.equal((await api.send({ method: 'DELETE', path: `${path}/stored` })).status, 299);
    assert.equal(largeRequests.splice(0).length, 2);
    assert.equal((await api.send({ path: `${path}/stored` })).status, 200);
    assert.equal((await api.send({ path: `${path}/stored`, headers: { accept: 'application/yaml' } })).text, 'yaml of true');
    assert.match((await api.send({ path: `${path}/small`, headers: { accept: 'application/yaml' } })).text, /^apiVersion: v1\n/);
    assert.deepEqual(largeRequests, []);
  });
});
