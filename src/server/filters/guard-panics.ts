// The outermost filter: whatever a request breaks, it breaks for itself only. Mirrors the answer of the reference's panic recovery.
import { catchMaybe } from '../../base/index.ts';
import type { Filter, FilterDependencies } from './filter.ts';
import { describeError } from '../observability/logger.ts';

const text = new TextEncoder().encode('This request caused apiserver to panic. Look in the logs for details.');

/** Logs what was thrown by mistake and answers 500 in plain text. */
export function guardPanics({ logger }: Pick<FilterDependencies, 'logger'>): Filter {
  return (exchange, next) => catchMaybe(() => next(exchange), (error) => {
    logger.error('a request failed inside the server', { method: exchange.method, path: exchange.path, auditId: exchange.auditId, ...describeError(error) });
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
    return { status: 500, headers, body: text };
  });
}
