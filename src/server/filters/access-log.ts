// One line per request, where the verbosity asks for it.
import { formatDurationNanos } from '../../base/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import type { Filter, FilterDependencies } from './filter.ts';
import { verbLabel } from '../metrics/metrics.ts';
import type { Logger } from '../observability/logger.ts';

const ACCESS_VERBOSITY = 3;
const NANOS_PER_MS = 1e6;

/** Logs requests once their answer is known. */
export function logAccesses({ logger }: Pick<FilterDependencies, 'logger'>): Filter {
  const answerLogged: Filter = async (exchange, next) => {
    const response = await next(exchange);
    logAccess(logger, exchange, response.status);
    return response;
  };
  return (exchange, next) => (logger.verbosity < ACCESS_VERBOSITY ? next(exchange) : answerLogged(exchange, next));
}

/** With the reference's fields. */
function logAccess(logger: Logger, request: ServerExchange, status: number): void {
  const latencyMs = request.clock.monotonicMs() - request.startedMs;
  const { flow } = request;
  logger.info(ACCESS_VERBOSITY, 'HTTP', {
    verb: verbLabel(request.info), URI: request.target, latency: formatDurationNanos(Math.round(latencyMs * NANOS_PER_MS)),
    userAgent: request.headers['user-agent'], 'audit-ID': request.auditId, srcIP: request.remoteAddress,
    ...(flow !== undefined && { apf_pl: flow.level.name, apf_fs: flow.schema.name }), resp: status,
  });
}
