// API Priority and Fairness: requests take seats of their priority level or wait for them, fairly between flows. Says in two headers where
// a request belongs. Watches and upgrades count until they have begun; other long requests and those of exempt levels are never held up.
import { mapMaybe } from '../../base/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type Observations, formatLabels } from '../observability/metric.ts';
import type { Filter, FilterDependencies, Next } from './filter.ts';
import type { Flow, FlowControl } from '../flow-control/flow-control.ts';
import { isReadVerb, refuseTooMany } from './in-flight.ts';

/** Calls `release` once the answer is there, or has failed. */
async function releaseAfter(answer: () => ReturnType<Next>, release: () => void): Promise<Response> {
  try {
    return await answer();
  } finally {
    release();
  }
}

const waitBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

/** How long requests waited, by their flow. */
function createWaitCounts({ registry }: FilterDependencies['metrics']): (flow: Flow, executes: boolean, waitedMs: number) => void {
  const waits = registry.histogram({
    name: 'apiserver_flowcontrol_request_wait_duration_seconds', stability: 'BETA', help: 'Length of time a request spent waiting in its queue',
    bounds: waitBounds,
  });
  const known = { true: new WeakMap<Flow, Observations>(), false: new WeakMap<Flow, Observations>() };
  return (flow, executes, waitedMs) => {
    const series = known[`${executes}`];
    let found = series.get(flow);
    if (found === undefined) {
      found = waits.series(formatLabels({ execute: String(executes), flow_schema: flow.schema.name, priority_level: flow.level.name }));
      series.set(flow, found);
    }
    found.observe(waitedMs / 1000);
  };
}

/** Answers 429 to what finds neither a seat nor a place to wait. */
export function controlFlow({ metrics, flowControl }: Pick<FilterDependencies, 'metrics'> & { readonly flowControl: FlowControl }): Filter {
  const gauges = metrics.inFlight;
  const recordWait = createWaitCounts(metrics);
  const endRead = (): void => {
    gauges.readOnly -= 1;
  };
  const endMutation = (): void => {
    gauges.mutating -= 1;
  };
  const run: Filter = (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    const isRead = isReadVerb(exchange.info.verb);
    gauges[isRead ? 'readOnly' : 'mutating'] += 1;
    exchange.onClosed(isRead ? endRead : endMutation);
    return next(exchange);
  };
  const runSeated = (exchange: ServerExchange, next: Next, flow: Flow): ReturnType<Next> => {
    const seat = flowControl.hold(flow, exchange);
    const release = (): void => flowControl.release(seat);
    if (!exchange.longRunning) {
      exchange.onClosed(release);
      // A connection that becomes something else may stay for days.
      return mapMaybe(run(exchange, next), (response) => {
        if (response.status === 101) release();
        return response;
      });
    }
    return releaseAfter(() => next(exchange), release);
  };
  return (exchange, next) => {
    if (exchange.longRunning && exchange.info.verb !== 'watch') return next(exchange);
    const { user, info } = exchange;
    const flow = flowControl.classify(user, info);
    if (flow === undefined) return run(exchange, next);
    exchange.flowHeaders = flow.headers;
    if (flow.isExempt) {
      flow.counts.dispatched += 1;
      return run(exchange, next);
    }
    if (flowControl.tryTake(flow)) {
      recordWait(flow, true, 0);
      return runSeated(exchange, next, flow);
    }
    const waitsSinceMs = exchange.clock.monotonicMs();
    return flowControl.wait(flow, { user, info }, (gone) => exchange.onClosed(gone))
      .then((refusal) => {
        const nowMs = exchange.clock.monotonicMs();
        recordWait(flow, refusal === undefined, nowMs - waitsSinceMs);
        exchange.audit?.latency.mark('apf-queue-wait', nowMs);
        return refusal === undefined ? runSeated(exchange, next, flow) : refuseTooMany(flowControl.retryAfterSeconds());
      });
  };
}
