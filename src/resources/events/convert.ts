// Events in their two groups: the same stored object (core) seen as events.k8s.io, and back. Only names differ; the fields that either
// form always writes are written here too, because a converted object is encoded as it is.
import type { JsonObject, JsonValue, KubeObject } from '../../apimachinery/index.ts';
import { toObject, toText } from '../common/values.ts';

type Members = Readonly<Record<string, JsonValue | undefined>>;

/** Members of both forms under the same name that are left out when empty. */
const shared = ['series', 'related', 'type', 'action', 'reason'];

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || value === 0;
}

function unlessEmpty(members: Members): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}

function pickShared(event: KubeObject): JsonObject {
  return unlessEmpty(Object.fromEntries(shared.map((name) => [name, event[name] as JsonValue | undefined])));
}

const orNull = (value: unknown): JsonValue => (isEmpty(value as JsonValue) ? null : (value as JsonValue));

function toCore(event: KubeObject): KubeObject {
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: event.metadata,
    involvedObject: toObject(event['regarding']),
    ...pickShared(event),
    ...unlessEmpty({ message: event['note'] as JsonValue, count: event['deprecatedCount'] as JsonValue }),
    source: toObject(event['deprecatedSource']),
    firstTimestamp: orNull(event['deprecatedFirstTimestamp']),
    lastTimestamp: orNull(event['deprecatedLastTimestamp']),
    eventTime: orNull(event['eventTime']),
    reportingComponent: toText(event['reportingController']),
    reportingInstance: toText(event['reportingInstance']),
  };
}

function toEventsGroup(event: KubeObject): KubeObject {
  return {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: event.metadata,
    eventTime: orNull(event['eventTime']),
    ...pickShared(event),
    ...unlessEmpty({
      reportingController: event['reportingComponent'] as JsonValue, reportingInstance: event['reportingInstance'] as JsonValue,
      note: event['message'] as JsonValue, deprecatedCount: event['count'] as JsonValue,
    }),
    regarding: toObject(event['involvedObject']),
    deprecatedSource: toObject(event['source']),
    deprecatedFirstTimestamp: orNull(event['firstTimestamp']),
    deprecatedLastTimestamp: orNull(event['lastTimestamp']),
  };
}

/** The event in the other group; `from` and `to` are whole group versions, `v1` or `events.k8s.io/v1`. */
export function convertEvent(event: KubeObject, from: string, to: string): KubeObject {
  if (from === to) return event;
  return to === 'v1' ? toCore(event) : toEventsGroup(event);
}
