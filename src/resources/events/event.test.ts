// The selectable fields of events, in both groups.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { specOfKind } from '../kinds.suite.ts';
import { convertEvent } from './convert.ts';

const coreEventFields = specOfKind('/Event').selectableFields ?? {};
const eventsGroupFields = specOfKind('events.k8s.io/Event').selectableFields ?? {};

test('eventsGroupFields read an event as its group shows it', () => {
  const stored = {
    kind: 'Event', apiVersion: 'v1', metadata: { name: 'e' }, involvedObject: { kind: 'Pod', name: 'p' }, reason: 'Because', type: 'Warning',
    reportingComponent: 'example.com/tester',
  } as unknown as KubeObject;
  const shown = convertEvent(stored, 'v1', 'events.k8s.io/v1');
  const read = (label: string): string | undefined => eventsGroupFields[label]?.(shown);
  assert.deepEqual([read('regarding.name'), read('regarding.uid'), read('reportingController'), read('type')], ['p', '', 'example.com/tester', 'Warning']);
  assert.equal((coreEventFields as Record<string, (event: KubeObject) => string>)['involvedObject.name']?.(stored), 'p');
});
