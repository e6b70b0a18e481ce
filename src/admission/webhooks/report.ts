// The outcome of one call of a webhook: counted, and turned into what the request ends with, or into nothing when it continues.
import { type StatusError, internalError, timeoutError } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import type { AdmissionMetrics, RejectionCause, WebhookType } from '../metrics.ts';
import { CallError, RefusalError, UnusableError } from './failures.ts';
import type { Webhook } from './webhook.ts';

const SUCCESS = 200;

/** How calls are reported. */
export interface Reporting {
  readonly metrics: AdmissionMetrics;
  /** Is handed failures that the failure policy passes over. */
  readonly onFailOpen: (webhook: string, error: Error) => void;
  /** Is handed webhooks that cannot be called as they are configured. */
  readonly onUnusable: (webhook: Webhook, error: Error) => void;
}

interface Outcome {
  readonly webhook: Webhook;
  readonly attributes: AdmissionAttributes;
  readonly type: WebhookType;
  readonly durationMs: number;
  /** What the call threw; undefined when it succeeded. */
  readonly error: unknown;
}

function describe(error: unknown): { readonly cause: RejectionCause; readonly code: number } {
  if (error instanceof CallError) return { cause: 'calling_webhook_error', code: error.code };
  return error instanceof RefusalError ? { cause: 'no_error', code: error.code } : { cause: 'apiserver_internal_error', code: 0 };
}

/** Counts a call; answers the error that the request ends with. `failsOpen` is called when the failure policy passes over a failure. */
export function reportCall({ webhook, attributes, type, durationMs, error }: Outcome, { metrics, onFailOpen, onUnusable }: Reporting,
  failsOpen: () => void): unknown {
  const { operation, context: { signal } } = attributes;
  const common = { name: webhook.name, type, operation };
  if (error === undefined) {
    metrics.recordWebhook({ ...common, durationMs, code: SUCCESS, rejected: false });
    return undefined;
  }
  if (error instanceof UnusableError) onUnusable(webhook, error);
  const { cause, code } = describe(error);
  const isIgnored = error instanceof CallError && webhook.ignoresFailures;
  metrics.recordWebhook({ ...common, durationMs, code, rejected: !isIgnored });
  if (!isIgnored) {
    metrics.recordRejection({ ...common, cause, code });
    return error instanceof CallError ? internalError(error.message) : error;
  }
  if (signal?.aborted === true) return endedRequest();
  metrics.recordFailOpen({ name: webhook.name, type });
  onFailOpen(webhook.name, error);
  failsOpen();
  return undefined;
}

/** 504 of a request whose time ended while its webhooks were called. */
export const endedRequest = (): StatusError => timeoutError('request did not complete within requested timeout');
