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

test('fixed specs that differ are shown as the reference keeps them', () => {
  const level = { type: 'Limited', limited: { nominalConcurrencyShares: 42, limitResponse: { type: 'Reject' } } };
  assert.deepEqual(create(`flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration`, { metadata: { name: 'catch-all' }, spec: level }), [
    'spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":42,"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,'
      + '"BorrowingLimitPercent":null},"Exempt":null}: spec of \'catch-all\' must equal the fixed value',
  ]);
  const rules = [{ subjects: [{ kind: 'User', user: { name: 'u' } }], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }];
  const schema = { priorityLevelConfiguration: { name: 'catch-all' }, matchingPrecedence: 2, rules };
  assert.deepEqual(create(`flowcontrol.apiserver.k8s.io/FlowSchema`, { metadata: { name: 'catch-all' }, spec: schema }), [
    'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"catch-all"},"MatchingPrecedence":2,"DistinguisherMethod":null,"Rules":[{"Subjects":'
      + '[{"Kind":"User","User":{"Name":"u"},"Group":null,"ServiceAccount":null}],"ResourceRules":null,"NonResourceRules":[{"Verbs":["*"],'
      + '"NonResourceURLs":["*"]}]}]}: spec of \'catch-all\' must equal the fixed value',
  ]);
});

test('validatePriorityLevel refuses the annotation of a conversion', () => {
  const key = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
  const spec = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } };
  assert.deepEqual(create(`flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration`, { metadata: { name: 'a', annotations: { [key]: '' } }, spec }),
    [`metadata.annotations: Forbidden: annotation '${key}' is forbidden`]);
});
