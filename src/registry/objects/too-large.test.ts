// Objects that the store finds too large are written without their owners.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createBench, rows } from '../testing.ts';
import { writeFitting } from './too-large.ts';

const make = (): KubeObject => ({ metadata: { name: 'a', managedFields: [{ manager: 'm', operation: 'Update' }] } }) as KubeObject;

/** A store that refuses objects with owners, for the reason given. */
const writeTo = (object: KubeObject, reason: string) => async (): Promise<string> => {
  if (object.metadata.managedFields !== undefined) throw new Error(reason);
  return 'written';
};

test('writeFitting leaves owners out of an object that is too large with them', async () => {
  const object = make();
  assert.equal(await writeFitting(object, {}, writeTo(object, 'etcdserver: request is too large')), 'written');
});

test('writeFitting throws other failures at once, and the same one when there are no owners to leave out', async () => {
  const object = make();
  await assert.rejects(async () => writeFitting(object, {}, writeTo(object, 'etcdserver: request timed out')), /timed out/);
  await assert.rejects(async () => writeFitting({ metadata: {} }, {}, () => Promise.reject(new Error('etcdserver: request is too large'))), /too large/);
});

test('an object that grows by many requests is refused in the end, and is what it was', async () => {
  const { create, patch, get } = createBench();
  const piece = 'x'.repeat(2 ** 20);
  await create(rows.configMaps, { metadata: { name: 'a' }, data: { first: piece } });
  const grow = (name: string) => patch(rows.configMaps, 'a', (object) => void Object.assign(object['data'] as object, { [name]: piece }));
  await grow('second');
  await grow('third');
  await assert.rejects(async () => grow('fourth'), { code: 500, message: 'etcdserver: request is too large' });
  const { data } = (await get(rows.configMaps, 'a')) as unknown as { data: object };
  assert.deepEqual(Object.keys(data), ['first', 'second', 'third']);
});
