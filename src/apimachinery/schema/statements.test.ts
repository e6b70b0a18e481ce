// Questions about whole schemas.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statesEmbedded, statesListTypes, statesRules } from './statements.ts';
import type { OpenAPIV3Schema } from './structural.ts';

const answers = (schema: OpenAPIV3Schema): boolean[] => [statesRules(schema), statesListTypes(schema), statesEmbedded(schema)];

test('what a schema states is found in properties, items and values of maps', () => {
  const rule: OpenAPIV3Schema = { type: 'string', 'x-kubernetes-validations': [{ rule: 'true' }] };
  assert.deepEqual(answers(rule), [true, false, false]);
  assert.deepEqual(answers({ properties: { a: { type: 'string' }, b: { items: { additionalProperties: rule } } } }), [true, false, false]);
  assert.deepEqual(answers({ type: 'array', 'x-kubernetes-list-type': 'set', items: { 'x-kubernetes-embedded-resource': true } }), [false, true, true]);
  assert.deepEqual(answers({ items: { type: 'array', 'x-kubernetes-list-type': 'map' } }), [false, true, false]);
  const nothing: OpenAPIV3Schema = { properties: { a: { 'x-kubernetes-validations': [] } }, items: { 'x-kubernetes-list-type': 'atomic' },
    additionalProperties: true };
  assert.deepEqual(answers(nothing), [false, false, false]);
});

test('all questions about a schema are answered by one walk', () => {
  let looks = 0;
  const schema: OpenAPIV3Schema = { get properties() {
    looks++;
    return { get a() {
      looks++;
      return {};
    } };
  } };
  answers(schema);
  // Each question looks whether there are parts; the parts themselves are looked at by the first.
  assert.equal(looks, 4);
});
