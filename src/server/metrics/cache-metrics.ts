// The metrics of caches and of the lists that they and the store serve, by resource, under upstream's names.
import type { ResourceObserver } from '../../registry/index.ts';
import { type Counter, type MetricRegistry, formatLabels } from './metric.ts';

/** Upstream's bounds: reads wait three seconds at most. */
const waitBounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3];

/** Adds the metrics to a registry; what it answers observes the cache and the lists of one resource. */
export function observeCaches(registry: MetricRegistry): (resource: { readonly group: string; readonly plural: string }) => ResourceObserver {
  const count = (name: string, help: string): Counter => registry.counter({ name, stability: 'ALPHA', help });
  const waits = registry.histogram({
    name: 'apiserver_watch_cache_read_wait_seconds', stability: 'ALPHA', bounds: waitBounds,
    help: 'Histogram of time spent waiting for a watch cache to become fresh.',
  });
  const initializations = count('apiserver_watch_cache_initializations_total', 'Counter of watch cache initializations broken by resource type.');
  const initEvents = count('apiserver_init_events_total', 'Counter of init events processed in watch cache broken by resource type.');
  const received = count('apiserver_watch_cache_events_received_total', 'Counter of events received in watch cache broken by resource type.');
  const dispatched = count('apiserver_watch_cache_events_dispatched_total', 'Counter of events dispatched in watch cache broken by resource type.');
  const consistent = count('apiserver_watch_cache_consistent_read_total', 'Counter for consistent reads from cache.');
  const lists = {
    cache: count('apiserver_cache_list_total', 'Number of LIST requests served from watch cache'),
    storage: count('apiserver_storage_list_total', 'Number of LIST requests served from storage'),
  };
  const reading = 'in the course of serving a LIST request';
  const fetched = {
    cache: count('apiserver_cache_list_fetched_objects_total', `Number of objects read from watch cache ${reading}`),
    storage: count('apiserver_storage_list_fetched_objects_total', `Number of objects read from storage ${reading}`),
  };
  const evaluated = count('apiserver_storage_list_evaluated_objects_total', `Number of objects tested ${reading} from storage`);
  const returned = {
    cache: count('apiserver_cache_list_returned_objects_total', 'Number of objects returned for a LIST request from watch cache'),
    storage: count('apiserver_storage_list_returned_objects_total', 'Number of objects returned for a LIST request from storage'),
  };
  return ({ group, plural }) => {
    const labels = formatLabels({ group, resource: plural });
    // Memory has no indexes that a reader could name.
    const indexed = { cache: formatLabels({ group, index: '', resource: plural }), storage: labels };
    const series = waits.series(labels);
    const consistently = (fallback: boolean): string => formatLabels({ fallback: String(fallback), group, resource: plural, success: 'true' });
    const [fromCache, fromStorage] = [consistently(false), consistently(true)];
    const listed: ResourceObserver['listed'] = (source, read) => {
      lists[source].add(indexed[source]);
      fetched[source].add(indexed[source], read.fetched);
      if (source === 'storage') evaluated.add(labels, read.evaluated);
      returned[source].add(labels, read.returned);
    };
    return {
      initialized(entries) {
        initializations.add(labels);
        initEvents.add(labels, entries);
        listed('storage', { fetched: entries, evaluated: entries, returned: entries });
      },
      changed(changes) {
        received.add(labels, changes);
        dispatched.add(labels, changes);
      },
      waited: (ms) => series.observe(ms / 1000),
      readConsistently: (fallback) => consistent.add(fallback ? fromStorage : fromCache),
      listed,
    };
  };
}
