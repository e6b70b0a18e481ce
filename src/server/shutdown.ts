// The stop of a server, in the reverse order of its start: readiness fails, requests end, what works by itself stops, the store closes last.
// Every step is taken, even if one before it fails: a store that is not closed properly has to recover when it is opened again.
import { type Clock, delay, holdProcess } from '../base/index.ts';
import type { Listener } from './http/listener.ts';
import { type Logger, describeError } from './observability/logger.ts';

/** Connections without requests, once clients were sent away, have this long. */
const DRAINED_GRACE_MS = 2000;

interface Stoppable {
  stop(): Promise<void> | void;
}

interface Closable {
  close(): Promise<void> | void;
}

/** What runs, in the order of the stop. */
export interface RunningParts {
  /** Makes readiness fail. */
  markStopping(): void;
  readonly controllers: Stoppable;
  /** Sends new requests away. */
  sendAway(): void;
  readonly listener: Pick<Listener, 'close' | 'drain' | 'endWatches'>;
  readonly authentication: Stoppable;
  readonly following: Stoppable | undefined;
  readonly identity: Stoppable | undefined;
  readonly audit: Stoppable | undefined;
  /** Sends the last spans. */
  readonly tracing: Stoppable | undefined;
  readonly api: {
    readonly authorization: Stoppable; readonly definitions: Stoppable; readonly webhooks: Stoppable; readonly policies: Stoppable;
    readonly quotas: Stoppable; readonly aggregator: Stoppable; readonly backends: Stoppable; readonly registry: Closable;
  };
  readonly workers: Stoppable;
  readonly format: Partial<Stoppable>;
  readonly store: Closable;
}

interface StopOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly shutdownDelayMs: number;
  readonly shutdownGraceMs: number;
  readonly shutdownSendRetryAfter: boolean;
  readonly shutdownWatchGraceMs: number;
}

/** Stops a server. The process is kept alive meanwhile: once the port is closed, nothing else may be left that does. */
export async function stopServer(options: StopOptions, parts: RunningParts): Promise<void> {
  const { clock, logger, shutdownDelayMs } = options;
  const release = holdProcess();
  try {
    parts.markStopping();
    logger.info(1, 'stopping');
    if (shutdownDelayMs > 0) await delay(clock, shutdownDelayMs);
    await stopParts(options, parts);
    logger.info(1, 'stopped');
  } finally {
    release();
  }
}

/** Stops the parts that there are: all of a server, or what a start has made before it fails. */
export function stopParts(options: StopOptions, parts: Partial<RunningParts>): Promise<void> {
  const { api } = parts;
  return takeSteps(options.logger, [
    () => Promise.all([parts.controllers?.stop(), closePort(options, parts)]),
    () => parts.audit?.stop(),
    () => parts.identity?.stop(),
    () => parts.authentication?.stop(),
    () => parts.following?.stop(),
    () => api?.authorization.stop(),
    () => api?.definitions.stop(),
    () => api?.webhooks.stop(),
    () => api?.policies.stop(),
    () => api?.quotas.stop(),
    () => api?.aggregator.stop(),
    () => api?.backends.stop(),
    () => parts.tracing?.stop(),
    () => parts.workers?.stop(),
    () => parts.format?.stop?.(),
    () => api?.registry.close(),
    () => parts.store?.close(),
  ]);
}

/** Closes the port at once, or, where clients shall be sent away, behind the last of their requests. */
async function closePort(options: StopOptions, { listener, sendAway }: Partial<RunningParts>): Promise<void> {
  const { shutdownGraceMs, shutdownSendRetryAfter, shutdownWatchGraceMs } = options;
  if (listener === undefined) return;
  if (shutdownSendRetryAfter) sendAway?.();
  await Promise.all([
    shutdownSendRetryAfter ? listener.drain(shutdownGraceMs) : undefined, shutdownWatchGraceMs > 0 ? listener.endWatches(shutdownWatchGraceMs) : undefined,
  ]);
  await listener.close(shutdownSendRetryAfter ? DRAINED_GRACE_MS : shutdownGraceMs);
}

/** Takes all steps in order; rejects with the first error after the last of them. */
async function takeSteps(logger: Logger, steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      logger.error('a part of the server did not stop', describeError(error));
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
