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
    await takeSteps(logger, [
      () => Promise.all([parts.controllers.stop(), closePort(options, parts)]),
      () => parts.audit?.stop(),
      () => parts.identity?.stop(),
      () => parts.authentication.stop(),
      () => parts.following?.stop(),
      () => parts.api.authorization.stop(),
      () => parts.api.definitions.stop(),
      () => parts.api.webhooks.stop(),
      () => parts.api.policies.stop(),
      () => parts.api.quotas.stop(),
      () => parts.api.aggregator.stop(),
      () => parts.api.backends.stop(),
      () => parts.workers.stop(),
      () => parts.format.stop?.(),
      () => parts.api.registry.close(),
      () => parts.store.close(),
    ]);
    logger.info(1, 'stopped');
  } finally {
    release();
  }
}

/** Closes the port at once, or, where clients shall be sent away, behind the last of their requests. */
async function closePort({ shutdownGraceMs, shutdownSendRetryAfter, shutdownWatchGraceMs }: StopOptions, { listener, sendAway }: RunningParts): Promise<void> {
  if (shutdownSendRetryAfter) sendAway();
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
