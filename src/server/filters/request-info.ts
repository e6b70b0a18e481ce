// Fills in what path and method mean, and whether the request may take as long as it likes.
import { type RequestInfo, type Response, parseRequestInfo } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type Filter, plainInternalError } from './filter.ts';

const longSubresources = new Set(['exec', 'attach', 'portforward', 'proxy', 'log']);

/** Sets `info` and `longRunning`. */
export function readRequestInfo(): Filter {
  return (exchange, next) => {
    exchange.info = parseRequestInfo(exchange);
    if (namesNothing(exchange.info)) return refuse(exchange);
    exchange.longRunning = isLongRunning(exchange.info);
    return next(exchange);
  };
}

/** Whether a path ends with the verb, as those of watches and proxies once began. */
const namesNothing = ({ isResource, parts }: RequestInfo): boolean => isResource && parts.length === 1 && verbsOfPaths.has(parts[0] as string);
const verbsOfPaths = new Set(['proxy', 'watch']);

/** The reference's answer, to anonymous callers as well. */
function refuse({ target: url }: Pick<ServerExchange, 'target'>): Response {
  return plainInternalError(url, `failed to create RequestInfo: unable to determine kind and namespace from url, ${url}`);
}

const isLongRunning = ({ verb, isResource, path, subresource }: RequestInfo): boolean =>
  verb === 'watch' || verb === 'proxy' || (isResource ? longSubresources.has(subresource) : path.startsWith('/debug/pprof/'));
