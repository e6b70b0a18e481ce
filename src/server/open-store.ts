// Opens the Store that the options ask for, and says in one line why it cannot.
import { existsSync } from 'node:fs';
import {
  type DamagedRecord, type EtcdStoreOptions, type PostgresStoreOptions, StorageHealth, type Store, createMemoryStore, createPartedStore, openEmbeddedStore,
  openEtcdStore, openPostgresStore, readEtcdStatus,
} from '../storage/index.ts';
import { type DataDirectory, readTextFile } from './data-directory.ts';
import { describeError } from './observability/logger.ts';
import { type ServerOptions, StartError } from './options/options.ts';

/** Longer than any server runs. */
const NEVER_MS = 1e15;

/** The Store in etcd or PostgreSQL, in the data directory, or one in memory. */
export async function openStore(options: ServerOptions, directory: DataDirectory, health: StorageHealth): Promise<Store> {
  const { clock, historyMs } = options;
  const common = { clock, historyMs, compactionIntervalMs: options.compactionIntervalMs === 0 ? NEVER_MS : options.compactionIntervalMs };
  try {
    if (options.etcdServers.length > 0) return await openEtcds(options);
    if (options.datastoreEndpoint !== '' && directory.store !== '' && existsSync(directory.store)) {
      throw new Error(`${directory.store} holds objects that --datastore-endpoint would leave aside: copy them with "pintle storage copy" and move it away`);
    }
    if (options.datastoreEndpoint !== '') return await openPostgresStore(describePostgres(options, health));
    if (directory.store === '') return createMemoryStore(common);
    return await openEmbeddedStore({ ...common, directory: directory.store, health });
  } catch (error) {
    throw new StartError(`cannot open the store: ${(error as Error).message}`, { cause: error });
  }
}

/** The Store in etcd, with parts where other etcds keep some resources. */
async function openEtcds(options: ServerOptions): Promise<Store> {
  const parts = options.etcdServersOverrides.length === 0 ? [] : (await import('./store-parts.ts')).listStoreParts(options, findRoot(options));
  const opening = [options.etcdServers, ...parts.map(({ servers }) => servers)].map((servers) => openEtcdStore(describeEtcd(options, servers)));
  const [main, ...others] = await Promise.all(opening).catch(async (error: unknown) => {
    for (const opened of await Promise.allSettled(opening)) if (opened.status === 'fulfilled') await opened.value.close();
    throw error;
  }) as [Store, ...Store[]];
  if (parts.length === 0) return main;
  return createPartedStore(main, new Map(parts.flatMap(({ prefixes }, index) => prefixes.map((prefix) => [prefix, others[index]!]))));
}

/** The faults of a store with which the server continues; each is logged once. */
export function createStorageHealth({ logger }: Pick<ServerOptions, 'logger'>, announce: (change: DiskChange) => void = () => {}): StorageHealth {
  return new StorageHealth({
    damaged(record) {
      const { key, cause } = record;
      logger.error('a stored record is damaged', { key, cause });
      announce({ damaged: record });
    },
    replaced: (revision) => announce({ replaced: revision }),
    refused(cause) {
      logger.error('the disk refuses writes', { cause });
      announce({ refused: cause });
    },
    accepted() {
      logger.info(0, 'the disk takes writes again');
      announce('accepted');
    },
  });
}

/** A fault of the store that another process owns, or its end. */
export type DiskChange = { readonly refused: string } | { readonly damaged: DamagedRecord } | { readonly replaced: number } | 'accepted';

/** The faults of a store that are there at the moment. */
export function listFaults({ refusal, damaged }: StorageHealth): readonly DiskChange[] {
  return [...(refusal === undefined ? [] : [{ refused: refusal }]), ...damaged.map((record) => ({ damaged: record }))];
}

/** Notes what another process has announced. */
export function noteDiskChange(health: StorageHealth, change: DiskChange): void {
  if (change === 'accepted') health.noteAcceptance();
  else if ('refused' in change) health.noteRefusal(change.refused);
  else if ('damaged' in change) health.noteDamage(change.damaged);
  else health.noteReplaced(change.replaced);
}

/** Where the keys of all objects begin. */
export function findRoot({ etcdServers, etcdPrefix }: Pick<ServerOptions, 'etcdServers' | 'etcdPrefix'>): string {
  return etcdServers.length === 0 ? '/registry' : `/${etcdPrefix.replace(/^\/|\/$/g, '')}`;
}

/** Several servers may share the store. */
export function isShared({ etcdServers, datastoreEndpoint }: Pick<ServerOptions, 'etcdServers' | 'datastoreEndpoint'>): boolean {
  return etcdServers.length > 0 || datastoreEndpoint !== '';
}

function describePostgres(options: ServerOptions, health: StorageHealth): PostgresStoreOptions {
  const { datastoreEndpoint, clock, logger, compactionIntervalMs: intervalMs, historyMs } = options;
  // Each interval compacts up to where the one before ended.
  const compactionIntervalMs = intervalMs === 0 ? 0 : Math.max(intervalMs, historyMs);
  return {
    clock, health, compactionIntervalMs, endpoint: datastoreEndpoint, tls: readDatastoreTls(options),
    report: (error) => logger.warn('the connection to PostgreSQL will be made again', describeError(error)),
  };
}

type StoreTls = NonNullable<PostgresStoreOptions['tls']>;

/** The PEM files that --datastore-cafile, --datastore-certfile and --datastore-keyfile name. */
export function readDatastoreTls(
  { datastoreCaFile: ca, datastoreCertFile: cert, datastoreKeyFile: key }: Pick<ServerOptions, 'datastoreCaFile' | 'datastoreCertFile' | 'datastoreKeyFile'>,
): StoreTls {
  return readTls('--datastore', { ca, cert, key });
}

/** The PEM files that --etcd-cafile, --etcd-certfile and --etcd-keyfile name. */
export function readEtcdTls(
  { etcdCaFile: ca, etcdCertFile: cert, etcdKeyFile: key }: Pick<ServerOptions, 'etcdCaFile' | 'etcdCertFile' | 'etcdKeyFile'>,
): StoreTls {
  return readTls('--etcd', { ca, cert, key });
}

function readTls(flags: string, { ca, cert, key }: Required<StoreTls>): StoreTls {
  if ((cert === '') !== (key === '')) throw new StartError(`${flags}-certfile and ${flags}-keyfile must be given together`);
  return {
    ...(ca !== '' && { ca: readTextFile(`${flags}-cafile`, ca) }),
    ...(cert !== '' && { cert: readTextFile(`${flags}-certfile`, cert), key: readTextFile(`${flags}-keyfile`, key) }),
  };
}

/** For each etcd of the store what reads the bytes of its database, from the server that answers first. */
export function listEtcdSizes(options: ServerOptions, parts: readonly { readonly servers: readonly string[] }[]): (() => Promise<number>)[] {
  return options.etcdServers.length === 0 ? [] : [{ servers: options.etcdServers }, ...parts].map(({ servers }) =>
    async () => (await readEtcdStatus(describeEtcd(options, servers))).sizeBytes);
}

function describeEtcd(options: ServerOptions, endpoints: readonly string[]): EtcdStoreOptions {
  const { clock, logger } = options;
  return {
    clock, endpoints,
    compactionIntervalMs: options.etcdCompactionIntervalMs,
    tls: readEtcdTls(options),
    report: (error) => logger.warn('the connection to etcd will be made again', describeError(error)),
  };
}
