// What an apply refuses before it merges, in the words of the reference (recorded in the oracle).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field, Schema } from '../schema/schema.ts';
import { typedProblem } from './typed.ts';
import { elementOfItem } from './value.ts';

const text: Schema = { type: 'string' };
const field = (name: string, schema: Schema, more: Partial<Field> = {}): [string, Field] =>
  [name, { name, schema, required: false, omitEmpty: true, pointer: false, number: 0, ...more }];
const port: Schema = { type: 'object', fields: new Map([field('port', { type: 'integer' }), field('protocol', text, { publishedDefault: 'TCP' })]) };
const kind: Schema = {
  type: 'object',
  fields: new Map([
    field('data', { type: 'map', items: text }), field('names', { type: 'array', items: text, listType: 'set' }), field('open', { type: 'any' }),
    field('cpu', { type: 'string', format: 'quantity' }), field('ports', { type: 'array', items: port, listType: 'map', listMapKeys: ['port', 'protocol'] }),
  ]),
};

test('typedProblem finds nothing in values that fit', () => {
  assert.equal(typedProblem(kind,
    { data: { k: 'v' }, names: ['a', 'b'], open: { any: [1] }, cpu: 1, ports: [{ port: 1 }, { port: 1, protocol: 'UDP' }] }), undefined);
  assert.equal(typedProblem(kind, { data: null, names: null }), undefined);
});

test('typedProblem reports fields, types and duplicates with their paths', () => {
  const problems: [unknown, string][] = [
    [{ extra: 1 }, '.extra: field not declared in schema'],
    [{ data: 'text' }, '.data: expected map, got &{text}'],
    [{ data: { k: 5 } }, '.data.k: expected string, got &value.valueUnstructured{Value:5}'],
    [{ data: { k: { deep: 'x' } } }, '.data.k: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"deep":"x"}}'],
    [{ names: ['a', 'a'] }, '.names: duplicate entries for key [="a"]'],
    [{ ports: [{ port: 53 }, { port: 53, protocol: 'TCP' }] }, '.ports: duplicate entries for key [port=53,protocol="TCP"]'],
    [{ data: { a: 1, b: true } }, 'errors:\n  .data.a: expected string, got &value.valueUnstructured{Value:1}\n'
      + '  .data.b: expected string, got &value.valueUnstructured{Value:true}'],
  ];
  for (const [value, expected] of problems) assert.equal(typedProblem(kind, value), expected);
});

test('typedProblem takes texts of a format for any scalar, and bytes for texts', () => {
  const [day, raw] = [field('day', { type: 'string', format: 'date' }), field('raw', { type: 'string', format: 'byte' })];
  const dated: Schema = { type: 'object', fields: new Map([day, raw]) };
  assert.equal(typedProblem(dated, { day: 5 }), undefined);
  assert.equal(typedProblem(dated, { day: ['a'] }), '.day: expected any scalar, got &{[a]}');
  assert.equal(typedProblem(dated, { raw: 5 }), '.raw: expected string, got &value.valueUnstructured{Value:5}');
});

test('keys and values of items are written as Go writes them', () => {
  const keyed: Schema = { type: 'array', listType: 'map', listMapKeys: ['name'], items: { type: 'object', fields: new Map([field('name', text)]) } };
  assert.equal(elementOfItem(keyed, { name: 'a<&>\u2028' }), 'k:{"name":"a\\u003c\\u0026\\u003e\\u2028"}');
  assert.equal(elementOfItem({ type: 'array', listType: 'set', items: text }, 'a&b'), 'v:"a\\u0026b"');
});

test('an item without its keys is reported with the keys in the order of the schema', () => {
  const items: Schema = { type: 'object', fields: new Map([field('id', text), field('name', text)]) };
  const list: Schema = { type: 'array', listType: 'map', listMapKeys: ['name', 'id'], items };
  assert.throws(() => elementOfItem(list, {}), { message: /omits all key fields \["name" "id"\]/ });
  assert.equal(elementOfItem(list, { name: 'b', id: 'a' }), 'k:{"id":"a","name":"b"}');
});
