// API Priority and Fairness: requests take seats of their priority level or wait for them, fairly between flows. Says in two headers where
// a request belongs. Watches and upgrades count until they have begun; other long requests and those of exempt levels are never held up, though
// these are counted.
import { mapMaybe } from '../../base/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type Histogram, type Observations, formatLabels } from '../metrics/metric.ts';
import { readTimeout } from './deadline.ts';
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

const durationBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

const seatBounds = [1, 2, 4, 8, 16, 32, 64, 100];

/** The series of a histogram that has the flow and one more label, found faster than by their text. */
function createSeriesByFlow(histogram: Histogram, label: string): (flow: Flow, value: string) => Observations {
  const known = new Map<string, WeakMap<Flow, Observations>>();
  return (flow, value) => {
    let series = known.get(value);
    if (series === undefined) known.set(value, (series = new WeakMap()));
    let found = series.get(flow);
    if (found === undefined) {
      const { schema, level } = flow;
      const labels = { ...(label !== '' && { [label]: value }), flow_schema: schema.name, priority_level: level.name };
      found = histogram.series(formatLabels(Object.fromEntries(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)))));
      series.set(flow, found);
    }
    return found;
  };
}

interface FlowTimes {
  waited(flow: Flow, executes: boolean, ms: number): void;
  executed(flow: Flow, verb: string, ms: number): void;
}

/** How long requests wait and are executed, by their flow, and how many seats they take. */
function measureFlows({ registry }: FilterDependencies['metrics']): FlowTimes {
  const waits = createSeriesByFlow(registry.histogram({
    name: 'apiserver_flowcontrol_request_wait_duration_seconds', stability: 'BETA', help: 'Length of time a request spent waiting in its queue',
    bounds: durationBounds,
  }), 'execute');
  const executions = createSeriesByFlow(registry.histogram({
    name: 'apiserver_flowcontrol_request_execution_seconds', stability: 'ALPHA', bounds: durationBounds,
    help: 'Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority and Fairness subsystem',
  }), 'type');
  const seats = createSeriesByFlow(registry.histogram({
    name: 'apiserver_flowcontrol_work_estimated_seats', stability: 'ALPHA', bounds: seatBounds,
    help: 'Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness',
  }), '');
  return {
    waited: (flow, executes, ms) => waits(flow, String(executes)).observe(ms / 1000),
    executed(flow, verb, ms) {
      executions(flow, verb === 'watch' ? verb : 'regular').observe(ms / 1000);
      seats(flow, '').observe(1);
    },
  };
}

/** Answers 429 to what finds neither a seat nor a place to wait. */
export function controlFlow({ metrics, flowControl, requestTimeoutMs }: Pick<FilterDependencies, 'metrics' | 'requestTimeoutMs'>
  & { readonly flowControl: FlowControl }): Filter {
  const gauges = metrics.inFlight;
  const times = measureFlows(metrics);
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
    const release = (): void => {
      if (!flowControl.release(seat)) return;
      times.executed(flow, exchange.info.verb, exchange.clock.monotonicMs() - seat.sinceMs);
    };
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
    exchange.flow = flow;
    if (flow.isExempt) {
      flow.counts.dispatched += 1;
      return runSeated(exchange, next, flow);
    }
    if (flowControl.tryTake(flow)) {
      times.waited(flow, true, 0);
      return runSeated(exchange, next, flow);
    }
    const timeoutMs = exchange.longRunning ? requestTimeoutMs : readTimeout(exchange, requestTimeoutMs);
    const waitsSinceMs = exchange.clock.monotonicMs();
    const kind = isReadVerb(info.verb) ? 'readOnly' : 'mutating';
    metrics.inQueue[kind] += 1;
    return flowControl.wait(flow, { user, info, timeoutMs }, (gone) => exchange.onClosed(gone))
      .finally(() => {
        metrics.inQueue[kind] -= 1;
      })
      .then((refusal) => {
        const nowMs = exchange.clock.monotonicMs();
        times.waited(flow, refusal === undefined, nowMs - waitsSinceMs);
        exchange.audit?.markLatency('apf-queue-wait', nowMs);
        return refusal === undefined ? runSeated(exchange, next, flow) : refuseTooMany(flowControl.retryAfterSeconds());
      });
  };
}
