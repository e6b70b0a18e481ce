// The condition NonStructuralSchema: what it says of definitions that this API would refuse, and that it is taken away when they are mended.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { checkStructure } from './structure-condition.ts';

const NOW = '2026-01-02T03:04:05Z';

function define(schema: object, more: object, status: object = {}): KubeObject {
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'things.example.com' }, status,
    spec: { group: 'example.com', names: { plural: 'things', kind: 'Thing' }, scope: 'Cluster', ...more,
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }] } } as unknown as KubeObject;
}

const messageOf = (definition: KubeObject): string | undefined => checkStructure(definition, NOW)?.conditions?.[0]?.message;

test('checkStructure names fields that are preserved before violations of schemas, all of them', () => {
  const preserving = 'spec.preserveUnknownFields: Invalid value: true: must be false';
  assert.equal(messageOf(define({ type: 'object' }, { preserveUnknownFields: true })), preserving);
  const conditions = checkStructure(define({ type: 'object' }, { preserveUnknownFields: true }), NOW)?.conditions;
  assert.deepEqual(conditions?.map(({ type, status }) => [type, status]), [['NonStructuralSchema', 'True']]);
  const at = 'spec.versions[0].schema.openAPIV3Schema';
  const untyped = `${at}.properties[a].type: Required value: must not be empty for specified object fields`;
  assert.equal(messageOf(define({ type: 'object', properties: { a: {} } }, { preserveUnknownFields: true })), `[${preserving}, ${untyped}]`);
  const names = Array.from({ length: 30 }, (_, i) => `p${i}`);
  const many = messageOf(define({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) }, {})) ?? '';
  assert.deepEqual(names.filter((name) => !many.includes(`properties[${name}]`)), []);
});

test('checkStructure takes the condition away once nothing is wrong', () => {
  const status = { conditions: [{ type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message: 'x', lastTransitionTime: NOW }] };
  assert.deepEqual(checkStructure(define({ type: 'object' }, {}, status), NOW)?.conditions, []);
  assert.equal(checkStructure(define({ type: 'object' }, {}), NOW), undefined);
});
