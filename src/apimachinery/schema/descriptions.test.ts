// Descriptions: the notation, and where OpenAPI puts them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSchemas } from './load.ts';
import { toOpenAPIv2, toOpenAPIv3 } from './openapi.ts';
import { parseDescriptions } from './descriptions.ts';

const data = 'package example.v1\nOuter: inner 1 Inner; text 2 string\nInner: count 1 int32';
const texts = '*:\n  kind: The kind.\npackage example.v1\nOuter: An outer thing.\n  inner: What it holds: one.\n  text: A text.\n\npackage example.v2\nOther:\n  a: b';

test('descriptions are read by the names of definitions and fields', () => {
  const found = parseDescriptions([texts]);
  assert.deepEqual([...found.keys()], ['*', 'example.v1.Outer', 'example.v2.Other']);
  assert.equal(found.get('example.v1.Outer')?.text, 'An outer thing.');
  assert.deepEqual([...found.get('example.v1.Outer')?.fields ?? []], [['kind', 'The kind.'], ['inner', 'What it holds: one.'], ['text', 'A text.']]);
});

test('OpenAPI has the descriptions of definitions and fields, and none where nothing is said', () => {
  const schemas = loadSchemas([data], [texts]);
  const [outer, inner] = ['example.v1.Outer', 'example.v1.Inner'].map((name) => schemas.definition(name));
  assert.ok(outer && inner);
  const v3 = toOpenAPIv3(outer, { description: schemas.describe('example.v1.Outer') });
  assert.equal(v3['description'], 'An outer thing.');
  const descriptionOf = (written: Record<string, unknown>, field: string): unknown =>
    (written['properties'] as Record<string, Record<string, unknown>>)[field]?.['description'];
  assert.deepEqual(['inner', 'text'].map((field) => descriptionOf(v3, field)), ['What it holds: one.', 'A text.']);
  const v2 = toOpenAPIv2(outer, { description: schemas.describe('example.v1.Outer') });
  assert.equal(descriptionOf(v2, 'inner'), 'What it holds: one.');
  assert.equal(schemas.describe('example.v1.Inner')?.fields.get('kind'), 'The kind.');
  assert.doesNotMatch(JSON.stringify(toOpenAPIv3(inner, {})), /description/);
});
