// The order of fields and keys in what is written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFieldOrder } from './order.ts';
import type { Field, Schema } from './schema.ts';

const text: Schema = { type: 'string' };
const field = (name: string, schema: Schema): [string, Field] => [name, { name, schema, required: false, omitEmpty: true, pointer: false, number: 0 }];
const inner: Schema = { type: 'object', fields: new Map([field('a', text), field('b', text)]) };
const kind: Schema = {
  type: 'object',
  fields: new Map([
    field('z', text), field('inner', inner), field('list', { type: 'array', items: inner }), field('map', { type: 'map', items: inner }),
    field('raw', { type: 'any' }),
  ]),
};

test('inFieldOrder orders structs as they are declared and maps by key, wherever they are, and leaves raw parts alone', () => {
  const object = { raw: { b: 1, a: 2 }, map: { y: { b: '', a: '' }, x: { a: '' } }, list: [{ a: '1' }, { b: '2', a: '1' }], inner: { b: '', a: '' }, z: '' };
  assert.equal(JSON.stringify(inFieldOrder(kind, object)), JSON.stringify(
    { z: '', inner: { a: '', b: '' }, list: [{ a: '1' }, { a: '1', b: '2' }], map: { x: { a: '' }, y: { a: '', b: '' } }, raw: { b: 1, a: 2 } }));
});

test('inFieldOrder shares what is in order, and what it is given does not change', () => {
  const list = [{ a: '1', b: '2' }];
  const object = { list, inner: { b: '', a: '' } };
  const before = JSON.stringify(object);
  const ordered = inFieldOrder(kind, object);
  assert.equal(ordered.list, list);
  assert.equal(JSON.stringify(object), before);
  assert.equal(inFieldOrder(kind, ordered), ordered);
});

test('inFieldOrder leaves out what is undefined, and looks at nothing that the value shares with the one before', () => {
  assert.deepEqual(Object.keys(inFieldOrder(kind, { z: undefined, inner: { a: '' }, raw: undefined })), ['inner']);
  const shared = { b: '', a: '' };
  assert.equal(inFieldOrder(kind, { inner: shared, z: '' }, { inner: shared }).inner, shared);
});

test('inFieldOrder gives back the struct before where all of its members are the same', () => {
  const before = { z: '1', inner: { a: '1', b: '2' } };
  assert.equal(inFieldOrder(kind, { inner: { ...before.inner }, z: '1', raw: undefined }, before), before);
  for (const other of [{ z: '1' }, { ...before, raw: 1 }, { ...before, unknown: 1 }, { z: '2', inner: before.inner }]) {
    assert.deepEqual(inFieldOrder(kind, other, before), other);
  }
});
