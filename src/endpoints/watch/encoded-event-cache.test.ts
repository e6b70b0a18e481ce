// Encoded events are made once for each object and key, until the bound drops the objects that were added first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredObject } from '../../registry/index.ts';
import { EncodedEventCache } from './encoded-event-cache.ts';

const stored = (): StoredObject => ({}) as unknown as StoredObject;

test('EncodedEventCache encodes once for each object and key', () => {
  const cache = new EncodedEventCache();
  const [a, b] = [stored(), stored()];
  let encoded = 0;
  const get = (object: StoredObject, key: string): Uint8Array => cache.getOrEncode(object, key, () => Uint8Array.of(++encoded));
  assert.deepEqual([get(a, 'ADDED'), get(a, 'ADDED'), get(a, 'DELETED'), get(b, 'ADDED'), get(a, 'ADDED')].map(([byte]) => byte), [1, 1, 2, 3, 1]);
});

test('EncodedEventCache keeps at most 16 MiB, and nothing larger than that', () => {
  const cache = new EncodedEventCache();
  const objects = Array.from({ length: 20 }, stored);
  let encoded = 0;
  const get = (object: StoredObject, bytes = 1024 * 1024): void => void cache.getOrEncode(object, 'ADDED', () => (encoded++, new Uint8Array(bytes)));
  for (const object of objects) get(object);
  assert.equal(encoded, 20);
  for (const object of objects.slice(5)) get(object);
  assert.equal(encoded, 20);
  get(objects[0] as StoredObject);
  assert.equal(encoded, 21);
  const large = stored();
  for (let i = 0; i < 2; i++) get(large, 17 * 1024 * 1024);
  assert.equal(encoded, 23);
});
