// Opens the Store that the options ask for, and says in one line why it cannot.
import { type EtcdStoreOptions, StorageHealth, type Store, createMemoryStore } from '../storage/index.ts';
import { type DataDirectory, readTextFile } from './data-directory.ts';
import { describeError } from './observability/logger.ts';
import { type ServerOptions, StartError } from './options/options.ts';

/** Longer than any server runs. */
const NEVER_MS = 1e15;

/** The Store in etcd, in the data directory, or one in memory. */
export async function openStore(options: ServerOptions, directory: DataDirectory, health: StorageHealth): Promise<Store> {
  const { clock, historyMs } = options;
  const common = { clock, historyMs, compactionIntervalMs: options.compactionIntervalMs === 0 ? NEVER_MS : options.compactionIntervalMs };
  try {
    // Only servers with a disk, or on etcd, pay for loading the libraries for it.
    const { openEmbeddedStore, openEtcdStore } = await import('../storage/index.ts');
    if (options.etcdServers.length > 0) return await openEtcdStore(describeEtcd(options));
    if (directory.store === '') return createMemoryStore(common);
    return await openEmbeddedStore({ ...common, directory: directory.store, health });
  } catch (error) {
    throw new StartError(`cannot open the store: ${(error as Error).message}`, { cause: error });
  }
}

/** The faults of a store with which the server continues; each is logged once. */
export function createStorageHealth({ logger }: Pick<ServerOptions, 'logger'>): StorageHealth {
  return new StorageHealth({
    damaged: ({ key, cause }) => logger.error('a stored record is damaged', { key, cause }),
    refused: (cause) => logger.error('the disk refuses writes', { cause }),
    accepted: () => logger.info(0, 'the disk takes writes again'),
  });
}

/** Where the keys of all objects begin. */
export function findRoot({ etcdServers, etcdPrefix }: Pick<ServerOptions, 'etcdServers' | 'etcdPrefix'>): string {
  return etcdServers.length === 0 ? '/registry' : `/${etcdPrefix.replace(/^\/|\/$/g, '')}`;
}

function describeEtcd(options: ServerOptions): EtcdStoreOptions {
  const { etcdServers, etcdCaFile, etcdCertFile, etcdKeyFile, clock, logger } = options;
  return {
    clock,
    endpoints: etcdServers,
    compactionIntervalMs: options.etcdCompactionIntervalMs,
    tls: {
      ...(etcdCaFile !== '' && { ca: readTextFile('--etcd-cafile', etcdCaFile) }),
      ...(etcdCertFile !== '' && { cert: readTextFile('--etcd-certfile', etcdCertFile), key: readTextFile('--etcd-keyfile', etcdKeyFile) }),
    },
    report: (error) => logger.warn('the connection to etcd will be made again', describeError(error)),
  };
}
