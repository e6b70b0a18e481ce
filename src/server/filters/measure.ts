// Counts every request under upstream's metric names once it is finished, watches under their own gauge while they run.
import { mapMaybe } from '../../base/index.ts';
import type { Filter, FilterDependencies } from './filter.ts';

/** Feeds the metrics. */
export function measureRequests({ metrics }: Pick<FilterDependencies, 'metrics'>): Filter {
  return (exchange, next) => mapMaybe(next(exchange), (response) => {
    if (exchange.longRunning) metrics.longRunning += 1;
    exchange.onClosed(() => {
      if (exchange.longRunning) metrics.longRunning -= 1;
      const durationMs = exchange.clock.monotonicMs() - exchange.startedMs;
      const dryRun = exchange.info.isResource && exchange.query.has('dryRun');
      metrics.recordRequest({ info: exchange.info, dryRun, status: response.status, durationMs });
    });
    return response;
  });
}
