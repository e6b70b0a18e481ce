// Stored objects without their large values.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredObject } from '../contract.ts';
import { readWithout } from './outline.ts';

const stored = (object: unknown): StoredObject => ({ bytes: () => new TextEncoder().encode(JSON.stringify(object)) }) as unknown as StoredObject;

test('readWithout leaves out the values at a path, of every item of a list', () => {
  const object = {
    kind: 'K', metadata: { labels: { schema: '"a"' } },
    spec: { schema: { a: 1 }, versions: [{ name: '}', schema: { x: ['{', { schema: 1 }] }, served: true }, { name: 'b' }, { schema: 'c', last: '\\"' }] },
    status: { a: 1 },
  };
  const versions = [{ name: '}', schema: null, served: true }, { name: 'b' }, { schema: null, last: '\\"' }];
  assert.deepEqual(readWithout(stored(object), 'v1', ['spec', 'versions', '*', 'schema']), { ...object, spec: { ...object.spec, versions } });
});

test('readWithout changes nothing where the path leads nowhere', () => {
  for (const object of [{ spec: { versions: [] } }, { spec: { versions: {} } }, { spec: [] }, { metadata: {} }, { spec: { versions: [1, 'a', null] } }]) {
    assert.deepEqual(readWithout(stored(object), 'v1', ['spec', 'versions', '*', 'schema']), object);
  }
});
