// The audit of a server: the policy of its file, and the backends of its flags. Without a policy or without a backend there is none.
import { type EvaluateAuditPolicy, type User, createAuditPolicy, readAuditPolicy } from '../../auth/index.ts';
import { parseYaml } from '../../codec/index.ts';
import { readTextFile } from '../data-directory.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { describeError } from '../observability/logger.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import { JsonClient } from '../webhooks/json-client.ts';
import { readWebhookKubeconfig } from '../webhooks/token-webhook.ts';
import { type AuditMetrics, createAuditMetrics } from './audit-metrics.ts';
import { type AuditBackend, ignoreFailures, truncateEvents, uniteBackends } from './backend.ts';
import { type BatchOptions, bufferEvents } from './buffered.ts';
import type { Routed } from '../webhooks/egress.ts';
import { createLogBackend } from './log-backend.ts';
import { type LogFile, type LogFileOptions, openLogFile } from './log-file.ts';
import { type RecentWrites, createRecentWrites } from './recent-writes.ts';
import { RequestAudit, createWallTime } from './record.ts';
import { createWebhookBackend } from './webhook-backend.ts';

/** The audit of one server. */
export interface Audit {
  readonly metrics: AuditMetrics;
  /** Begins the record of a request; undefined where the policy wants none. */
  begin(exchange: ServerExchange, user: User | undefined): RequestAudit | undefined;
  /** Writes the events of answers that are about to leave. */
  flush(): void;
  /** Begins the next log file for another process that writes to it, where so many bytes more are too many. */
  rotateFor(bytes: number): void;
  /** Answers the users of recent writes, at its path; undefined for all other paths. */
  readonly answer: RecentWrites['answer'];
  /** Resolves when all events are out. */
  stop(): Promise<void>;
}

/** Batches to a webhook that are sent at the same time; the reference has no bound. */
const MAX_SENDING = 25;
/** Events of one backend in `batch` mode, waiting and being sent. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Batches without truncation; with it, a flag says so, of which this is the default. */
const MAX_BATCH_BYTES = 10 * 1024 * 1024;
/** The reference's limit of calls to webhooks. */
const WEBHOOK_TIMEOUT_MS = 30_000;

/** Makes the audit that the flags ask for. Throws StartError. */
export async function createAudit(options: ServerOptions & Routed, shared?: LogFileOptions['shared']): Promise<Audit | undefined> {
  if (options.auditPolicyFile === '') return undefined;
  const { clock, logger } = options;
  const evaluate = await readPolicy(options);
  const metrics = createAuditMetrics(logger);
  const file = options.auditLogPath === '' ? undefined : openFile(options, shared);
  const backends = [
    ...(file === undefined ? [] : [openLog(options, metrics, file)]),
    ...(options.auditWebhookConfigFile === '' ? [] : [await openWebhook(options, metrics)]),
  ];
  if (backends.length === 0) return undefined;
  const writes = createRecentWrites();
  const backend = uniteBackends(backends);
  const parts = { backend, writes, clock, wallTime: createWallTime(clock), metrics };
  return {
    metrics,
    begin(exchange, user) {
      const decision = evaluate(exchange.info, user);
      metrics.recordLevel(decision.level);
      return decision.level === 'None' ? undefined : new RequestAudit(parts, exchange, { user, decision });
    },
    flush: () => backend.flush?.(),
    rotateFor: (bytes) => file?.rotateFor?.(bytes),
    answer: (exchange) => writes.answer(exchange),
    stop: () => backend.stop(),
  };
}

async function readPolicy({ auditPolicyFile: path, logger }: ServerOptions): Promise<EvaluateAuditPolicy> {
  const text = readTextFile('--audit-policy-file', path);
  try {
    const { value } = await parseYaml(new TextEncoder().encode(text)).catch((error: unknown) => {
      throw new Error(`failed decoding: ${(error as Error).message}`, { cause: error });
    });
    const { policy, warnings } = readAuditPolicy(value);
    const error = `strict decoding error: ${warnings.join(', ')}`;
    if (warnings.length > 0) logger.warn('the audit policy contains errors, which are skipped', { path, error });
    return createAuditPolicy(policy);
  } catch (error) {
    throw new StartError(`loading audit policy file: ${(error as Error).message}: from file ${path}`, { cause: error });
  }
}

type BackendOptions = {
  readonly mode: string;
  readonly batch: Omit<BatchOptions, 'maxBatchBytes' | 'maxHeldBytes'>;
  readonly truncate: { readonly maxEventBytes: number; readonly maxBatchBytes: number } | undefined;
};

/** Puts what the mode and truncation ask for around a backend. */
function wrapBackend(backend: AuditBackend, { mode, batch, truncate }: BackendOptions, parts: {
  readonly clock: ServerOptions['clock']; readonly metrics: AuditMetrics;
}): AuditBackend {
  const limits = { maxBatchBytes: truncate?.maxBatchBytes ?? MAX_BATCH_BYTES, maxHeldBytes: MAX_HELD_BYTES };
  const buffer = (): AuditBackend => bufferEvents(backend, { ...batch, ...limits }, parts);
  const wrapped = mode === 'blocking-strict' ? backend : mode === 'blocking' ? ignoreFailures(backend) : buffer();
  return truncate === undefined ? wrapped : truncateEvents(wrapped, truncate.maxEventBytes, parts.metrics);
}

function openLog(options: ServerOptions, metrics: AuditMetrics, file: LogFile): AuditBackend {
  const { clock, auditLogMode: mode } = options;
  const backend = createLogBackend({ file, format: options.auditLogFormat === 'legacy' ? 'legacy' : 'json', isStrict: mode !== 'blocking', metrics });
  return wrapBackend(backend, {
    mode,
    batch: {
      bufferSize: options.auditLogBatchBufferSize, maxBatchSize: options.auditLogBatchMaxSize, maxWaitMs: options.auditLogBatchMaxWaitMs, maxSending: 1,
      throttle: options.auditLogBatchThrottleEnable ? { qps: options.auditLogBatchThrottleQps, burst: options.auditLogBatchThrottleBurst } : undefined,
    },
    truncate: options.auditLogTruncateEnabled
      ? { maxEventBytes: options.auditLogTruncateMaxEventSize, maxBatchBytes: options.auditLogTruncateMaxBatchSize } : undefined,
  }, { clock, metrics });
}

function openFile(options: ServerOptions, shared: LogFileOptions['shared']): LogFile {
  const { logger, auditLogPath: path, auditLogMaxSize: maxSizeMb, auditLogMaxAge: maxAgeDays, auditLogMaxBackup: maxBackups } = options;
  const onError = (error: unknown): void => logger.error('old audit logs were not cleared', { path, ...describeError(error) });
  try {
    return openLogFile({ path, maxSizeMb, maxAgeDays, maxBackups, compress: options.auditLogCompress, shared }, options.clock, onError);
  } catch (error) {
    throw new StartError(`--audit-log-path: cannot write ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`, { cause: error });
  }
}

async function openWebhook(options: ServerOptions & Routed, metrics: AuditMetrics): Promise<AuditBackend> {
  const { clock, random } = options;
  const { url, ...target } = await readWebhookKubeconfig('--audit-webhook-config-file', options.auditWebhookConfigFile);
  const address = new URL(url);
  address.searchParams.set('timeout', `${WEBHOOK_TIMEOUT_MS / 1000}s`);
  const client = new JsonClient(clock, { ...target, dial: options.egress.controlplane, measure: options.egress.measure });
  const backend = createWebhookBackend({
    post: (body) => client.send(address.href, body, WEBHOOK_TIMEOUT_MS), clock, random, metrics,
    initialBackoffMs: options.auditWebhookBatchInitialBackoffMs || options.auditWebhookInitialBackoffMs,
  });
  const stop = (): Promise<void> => backend.stop().finally(() => client.close());
  return wrapBackend({ ...backend, stop }, {
    mode: options.auditWebhookMode,
    batch: {
      bufferSize: options.auditWebhookBatchBufferSize, maxBatchSize: options.auditWebhookBatchMaxSize,
      maxWaitMs: options.auditWebhookBatchMaxWaitMs, maxSending: MAX_SENDING,
      throttle: options.auditWebhookBatchThrottleEnable
        ? { qps: options.auditWebhookBatchThrottleQps, burst: options.auditWebhookBatchThrottleBurst } : undefined,
    },
    truncate: options.auditWebhookTruncateEnabled
      ? { maxEventBytes: options.auditWebhookTruncateMaxEventSize, maxBatchBytes: options.auditWebhookTruncateMaxBatchSize } : undefined,
  }, { clock, metrics });
}
