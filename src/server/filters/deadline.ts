// How long a request may take: `?timeout=` up to --request-timeout, 34 seconds for writes of one object. Watches and their like are exempt.
// Past the deadline the caller gets the reference's 504: a Status where the limit of writes is reached; its bare text where the request's own time
// is up, since the reference writes that one past its serializers. A response that has begun is cut off, so that slow readers do not stay for ever.
import { Deadlines, parseDuration } from '../../base/index.ts';
import { badRequest, timeoutError } from '../../apimachinery/index.ts';
import { MAX_BODY_BYTES, type Response } from '../../endpoints/index.ts';
import { TunnelResponse } from '../http/tunnel.ts';
import type { ServerExchange } from '../http/exchange.ts';
import type { Filter, FilterDependencies, Next } from './filter.ts';

const MUTATION_LIMIT_MS = 34_000;
const mutatingVerbs = new Set(['create', 'update', 'patch', 'delete']);
const verbsWithBody = new Set([...mutatingVerbs, 'deletecollection']);

/** How long a request may take, the answer to a late one, and the function that sets the deadline and returns how to cancel it. */
interface Limit {
  readonly afterMs: number;
  /** The answer; throws it where it is an error of the API. */
  readonly answer: () => Response;
  /** Fails a request whose client went away before its answer: only audit and metrics see that. The others end as they would have. */
  readonly abandon: (() => never) | undefined;
  readonly set: (expire: () => void) => () => void;
}

type LimitOptions = Pick<FilterDependencies, 'clock' | 'requestTimeoutMs'>;

/** The limits of requests; those of the usual lengths share a timer. Throws 400 for a request that asks for a time that is none. */
function createLimits({ clock, requestTimeoutMs }: LimitOptions): (exchange: ServerExchange) => Limit {
  const usual = new Map([MUTATION_LIMIT_MS, requestTimeoutMs].map((afterMs) => [afterMs, new Deadlines(clock, afterMs)]));
  const setAfter = (afterMs: number) => (expire: () => void): (() => void) => {
    const deadlines = usual.get(afterMs);
    if (deadlines !== undefined) {
      const deadline = deadlines.add(expire);
      return () => deadlines.remove(deadline);
    }
    const timer = clock.after(afterMs, expire);
    return () => timer.cancel();
  };
  return (exchange) => {
    const wantedMs = readTimeout(exchange, requestTimeoutMs);
    const isWrite = mutatingVerbs.has(exchange.info.verb) && exchange.info.isResource;
    const abandon = exchange.info.isResource && verbsWithBody.has(exchange.info.verb) ? refuseAbandonedWrite : undefined;
    if (isWrite && MUTATION_LIMIT_MS < wantedMs) return { afterMs: MUTATION_LIMIT_MS, answer: refuseLateWrite, abandon, set: setAfter(MUTATION_LIMIT_MS) };
    return { afterMs: wantedMs, answer: answerLateRequest, abandon, set: setAfter(wantedMs) };
  };
}

/**
 * Waits for the bodies of writes before they take a seat: clients that send slowly, or not at all, would keep others from theirs. A body that is not there
 * in the time of its request gets the 504. Bodies for other servers are passed on as they come.
 */
export function receiveBodies({ catalog, ...options }: Pick<FilterDependencies, 'catalog'> & LimitOptions): Filter {
  const limitOf = createLimits(options);
  return (exchange, next) => {
    const { info, longRunning } = exchange;
    if (longRunning || !info.isResource || !verbsWithBody.has(info.verb)) return next(exchange);
    if (catalog.findResource(info.group, info.resource) === undefined) return next(exchange);
    const received = exchange.receiveBody(MAX_BODY_BYTES);
    if (received === undefined) return next(exchange);
    const { answer, set } = limitOf(exchange);
    return new Promise((resolve) => {
      let isLate = false;
      const cancel = set(() => {
        isLate = true;
        exchange.abort('the request timed out');
        resolve((async () => answer())());
      });
      void received.then(() => {
        cancel();
        if (!isLate) resolve((async () => next(exchange))());
      });
    });
  };
}

/** Ends requests that take too long. */
export function limitTime(options: LimitOptions): Filter {
  const limitOf = createLimits(options);
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    const limit = limitOf(exchange);
    exchange.deadlineMs = options.clock.monotonicMs() + limit.afterMs;
    return raceDeadline(exchange, next, limit);
  };
}

function refuseLateWrite(): never {
  throw timeoutError('request did not complete within requested timeout - context deadline exceeded');
}

function refuseAbandonedWrite(): never {
  throw timeoutError('request did not complete within requested timeout - context canceled');
}

function answerLateRequest(): Response {
  const { kind: _kind, apiVersion: _apiVersion, ...status } = timeoutError('request did not complete within the allotted timeout').status;
  return {
    status: 504, headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: new TextEncoder().encode(`${JSON.stringify({ ...status, details: {}, code: 504 })}\n`),
  };
}

/** The time that a request asks for, up to the limit. Throws 400. */
export function readTimeout(exchange: ServerExchange, requestTimeoutMs: number): number {
  const text = exchange.query.get('timeout');
  if (text === null || text === '') return requestTimeoutMs;
  const parsed = parseDuration(text);
  if (typeof parsed === 'string') throw badRequest(`invalid timeout specified in the request URL - ${parsed}`);
  return parsed === 0 ? requestTimeoutMs : Math.min(parsed, requestTimeoutMs);
}

/** The answer, or the 504 if that comes first. */
function raceDeadline(exchange: ServerExchange, next: Next, { answer: answerLate, abandon, set }: Limit): ReturnType<Next> {
  /** There while the answer is awaited. */
  let settle: ((response: Promise<Response>) => void) | undefined;
  const cancel = set(() => {
    if (settle === undefined) return exchange.cut('the request timed out');
    exchange.abort('the request timed out');
    settle((async () => answerLate())());
    settle = undefined;
  });
  exchange.onClosed(() => {
    cancel();
    if (abandon === undefined || !exchange.disconnected) return;
    settle?.((async () => abandon())());
    settle = undefined;
  });
  const answer = next(exchange);
  if (!(answer instanceof Promise)) return answer;
  return new Promise((resolve, reject: (error: unknown) => void) => {
    settle = resolve;
    answer.then((response) => {
      settle = undefined;
      // A connection that has changed its protocol stays as long as its two ends like.
      if (response instanceof TunnelResponse) cancel();
      resolve(response);
    }, (error: unknown) => {
      settle = undefined;
      reject(error);
    });
  });
}
