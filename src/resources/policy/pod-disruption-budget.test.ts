// PodDisruptionBudgets, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, update } from '../kinds.suite.ts';

const at = (seconds: number): string => `2024-01-01T00:00:0${seconds}Z`;

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['policy/PodDisruptionBudget', { spec: { minAvailable: '120%' } }, ['spec.minAvailable: Invalid value: "120%": must not be greater than 100%']],
  ['policy/PodDisruptionBudget', { spec: { minAvailable: -1, maxUnavailable: '120%', unhealthyPodEvictionPolicy: 'x' } }, [
    'spec: Invalid value: {"MinAvailable":-1,"Selector":null,"MaxUnavailable":"120%","UnhealthyPodEvictionPolicy":"x"}: '
      + 'minAvailable and maxUnavailable cannot be both set',
    'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0',
    'spec.maxUnavailable: Invalid value: "120%": must not be greater than 100%',
    'spec.unhealthyPodEvictionPolicy: Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"',
  ]],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('validateDisruptionBudgetStatus counts from zero', () => {
  const status = { currentHealthy: -1, conditions: [{ type: 'A', status: 'True', lastTransitionTime: at(0), reason: 'R' }, { type: 'A', status: 'Yes' }] };
  assert.deepEqual(update('policy/PodDisruptionBudget', { status }, { subresource: 'status' }), [
    'status.conditions[1].type: Duplicate value: "A"',
    'status.conditions[1].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
    'status.conditions[1].lastTransitionTime: Required value', 'status.conditions[1].reason: Required value',
    'status.currentHealthy: Invalid value: -1: must be greater than or equal to 0',
  ]);
});
