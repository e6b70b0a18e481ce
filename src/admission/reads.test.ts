// What plugins look up is decoded once for each revision.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../apimachinery/index.ts';
import { systemClock } from '../base/index.ts';
import type { Catalog, Registry, Resource, StoredObject } from '../registry/index.ts';
import { createReads } from './reads.ts';

const resource = { group: '', plural: 'ks', storageVersion: 'v1' } as Resource;

test('createReads decodes a revision once, and a large one each time', async () => {
  let decoded = 0;
  const stored = (size: number): StoredObject =>
    ({ resource, size, object: () => (decoded++, { apiVersion: 'v1', kind: 'K', metadata: {} } as KubeObject) }) as unknown as StoredObject;
  let [small, large] = [stored(100), stored(2 ** 20)];
  const get = async ({ name }: { name: string }) => (name === 'small' ? small : large);
  const registry = { get, list: async () => ({ items: [small, large], revision: 1 }), cachedRevision: () => 1 };
  const reads = createReads(() => registry as unknown as Registry, () => ({ findResource: () => resource }) as unknown as Catalog, systemClock)('', 'ks');
  const first = await reads.find('small');
  assert.equal(await reads.find('small'), first);
  assert.equal((await reads.list())[0], first);
  assert.equal(decoded, 2);
  await reads.find('large');
  assert.equal(decoded, 3);
  small = stored(100);
  assert.notEqual(await reads.find('small'), first);
});

test('createReads lists a namespace again once its row has changed, and not before', async () => {
  let [lists, revision] = [0, 1];
  const item = { resource, size: 10, object: () => ({ apiVersion: 'v1', kind: 'K', metadata: {} }) } as unknown as StoredObject;
  const registry = { list: async () => (lists++, { items: [item], revision }), cachedRevision: () => revision };
  const reads = createReads(() => registry as unknown as Registry, () => ({ findResource: () => resource }) as unknown as Catalog, systemClock)('', 'ks');
  const first = await reads.list('a');
  assert.equal(await reads.list('a'), first);
  await reads.list('b');
  assert.equal(lists, 2);
  revision = 2;
  assert.notEqual(await reads.list('a'), first);
  assert.equal(lists, 3);
});
