// Fills in what path and method mean, and whether the request may take as long as it likes.
import { type RequestInfo, parseRequestInfo } from '../../endpoints/index.ts';
import type { Filter } from './filter.ts';

const longSubresources = new Set(['exec', 'attach', 'portforward', 'proxy', 'log']);

/** Sets `info` and `longRunning`. */
export function readRequestInfo(): Filter {
  return (exchange, next) => {
    exchange.info = parseRequestInfo(exchange);
    exchange.longRunning = isLongRunning(exchange.info);
    return next(exchange);
  };
}

const isLongRunning = ({ verb, isResource, path, subresource }: RequestInfo): boolean =>
  verb === 'watch' || verb === 'proxy' || (isResource ? longSubresources.has(subresource) : path.startsWith('/debug/pprof/'));
