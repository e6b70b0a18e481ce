// Questions about whole schemas.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anywhere } from './anywhere.ts';
import type { OpenAPIV3Schema } from './structural.ts';

test('anywhere looks into properties, items and values of maps, and asks each schema with parts once', () => {
  let asked = 0;
  const isMarked = anywhere((schema) => (asked++, schema['x-marked'] === true));
  const marked = { type: 'string', 'x-marked': true } as OpenAPIV3Schema;
  const deep: OpenAPIV3Schema = { properties: { a: { items: { additionalProperties: marked } } } };
  assert.equal(isMarked(deep), true);
  assert.equal(isMarked({ properties: { a: { type: 'string' } }, items: {}, additionalProperties: true }), false);
  const before = asked;
  assert.equal(isMarked(deep), true);
  assert.equal(asked, before);
});

test('anywhere keeps no answer for a schema without parts', () => {
  let asked = 0;
  const isMarked = anywhere(() => {
    asked++;
    return false;
  });
  const leaf: OpenAPIV3Schema = { type: 'string' };
  isMarked(leaf);
  isMarked(leaf);
  assert.equal(asked, 2);
});
