// events.k8s.io/v1 Event: stored as core/v1, shown in its own form, strictly validated under the names of the core form.
import { type KubeObject, invalidValue, required } from '../../apimachinery/index.ts';
import { convertColumns } from '../common/columns/columns.ts';
import { textFields } from '../common/selectable-fields.ts';
import { type Errors, checkImmutable } from '../common/validation/check.ts';
import { toNumber, toObject, toText } from '../common/values.ts';
import { checkParts, eventColumns, involvedPaths, isUnset, readEvent } from '../core/event.ts';
import type { KindSpec } from '../kind-spec.ts';
import { convertEvent } from './convert.ts';

const eventsGroupColumns = convertColumns(eventColumns, (object) => convertEvent(object, 'events.k8s.io/v1', 'v1'));

/** Field labels read the event in the form of its group, though the core group stores it. */
const eventsGroupFields = textFields(...involvedPaths.map((name) => `regarding.${name}`), 'reason', 'reportingController', 'type');

const eventNames = { subject: 'regarding', controllerName: 'reportingController', message: 'note' } as const;

function checkSeries(event: KubeObject): Errors {
  if (isUnset(event['series'])) return [];
  const { count, lastObservedTime } = toObject(event['series']);
  return [
    ...(toNumber(count ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(isUnset(lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
}

/** Validates new events of events.k8s.io. */
function validateNewEvent(event: KubeObject): Errors {
  const type = toText(event['type']);
  const { component, host } = toObject(event['deprecatedSource']);
  const old: readonly (readonly [string, boolean])[] = [
    ['firstTimestamp', !isUnset(event['deprecatedFirstTimestamp'])], ['lastTimestamp', !isUnset(event['deprecatedLastTimestamp'])],
    ['count', toNumber(event['deprecatedCount'] ?? 0) !== 0], ['source', !isUnset(component) || !isUnset(host)],
  ];
  return [
    ...checkParts(readEvent(event, eventNames)), ...checkSeries(event), ...(isUnset(event['eventTime']) ? [required('eventTime')] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalidValue('type', '', `has invalid value: ${type}`)]),
    ...old.filter(([, isSet]) => isSet).map(([name]) => invalidValue(name, '', 'needs to be unset')),
  ];
}

/** Immutable members, with the names that errors give them. */
const sealed: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'], ['reason', 'reason'], ['note', 'message'], ['deprecatedSource', 'source'], ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'], ['deprecatedCount', 'count'], ['type', 'type'], ['eventTime', 'eventTime'], ['action', 'action'],
  ['related', 'related'], ['reportingController', 'reportingController'], ['reportingInstance', 'reportingInstance'],
];

/** Validates updates of events of events.k8s.io: nothing but the series may change. */
function validateNewEventUpdate(event: KubeObject, old: KubeObject): Errors {
  const isSameSeries = JSON.stringify(event['series'] ?? null) === JSON.stringify(old['series'] ?? null);
  return [
    ...checkParts(readEvent(event, eventNames)), ...(isSameSeries ? [] : checkSeries(event)),
    ...sealed.flatMap(([name, path]) => checkImmutable({ path, value: event[name] }, { path, value: old[name] })),
  ];
}

/** The spec of Event. */
export const eventsGroupEventKind: KindSpec = {
  kind: 'Event', plural: 'events', shortNames: ['ev'],
  storedAs: '/events', convert: convertEvent, ttlSeconds: 3600,
  createOnUpdate: true,
  selectableFields: eventsGroupFields,
  metadataChecks: ['update', 'kind'],
  columns: eventsGroupColumns,
  validation: { object: validateNewEvent, update: validateNewEventUpdate },
};
