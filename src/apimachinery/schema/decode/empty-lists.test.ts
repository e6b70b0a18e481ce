// Which empty lists become null, and which stay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nullEmptyLists } from './empty-lists.ts';
import type { Field, Schema } from '../schema.ts';

const list: Schema = { type: 'array', items: { type: 'string' } };
const field = (name: string, schema: Schema, more: Partial<Field> = {}): [string, Field] =>
  [name, { name, schema, required: false, omitEmpty: false, pointer: false, number: 0, ...more }];
const inner: Schema = { type: 'object', fields: new Map([field('rules', list)]) };
const kind: Schema = {
  type: 'object',
  fields: new Map([
    field('rules', list), field('given', list, { pointer: true }), field('short', list, { omitEmpty: true }),
    field('inner', inner), field('each', { type: 'array', items: inner }), field('byName', { type: 'map', items: inner }),
  ]),
};

test('nullEmptyLists changes lists without omitempty wherever they are, and no other value', () => {
  const object = { rules: [], given: [], short: [], inner: { rules: [] }, each: [{ rules: [] }, { rules: ['a'] }], byName: { a: { rules: [] } }, other: [] };
  nullEmptyLists(kind, object);
  assert.deepEqual(object, {
    rules: null, given: [], short: [], inner: { rules: null }, each: [{ rules: null }, { rules: ['a'] }], byName: { a: { rules: null } }, other: [],
  });
});
