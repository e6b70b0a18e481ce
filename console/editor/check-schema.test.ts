// What a schema finds in a text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from 'yaml';
import { checkSchema } from './check-schema.ts';

test('checkSchema marks unknown and missing fields, wrong types, choices and bounds, each at its place', () => {
  const schema = {
    type: 'object', required: ['name', 'size'],
    properties: {
      name: { type: 'string', maxLength: 3 }, size: { type: 'integer', minimum: 1 }, mode: { type: 'string', enum: ['a', 'b'] },
      port: { oneOf: [{ type: 'integer' }, { type: 'string' }] },
      list: { type: 'array', items: { type: 'boolean' } }, map: { type: 'object', additionalProperties: { type: 'string' } },
    },
  };
  const find = (text: string): string[] => checkSchema(parseDocument(text), schema).map(({ message, from, to }) => `${text.slice(from, to)}: ${message}`);
  assert.deepEqual(find('name: abc\nsize: 1\nport: http\nlist: [true]\nmap: {a: b}\nmode:\n'), []);
  assert.deepEqual(find('name: long\nsize: 0\nmode: c\nport: true\nlist: {}\nmap: {a: 1}\n'), [
    'long: at most 3 characters are wanted', '0: at least 1 is wanted', 'c: one of "a", "b" is wanted', 'true: integer or string is wanted',
    '{}: list of boolean is wanted, not an object', '1: string is wanted',
  ].map((text) => (text.startsWith('{}') ? text.replace('{}', 'list') : text)));
  assert.deepEqual(find('name: a\nother: 1\nlist: [1]\n').slice(0, 2), ['other: the field other is unknown here', '1: boolean is wanted']);
  assert.match(find('name: a\n').join(), /the field size is missing/);
});
