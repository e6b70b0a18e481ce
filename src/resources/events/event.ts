// events.k8s.io/v1 Event: stored as core/v1, shown in its own form, strictly validated under the names of the core form.
import { type KubeObject, invalidValue, isZeroTime, required, validateObjectMeta, validateObjectMetaUpdate } from '../../apimachinery/index.ts';
import { convertColumns } from '../common/columns/columns.ts';
import { textFields } from '../common/selectable-fields.ts';
import { type Errors, checkImmutable } from '../common/validation/check.ts';
import { readGoStructs, shapeGoStruct } from '../common/validation/go-structs.ts';
import { toNumber, toObject, toText } from '../common/values.ts';
import { checkParts, eventColumns, involvedPaths, isTimeSet, isUnset, readEvent } from '../core/event.ts';
import type { KindSpec } from '../kind-spec.ts';
import { convertEvent } from './convert.ts';

const eventsGroupColumns = convertColumns(eventColumns, (object) => convertEvent(object, 'events.k8s.io/v1', 'v1'));

/** Field labels read the event in the form of its group, though the core group stores it. */
const eventsGroupFields = textFields(...involvedPaths.map((name) => `regarding.${name}`), 'reason', 'reportingController', 'type');

const eventNames = { subject: 'regarding', controllerName: 'reportingController', message: 'note' } as const;

function checkSeries(event: KubeObject): Errors {
  if (isUnset(event['series'])) return [];
  const series = toObject(event['series']);
  return [
    ...(toNumber(series['count'] ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(isTimeSet(series, 'lastObservedTime') ? [] : [required('series.lastObservedTime')]),
  ];
}

/** Validates new events of events.k8s.io: what all events have comes before their metadata. */
function validateNewEvent(event: KubeObject): Errors {
  const type = toText(event['type']);
  const { component, host } = toObject(event['deprecatedSource']);
  const old: readonly (readonly [string, boolean])[] = [
    ['firstTimestamp', isTimeSet(event, 'deprecatedFirstTimestamp')], ['lastTimestamp', isTimeSet(event, 'deprecatedLastTimestamp')],
    ['count', toNumber(event['deprecatedCount'] ?? 0) !== 0], ['source', !isUnset(component) || !isUnset(host)],
  ];
  return [
    ...checkParts(readEvent(event, eventNames)), ...validateObjectMeta(event.metadata, { namespaced: true, nameRule: 'dns-subdomain' }),
    ...checkSeries(event), ...(isTimeSet(event, 'eventTime') ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalidValue('type', '', `has invalid value: ${type}`)]),
    ...old.filter(([, isSet]) => isSet).map(([name]) => invalidValue(name, '', 'needs to be unset')),
  ];
}

const structs = readGoStructs(`
ObjectReference: Kind ""; Namespace ""; Name ""; UID=uid ""; APIVersion=apiVersion ""; ResourceVersion ""; FieldPath ""
EventSource: Component ""; Host ""
`);
const showReference = (value: unknown): unknown => shapeGoStruct(structs, 'ObjectReference', toObject(value));
const showSource = (value: unknown): unknown => shapeGoStruct(structs, 'EventSource', toObject(value));
const showTime = (value: unknown): unknown => value ?? null;

/** Immutable members, with the names that errors give them, and how errors show their values. */
const sealed: readonly (readonly [name: string, path: string, show: (value: unknown) => unknown])[] = [
  ['regarding', 'involvedObject', showReference], ['reason', 'reason', toText], ['note', 'message', toText],
  ['deprecatedSource', 'source', showSource], ['deprecatedFirstTimestamp', 'firstTimestamp', showTime],
  ['deprecatedLastTimestamp', 'lastTimestamp', showTime], ['deprecatedCount', 'count', (value) => toNumber(value ?? 0)],
  // The reference asks twice.
  ['reason', 'reason', toText], ['type', 'type', toText], ['eventTime', 'eventTime', showTime], ['action', 'action', toText],
  ['related', 'related', (value) => (isUnset(value) ? null : showReference(value))],
  ['reportingController', 'reportingController', toText], ['reportingInstance', 'reportingInstance', toText],
];

/** Validates updates of events of events.k8s.io: nothing but the series may change. */
function validateNewEventUpdate(event: KubeObject, old: KubeObject): Errors {
  const isSameSeries = JSON.stringify(event['series'] ?? null) === JSON.stringify(old['series'] ?? null)
    && !isZeroTime(event['series'], 'lastObservedTime');
  return [
    ...checkParts(readEvent(event, eventNames)), ...validateObjectMetaUpdate(event.metadata, old.metadata, true),
    ...(isSameSeries ? [] : checkSeries(event)),
    ...sealed.flatMap(([name, path, show]) => checkImmutable({ path, value: show(event[name]) }, { path, value: show(old[name]) })),
  ];
}

/** The spec of Event. */
export const eventsGroupEventKind: KindSpec = {
  kind: 'Event', plural: 'events', shortNames: ['ev'],
  storedAs: '/events', convert: convertEvent, ttlSeconds: 3600,
  createOnUpdate: true,
  selectableFields: eventsGroupFields,
  metadataChecks: ['kind'],
  columns: eventsGroupColumns,
  validation: { object: validateNewEvent, update: validateNewEventUpdate },
};
