// How long a request may take: `?timeout=` up to --request-timeout, 34 seconds for writes. Watches and their like are exempt.
// Past the deadline the caller gets the reference's 504; a response that has begun is cut off, so that slow readers do not stay for ever.
import { type StatusError, badRequest, timeoutError } from '../../apimachinery/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../exchange.ts';
import type { Filter, FilterDependencies } from '../filters.ts';
import { parseDuration } from '../duration.ts';

const mutationLimitMs = 34_000;
const mutatingVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Ends requests that take too long. */
export function limitTime({ requestTimeoutMs }: Pick<FilterDependencies, 'requestTimeoutMs'>): Filter {
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    const wantedMs = readTimeout(exchange, requestTimeoutMs);
    const mutating = mutatingVerbs.has(exchange.info.verb) && exchange.info.isResource;
    const late = mutating && mutationLimitMs < wantedMs
      ? { afterMs: mutationLimitMs, message: 'request did not complete within the allotted timeout' }
      : { afterMs: wantedMs, message: 'request did not complete within requested timeout - context deadline exceeded' };
    return raceDeadline(exchange, next, late);
  };
}

function readTimeout(exchange: ServerExchange, requestTimeoutMs: number): number {
  const text = exchange.query.get('timeout');
  if (text === null || text === '') return requestTimeoutMs;
  const parsed = parseDuration(text);
  if (typeof parsed === 'string') throw badRequest(`invalid timeout specified in the request URL - ${parsed}`);
  return parsed === 0 ? requestTimeoutMs : Math.min(parsed, requestTimeoutMs);
}

function raceDeadline(
  exchange: ServerExchange, next: (exchange: ServerExchange) => Promise<Response>, late: { afterMs: number; message: string },
): Promise<Response> {
  return new Promise((resolve, reject: (error: StatusError | unknown) => void) => {
    let answered = false;
    const timer = exchange.clock.after(late.afterMs, () => {
      if (answered) return exchange.cut('the request timed out');
      answered = true;
      exchange.abort('the request timed out');
      reject(timeoutError(late.message));
    });
    exchange.onClosed(() => timer.cancel());
    next(exchange).then((response) => {
      answered = true;
      resolve(response);
    }, (error: unknown) => {
      answered = true;
      reject(error);
    });
  });
}
