// core/v1 Event: loose validation for the old form, whose name is any path segment; events.k8s.io validates the new form and shares the columns
// and checks here.
import { type FieldError, type KubeObject, checkDnsSubdomain, checkQualifiedName, invalidValue, isZeroTime, required } from '../../apimachinery/index.ts';
import type { Column, FormerVersion } from '../../registry/index.ts';
import { column, nameColumn, textColumn, wideColumn } from '../common/columns/columns.ts';
import { formatAge } from '../common/columns/duration.ts';
import { formerSchema } from '../common/former-versions.ts';
import { readAt, textFields } from '../common/selectable-fields.ts';
import { type Errors, checkText } from '../common/validation/check.ts';
import { readPath, toNumber, toObject, toText } from '../common/values.ts';
import { convertEvent } from '../events/convert.ts';
import type { KindSpec } from '../kind-spec.ts';

/** The first time of an event: firstTimestamp (seconds) or eventTime (microseconds). */
function formatFirstSeen(object: KubeObject, nowMs: number): string {
  return formatAge(toText(object['firstTimestamp']) || toText(object['eventTime']), nowMs);
}

function formatLastSeen(object: KubeObject, nowMs: number): string {
  const series = object['series'];
  if (series !== undefined && series !== null) return formatAge(readPath(series, 'lastObservedTime'), nowMs);
  const last = toText(object['lastTimestamp']);
  return last === '' ? formatFirstSeen(object, nowMs) : formatAge(last, nowMs);
}

function countEvents(object: KubeObject): number {
  const series = object['series'];
  if (series !== undefined && series !== null) return toNumber(readPath(series, 'count'));
  return toNumber(object['count']) || 1;
}

function formatEventObject(object: KubeObject): string {
  const kind = toText(readPath(object, 'involvedObject', 'kind')).toLowerCase();
  const name = toText(readPath(object, 'involvedObject', 'name'));
  return name === '' ? kind : `${kind}/${name}`;
}

function formatEventSource(object: KubeObject): string {
  const component = toText(readPath(object, 'source', 'component')) || toText(object['reportingComponent']);
  const instance = toText(readPath(object, 'source', 'host')) || toText(object['reportingInstance']);
  return instance === '' ? component : `${component}, ${instance}`;
}

/** Columns of core events. */
export const eventColumns: readonly Column[] = [
  column('Last Seen', formatLastSeen),
  textColumn('Type', 'type'),
  textColumn('Reason', 'reason'),
  column('Object', formatEventObject),
  wideColumn('Subobject', (object) => toText(readPath(object, 'involvedObject', 'fieldPath'))),
  wideColumn('Source', formatEventSource),
  column('Message', (object) => toText(object['message']).trim()),
  wideColumn('First Seen', formatFirstSeen),
  wideColumn('Count', countEvents),
  { ...nameColumn, priority: 1 },
];

/** Members of the object reference of an event that field selectors can name. */
export const involvedPaths = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** The source: source.component, or reportingComponent when it is empty. */
const eventSource = readAt(['source.component', 'reportingComponent'],
  (object) => toText(readPath(object, 'source', 'component')) || toText(readPath(object, 'reportingComponent')));

/** Fields of events as v1 spells them. */
const coreEventFields = {
  ...textFields(...involvedPaths.map((name) => `involvedObject.${name}`), 'reason', 'reportingComponent', 'type'),
  source: eventSource,
};

const limits = { reportingInstance: 128, action: 128, reason: 128, message: 1024 };

/** Whether a time or text is absent or empty. */
export const isUnset = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Whether an event or its series states a time: the zero time is one, though the stored object does not have it. */
export const isTimeSet = (object: Readonly<Record<string, unknown>>, field: string): boolean => !isUnset(object[field]) || isZeroTime(object, field);

/** The parts of an event that both forms have. */
export interface EventParts {
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

/** Validates the namespace of the involved object, and the members that events with an eventTime require. */
export function checkParts(parts: EventParts): Errors {
  const { namespace, isTimed } = parts;
  const where = toText(parts.subject['namespace']);
  const homes = isTimed ? ['default', 'kube-system'] : ['', 'default'];
  const isAway = where === '' ? !homes.includes(namespace) : !isTimed && where !== namespace;
  return [
    ...(isAway ? [invalidValue('involvedObject.namespace', where, 'does not match event.namespace')] : []), ...(isTimed ? checkTimed(parts) : []),
    ...checkText({ path: 'namespace', value: namespace }, checkDnsSubdomain),
  ];
}

/** Names of members that the two groups spell differently. */
interface EventNames {
  readonly subject: string;
  readonly controllerName: string;
  readonly message: string;
}

/** The parts of an event of either group. */
export function readEvent(event: KubeObject, { subject, controllerName, message }: EventNames): EventParts {
  const text = (name: string): string => toText(event[name]);
  return {
    namespace: event.metadata.namespace ?? '', subject: toObject(event[subject]), controllerName,
    texts: {
      controller: text(controllerName), reportingInstance: text('reportingInstance'), action: text('action'), reason: text('reason'), message: text(message),
    },
    isTimed: isTimeSet(event, 'eventTime'),
  };
}

/** Validates core events. */
function validateEvent(event: KubeObject): Errors {
  return checkParts(readEvent(event, { subject: 'involvedObject', controllerName: 'reportingComponent', message: 'message' }));
}

const formerEvent: FormerVersion = {
  schema: formerSchema('events.v1.Event'), convert: (event) => convertEvent(event, 'events.k8s.io/v1', 'v1'),
};

/** Events that are stored in their other group. */
const formerEvents = { 'events.k8s.io/v1': formerEvent, 'events.k8s.io/v1beta1': formerEvent };

/** The spec of Event. */
export const eventKind: KindSpec = {
  kind: 'Event', plural: 'events', shortNames: ['ev'],
  formerVersions: formerEvents,
  nameRule: 'path-segment', ttlSeconds: 3600,
  createOnUpdate: true,
  selectableFields: coreEventFields,
  metadataChecks: ['kind'],
  columns: eventColumns,
  validation: { object: validateEvent },
};
