// RuntimeClasses, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, update } from '../kinds.suite.ts';

test('validateRuntimeClass checks what it adds to pods', () => {
  assert.deepEqual(create('node.k8s.io/RuntimeClass', { overhead: { podFixed: { k: '1' } }, scheduling: { tolerations: [{}] } }), [
    'handler: Required value', 'overhead.limits[k]: Invalid value: "k": must be a standard resource type or fully qualified',
    'overhead.limits[k]: Invalid value: "k": must be a standard resource for containers',
    'scheduling.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
  ]);
});

test('validateRuntimeClass wants each toleration once, whatever its seconds', () => {
  const toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute' };
  const tolerations = [toleration, { ...toleration, tolerationSeconds: 5 }, { ...toleration, key: 'j' }];
  assert.deepEqual(create('node.k8s.io/RuntimeClass', { handler: 'h', scheduling: { tolerations } }), [
    'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Exists","Value":"","Effect":"NoExecute","TolerationSeconds":5}',
  ]);
});

test('an update of a RuntimeClass lists what is wrong with it before what may not change', () => {
  assert.deepEqual(update('node.k8s.io/RuntimeClass', { handler: '' }, { old: { handler: 'h' } }),
    ['handler: Required value', 'handler: Invalid value: "": field is immutable']);
});
