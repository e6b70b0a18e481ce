// Schemas of definitions as pages show them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Schema, describeBounds, describeType, listRules, sampleOf } from './schema.ts';

const schema: Schema = {
  type: 'object', required: ['spec'],
  properties: {
    metadata: { type: 'object' }, status: { type: 'object' },
    spec: {
      type: 'object', required: ['size'], 'x-kubernetes-validations': [{ rule: 'self.size < 9', message: 'too large' }],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 10 }, mode: { type: 'string', enum: ['slow', 'fast'] }, port: { 'x-kubernetes-int-or-string': true },
        tags: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: "self != ''" }] }, default: ['a'] },
        limits: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
};

test('sampleOf fills the spec with defaults, first choices and least values', () => {
  assert.deepEqual(sampleOf(schema), { spec: { size: 1, mode: 'slow', port: 0, tags: ['a'], limits: {} } });
  const endless: { type: string; properties?: Record<string, Schema>; required: string[] } = { type: 'object', required: ['next'] };
  endless.properties = { next: endless };
  assert.ok(JSON.stringify(sampleOf(endless)).length < 1000);
  assert.deepEqual(listRules(endless), []);
});

test('listRules names each rule with its place', () => {
  assert.deepEqual(listRules(schema), [
    { path: 'self.spec', rule: 'self.size < 9', message: 'too large' }, { path: 'self.spec.tags[]', rule: "self != ''", message: '' },
  ]);
});

test('describeType and describeBounds say what a field takes', () => {
  const { size, mode, port, tags, limits } = schema.properties?.['spec']?.properties as Record<string, Schema>;
  assert.deepEqual([size, mode, port, tags, limits].map((one) => describeType(one as Schema)),
    ['integer', 'string', 'integer or string', 'list of string', 'map of string']);
  assert.deepEqual(describeBounds(size as Schema), ['at least 1', 'at most 10']);
  assert.deepEqual(describeBounds({ ...mode, default: 'slow', nullable: true }), ['one of "slow", "fast"', 'default "slow"', 'may be null']);
});
