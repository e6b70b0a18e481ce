// Every request passes these filters, in this order. Each is a function around the rest of the chain.
//
//   guard panics → access log → request info → metrics → authenticate → impersonate → flow control → deadline → authorize → handler
//
// As in the reference, a caller without valid credentials learns nothing but that (401), overload answers before authorization (429 before
// 403), and authorization comes before any look at what exists (403 before 404).
import type { Authenticate, Authorize, Impersonate } from '../auth/index.ts';
import { type Clock, type Soon, attempt } from '../base/index.ts';
import type { Handler, Response } from '../endpoints/index.ts';
import type { ServerExchange } from './exchange.ts';
import { logAccesses } from './filters/access-log.ts';
import { authenticateRequests } from './filters/authenticate.ts';
import { authorizeRequests } from './filters/authorize.ts';
import { limitTime } from './filters/deadline.ts';
import { controlFlow } from './filters/flow-control.ts';
import { guardPanics } from './filters/guard-panics.ts';
import { impersonateUsers } from './filters/impersonate.ts';
import { limitInFlight } from './filters/in-flight.ts';
import { measureRequests } from './filters/measure.ts';
import { readRequestInfo } from './filters/request-info.ts';
import type { FlowControl } from './flow-control/flow-control.ts';
import type { Logger } from './logger.ts';
import type { ServerMetrics } from './metrics.ts';

/** One step of the chain. It throws StatusError or answers, at once where nothing has to be waited for; `next` is the rest of the chain. */
export type Filter = (exchange: ServerExchange, next: (exchange: ServerExchange) => Soon<Response>) => Soon<Response>;

/** What the filters work with. */
export interface FilterDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ServerMetrics;
  readonly authenticate: Authenticate;
  readonly impersonate: Impersonate;
  readonly authorize: Authorize;
  readonly requestTimeoutMs: number;
  readonly maxReadsInFlight: number;
  readonly maxMutationsInFlight: number;
  /** Priority and fairness; without it the two limits hold. */
  readonly flowControl?: FlowControl;
  /** Turns anything that was thrown into the negotiated Status. */
  readonly respondError: (exchange: ServerExchange, error: unknown) => Response;
  readonly handler: Handler;
}

/** The whole chain as one handler. */
export function createFilterChain(deps: FilterDependencies): (exchange: ServerExchange) => Soon<Response> {
  const filters: readonly Filter[] = [
    guardPanics(deps),
    logAccesses(deps),
    readRequestInfo(),
    measureRequests(deps),
    answerErrors(deps),
    authenticateRequests(deps),
    impersonateUsers(deps),
    deps.flowControl === undefined ? limitInFlight(deps) : controlFlow({ ...deps, flowControl: deps.flowControl }),
    limitTime(deps),
    authorizeRequests(deps),
  ];
  return filters.reduceRight<(exchange: ServerExchange) => Soon<Response>>((next, filter) => (exchange) => filter(exchange, next), deps.handler);
}

/** Status errors of the filters and handlers inside become answers here; anything else is a panic for the outermost filter. */
function answerErrors({ respondError }: FilterDependencies): Filter {
  return (exchange, next) => attempt(() => next(exchange), (error) => {
    if (isStatusError(error)) return respondError(exchange, error);
    throw error;
  });
}

const isStatusError = (error: unknown): boolean => error instanceof Error && error.name === 'StatusError';
