// The metrics of encryption at rest under upstream's names: transformations of values, calls of key management plugins, ids of their keys (hashed), and
// automatic reloads of the configuration.
import { BoundedCache, type Clock } from '../../base/index.ts';
import type { ObserveCall } from '../../grpc/index.ts';
import { type MetricRegistry, type MetricSpec, formatLabels, hashText } from '../metrics/metric.ts';
import { type ReloadObserver, countReloads } from '../metrics/reload-metrics.ts';
import { nameServer } from '../server-identity.ts';
import { hashKeyId } from './kms-value.ts';

interface Transformation {
  readonly resource: string;
  readonly type: 'from_storage' | 'to_storage';
  /** The prefix of the provider. */
  readonly label: string;
  readonly durationMs: number;
  readonly error?: unknown;
}

/** Counts what encryption does. */
export interface EncryptionMetrics extends ReloadObserver {
  transformed(transformation: Transformation): void;
  observeCalls(provider: string): ObserveCall;
  usedKey(provider: string, type: Transformation['type'], keyId: string): void;
  statusKeyId(provider: string, keyId: string): void;
  invalidKeyId(provider: string, code: string): void;
  rememberedSeeds(provider: string, count: number): void;
  missedSeed(): void;
  madeSeed(): void;
}

const double = (first: number, count: number): number[] => Array.from({ length: count }, (_, index) => first * 2 ** index);
/** Ids of keys that are shown, those used last. */
const MOST_KEY_IDS = 100;

const reloadHelps = [
  'Total number of reload successes and failures of encryption configuration split by apiserver identity.',
  'Timestamp of the last successful or failed automatic reload of encryption configuration split by apiserver identity.',
] as const;
const alpha = (name: string, help: string): MetricSpec => ({ name, help, stability: 'ALPHA' });

/** Registers them. */
export function createEncryptionMetrics({ registry, clock }: { readonly registry: MetricRegistry; readonly clock: Clock }): EncryptionMetrics {
  const server = { apiserver_id_hash: hashText(nameServer()) };
  const seconds = (): number => clock.now() / 1000;
  const misses = registry.counter(alpha('apiserver_storage_envelope_transformation_cache_misses_total',
    'Total number of cache misses while accessing key decryption key(KEK).'));
  const made = registry.histogram({
    ...alpha('apiserver_storage_data_key_generation_duration_seconds', 'Latencies in seconds of data encryption key(DEK) generation operations.'),
    bounds: double(5e-6, 14),
  });
  const calls = registry.histogram({
    ...alpha('apiserver_envelope_encryption_kms_operations_latency_seconds', 'KMS operation duration with gRPC error code status total.'),
    bounds: double(0.0001, 20),
  });
  const invalid = registry.counter(alpha('apiserver_envelope_encryption_invalid_key_id_from_status_total',
    'Number of times an invalid keyID is returned by the Status RPC call split by error.'));
  const seeds = new Map<string, number>();
  registry.gauge(alpha('apiserver_envelope_encryption_dek_source_cache_size', 'Number of records in data encryption key (DEK) source cache. On a restart, '
    + 'this value is an approximation of the number of decrypt RPC calls the server will make to the KMS plugin.'),
  () => [...seeds].map(([name, count]) => [formatLabels({ provider_name: name }), count]));
  return {
    ...measureTransformations(registry),
    ...followKeyIds(registry, server, seconds),
    ...countReloads(registry, clock, { what: 'encryption', stability: 'ALPHA', helps: reloadHelps }),
    observeCalls: (provider) => (method, durationMs, code) =>
      calls.observe(formatLabels({ grpc_status_code: code, method_name: method, provider_name: provider }), durationMs / 1000),
    invalidKeyId: (provider, error) => invalid.add(formatLabels({ error, provider_name: provider })),
    rememberedSeeds: (provider, count) => void seeds.set(provider, count),
    missedSeed: () => misses.add(''),
    madeSeed: () => made.observe('', 0),
  };
}

function measureTransformations(registry: MetricRegistry): Pick<EncryptionMetrics, 'transformed'> {
  const durations = registry.histogram({
    ...alpha('apiserver_storage_transformation_duration_seconds', 'Latencies in seconds of value transformation operations.'), bounds: double(5e-6, 25),
  });
  const operations = registry.counter(alpha('apiserver_storage_transformation_operations_total',
    "Total number of transformations. Successful transformation will have a status 'OK' and a varied status string when the transformation fails."));
  return {
    transformed({ resource, type, label, durationMs, error }) {
      const status = error === undefined ? 'OK' : 'unknown-non-grpc';
      operations.add(formatLabels({ resource, status, transformation_type: type, transformer_prefix: label }));
      if (error === undefined) durations.observe(formatLabels({ transformation_type: type, transformer_prefix: label }), durationMs / 1000);
    },
  };
}

type Server = Readonly<Record<string, string>>;

interface KeyUse {
  readonly labels: string;
  count: number;
  atSeconds: number;
}

/** The ids of keys by how they were used; the hash of an id is made once for as long as it is shown. */
function followKeyIds(registry: MetricRegistry, server: Server, seconds: () => number): Pick<EncryptionMetrics, 'usedKey' | 'statusKeyId'> {
  const uses = new BoundedCache<string, KeyUse>({ limit: MOST_KEY_IDS });
  const statuses = new BoundedCache<string, KeyUse>({ limit: MOST_KEY_IDS });
  const note = (known: BoundedCache<string, KeyUse>, id: string, describe: () => Server): void => {
    const use = known.getOrMake(id, () => ({ labels: formatLabels(describe()), count: 0, atSeconds: 0 }));
    use.count += 1;
    use.atSeconds = seconds();
  };
  const gauge = (name: string, help: string, known: BoundedCache<string, KeyUse>): void =>
    registry.gauge(alpha(`apiserver_envelope_encryption_${name}`, help), () => Array.from(known.values(), ({ labels, atSeconds }) => [labels, atSeconds]));
  registry.countOf(alpha('apiserver_envelope_encryption_key_id_hash_total',
    'Number of times a keyID is used split by transformation type, provider, and apiserver identity.'),
  () => Array.from(uses.values(), ({ labels, count }) => [labels, count]));
  gauge('key_id_hash_last_timestamp_seconds', 'The last time in seconds when a keyID was used.', uses);
  gauge('key_id_hash_status_last_timestamp_seconds', 'The last time in seconds when a keyID was returned by the Status RPC call.', statuses);
  return {
    usedKey: (provider, type, keyId) => note(uses, `${type} ${provider} ${keyId}`,
      () => ({ ...server, key_id_hash: hashKeyId(keyId), provider_name: provider, transformation_type: type })),
    statusKeyId: (provider, keyId) => note(statuses, `${provider} ${keyId}`,
      () => ({ ...server, key_id_hash: hashKeyId(keyId), provider_name: provider })),
  };
}
