// Kinds of flow control, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '../kinds.suite.ts';

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['flowcontrol.apiserver.k8s.io/FlowSchema', { spec: { priorityLevelConfiguration: { name: 'x' }, rules: [{ subjects: [{ kind: 'User' }] }] } }, [
    "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
    'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
  ]],
  ['flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration',
    { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: { queues: 4 } } } } },
    ['spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)']],
  ['flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration', { spec: {} }, ['spec.type: Required value']],
  ['flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration', { spec: { type: 'Odd' } },
    ['spec.type: Unsupported value: "Odd": supported values: "Exempt", "Limited"']],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}
