// The metrics of static manifests of admission, under upstream's names: loads that were used and that failed, when the last ones were, and a hash
// of what is in use. The server is named by the hash of its name.
import type { Clock } from '../../base/index.ts';
import { nameServer } from '../server-identity.ts';
import { type MetricRegistry, type Sample, formatLabels, hashText } from './metric.ts';

/** Counts the loads of the manifests of a plugin: with the hash of the files, or without it where they could not be used. */
export type RecordManifests = (plugin: string, hash: string | undefined) => void;

const PREFIX = 'apiserver_manifest_admission_config_controller_';
const SPLIT = 'split by status, plugin, and apiserver identity.';

/** Adds the metrics to a registry. */
export function countManifests(registry: MetricRegistry, clock: Clock): RecordManifests {
  const serverHash = hashText(nameServer());
  const times = new Map<string, number>();
  const used = new Map<string, Sample>();
  const loads = registry.counter({
    name: `${PREFIX}automatic_reloads_total`, stability: 'ALPHA', help: `Total number of automatic reloads of admission manifest configuration ${SPLIT}`,
  });
  registry.gauge({
    name: `${PREFIX}automatic_reload_last_timestamp_seconds`, stability: 'ALPHA',
    help: `Timestamp of the last automatic reload of admission manifest configuration ${SPLIT}`,
  }, () => [...times]);
  registry.gauge({
    name: `${PREFIX}last_config_info`, stability: 'ALPHA',
    help: 'Information about the last applied admission manifest configuration with hash as label, split by plugin and apiserver identity.',
  }, () => [...used.values()]);
  return (plugin, hash) => {
    const common = { apiserver_id_hash: serverHash, plugin };
    const labels = formatLabels({ ...common, status: hash === undefined ? 'failure' : 'success' });
    loads.add(labels);
    times.set(labels, clock.now() / 1000);
    if (hash !== undefined) used.set(plugin, [formatLabels({ apiserver_id_hash: serverHash, hash, plugin }), 1]);
  };
}
