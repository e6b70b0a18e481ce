// Lists of custom objects whose elements have keys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenAPIV3Schema } from '../structural.ts';
import { validateListTypes, validateValue } from './validate.ts';

test('validateListTypes reports the first element of a map list that is no object', () => {
  const schema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: { type: 'object' } } as const;
  const errorsOf = (value: unknown): readonly string[] => validateListTypes(schema, value).map(({ field, message }) => `${field}: ${message}`);
  assert.deepEqual(errorsOf([null, 'a', 'b']), ['[1]: Invalid value: "a": must be an object for an array of list-type map']);
  assert.deepEqual(errorsOf([{ k: 'a' }]), []);
});

test('validateListTypes recognises equal elements of every type, and by one key or several', () => {
  const lists: OpenAPIV3Schema = { properties: {
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: {} },
    map: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: {} },
    both: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'l'], items: {} },
  } };
  const fieldsOf = (value: unknown, before?: unknown): readonly string[] => validateListTypes(lists, value, before).map(({ field }) => field);
  assert.deepEqual(fieldsOf({ set: [1, '1', true, 'true', null, { a: 1 }, 2n, [1]] }), []);
  assert.deepEqual(fieldsOf({ set: [1, '1', 1n, '1', '1', { a: 1, b: 2 }, { b: 2, a: 1 }, null, null] }), ['set[2]', 'set[3]', 'set[6]', 'set[8]']);
  const [large, next] = [9007199254740992n, 9007199254740993n];
  assert.deepEqual(fieldsOf({ set: [large, next, { a: large }, { a: next }, Number(large), next], map: [{ k: large }, { k: next }, { k: large }],
    both: [{ k: large }, { k: next }] }), ['map[2]', 'set[5]']);
  assert.deepEqual(validateListTypes(lists, { set: [next, next, { a: [next] }, { a: [next] }] }).map(({ message }) => message),
    ['Duplicate value: 9007199254740993', 'Duplicate value: {"a":[9007199254740993]}']);
  const elements = [{ k: 1 }, { k: '1' }, {}, { k: null }, { k: { a: 1 } }, { l: 1 }, { k: { a: 1 } }, { k: '1' }, { k: {} }];
  assert.deepEqual(fieldsOf({ map: elements }), ['map[5]', 'map[6]', 'map[7]']);
  assert.deepEqual(fieldsOf({ both: [{ k: 1, l: 2 }, { k: 1 }, { l: 2, k: 1 }, { k: 1, l: '2' }] }), ['both[2]']);
  const twice = [{ k: 1 }, { k: 1 }];
  assert.deepEqual([fieldsOf({ map: twice, both: twice }, { map: twice }), fieldsOf({ map: twice }, { map: twice })], [['both[1]'], []]);
});

test('validateValue asks nothing more of what an update left as it was, once nothing was wrong with that', () => {
  let asked = 0;
  const schema = { properties: { plain: { type: 'object', properties: { a: { type: 'integer' } } } } } as OpenAPIV3Schema;
  const counted = (a: unknown): object => Object.defineProperty({}, 'a', { enumerable: true, get: () => (asked++, a) });
  const update = (plain: object, old: object) => validateValue(schema, { plain }, { before: { value: { plain: old } } }).length;
  const plain = counted(1);
  assert.equal(update(plain, plain), 0);
  const once = asked;
  assert.equal(update(plain, plain), 0);
  assert.equal(asked, once);
  assert.equal(update(counted('x'), plain), 1);
  const tolerated = counted('x');
  assert.equal(update(tolerated, tolerated), 0);
  assert.equal(update(tolerated, plain), 1);
});
