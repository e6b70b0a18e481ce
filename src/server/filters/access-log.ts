// One line per request, where the verbosity asks for it.
import type { ServerExchange } from '../http/exchange.ts';
import type { Filter, FilterDependencies } from './filter.ts';
import type { Logger } from '../observability/logger.ts';

const ACCESS_VERBOSITY = 3;

/** Logs requests once their answer is known. */
export function logAccesses({ logger }: Pick<FilterDependencies, 'logger'>): Filter {
  const answerLogged: Filter = async (exchange, next) => {
    const response = await next(exchange);
    logAccess(logger, exchange, response.status);
    return response;
  };
  return (exchange, next) => (logger.verbosity < ACCESS_VERBOSITY ? next(exchange) : answerLogged(exchange, next));
}

function logAccess(logger: Logger, request: ServerExchange, status: number): void {
  logger.info(ACCESS_VERBOSITY, 'HTTP', {
    verb: request.info.verb, path: request.path, latencyMs: Math.round((request.clock.monotonicMs() - request.startedMs) * 1000) / 1000,
    userAgent: request.headers['user-agent'], auditId: request.auditId, remote: request.remoteAddress, user: request.user.name, status,
  });
}
