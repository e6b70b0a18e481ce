// Every request passes these filters, in this order. Each is a function around the rest of the chain.
//
//   guard panics → access log → request info → browsers → lifecycle → metrics → console → authenticate → tracing → audit → impersonate →
//   receive body → flow control → deadline → authorize → handler
//
// As in the reference, a caller without valid credentials learns nothing but that (401), overload answers before authorization (429 before
// 403), and authorization comes before any look at what exists (403 before 404).
import { catchMaybe } from '../../base/index.ts';
import { logAccesses } from './access-log.ts';
import { auditRequests } from './audit.ts';
import { authenticateRequests } from './authenticate.ts';
import { authorizeRequests } from './authorize.ts';
import { informBrowsers } from './browsers.ts';
import { limitTime, receiveBodies } from './deadline.ts';
import { type Filter, type FilterDependencies, type Next, isStatusError } from './filter.ts';
import { controlFlow } from './flow-control.ts';
import { guardPanics } from './guard-panics.ts';
import { impersonateUsers } from './impersonate.ts';
import { limitInFlight } from './in-flight.ts';
import { followLifecycle } from './lifecycle.ts';
import { measureRequests } from './measure.ts';
import { readRequestInfo } from './request-info.ts';

/** The whole chain as one handler. */
export function createFilterChain(deps: FilterDependencies): Next {
  const traced = (name: string, filter: Filter): Filter => deps.tracing?.traceFilter(name, filter) ?? filter;
  const filters: readonly Filter[] = [
    guardPanics(deps),
    logAccesses(deps),
    readRequestInfo(),
    ...(deps.observe === undefined ? [] : [deps.observe]),
    ...informBrowsers(deps),
    ...followLifecycle(deps),
    measureRequests(deps),
    answerErrors(deps),
    ...(deps.console === undefined ? [] : [deps.console.filter]),
    authenticateRequests(deps),
    ...(deps.tracing === undefined ? [] : [deps.tracing.filter]),
    ...(deps.audit === undefined ? [] : [traced('audit', auditRequests({ ...deps, audit: deps.audit }))]),
    traced('impersonation', impersonateUsers(deps)),
    ...(deps.disturb === undefined ? [] : [deps.disturb]),
    receiveBodies(deps),
    deps.flowControl === undefined ? limitInFlight(deps) : traced('priorityandfairness', controlFlow({ ...deps, flowControl: deps.flowControl })),
    limitTime(deps),
    traced('authorization', authorizeRequests(deps)),
  ];
  return filters.reduceRight<Next>((next, filter) => (exchange) => filter(exchange, next), deps.handler);
}

/** Status errors of the filters and handlers inside become answers here; anything else is a panic for the outermost filter. */
function answerErrors({ respondError }: FilterDependencies): Filter {
  return (exchange, next) => catchMaybe(() => next(exchange), (error) => {
    if (isStatusError(error)) return respondError(exchange, error);
    throw error;
  });
}
