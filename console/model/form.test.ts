// Which fields forms show, and what new ones begin with.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginValue, findEntry, isShownAtFirst, listFields, readText } from './index.ts';

test('findEntry and beginValue know each sort of value', () => {
  const port = { oneOf: [{ type: 'integer' }, { type: 'string' }] };
  const list = { type: 'array', minItems: 1, items: { type: 'boolean' } };
  const schemas = [{ type: 'object', properties: {} }, { type: 'object', additionalProperties: { type: 'string' } }, list, { type: 'string', enum: ['b', 'a'] },
    { type: 'integer', minimum: 2 }, port, {}];
  assert.deepEqual(schemas.map(findEntry), ['object', 'map', 'list', 'choice', 'number', 'text', 'any']);
  assert.deepEqual(schemas.map(beginValue), [{}, {}, [true], 'b', 2, '', {}]);
  assert.deepEqual([readText(port, '80'), readText(port, 'http'), readText({ type: 'string' }, '80')], [80, 'http', '80']);
});

test('listFields has required fields first, and none that the server writes', () => {
  const schema = { required: ['size'], properties: { apiVersion: {}, mode: {}, spec: {}, size: {}, metadata: {}, status: {} } };
  assert.deepEqual(listFields(schema, []).map(([name]) => name), ['size', 'spec', 'metadata', 'mode']);
  assert.deepEqual(listFields({ properties: { uid: {}, name: {} } }, ['metadata']).map(([name]) => name), ['name']);
  assert.deepEqual(['size', 'spec', 'mode'].map((name) => isShownAtFirst(schema, name, [])), [true, true, false]);
});
