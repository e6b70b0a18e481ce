// How long a piece of synchronous work may take: whoever has a turn to give away sets the limit, and the work looks at it where it may take
// long. It cannot be left off in the middle and taken up again, so work that goes beyond is given up, and done where nobody has to wait for it.
import type { Clock } from './clock.ts';

interface Limit {
  readonly clock: Clock;
  readonly endMs: number;
}

let limit: Limit | undefined;

class TimeLimitExceeded extends Error {}

/** What limitEffort answers of work that was given up. */
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

/** How long work may still take: Infinity where nobody set a limit. */
export function remainingMs(): number {
  return limit === undefined ? Infinity : limit.endMs - limit.clock.monotonicMs();
}

/** Says that something begins which cannot be left off and may take so long; ends the work if that is more than is left. */
export function announceWork(ms: number): void {
  if (limit !== undefined && ms > remainingMs()) throw new TimeLimitExceeded('work takes longer than it may');
}
