// Copies that share what is the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copySharing, sortJson, unshare } from './values.ts';

test('copySharing has the parts of the object before that are the same, and copies of the others', () => {
  const before = { a: { x: [1, { y: 2 }] }, b: [{ k: 1 }, { k: 2 }], c: 'text' };
  const same = copySharing(structuredClone(before), before);
  assert.equal(same, before);
  const value = { a: { x: [1, { y: 2 }] }, b: [{ k: 1 }, { k: 3 }], c: 'text' };
  const copy = copySharing(value, before);
  assert.deepEqual(copy, value);
  assert.equal(copy.a, before.a);
  assert.equal(copy.b[0], before.b[0]);
  assert.notEqual(copy.b[1], value.b[1]);
});

test('copySharing takes another order of keys, a key more or less, and another type for a change', () => {
  const before = { a: 1, b: { c: 1 } };
  for (const value of [{ b: { c: 1 }, a: 1 }, { a: 1 }, { a: 1, b: { c: 1 }, d: 1 }, { a: 1, b: [1] }, { a: '1', b: { c: 1 } }]) {
    const copy = copySharing(value, before);
    assert.equal(JSON.stringify(copy), JSON.stringify(value));
    assert.notEqual(copy, before);
    assert.notEqual(copy, value);
  }
  assert.deepEqual(Object.keys(copySharing(JSON.parse('{"__proto__":{"a":1}}'), {})), ['__proto__']);
});

test('sortJson sorts nothing that the value shares with the one before', () => {
  const shared = { b: 1, a: 2 };
  const sorted = sortJson({ z: shared, list: [shared], c: { b: 1, a: 2 } }, { z: shared, list: [shared] });
  assert.equal(sorted.z, shared);
  assert.equal(sorted.list[0], shared);
  assert.equal(JSON.stringify(sorted.c), '{"a":2,"b":1}');
});

test('sortJson gives back the object before where all of its members are the same', () => {
  const before = { a: { x: 1 }, b: 'text', list: [{ k: 1 }] };
  assert.equal(sortJson({ b: 'text', list: [...before.list], a: before.a }, before), before);
  assert.notEqual(sortJson({ a: before.a, b: 'text' }, before), before);
  assert.deepEqual(sortJson([1], { 0: 1 }), [1]);
});

test('unshare copies what is shared down to a depth, and changes nothing of the value before', () => {
  const before = { ports: [{ port: 1, deep: { x: 1 } }], type: 'a' };
  const text = JSON.stringify(before);
  for (const value of [before, { ...before, type: 'b' }]) {
    const own = unshare(value, before, 3) as typeof before;
    assert.deepEqual(own, value);
    assert.equal(own.ports[0]?.deep, before.ports[0]?.deep);
    (own.ports[0] as { port: number }).port = 2;
    own.ports.push({ port: 3, deep: { x: 1 } });
    assert.equal(JSON.stringify(before), text);
  }
  assert.equal((unshare(before, before, 1) as typeof before).ports, before.ports);
  assert.deepEqual(unshare(JSON.parse('{"__proto__":{"a":1}}'), {}, 3), JSON.parse('{"__proto__":{"a":1}}'));
});
