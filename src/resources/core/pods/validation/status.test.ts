// The status path of pods, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../apimachinery/index.ts';
import { strategyOf } from '../../../kinds.suite.ts';
import { validatePodStatus } from './status.ts';

const claims = [{ name: 'x', request: 'q' }];
const spec = { resourceClaims: [{ name: 'x' }], containers: [{ name: 'c', resources: { claims } }] };
const make = (status: object): KubeObject => ({ metadata: { name: 'a' }, spec: structuredClone(spec), status: structuredClone(status) } as KubeObject);

const check = (status: object, old: object = {}): readonly string[] =>
  [...validatePodStatus(make(status), make(old))].map(({ field, message }) => `${field}: ${message}`);

test('validatePodStatus wants one address for a family, and the first host', () => {
  assert.deepEqual(check({ hostIP: '10.1.1.1', hostIPs: [{ ip: '-x' }, { ip: '2001:db8::1' }] }), [
    'status.hostIPs[0].ip: Invalid value: "-x": must be equal to `hostIP`',
    'status.hostIPs[0]: Invalid value: "-x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'status.hostIPs: Internal error: failed to check for dual stack with error:invalid IP[0]: -x',
    'status.hostIPs: Invalid value: [{"IP":"-x"},{"IP":"2001:db8::1"}]: may specify no more than one IP for each IP family',
  ]);
  assert.deepEqual(check({ podIPs: [{ ip: '10.1.1.1' }, { ip: '10.1.1.2' }] }), [
    'status.podIPs: Invalid value: [{"IP":"10.1.1.1"},{"IP":"10.1.1.2"}]: may specify no more than one IP for each IP family',
  ]);
  assert.deepEqual(check({ podIPs: [{ ip: 'old' }] }, { podIPs: [{ ip: 'old' }] }), []);
});

test('validatePodStatus compares resources with those that containers have', () => {
  const allocatedResourcesStatus = [
    { name: 'claim:x/q', resources: [{ resourceID: 'a', health: 'Healthy' }, { resourceID: 'a', health: 'Odd' }] }, { name: 'claim:x' }, { name: 'cpu' },
  ];
  const path = 'status.containerStatuses[0].allocatedResourcesStatus';
  assert.deepEqual(check({ containerStatuses: [{ name: 'c', user: { linux: { uid: -1 } }, allocatedResourcesStatus }], resourceClaimStatuses: [{ name: 'y' }] }), [
    'status.resourceClaimStatuses[0].name: Invalid value: "y": must match the name of an entry in `spec.resourceClaims`',
    'status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    `${path}[0].resources[1].health: Unsupported value: "Odd": supported values: "Healthy", "Unhealthy", "Unknown"`,
    `${path}[0].resources[1].resourceID: Duplicate value: "a"`,
    `${path}[1].name: Invalid value: "claim:x": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' `
      + "or 'claim:<claimName>' if request is empty",
    `${path}[2].name: Invalid value: "cpu": must match one of the container's resource requests`,
  ]);
});

test('validatePodStatus seals the class, and counts from zero', () => {
  const status = { qosClass: 'Burstable', observedGeneration: -1, conditions: [{ type: 'Ready', observedGeneration: -1 }] };
  assert.deepEqual(check(status, { qosClass: 'BestEffort' }), [
    'status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer',
    'status.observedGeneration: Invalid value: -1: must be a non-negative integer',
    'status.qosClass: Invalid value: "Burstable": field is immutable',
  ]);
});

test('podStrategy keeps what an older kubelet leaves out', () => {
  const conditions = (...generations: (number | undefined)[]): object[] =>
    generations.map((observedGeneration) => ({ type: 'Ready', ...(observedGeneration !== undefined && { observedGeneration }) }));
  const old = make({ qosClass: 'BestEffort', observedGeneration: 2, conditions: conditions(3, 4) });
  const pod = make({ conditions: conditions(undefined, 9) });
  strategyOf('/Pod').prepareForUpdate?.(pod, old, { nowMs: 0, namespace: 'n', user: { name: 'alice', groups: [] }, version: 'v1', subresource: 'status' });
  assert.deepEqual(pod['status'], { qosClass: 'BestEffort', observedGeneration: 2, conditions: conditions(3, 9) });
});

test('podStrategy takes the older field for the address when both are there', () => {
  const readStatus = (status: object): unknown => {
    const pod = make(status);
    strategyOf('/Pod').applyDefaults?.(pod, 'v1');
    return pod['status'];
  };
  assert.deepEqual(readStatus({ podIP: '10.1.1.1', podIPs: [{ ip: '10.1.1.2' }, { ip: '2001:db8::1' }] }), { podIP: '10.1.1.1', podIPs: [{ ip: '10.1.1.1' }] });
  assert.deepEqual(readStatus({ podIPs: [{ ip: '10.1.1.2' }] }), { podIP: '10.1.1.2', podIPs: [{ ip: '10.1.1.2' }] });
});
