// Opens the Store over a cluster of etcd.
import type { Clock } from '../../base/index.ts';
import type { Store } from '../store.ts';
import type { ChannelTls } from '../../grpc/index.ts';
import { EtcdConnection } from './grpc/connection.ts';
import { EtcdStore, readRevision } from './etcd-store.ts';
import { type StatusAnswer, decodeStatus } from './grpc/messages.ts';

/** Options of an etcd Store. */
export interface EtcdStoreOptions {
  /** Servers of one cluster, such as `https://10.0.0.1:2379`; any of them will do. */
  readonly endpoints: readonly string[];
  readonly clock: Clock;
  /** PEM texts: authorities that are trusted, and the certificate and key that are shown. */
  readonly tls?: ChannelTls;
  /** Time between compactions, by one of all servers; 5 minutes when absent, 0: never. */
  readonly compactionIntervalMs?: number;
  /** Called with each lost connection, which the Store opens again by itself. */
  readonly report?: (error: unknown) => void;
}

const FIVE_MINUTES_MS = 300_000;

/** Connects to etcd; rejects with StorageUnavailableError when no server answers, RangeError for a text that is not an endpoint. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { endpoints, clock, tls, compactionIntervalMs = FIVE_MINUTES_MS, report = () => undefined } = options;
  const connection = new EtcdConnection(endpoints, tls);
  try {
    const revision = await readRevision(connection);
    return new EtcdStore({ connection, clock, compactionIntervalMs, revision, report });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The status of the server that answers first. */
export async function readEtcdStatus(options: Pick<EtcdStoreOptions, 'endpoints' | 'tls'>): Promise<StatusAnswer> {
  const connection = new EtcdConnection(options.endpoints, options.tls);
  try {
    return decodeStatus(await connection.call('/etcdserverpb.Maintenance/Status', Buffer.alloc(0), { type: 'read' }));
  } finally {
    connection.close();
  }
}
