// Selectors as tables print them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printCell } from '../../kinds.suite.ts';

test('columns print selectors in the words of their kind', () => {
  const print = (kind: string, selector: unknown): unknown => printCell(kind, 'Selector', { spec: { selector } });
  const bad = { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] };
  assert.deepEqual([print('apps/ReplicaSet', bad), print('apps/ReplicaSet', {}), print('apps/ReplicaSet', undefined)], ['<error>', '<none>', '<none>']);
  assert.deepEqual([print('apps/Deployment', bad), print('apps/Deployment', {}), print('apps/Deployment', undefined)], ['<invalid>', '', '']);
  const selector = { matchLabels: { b: 'c', a: 'b' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }] };
  assert.equal(print('apps/Deployment', selector), 'a=b,b=c,k in (x,y)');
  assert.equal(printCell('admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding', 'ParamRef', { spec: { paramRef: { selector } } }),
    '&LabelSelector{MatchLabels:map[string]string{a: b,b: c,},MatchExpressions:[]LabelSelectorRequirement{'
    + 'LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}');
});
