// Headers that every answer carries: Audit-Id (the request's, if it had one), Cache-Control unless the handler chose another, and
// those of flow control.
import type { Filter, FilterDependencies } from '../filters.ts';

/** Adds the headers and writes the access log line. */
export function addCommonHeaders({ logger }: Pick<FilterDependencies, 'logger'>): Filter {
  return async (exchange, next) => {
    const response = await next(exchange);
    if (logger.verbosity >= 3) logAccess(exchange);
    return { ...response, headers: { 'audit-id': exchange.auditId, 'cache-control': 'no-cache, private', ...exchange.flowHeaders, ...response.headers } };

    function logAccess(request: typeof exchange): void {
      logger.info(3, 'HTTP', {
        verb: request.info.verb, path: request.path, latencyMs: Math.round((request.clock.monotonicMs() - request.startedMs) * 1000) / 1000,
        userAgent: request.headers['user-agent'], auditId: request.auditId, remote: request.remoteAddress, user: request.user.name, status: response.status,
      });
    }
  };
}
