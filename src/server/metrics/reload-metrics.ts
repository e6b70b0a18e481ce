// The metrics of a configuration file that is read again while the server runs, under upstream's names: changes that were used and that could not be,
// when the last ones were, and a hash of what is in use.
import type { Clock } from '../../base/index.ts';
import { nameServer } from '../server-identity.ts';
import { type MetricRegistry, type MetricSpec, formatLabels, hashText } from './metric.ts';

/** Hears what becomes of a configuration file. */
export interface ReloadObserver {
  /** The file was taken into use at the start. */
  loaded(content: string): void;
  /** A file that has changed was taken into use, or could not be. */
  reloaded(status: 'success' | 'failure', content?: string): void;
}

/** How upstream calls the metrics of a configuration. */
interface ReloadedFile {
  readonly what: 'encryption' | 'authentication' | 'authorization';
  readonly stability: MetricSpec['stability'];
  /** Help of the count, and of the times. */
  readonly helps: readonly [count: string, times: string];
}

/** Adds the metrics of one file to a registry. */
export function countReloads(registry: MetricRegistry, clock: Clock, { what, stability, helps }: ReloadedFile): ReloadObserver {
  const prefix = `apiserver_${what}_config_controller`;
  const server = { apiserver_id_hash: hashText(nameServer()) };
  const times = new Map<string, number>();
  let config = '';
  const reloads = registry.counter({ name: `${prefix}_automatic_reloads_total`, ...(stability !== undefined && { stability }), help: helps[0] });
  registry.gauge({
    name: `${prefix}_automatic_reload_last_timestamp_seconds`, ...(stability !== undefined && { stability }), help: helps[1],
  }, () => [...times]);
  registry.gauge({
    name: `${prefix}_last_config_info`, stability: 'ALPHA',
    help: `Information about the last applied ${what} configuration with hash as label, split by apiserver identity.`,
  }, () => (config === '' ? [] : [[formatLabels({ ...server, hash: config }), 1]]));
  return {
    loaded: (content) => void (config = hashText(content)),
    reloaded(status, content) {
      const labels = formatLabels({ ...server, status });
      reloads.add(labels);
      times.set(labels, clock.now() / 1000);
      if (content !== undefined) config = hashText(content);
    },
  };
}

/** Adds the metrics of the file that callers or rights are decided by. */
export function countAccessReloads(registry: MetricRegistry, clock: Clock, what: 'authentication' | 'authorization'): ReloadObserver {
  const rest = `of ${what} configuration split by status and apiserver identity.`;
  return countReloads(registry, clock, {
    what, stability: 'BETA', helps: [`Total number of automatic reloads ${rest}`, `Timestamp of the last automatic reload ${rest}`],
  });
}
