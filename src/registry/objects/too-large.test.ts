// Objects that the store finds too large are written without their owners.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { writeFitting } from './too-large.ts';

const make = (): KubeObject => ({ metadata: { name: 'a', managedFields: [{ manager: 'm', operation: 'Update' }] } }) as KubeObject;

/** A store that refuses objects with owners, for the reason given. */
const writeTo = (object: KubeObject, reason: string) => async (): Promise<string> => {
  if (object.metadata.managedFields !== undefined) throw new Error(reason);
  return 'written';
};

test('writeFitting leaves owners out of an object that is too large with them', async () => {
  const object = make();
  assert.equal(await writeFitting(object, writeTo(object, 'etcdserver: request is too large')), 'written');
});

test('writeFitting tells other failures at once, and the same one when there are no owners to leave out', async () => {
  const object = make();
  await assert.rejects(async () => writeFitting(object, writeTo(object, 'etcdserver: request timed out')), /timed out/);
  await assert.rejects(async () => writeFitting({ metadata: {} }, () => Promise.reject(new Error('etcdserver: request is too large'))), /too large/);
});
