// Validation of events: loose for the core form, strict for those that are written as events.k8s.io, in the names of the core form.
import { type FieldError, type KubeObject, checkDnsSubdomain, checkQualifiedName, invalidValue, required } from '../../apimachinery/index.ts';
import { toNumber, toObject, toText } from '../columns/common.ts';
import { type Errors, checkImmutable, checkText } from './check.ts';

const limits = { reportingInstance: 128, action: 128, reason: 128, message: 1024 };
const isUnset = (value: unknown): boolean => value === undefined || value === null || value === '';

/** An event under the names that both forms share. */
interface EventParts {
  readonly namespace: string;
  readonly subject: Readonly<Record<string, unknown>>;
  readonly controllerName: string;
  readonly texts: Readonly<Record<'controller' | 'reportingInstance' | 'action' | 'reason' | 'message', string>>;
  readonly isTimed: boolean;
}

function checkTimed({ texts, controllerName }: EventParts): Errors {
  const errors: FieldError[] = [];
  if (texts.controller === '') errors.push(required(controllerName));
  errors.push(...checkText({ path: controllerName, value: texts.controller }, checkQualifiedName));
  for (const name of ['reportingInstance', 'action', 'reason', 'message'] as const) {
    if (texts[name] === '' && name !== 'message') errors.push(required(name));
    if (texts[name].length > limits[name]) errors.push(invalidValue(name, '', `can have at most ${limits[name]} characters`));
  }
  return errors;
}

function checkParts(parts: EventParts): Errors {
  const { namespace, isTimed } = parts;
  const where = toText(parts.subject['namespace']);
  const homes = isTimed ? ['default', 'kube-system'] : ['', 'default'];
  const isAway = where === '' ? !homes.includes(namespace) : !isTimed && where !== namespace;
  return [
    ...(isAway ? [invalidValue('involvedObject.namespace', where, 'does not match event.namespace')] : []), ...(isTimed ? checkTimed(parts) : []),
    ...checkText({ path: 'namespace', value: namespace }, checkDnsSubdomain),
  ];
}

function readCore(event: KubeObject): EventParts {
  const text = (name: string): string => toText(event[name]);
  return {
    namespace: event.metadata.namespace ?? '', subject: toObject(event['involvedObject']), controllerName: 'reportingComponent',
    texts: {
      controller: text('reportingComponent'), reportingInstance: text('reportingInstance'), action: text('action'), reason: text('reason'),
      message: text('message'),
    },
    isTimed: !isUnset(event['eventTime']),
  };
}

function readNew(event: KubeObject): EventParts {
  const text = (name: string): string => toText(event[name]);
  return {
    namespace: event.metadata.namespace ?? '', subject: toObject(event['regarding']), controllerName: 'reportingController',
    texts: {
      controller: text('reportingController'), reportingInstance: text('reportingInstance'), action: text('action'), reason: text('reason'),
      message: text('note'),
    },
    isTimed: !isUnset(event['eventTime']),
  };
}

/** Validates core events. */
export function validateEvent(event: KubeObject): Errors {
  return checkParts(readCore(event));
}

function checkSeries(event: KubeObject): Errors {
  if (isUnset(event['series'])) return [];
  const { count, lastObservedTime } = toObject(event['series']);
  return [
    ...(toNumber(count ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(isUnset(lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
}

/** Validates new events of events.k8s.io. */
export function validateNewEvent(event: KubeObject): Errors {
  const type = toText(event['type']);
  const { component, host } = toObject(event['deprecatedSource']);
  const old: readonly (readonly [string, boolean])[] = [
    ['firstTimestamp', !isUnset(event['deprecatedFirstTimestamp'])], ['lastTimestamp', !isUnset(event['deprecatedLastTimestamp'])],
    ['count', toNumber(event['deprecatedCount'] ?? 0) !== 0], ['source', !isUnset(component) || !isUnset(host)],
  ];
  return [
    ...checkParts(readNew(event)), ...checkSeries(event), ...(isUnset(event['eventTime']) ? [required('eventTime')] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalidValue('type', '', `has invalid value: ${type}`)]),
    ...old.filter(([, isSet]) => isSet).map(([name]) => invalidValue(name, '', 'needs to be unset')),
  ];
}

/** Members that no update changes, with the names that errors give them. */
const sealed: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'], ['reason', 'reason'], ['note', 'message'], ['deprecatedSource', 'source'], ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'], ['deprecatedCount', 'count'], ['type', 'type'], ['eventTime', 'eventTime'], ['action', 'action'],
  ['related', 'related'], ['reportingController', 'reportingController'], ['reportingInstance', 'reportingInstance'],
];

/** Validates updates of events of events.k8s.io: only the series goes on. */
export function validateNewEventUpdate(event: KubeObject, old: KubeObject): Errors {
  const isSameSeries = JSON.stringify(event['series'] ?? null) === JSON.stringify(old['series'] ?? null);
  return [
    ...checkParts(readNew(event)), ...(isSameSeries ? [] : checkSeries(event)),
    ...sealed.flatMap(([name, path]) => checkImmutable({ path, value: event[name] }, { path, value: old[name] })),
  ];
}
