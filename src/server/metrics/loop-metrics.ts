// The metrics of the controllers' queues, and of the store, under upstream's names.
import type { Clock } from '../../base/index.ts';
import type { QueueObserver } from '../../registry/index.ts';
import type { Store, StoreEvent, WatchObserver } from '../../storage/index.ts';
import { type MetricRegistry, type MetricSpec, type Observations, type Sample, formatLabels } from './metric.ts';

const queueBounds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10];

/** Measures queues by name. */
export function observeQueues(registry: MetricRegistry, clock: Clock): (name: string) => QueueObserver {
  const queues = new Map<string, Parameters<QueueObserver['follow']>[0]>();
  const spec = (what: string, help: string): MetricSpec => ({ name: `workqueue_${what}`, stability: 'BETA', help });
  const adds = registry.counter(spec('adds_total', 'Total number of adds handled by workqueue'));
  const retries = registry.counter(spec('retries_total', 'Total number of retries handled by workqueue'));
  const waits = registry.histogram({
    ...spec('queue_duration_seconds', 'How long in seconds an item stays in workqueue before being requested.'), bounds: queueBounds,
  });
  const works = registry.histogram({
    ...spec('work_duration_seconds', 'How long in seconds processing an item from workqueue takes.'), bounds: queueBounds,
  });
  const read = (pick: (queue: { readonly depth: number; readonly ages: readonly number[] }) => number): Sample[] =>
    [...queues].map(([name, { depth, startedMs }]) => {
      const ages = Array.from(startedMs, (ms) => (clock.monotonicMs() - ms) / 1000);
      return [formatLabels({ name }), pick({ depth, ages })];
    });
  registry.gauge(spec('depth', 'Current depth of workqueue'), () => read(({ depth }) => depth));
  registry.gauge(spec('longest_running_processor_seconds', 'How many seconds has the longest running processor for workqueue been running.'),
    () => read(({ ages }) => Math.max(0, ...ages)));
  registry.gauge(spec('unfinished_work_seconds', "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large "
    + 'values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.'),
    () => read(({ ages }) => ages.reduce((total, age) => total + age, 0)));
  return (name) => {
    const labels = formatLabels({ name });
    const [waited, worked] = [waits.series(labels), works.series(labels)];
    for (const counter of [adds, retries]) counter.add(labels, 0);
    return {
      follow: (queue) => void queues.set(name, queue),
      added: () => adds.add(labels),
      retried: () => retries.add(labels),
      started: (ms) => waited.observe(ms / 1000),
      finished: (ms) => worked.observe(ms / 1000),
    };
  };
}

const storeBounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** The part of a key that names its resource: `group/plural` or `plural`. */
export function findKeyResource(root: string, key: string): { readonly group: string; readonly resource: string } {
  if (!key.startsWith(`${root}/`)) return { group: '', resource: '' };
  const [first = '', second = ''] = key.slice(root.length + 1).split('/', 2);
  if (first === 'services') return { group: '', resource: second === 'endpoints' ? 'endpoints' : 'services' };
  return first.includes('.') ? { group: first, resource: second } : { group: '', resource: first };
}

interface StoreMetrics {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  /** Where the keys of all objects begin. */
  readonly root: string;
}

/** Kinds come and go: series of more operations and resources are looked up each time. */
const MAX_SERIES = 5000;

type RangeRequest = Parameters<Store['range']>[0];
type TxnRequest = Parameters<Store['txn']>[0];

const nameRange = ({ countOnly, start, end }: RangeRequest): string => (countOnly === true ? 'count' : end === `${start}\u0000` ? 'get' : 'list');
const nameTxn = ({ value, expect }: TxnRequest): string => (value === undefined ? 'delete' : expect === 0 ? 'create' : 'update');

/** A Store that counts what is asked of it, by operation and resource, and the changes that its watches deliver. */
export function measureStore(store: Store, { registry, clock, root }: StoreMetrics): Store {
  const requests = registry.counter({
    name: 'etcd_requests_total', stability: 'ALPHA', help: 'Etcd request counts for each operation and object type.',
  });
  const errors = registry.counter({
    name: 'etcd_request_errors_total', stability: 'ALPHA', help: 'Etcd failed request counts for each operation and object type.',
  });
  const durations = registry.histogram({
    name: 'etcd_request_duration_seconds', stability: 'ALPHA', bounds: storeBounds, help: 'Etcd request latency in seconds for each operation and object type.',
  });
  const received = registry.counter({
    name: 'apiserver_storage_events_received_total', stability: 'BETA', help: 'Number of etcd events received split by kind.',
  });
  const bookmarks = registry.counter({
    name: 'etcd_bookmark_total', stability: 'ALPHA', help: 'Number of etcd bookmarks (progress notify events) split by kind.',
  });
  const known = new Map<string, { readonly labels: string; readonly series: Observations }>();
  const seriesOf = (operation: string, key: string) => {
    const { group, resource } = findKeyResource(root, key);
    const id = `${operation} ${group}/${resource}`;
    let found = known.get(id);
    if (found === undefined) {
      const labels = formatLabels({ group, operation, resource });
      found = { labels, series: durations.series(labels) };
      if (known.size < MAX_SERIES) known.set(id, found);
    }
    return found;
  };
  const measure = async <T>(operation: string, key: string, run: () => Promise<T>): Promise<T> => {
    const { labels, series } = seriesOf(operation, key);
    const startedMs = clock.monotonicMs();
    requests.add(labels);
    try {
      return await run();
    } catch (error) {
      errors.add(labels);
      throw error;
    } finally {
      series.observe((clock.monotonicMs() - startedMs) / 1000);
    }
  };
  return {
    range: (request) => measure(nameRange(request), request.start, () => store.range(request)),
    txn: (request) => measure(nameTxn(request), request.key, () => store.txn(request)),
    watch(range, from, observer) {
      const labels = formatLabels(findKeyResource(root, range.start));
      const counting: WatchObserver = {
        events(batch: readonly StoreEvent[], revision) {
          received.add(labels, batch.length);
          observer.events(batch, revision);
        },
        progress(revision) {
          bookmarks.add(labels);
          observer.progress(revision);
        },
        ended: (reason) => observer.ended(reason),
      };
      return store.watch(range, from, counting);
    },
    compact: (revision) => store.compact(revision),
    timesToLive: () => store.timesToLive(),
    revision: (key) => store.revision(key),
    ...(store.recall !== undefined && { recall: (key: string, revision: number) => store.recall?.(key, revision) }),
    close: () => store.close(),
  };
}
