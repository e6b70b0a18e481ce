// Counts every request under upstream's metric names once it is finished, watches under their own gauge while they run.
import { mapMaybe } from '../../base/index.ts';
import type { Body, Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import type { Filter, FilterDependencies } from './filter.ts';

/** Bytes of a body that is there as a whole. */
function sizeOf(body: Body): number | undefined {
  if (body instanceof Uint8Array) return body.length;
  if (typeof body === 'function') return undefined;
  let size = 0;
  for (const piece of body) size += piece.length;
  return size;
}

/** Refusals of flow control are texts; those of the API are Statuses. */
const isTerminated = ({ status, headers }: Response): boolean =>
  status === 504 || (status === 429 && String(headers['content-type']).startsWith('text/plain'));

/** As the reference counts them: applies in CBOR are patches. */
const isApply = ({ info, headers }: ServerExchange): boolean => info.verb === 'patch' && headers['content-type'] === 'application/apply-patch+yaml';

/** Feeds the metrics. */
export function measureRequests({ metrics, noteRequest }: Pick<FilterDependencies, 'metrics' | 'noteRequest'>): Filter {
  return (exchange, next) => mapMaybe(next(exchange), (response) => {
    const { info } = exchange;
    const end = exchange.longRunning ? metrics.beginLongRunning(info) : undefined;
    const responseBytes = sizeOf(response.body);
    exchange.onClosed(() => {
      end?.();
      const durationMs = exchange.clock.monotonicMs() - exchange.startedMs;
      const requestBytes = info.isResource ? exchange.bodyBytes : undefined;
      const dryRun = info.isResource && exchange.query.has('dryRun');
      const counted = isApply(exchange) ? { ...info, verb: 'apply' } : info;
      metrics.recordRequest({ info: counted, dryRun, status: response.status, durationMs, responseBytes, requestBytes, isTerminated: isTerminated(response) });
      if (response.headers['warning'] !== undefined) noteRequest?.(info);
    });
    return response;
  });
}
