// How long a piece of synchronous work may take: the caller that gives a turn away sets the limit, and the work looks at it where it may take
// long. Such work cannot pause, so work that exceeds the limit is given up, and done in a worker.
import type { Clock } from './clock.ts';

interface Limit {
  readonly clock: Clock;
  readonly endMs: number;
}

let limit: Limit | undefined;

class TimeLimitExceeded extends Error {}

/** The result of limitTime for work that was given up. */
export const tooLong: unique symbol = Symbol('tooLong');

/** Does work that may take so long; answers `tooLong` if it announced or took more. The work must leave nothing half done behind. */
export function limitTime<T>(clock: Clock, limitMs: number, work: () => T): T | typeof tooLong {
  const outer = limit;
  limit = { clock, endMs: clock.monotonicMs() + limitMs };
  try {
    return work();
  } catch (error) {
    if (error instanceof TimeLimitExceeded) return tooLong;
    throw error;
  } finally {
    limit = outer;
  }
}

/** How long work may still take: Infinity where there is no limit. */
export function remainingMs(): number {
  return limit === undefined ? Infinity : limit.endMs - limit.clock.monotonicMs();
}

/** Announces a piece that cannot pause and may take so long; ends the work if that is more than remains. */
export function announceWork(ms: number): void {
  if (limit !== undefined && ms > remainingMs()) throw new TimeLimitExceeded('work takes longer than it may');
}
