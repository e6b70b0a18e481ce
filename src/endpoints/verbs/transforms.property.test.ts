// No PUT, patch or apply changes the object that it starts from: the object is frozen all the way down before each transform, and stays so while
// the registry writes what came of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Registry } from '../../registry/index.ts';
import { createTestApi } from '../testing.ts';

function freezeAll<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(freezeAll);
  return Object.freeze(value);
}

/** An API whose transforms are handed frozen objects; `seen` counts them. */
function createFrozenApi() {
  const seen = { count: 0 };
  const inner = (): Registry => api.registry;
  const registry: Registry = {
    get: (...args) => inner().get(...args), list: (...args) => inner().list(...args), watch: (...args) => inner().watch(...args),
    create: (request) => inner().create(request), delete: (request) => inner().delete(request),
    deleteCollection: (...args) => inner().deleteCollection(...args), cachedRevision: (target) => inner().cachedRevision(target),
    update: (request) => inner().update({
      ...request,
      transform(current) {
        seen.count++;
        return request.transform(freezeAll(current));
      },
    }),
  };
  const api = createTestApi({ registry });
  return { api, seen };
}

const text = fc.stringMatching(/^[a-z]{1,6}$/);
const data = fc.dictionary(text, text, { maxKeys: 4 });
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => value !== null);

interface Write {
  readonly method: string;
  readonly type: string;
  readonly body: unknown;
}

/** Bodies of each type of write that change what `field` holds. */
const writes = (field: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Write> => value.chain((next) => fc.constantFrom<Write>(
  { method: 'PATCH', type: 'application/merge-patch+json', body: { metadata: { labels: { l: 'm' } }, [field]: next } },
  { method: 'PATCH', type: 'application/json-patch+json', body: [{ op: 'add', path: `/${field}`, value: next }, { op: 'add', path: '/metadata/labels',
    value: { l: 'm' } }, { op: 'copy', from: `/${field}`, path: `/${field}` }] },
  { method: 'PATCH', type: 'application/json-patch+json', body: [{ op: 'test', path: '/metadata/name', value: 'a' }] },
  { method: 'PATCH', type: 'application/merge-patch+json', body: {} },
));

async function holds({ path, body, write }: { readonly path: string; readonly body: object; readonly write: Write }): Promise<void> {
  const { api, seen } = createFrozenApi();
  try {
    const made = await api.send({ method: 'POST', path, body, headers: { 'content-type': 'application/json' } });
    assert.equal(made.status, 201, made.text);
    const answer = await api.send({ method: write.method, path: `${path}/a`, body: write.body, headers: { 'content-type': write.type } });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(seen.count > 0);
  } finally {
    api.close();
  }
}

const configMaps = '/api/v1/namespaces/ns/configmaps';
const widgets = '/apis/example.com/v1/namespaces/ns/widgets';

test('patches of a built-in kind leave the current object as it is', async () => {
  const strategic = data.map((next): Write => ({ method: 'PATCH', type: 'application/strategic-merge-patch+json', body: { data: { ...next, k: null } } }));
  const apply = data.map((next): Write => ({ method: 'PATCH', type: 'application/apply-patch+yaml',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: next } }));
  await fc.assert(fc.asyncProperty(data, fc.oneof(writes('data', data), strategic, apply), async (first, write) => {
    const path = write.type.includes('apply') ? `${configMaps}/a?fieldManager=m&force=true` : `${configMaps}/a`;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', annotations: { x: 'y' } }, data: { k: 'v', ...first } };
    const { api } = createFrozenApi();
    try {
      assert.equal((await api.send({ method: 'POST', path: configMaps, body, headers: { 'content-type': 'application/json' } })).status, 201);
      const answer = await api.send({ method: write.method, path, body: write.body, headers: { 'content-type': write.type } });
      assert.equal(answer.status, 200, answer.text);
    } finally {
      api.close();
    }
  }), { numRuns: 60 });
});

test('patches of a custom kind leave the current object as it is', async () => {
  await fc.assert(fc.asyncProperty(json, writes('spec', json), async (first, write) => {
    await holds({ path: widgets, write, body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', labels: { k: 'v' } }, spec: first } });
  }), { numRuns: 60 });
});

test('PUT does not look at the current object, and changes it no more than patches do', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } };
  await holds({ path: configMaps, body, write: { method: 'PUT', type: 'application/json', body: { ...body, data: { k: 'w' } } } });
});
