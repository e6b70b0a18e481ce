// Merged values share what a configuration leaves as it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field, Schema } from '../schema/schema.ts';
import { mergeValues } from './merge.ts';

const text: Schema = { type: 'string' };
const field = (name: string, schema: Schema): [string, Field] => [name, { name, schema, required: false, omitEmpty: true, pointer: false, number: 0 }];
const item: Schema = { type: 'object', fields: new Map([field('name', text), field('args', { type: 'array', items: text })]) };
const list: Schema = { type: 'array', items: item, listType: 'map', listMapKeys: ['name'] };
const kind: Schema = { type: 'object', fields: new Map([field('text', text), field('list', list)]) };

test('mergeValues answers the base where the configuration says the same, and copies the way to a difference', () => {
  const base = { text: 'a', list: [{ name: 'x', args: ['1', '2'] }, { name: 'y' }] };
  assert.equal(mergeValues(kind, base, structuredClone(base)), base);
  assert.equal(mergeValues(kind, base, { list: [{ args: ['1', '2'], name: 'x' }] }), base);
  const merged = mergeValues(kind, base, { list: [{ name: 'x', args: ['1', '3'] }] }) as typeof base;
  assert.deepEqual(merged, { text: 'a', list: [{ name: 'x', args: ['1', '3'] }, { name: 'y' }] });
  assert.equal(merged.list[1], base.list[1]);
  assert.deepEqual(mergeValues(kind, base, { list: [{ name: 'y' }, { name: 'x' }] }), { text: 'a', list: [base.list[1], base.list[0]] });
  assert.deepEqual(mergeValues(kind, { text: 'a' }, { list: [] }), { text: 'a', list: [] });
});
