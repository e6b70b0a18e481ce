// What becomes of audit events: a backend takes them, and wrappers around it ignore its failures, cut large events, or ask several at once.
import { type MaybePromise, mapMaybe } from '../../base/index.ts';
import type { AuditMetrics } from './audit-metrics.ts';
import type { AuditEvent } from './event.ts';

/** Takes events. */
export interface AuditBackend {
  /** Whether all events are recorded, or safely on their way; a backend reports its failures itself. */
  process(events: readonly AuditEvent[]): MaybePromise<boolean>;
  /** Writes what was taken and waits for the next answer to leave, or for the end of the turn. */
  flush?(): void;
  /** Stops pausing before further tries: the server is about to stop. */
  hurry?(): void;
  /** Resolves when everything that was taken is out. */
  stop(): Promise<void>;
}

/** Every backend gets every event. */
export function uniteBackends(backends: readonly AuditBackend[]): AuditBackend {
  const [only] = backends;
  if (only !== undefined && backends.length === 1) return only;
  return {
    process: (events) => backends.reduce<MaybePromise<boolean>>((before, backend) =>
      mapMaybe(backend.process(events), (stored) => mapMaybe(before, (others) => stored && others)), true),
    flush() {
      for (const backend of backends) backend.flush?.();
    },
    stop: async () => void await Promise.all(backends.map((backend) => backend.stop())),
  };
}

/** `blocking`: requests wait for the backend, and its failures do not concern them. */
export function ignoreFailures(backend: AuditBackend): AuditBackend {
  return {
    process: (events) => mapMaybe(backend.process(events), () => true), flush: () => backend.flush?.(), stop: () => backend.stop(),
  };
}

/** Removes the bodies of events that are too large, and discards those that still are. */
export function truncateEvents(backend: AuditBackend, maxEventBytes: number, metrics: AuditMetrics): AuditBackend {
  const fit = (event: AuditEvent): AuditEvent | undefined => {
    const { level } = event.fields;
    const hasBodies = level === 'Request' || level === 'RequestResponse';
    const cut = hasBodies && event.bytes > maxEventBytes ? event.truncate() : event;
    return cut.bytes > maxEventBytes ? undefined : cut;
  };
  return {
    process(events) {
      const fitting = events.map(fit).filter((event) => event !== undefined);
      const lost = events.length - fitting.length;
      if (lost > 0) metrics.recordErrors('truncate', lost, new Error('event is too large even after truncating'));
      return fitting.length === 0 ? true : backend.process(fitting);
    },
    flush: () => backend.flush?.(),
    stop: () => backend.stop(),
  };
}
