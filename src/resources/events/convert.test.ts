// Events of both groups: one object, two shapes.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { convertEvent } from './convert.ts';

const coreEvent: KubeObject = {
  kind: 'Event', apiVersion: 'v1', metadata: { name: 'e1', namespace: 'n' }, involvedObject: { kind: 'Pod', namespace: 'n', name: 'p', apiVersion: 'v1' },
  reason: 'Because', message: 'text', source: { component: 'tester', host: 'h' }, firstTimestamp: '2030-01-01T00:00:00Z',
  lastTimestamp: '2030-01-01T00:01:00Z', count: 3, type: 'Normal', eventTime: null, reportingComponent: '', reportingInstance: '',
};
const groupEvent: KubeObject = {
  kind: 'Event', apiVersion: 'events.k8s.io/v1', metadata: { name: 'e1', namespace: 'n' }, eventTime: null, reason: 'Because',
  regarding: { kind: 'Pod', namespace: 'n', name: 'p', apiVersion: 'v1' }, note: 'text', type: 'Normal', deprecatedSource: { component: 'tester', host: 'h' },
  deprecatedFirstTimestamp: '2030-01-01T00:00:00Z', deprecatedLastTimestamp: '2030-01-01T00:01:00Z', deprecatedCount: 3,
};

test('convertEvent shows a core event in the events group as the reference does, and back', () => {
  assert.deepEqual(convertEvent(coreEvent, 'v1', 'events.k8s.io/v1'), groupEvent);
  assert.deepEqual(convertEvent(groupEvent, 'events.k8s.io/v1', 'v1'), coreEvent);
});

test('convertEvent writes the fields that each form always has', () => {
  const bare: KubeObject = { kind: 'Event', apiVersion: 'events.k8s.io/v1', metadata: { name: 'e' } };
  assert.deepEqual(convertEvent(bare, 'events.k8s.io/v1', 'v1'), {
    kind: 'Event', apiVersion: 'v1', metadata: { name: 'e' }, involvedObject: {}, source: {}, firstTimestamp: null, lastTimestamp: null, eventTime: null,
    reportingComponent: '', reportingInstance: '',
  });
});
