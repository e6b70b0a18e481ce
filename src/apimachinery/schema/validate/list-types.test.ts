// Lists of custom objects whose elements have keys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateListTypes } from './validate.ts';

test('validateListTypes reports the first element of a map list that is no object', () => {
  const schema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: { type: 'object' } } as const;
  const errorsOf = (value: unknown): readonly string[] => validateListTypes(schema, value).map(({ field, message }) => `${field}: ${message}`);
  assert.deepEqual(errorsOf([null, 'a', 'b']), ['[1]: Invalid value: "a": must be an object for an array of list-type map']);
  assert.deepEqual(errorsOf([{ k: 'a' }]), []);
});
