// At most so many requests at once (upstream's --max-requests-inflight and --max-mutating-requests-inflight), where flow control is off.
// Watches do not count.
// Members of system:masters pass, so that an overloaded server can still be repaired.
import { MASTERS_GROUP } from '../../auth/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { Filter, FilterDependencies } from './filter.ts';

const readVerbs = new Set(['get', 'list', 'watch', 'head', 'options']);
const tooManyText = new TextEncoder().encode('Too many requests, please try again later.\n');

/** Whether a verb counts as a read. */
export const isReadVerb = (verb: string): boolean => readVerbs.has(verb);

/** The 429 of the reference. */
export function refuseTooMany(retryAfterSeconds: number): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', 'retry-after': String(retryAfterSeconds) };
  return { status: 429, headers, body: tooManyText };
}

/** Answers 429 with `Retry-After: 1` above the limits; 0 means no limit. */
export function limitInFlight(deps: Pick<FilterDependencies, 'metrics' | 'maxReadsInFlight' | 'maxMutationsInFlight'>): Filter {
  const gauges = deps.metrics.inFlight;
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    const kind = readVerbs.has(exchange.info.verb) ? 'readOnly' : 'mutating';
    const limit = kind === 'readOnly' ? deps.maxReadsInFlight : deps.maxMutationsInFlight;
    if (limit > 0 && gauges[kind] >= limit && !exchange.user.groups.includes(MASTERS_GROUP)) return refuseTooMany(1);
    gauges[kind] += 1;
    exchange.onClosed(() => {
      gauges[kind] -= 1;
    });
    return next(exchange);
  };
}
