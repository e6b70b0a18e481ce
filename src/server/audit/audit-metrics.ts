// The metrics of audit under upstream's names, and the log lines of backends that fail.
import type { AuditLevel } from '../../auth/index.ts';
import { type Sample, formatLabels, renderCounter } from '../metrics/metric.ts';
import { type Logger, describeError } from '../observability/logger.ts';

/** The numbers of one server. */
export interface AuditMetrics {
  /** One event for the backends. */
  recordEvent(): void;
  /** One request, by the level that the policy gives it. */
  recordLevel(level: AuditLevel): void;
  /** Events that a backend lost; logged as well. */
  recordErrors(plugin: string, count: number, error: unknown): void;
  /** A request that failed because its event could not be stored. */
  recordRejection(): void;
  /** All of them as lines. */
  render(): string[];
}

/** The counters that a server without audit shows as well. */
export const renderNoAudit = (): string[] => renderTotals(0, 0);

const renderTotals = (events: number, rejections: number): string[] => [
  ...renderCounter({
    name: 'apiserver_audit_event_total', stability: 'ALPHA', help: 'Counter of audit events generated and sent to the audit backend.',
  }, [['', events]]),
  ...renderCounter({
    name: 'apiserver_audit_requests_rejected_total', stability: 'ALPHA',
    help: 'Counter of apiserver requests rejected due to an error in audit logging backend.',
  }, [['', rejections]]),
];

/** Starts at zero. */
export function createAuditMetrics(logger: Logger): AuditMetrics {
  let [events, rejections] = [0, 0];
  const levels: Record<AuditLevel, number> = { None: 0, Metadata: 0, Request: 0, RequestResponse: 0 };
  const errors = new Map<string, number>();
  const count = (name: string, help: string, counted: readonly Sample[]): string[] => renderCounter({ name, stability: 'ALPHA', help }, counted);
  const seenLevels = (): Map<string, number> => new Map(Object.entries(levels).filter(([, seen]) => seen > 0));
  const samples = (label: string, counts: ReadonlyMap<string, number>): [string, number][] =>
    [...counts].map(([value, count]) => [formatLabels({ [label]: value }), count]);
  return {
    recordEvent() {
      events += 1;
    },
    recordLevel(level) {
      levels[level] += 1;
    },
    recordErrors(plugin, count, error) {
      errors.set(plugin, (errors.get(plugin) ?? 0) + count);
      logger.error('audit events were lost', { plugin, events: count, ...describeError(error) });
    },
    recordRejection() {
      rejections += 1;
    },
    render: () => [
      ...renderTotals(events, rejections),
      ...count('apiserver_audit_error_total', 'Counter of audit events that failed to be audited properly.', samples('plugin', errors)),
      ...count('apiserver_audit_level_total', 'Counter of policy levels for audit events (1 per request).', samples('level', seenLevels())),
    ],
  };
}
