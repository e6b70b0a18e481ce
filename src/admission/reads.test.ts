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
  const registry = { get: async ({ name }: { name: string }) => (name === 'small' ? small : large), list: async () => ({ items: [small, large] }) };
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
