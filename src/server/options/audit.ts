// Options of audit: the policy, and the two backends with how they buffer, block and truncate. Names and defaults are those of the reference.
import { type Option, checks, duration, fraction, integer, text, toggle } from './schema.ts';

const modes = ['batch', 'blocking', 'blocking-strict'];
const MODE_HELP = 'batch (buffered), blocking (requests wait) or blocking-strict (requests fail with it).';
const isVersion = checks.oneOf('audit.k8s.io/v1');
const isPositive = checks.aboveZero;

const truncateMax = (flag: string, bytes: number, what: string): Option<number> =>
  integer({ flag, default: bytes, check: isPositive, help: `Largest ${what} in bytes, with truncation.` });

/** The records of requests, and where they are written. */
export const auditOptions = {
  auditPolicyFile: text({ flag: 'audit-policy-file', help: 'Policy (audit.k8s.io/v1) that says which requests are recorded; without it none is.' }),

  auditLogPath: text({ flag: 'audit-log-path', help: 'File of the audit log; - is standard output.' }),
  auditLogFormat: text({ flag: 'audit-log-format', default: 'json', check: checks.oneOf('legacy', 'json'), help: 'json or legacy (one line of text).' }),
  auditLogVersion: text({ flag: 'audit-log-version', default: 'audit.k8s.io/v1', check: isVersion, help: 'API version of the events in the log.' }),
  auditLogMaxSize: integer({
    flag: 'audit-log-maxsize', default: 100, check: checks.notNegative, help: 'Megabytes after which the log is rotated; 0: never.',
  }),
  auditLogMaxAge: integer({
    flag: 'audit-log-maxage', default: 366, check: checks.notNegative, help: 'Days after which rotated logs are removed; 0: never.',
  }),
  auditLogMaxBackup: integer({
    flag: 'audit-log-maxbackup', default: 100, check: checks.notNegative, help: 'Rotated logs that are kept; 0: all.',
  }),
  auditLogCompress: toggle({ flag: 'audit-log-compress', default: false, help: 'Compress rotated logs with gzip.' }),
  auditLogMode: text({ flag: 'audit-log-mode', default: 'blocking', check: checks.oneOf(...modes), help: `How events get to the log: ${MODE_HELP}` }),
  auditLogBatchBufferSize: integer({
    flag: 'audit-log-batch-buffer-size', default: 10_000, check: isPositive, help: 'Events that wait at most, in batch mode; further ones are lost.',
  }),
  auditLogBatchMaxSize: integer({ flag: 'audit-log-batch-max-size', default: 1, check: isPositive, help: 'Events of one batch.' }),
  auditLogBatchMaxWaitMs: duration({
    flag: 'audit-log-batch-max-wait', default: 0, flagDefault: '0s', check: checks.notNegative, help: 'Time after which a batch is written that is not full.',
  }),
  auditLogBatchThrottleEnable: toggle({ flag: 'audit-log-batch-throttle-enable', default: false, help: 'Limit the batches per second.' }),
  auditLogBatchThrottleQps: fraction({ flag: 'audit-log-batch-throttle-qps', default: 0, help: 'Batches per second, with throttling.' }),
  auditLogBatchThrottleBurst: integer({ flag: 'audit-log-batch-throttle-burst', default: 0, help: 'Batches at once, with throttling.' }),
  auditLogTruncateEnabled: toggle({ flag: 'audit-log-truncate-enabled', default: false, help: 'Remove the bodies of large events, split large batches.' }),
  auditLogTruncateMaxBatchSize: truncateMax('audit-log-truncate-max-batch-size', 10 * 1024 * 1024, 'batch'),
  auditLogTruncateMaxEventSize: truncateMax('audit-log-truncate-max-event-size', 100 * 1024, 'event'),

  auditWebhookConfigFile: text({ flag: 'audit-webhook-config-file', help: 'Kubeconfig of the service that gets the events.' }),
  auditWebhookVersion: text({
    flag: 'audit-webhook-version', default: 'audit.k8s.io/v1', check: isVersion, help: 'API version of the events for the webhook.',
  }),
  auditWebhookInitialBackoffMs: duration({
    flag: 'audit-webhook-initial-backoff', default: 10_000, flagDefault: '10s', check: checks.notNegative, help: 'Pause after the first call that fails.',
  }),
  auditWebhookBatchInitialBackoffMs: duration({
    flag: 'audit-webhook-batch-initial-backoff', default: 0, flagDefault: '0s', check: checks.notNegative,
    help: 'Deprecated: --audit-webhook-initial-backoff.',
  }),
  auditWebhookMode: text({
    flag: 'audit-webhook-mode', default: 'batch', check: checks.oneOf(...modes), help: `How events get to the webhook: ${MODE_HELP}`,
  }),
  auditWebhookBatchBufferSize: integer({
    flag: 'audit-webhook-batch-buffer-size', default: 10_000, check: isPositive, help: 'Events that wait at most, in batch mode; further ones are lost.',
  }),
  auditWebhookBatchMaxSize: integer({ flag: 'audit-webhook-batch-max-size', default: 400, check: isPositive, help: 'Events of one batch.' }),
  auditWebhookBatchMaxWaitMs: duration({
    flag: 'audit-webhook-batch-max-wait', default: 30_000, flagDefault: '30s', check: checks.notNegative,
    help: 'Time after which a batch is sent that is not full.',
  }),
  auditWebhookBatchThrottleEnable: toggle({ flag: 'audit-webhook-batch-throttle-enable', default: true, help: 'Limit the batches per second.' }),
  auditWebhookBatchThrottleQps: fraction({ flag: 'audit-webhook-batch-throttle-qps', default: 10, help: 'Batches per second, with throttling.' }),
  auditWebhookBatchThrottleBurst: integer({ flag: 'audit-webhook-batch-throttle-burst', default: 15, help: 'Batches at once, with throttling.' }),
  auditWebhookTruncateEnabled: toggle({
    flag: 'audit-webhook-truncate-enabled', default: false, help: 'Remove the bodies of large events, split large batches.',
  }),
  auditWebhookTruncateMaxBatchSize: truncateMax('audit-webhook-truncate-max-batch-size', 10 * 1024 * 1024, 'batch'),
  auditWebhookTruncateMaxEventSize: truncateMax('audit-webhook-truncate-max-event-size', 100 * 1024, 'event'),
} as const;

interface BackendFlags {
  readonly name: 'log' | 'webhook';
  readonly isBatch: boolean;
  readonly throttle: boolean;
  readonly qps: number;
  readonly burst: number;
  readonly maxBatchSize: number;
  readonly maxEventSize: number;
}

type AuditSettings = { readonly [K in keyof typeof auditOptions]: (typeof auditOptions)[K]['default'] };

/** Reports flags of the backends that do not fit each other. */
export function findAuditConflicts(options: AuditSettings): string[] {
  return [...(options.auditLogPath === '' ? [] : describeConflicts({
    name: 'log', isBatch: options.auditLogMode === 'batch', throttle: options.auditLogBatchThrottleEnable, qps: options.auditLogBatchThrottleQps,
    burst: options.auditLogBatchThrottleBurst, maxBatchSize: options.auditLogTruncateMaxBatchSize, maxEventSize: options.auditLogTruncateMaxEventSize,
  })), ...(options.auditWebhookConfigFile === '' ? [] : describeConflicts({
    name: 'webhook', isBatch: options.auditWebhookMode === 'batch', throttle: options.auditWebhookBatchThrottleEnable,
    qps: options.auditWebhookBatchThrottleQps, burst: options.auditWebhookBatchThrottleBurst,
    maxBatchSize: options.auditWebhookTruncateMaxBatchSize, maxEventSize: options.auditWebhookTruncateMaxEventSize,
  }))];
}

function describeConflicts({ name, isBatch, throttle, qps, burst, maxBatchSize, maxEventSize }: BackendFlags): string[] {
  const isThrottled = isBatch && throttle;
  return [
    ...(isThrottled && qps <= 0 ? [`invalid audit batch ${name} throttle QPS ${qps}, must be a positive number`] : []),
    ...(isThrottled && burst <= 0 ? [`invalid audit batch ${name} throttle burst ${burst}, must be a positive number`] : []),
    ...(maxBatchSize < maxEventSize
      ? [`invalid audit truncate ${name} max batch size ${maxBatchSize}, must be greater than max event size (${maxEventSize})`] : []),
  ];
}
