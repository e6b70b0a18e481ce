// PodGroups and Workloads: policies, templates, and fields of features that are off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSchemas } from '../../apimachinery/index.ts';
import { contextOf, create, makeObject, prepareNew, printCell, specOfKind, update, updateStatus } from '../kinds.suite.ts';
import { STRICT_GATE, buildStrategy, isOnByDefault } from '../build-resource.ts';
import { schemaData } from '../schema/index.ts';
import { createBuiltinResources, withGates } from '../table.ts';

const GROUP = 'scheduling.k8s.io/PodGroup';
const WORKLOAD = 'scheduling.k8s.io/Workload';
const gang = { gang: { minCount: 2 } };
const template = (more: object = {}): object => ({ name: 't', schedulingPolicy: gang, ...more });

test('validateGroup wants exactly one policy', () => {
  assert.deepEqual(create(GROUP, { spec: { schedulingPolicy: gang } }), []);
  assert.deepEqual(create(GROUP, {}), ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']);
  assert.deepEqual(create(GROUP, { spec: { schedulingPolicy: { basic: {}, gang: { minCount: -1 } } } }), [
    'spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`',
    'spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1',
  ]);
  assert.deepEqual(create(GROUP, { spec: { schedulingPolicy: { gang: {} }, podGroupTemplateRef: { workload: { workloadName: 'w' } } } }), [
    'spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value', 'spec.schedulingPolicy.gang.minCount: Required value',
  ]);
});

test('validateWorkload wants templates, each with a name of its own', () => {
  assert.deepEqual(create(WORKLOAD, { spec: { podGroupTemplates: [template()], controllerRef: { kind: 'Job', name: 'j' } } }), []);
  assert.deepEqual(create(WORKLOAD, { spec: { controllerRef: { kind: 'a/b' } } }), [
    'spec.controllerRef.kind: Invalid value: "a/b": may not contain \'/\'', 'spec.controllerRef.name: Required value',
    'spec.podGroupTemplates: Required value',
  ]);
  const many = Array.from({ length: 9 }, (_, index) => template({ name: `t${index}` }));
  assert.deepEqual(create(WORKLOAD, { spec: { podGroupTemplates: many } }), ['spec.podGroupTemplates: Too many: 9: must have at most 8 items']);
  assert.deepEqual(create(WORKLOAD, { spec: { podGroupTemplates: [template(), template({ schedulingPolicy: { basic: {} } })] } }), [
    'spec.podGroupTemplates[1]: Duplicate value: {"name":"t","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}',
  ]);
});

test('checkSameWorkload and checkSameGroup permit no change', () => {
  const workload = { spec: { podGroupTemplates: [template()] } };
  assert.deepEqual(update(WORKLOAD, { spec: { podGroupTemplates: [] } }, { old: workload }), [
    'spec.podGroupTemplates: Invalid value: null: field is immutable', 'spec.podGroupTemplates: Required value',
  ]);
  const group = { spec: { schedulingPolicy: gang, disruptionMode: 'Pod' } };
  const changed = { spec: { schedulingPolicy: { basic: {} }, disruptionMode: 'PodGroup' } };
  assert.deepEqual(update(GROUP, changed, { old: group }), [
    'spec.schedulingPolicy: Invalid value: null: field is immutable', 'spec.disruptionMode: Forbidden',
  ]);
  const on = buildStrategy(specOfKind(GROUP), () => true).validateUpdate!(makeObject(changed), makeObject(group), contextOf());
  assert.deepEqual(on.map(({ message }) => message), ['Invalid value: null: field is immutable', 'Invalid value: null: field is immutable']);
});

test('dropGatedFields puts what readers find in the place of fields of features that are off', () => {
  const all = {
    schedulingPolicy: gang, schedulingConstraints: { topology: [{ key: 'k' }] }, resourceClaims: [{ name: 'a', resourceClaimName: 'b' }],
    disruptionMode: 'PodGroup', priorityClassName: 'c', priority: 3,
  };
  assert.deepEqual(prepareNew(GROUP, { spec: all })['spec'], { schedulingPolicy: gang, disruptionMode: 'Pod' });
  assert.deepEqual(prepareNew(WORKLOAD, { spec: { podGroupTemplates: [{ name: 't', ...all }] } })['spec'], {
    podGroupTemplates: [template({ schedulingConstraints: null, disruptionMode: undefined })].map((one) => JSON.parse(JSON.stringify(one))),
  });
});

test('withGates leaves the fields of features that are on, and other rows as they are', () => {
  const rows = createBuiltinResources(loadSchemas(schemaData));
  const row = (kind: string) => rows.find((one) => one.kind === kind)!;
  const isOn = (gate: string): boolean => ['GenericWorkload', 'WorkloadAwarePreemption', STRICT_GATE].includes(gate);
  assert.equal(withGates(row('ConfigMap'), isOn), row('ConfigMap'));
  assert.equal(withGates(row('Pod'), isOnByDefault), row('Pod'));
  const pod = makeObject({ spec: { schedulingGroup: { podGroupName: 'g' }, containers: [] } });
  withGates(row('Pod'), isOn).strategy.prepareForCreate?.(pod, contextOf());
  assert.deepEqual((pod['spec'] as { schedulingGroup?: unknown }).schedulingGroup, { podGroupName: 'g' });
  const group = makeObject({ spec: { schedulingPolicy: gang, priority: 3, resourceClaims: [{ name: 'a' }] } });
  withGates(row('PodGroup'), isOn).strategy.prepareForCreate?.(group, contextOf());
  assert.deepEqual(group['spec'], { schedulingPolicy: gang, priority: 3 });
});

test('checkGroup checks the fields of features that are on', () => {
  const group = (more: object): readonly string[] => {
    const { validate } = buildStrategy(specOfKind(GROUP), () => true);
    return validate!(makeObject({ spec: { schedulingPolicy: gang, ...more } }), contextOf()).map(({ field, message }) => `${field}: ${message}`);
  };
  assert.deepEqual(group({ disruptionMode: 'x', priority: 1_000_000_001, schedulingConstraints: { topology: [{}] } }), [
    'spec.schedulingConstraints.topology[0].key: Required value', 'spec.disruptionMode: Unsupported value: "x": supported values: "Pod", "PodGroup"',
    'spec.priority: Invalid value: 1000000001: must be less than or equal to 1000000000',
  ]);
  assert.deepEqual(group({ resourceClaims: [{ name: 'a', resourceClaimName: 'b' }, { name: 'a', resourceClaimTemplateName: 'b' }, {}] }), [
    'spec.resourceClaims[1]: Duplicate value: {"name":"a","resourceClaimTemplateName":"b"}',
    'spec.resourceClaims[2]: Invalid value: "": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
    'spec.resourceClaims[2].name: Required value',
  ]);
});

test('validateGroupStatus knows the claims of the spec, and the columns say how a group stands', () => {
  const group = { spec: { schedulingPolicy: gang, resourceClaims: [{ name: 'a' }] } };
  const status = { resourceClaimStatuses: [{ name: 'a' }, { name: 'b', resourceClaimName: 'X' }] };
  assert.deepEqual(updateStatus(GROUP, { ...group, status }, group).map((error) => error.replace(/: a lowercase.*/, '')), [
    'status.resourceClaimStatuses[1].name: Invalid value: "b": must match the name of an entry in `spec.resourceClaims`',
    'status.resourceClaimStatuses[1].resourceClaimName: Invalid value: "X"',
  ]);
  const stateOf = (...conditions: object[]): unknown => printCell(GROUP, 'Status', { ...group, status: { conditions } });
  const scheduled = { type: 'PodGroupScheduled', status: 'True' };
  assert.deepEqual([stateOf(), stateOf(scheduled), stateOf({ ...scheduled, status: 'False' }), stateOf(scheduled, { type: 'DisruptionTarget', reason: 'X' })],
    ['Pending', 'Scheduled', 'Unschedulable', 'X']);
  assert.deepEqual([printCell(GROUP, 'Policy', group), printCell(GROUP, 'Workload', group)], ['Gang', '<none>']);
});
