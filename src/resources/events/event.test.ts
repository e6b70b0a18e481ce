// The selectable fields of events, in both groups, and the times of those of the newer one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FieldError, type KubeObject, decodeObject, loadSchemas } from '../../apimachinery/index.ts';
import { specOfKind } from '../kinds.suite.ts';
import { schemaData } from '../schema/index.ts';
import { createBuiltinResources } from '../table.ts';
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

test('validateNewEvent takes the zero time for a time, as the reference does', () => {
  const event = {
    reportingController: 'example.com/tester', reportingInstance: 'i', action: 'Acting', reason: 'Because', type: 'Normal', regarding: { namespace: 'n' },
    eventTime: '0001-01-01T00:00:00.000000Z',
  };
  const row = createBuiltinResources(loadSchemas(schemaData)).find(({ group, kind }) => group === 'events.k8s.io' && kind === 'Event')!;
  const { validation } = specOfKind('events.k8s.io/Event');
  const decode = (body: object): KubeObject => {
    const { object } = decodeObject(row.versions[0]!.schema, { ...event, ...body });
    return { ...object, metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1' } } as unknown as KubeObject;
  };
  const show = (errors: Iterable<FieldError>): readonly string[] => [...errors].map(({ field, message }) => `${field}: ${message}`);
  const problemsOf = (more: object): readonly string[] => show(validation!.object(decode(more)));
  const changeProblems = (more: object, old: object): readonly string[] =>
    show(validation!.update!(decode(more), decode(old), { nowMs: 0, isGateOn: () => true }));
  assert.deepEqual(problemsOf({}), []);
  assert.deepEqual(problemsOf({ eventTime: null }), ['eventTime: Required value']);
  const ZERO = '0001-01-01T00:00:00Z';
  assert.deepEqual(problemsOf({ deprecatedFirstTimestamp: ZERO, deprecatedLastTimestamp: ZERO }),
    ['firstTimestamp: Invalid value: "": needs to be unset', 'lastTimestamp: Invalid value: "": needs to be unset']);
  const series = { count: 1, lastObservedTime: '0001-01-01T00:00:00.000000Z' };
  assert.deepEqual(problemsOf({ series }), ['series.count: Invalid value: "": should be at least 2']);
  const stored = { series: { ...series, lastObservedTime: null } };
  assert.deepEqual(changeProblems(stored, stored), []);
  assert.deepEqual(changeProblems({ series }, stored), ['series.count: Invalid value: "": should be at least 2']);
});
