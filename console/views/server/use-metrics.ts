// Readings of /metrics while the page is seen, and what they say about each interval.
import { useEffect, useState } from 'preact/hooks';
import { fetchMetrics } from '../../api/index.ts';
import { type Choice, type Metrics, growthBy, growthOf, largestOf, quantileOf, sumOf } from '../../model/index.ts';

/** What one interval says. */
export interface Reading {
  /** Seconds. */
  readonly time: number;
  readonly values: Readonly<Record<string, number | null>>;
}

/** How many requests of a sort there were in the last interval. */
export interface Traffic {
  readonly verb: string;
  readonly resource: string;
  readonly perSecond: number;
  readonly meanMs: number;
}

/** Everything that is shown. */
export interface ServerState {
  readonly readings: readonly Reading[];
  readonly latest: Metrics | undefined;
  /** The reading with which the page began. */
  readonly first: Metrics | undefined;
  /** The latest but one, and the seconds since then. */
  readonly before: Metrics | undefined;
  readonly seconds: number;
  readonly traffic: readonly Traffic[];
  readonly problem: string;
}

const STEP_MS = 2000;
const KEPT = 180;
const SHOWN_TRAFFIC = 12;
/** What each kind has seen of the store; the newest of them is the revision of the last write. */
const REVISION = 'apiserver_watch_cache_resource_version';

/** Requests that last as long as their client wants say nothing about latency. */
export const lasting: ReadonlySet<string> = new Set(['WATCH', 'CONNECT']);
const isShort: Choice = (labels) => !lasting.has(labels.get('verb') ?? '');
const hasCode = (first: string): Choice => (labels) => labels.get('code')?.startsWith(first) === true;

function read(before: Metrics, after: Metrics, seconds: number): Reading['values'] {
  const rate = (name: string, choice?: Choice): number => growthOf(before, after, name, choice) / seconds;
  const latency = (quantile: number): number | null => {
    const found = quantileOf({ before, after, name: 'apiserver_request_duration_seconds', choice: isShort }, quantile);
    return found === undefined ? null : found * 1000;
  };
  return {
    requests: rate('apiserver_request_total'), refused: rate('apiserver_request_total', hasCode('4')), failed: rate('apiserver_request_total', hasCode('5')),
    p50: latency(0.5), p90: latency(0.9), p99: latency(0.99),
    watches: sumOf(after, 'apiserver_longrunning_requests', (labels) => labels.get('verb') === 'WATCH'), events: rate('apiserver_watch_events_total'),
    memory: sumOf(after, 'process_resident_memory_bytes'), cpu: rate('process_cpu_seconds_total') * 100,
    seats: sumOf(after, 'apiserver_flowcontrol_current_executing_seats'), queued: sumOf(after, 'apiserver_flowcontrol_current_inqueue_requests'),
    revision: largestOf(after, REVISION), revisions: Math.max(0, largestOf(after, REVISION) - largestOf(before, REVISION)) / seconds,
    store: sumOf(after, 'apiserver_storage_size_bytes'), objects: sumOf(after, 'apiserver_resource_objects'),
  };
}

function countTraffic(before: Metrics, after: Metrics, seconds: number): Traffic[] {
  const [counts, sums] = ['count', 'sum'].map((part) => growthBy(before, after, `apiserver_request_duration_seconds_${part}`, 'verb', 'resource')) as
    [Map<string, number>, Map<string, number>];
  const found = [...counts].map(([sort, count]): Traffic => {
    const [verb = '', resource = ''] = sort.split(' ');
    return { verb, resource, perSecond: count / seconds, meanMs: count === 0 ? 0 : ((sums.get(sort) ?? 0) / count) * 1000 };
  });
  return found.filter(({ verb, perSecond }) => perSecond > 0 && !lasting.has(verb)).sort((a, b) => b.perSecond - a.perSecond).slice(0, SHOWN_TRAFFIC);
}

const nothing: ServerState = { readings: [], latest: undefined, first: undefined, before: undefined, seconds: 0, traffic: [], problem: '' };

/** Reads the metrics for as long as the component is drawn. */
export function useMetrics(): ServerState {
  const [state, setState] = useState<ServerState>(nothing);
  useEffect(() => {
    const controller = new AbortController();
    let [before, beforeMs]: [Metrics | undefined, number] = [undefined, 0];
    const look = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const after = await fetchMetrics(controller.signal);
        const nowMs = performance.now();
        if (before !== undefined) {
          const seconds = (nowMs - beforeMs) / 1000;
          const reading = { time: Date.now() / 1000, values: read(before, after, seconds) };
          const traffic = countTraffic(before, after, seconds);
          const earlier = before;
          setState(({ readings, first = earlier }) =>
            ({ readings: [...readings, reading].slice(-KEPT), latest: after, first, before: earlier, seconds, traffic, problem: '' }));
        }
        [before, beforeMs] = [after, nowMs];
      } catch (error) {
        if (!controller.signal.aborted) setState((last) => ({ ...last, problem: (error as Error).message }));
      }
    };
    // One look after the other: a server that answers slowly is not asked for more.
    let timer: ReturnType<typeof setTimeout> | undefined;
    const lookAgain = (): void => void look().finally(() => {
      if (!controller.signal.aborted) timer = setTimeout(lookAgain, STEP_MS);
    });
    lookAgain();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, []);
  return state;
}
