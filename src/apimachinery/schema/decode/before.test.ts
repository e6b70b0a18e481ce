// What a patched document shares with the object that it was made from is not read again: typed, pruned and defaulted it is already.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeObject } from './decode.ts';
import { applyDefaults } from './defaults.ts';
import { pruneUnknown } from './prune.ts';
import type { Field, Schema } from '../schema.ts';

const text: Schema = { type: 'string' };
const field = (name: string, schema: Schema, rest: Partial<Field> = {}): [string, Field] =>
  [name, { name, schema, required: false, omitEmpty: true, pointer: false, number: 0, ...rest }];
const item: Schema = { type: 'object', fields: new Map([field('name', text), field('mode', text, { default: 'fast' })]) };
const kind: Schema = {
  type: 'object', fields: new Map([field('spec', item), field('list', { type: 'array', items: item }), field('map', { type: 'map', items: item })]),
};

test('decodeObject takes what is shared as it is, and reads the rest', () => {
  const before = { spec: { unknown: 1 }, list: [{ unknown: 1 }, { name: 'b' }] };
  const { object, strictErrors } = decodeObject(kind, { spec: before.spec, list: [before.list[0], { name: 'c', unknown: 1 }, before.list[1]] }, { before });
  assert.equal(object['spec'], before.spec);
  const list = object['list'] as unknown[];
  assert.equal(list[0], before.list[0]);
  assert.deepEqual(list.slice(1), [{ name: 'c' }, { name: 'b' }]);
  assert.deepEqual(strictErrors, ['unknown field "list[1].unknown"']);
  const whole = decodeObject(kind, { list: before.list }, { before });
  assert.equal(whole.object['list'], before.list);
});

test('pruneUnknown and applyDefaults leave what is shared as it is', () => {
  const before = { spec: { unknown: 1 }, list: [{ unknown: 1 }], map: { a: { unknown: 1 } } };
  const value = { spec: before.spec, list: [before.list[0], { unknown: 1 }], map: { a: before.map.a, b: { name: 'b' } } };
  const { object, unknownFields } = pruneUnknown(kind, value, before);
  assert.deepEqual(object, { ...value, list: [before.list[0], {}] });
  assert.deepEqual(unknownFields, ['list[1].unknown']);
  assert.deepEqual(applyDefaults(kind, value, { before }),
    { ...value, list: [before.list[0], { mode: 'fast' }], map: { a: before.map.a, b: { name: 'b', mode: 'fast' } } });
});
