// Waiting for what a test expects: woken by every change of the state, and by a short timer for what happens elsewhere. The limit is real time.
import { type Clock, systemClock } from '../base/index.ts';
import type { KubernetesObject } from '../client/index.ts';

/** How long to wait, in real milliseconds; ten seconds unless given. */
export interface WaitOptions {
  readonly timeoutMs?: number;
}

/**
 * What an object is waited for: `exists`, `deleted`, a condition that is True (`Ready`) or has another status (`Ready=False`), or a function.
 */
export type Until<T = KubernetesObject> = 'exists' | 'deleted' | (string & {}) | ((object: T) => boolean);

const DEFAULT_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** What did not come to be in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** Tries `attempt` until it does not throw; rejects with its last error, in a TimeoutError, when the time is up. */
export async function tryUntil<T>(attempt: () => T | Promise<T>, { timeoutMs = DEFAULT_TIMEOUT_MS, onChange, clock = systemClock }: WaitOptions & {
  readonly clock?: Clock; readonly onChange: (wake: () => void) => () => void;
}): Promise<T> {
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const change = awaitChange(clock, onChange);
    try {
      return await attempt();
    } catch (error) {
      if (clock.monotonicMs() >= deadlineMs) {
        throw new TimeoutError(`not within ${timeoutMs} ms: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
      await change.happened;
    } finally {
      change.forget();
    }
  }
}

function awaitChange(clock: Clock, onChange: (wake: () => void) => () => void): { readonly happened: Promise<void>; forget(): void } {
  let wake = (): void => {};
  const happened = new Promise<void>((resolve) => {
    wake = resolve;
  });
  // Turns of the loop pass between a commit and what follows from it.
  const ignore = onChange(() => setImmediate(wake));
  const timer = clock.after(POLL_MS, wake);
  return {
    happened,
    forget() {
      ignore();
      timer.cancel();
    },
  };
}

/** Throws unless an object, undefined when there is none, is what is waited for. */
export function checkState(object: KubernetesObject | undefined, until: Until<any>, shown: string): void {
  if (until === 'deleted') {
    if (object !== undefined) throw new Error(`${shown} still exists: ${JSON.stringify(describeDeletion(object))}`);
    return;
  }
  if (object === undefined) throw new Error(`${shown} does not exist`);
  if (until === 'exists') return;
  if (typeof until === 'function') {
    if (!until(object)) throw new Error(`${shown} is not as expected: ${JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } })}`);
    return;
  }
  const [type, status = 'True'] = until.split('=');
  const conditions = (object['status']?.conditions ?? []) as { type: string; status: string }[];
  if (!conditions.some((condition) => condition.type === type && condition.status === status)) {
    throw new Error(`${shown} has no condition ${type}=${status}: ${JSON.stringify(conditions)}`);
  }
}

const describeDeletion = ({ metadata = {} }: KubernetesObject): object =>
  ({ deletionTimestamp: metadata.deletionTimestamp, finalizers: metadata.finalizers });
