// Nodes, in the words of the reference: annotations that hold JSON, swap, and ranges of pods.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, update } from '../../kinds.suite.ts';

const AVOIDED = 'scheduler.alpha.kubernetes.io/preferAvoidPods';
const TAINTS = 'scheduler.alpha.kubernetes.io/taints';
const annotated = (key: string, value: unknown): object =>
  ({ metadata: { name: 'a', annotations: { [key]: typeof value === 'string' ? value : JSON.stringify(value) } } });

test('checkNodeAnnotations wants a controller of each pod that is to keep away', () => {
  const errorsOf = (value: unknown): readonly string[] => create('/Node', annotated(AVOIDED, value));
  const path = `metadata.annotations.${AVOIDED}`;
  const entry = (controller: unknown): object => ({ podSignature: { podController: { controller } } });
  assert.deepEqual(errorsOf({ preferAvoidPods: [null, entry(true), entry(false)] }), [
    `${path}[0].PodSignature: Required value`, `${path}[2].PodSignature.PodController.Controller: Invalid value: false: must point to a controller`,
  ]);
  assert.deepEqual(errorsOf({ PREFERAVOIDPODS: [{ podsignature: { PodController: { Controller: true } } }] }), []);
  for (const value of ['', 'null', '{}']) assert.deepEqual(errorsOf(value), []);
});

test('checkNodeAnnotations reports JSON that cannot be read in the words of Go', () => {
  const avoided = (value: string): readonly string[] => create('/Node', annotated(AVOIDED, value));
  const refusal = (why: string): readonly string[] => [`metadata.annotations.AvoidPods: Invalid value: "${AVOIDED}": ${why}`];
  assert.deepEqual(avoided('x'), refusal("invalid character 'x' looking for beginning of value"));
  assert.deepEqual(avoided('[]'), refusal('json: cannot unmarshal array into Go value of type v1.AvoidPods'));
  assert.deepEqual(avoided('{"preferAvoidPods":[{"reason":1}]}'),
    refusal('json: cannot unmarshal number into Go struct field PreferAvoidPodsEntry.preferAvoidPods.reason of type string'));
  const taints = (value: string): readonly string[] => create('/Node', annotated(TAINTS, value));
  const wrong = (why: string): readonly string[] => [`metadata.annotations: Invalid value: "${TAINTS}": ${why}`];
  assert.deepEqual(taints(' '), wrong('unexpected end of JSON input'));
  assert.deepEqual(taints('{}'), wrong('json: cannot unmarshal object into Go value of type []core.Taint'));
  assert.deepEqual(taints('[{"key":1}]'), wrong('json: cannot unmarshal number into Go struct field Taint.Key of type string'));
});

test('checkNodeAnnotations validates the taints of older releases', () => {
  const taint = { Key: 'a', effect: 'NoSchedule' };
  assert.deepEqual(create('/Node', annotated(TAINTS, [taint, { ...taint, value: 'v' }, { key: 'a' }])), [
    `metadata.annotations.${TAINTS}[1]: Duplicate value: {"Key":"a","Value":"v","Effect":"NoSchedule","TimeAdded":null}: `
      + 'taints must be unique by key and effect pair',
    `metadata.annotations.${TAINTS}[2].effect: Required value`,
  ]);
});

test('validateNode wants swap space to be some, and looks at features before ranges', () => {
  const node = { spec: { podCIDRs: ['x'] }, status: { nodeInfo: { swap: { capacity: 0 } }, declaredFeatures: ['B', 'A'] } };
  assert.deepEqual(create('/Node', node), [
    'metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero',
    'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
    'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ]);
});

test('updates of nodes report each range that differs, and what the status path writes into annotations', () => {
  const node = (...podCIDRs: string[]): object => ({ spec: { podCIDRs } });
  const refusal = 'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid';
  const old = node('10.0.0.0/24', 'fd00::/64');
  assert.deepEqual(update('/Node', node('10.1.0.0/24', 'fd01::/64'), { old }), [refusal, refusal]);
  assert.deepEqual(update('/Node', node('10.1.0.0/24'), { old }), [refusal]);
  assert.equal(update('/Node', annotated(AVOIDED, 'x'), { old: {}, subresource: 'status' }).length, 1);
});
