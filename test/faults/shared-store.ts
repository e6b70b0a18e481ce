// The stores that several servers may share, each with what its suites need of it: the options of a server on it, and the same through a proxy.
import { systemClock } from '../../src/base/index.ts';
import { type Store, openEtcdStore, openPostgresStore } from '../../src/storage/index.ts';
import { type EtcdMember, noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { noPostgres, startPostgres } from '../../src/storage/postgres/server.suite.ts';

type PlaceOptions = { readonly etcdServers: readonly string[] } | { readonly datastoreEndpoint: string };

/** One running store. */
export interface SharedStore {
  /** Where it listens. */
  readonly port: number;
  /** The member, where it is an etcd. */
  readonly member: EtcdMember | undefined;
  /** Options of a server on it, reached at `port`. */
  optionsAt(port: number): PlaceOptions;
  /** Opens it beside the servers; compacts nothing. */
  open(): Promise<Store>;
  stop(): Promise<void>;
}

/** A sort of store: its name, why it cannot run here, and how one is started. */
export interface SharedStoreSort {
  readonly name: string;
  readonly skip: string | false;
  start(): Promise<SharedStore>;
}

async function startEtcd(): Promise<SharedStore> {
  const cluster = await startCluster();
  const member = cluster.members[0] as EtcdMember;
  return {
    member, port: member.clientPort, optionsAt: (port) => ({ etcdServers: [`http://127.0.0.1:${port}`] }),
    open: () => openEtcdStore({ endpoints: cluster.endpoints, clock: systemClock, compactionIntervalMs: 0 }), stop: () => cluster.stop(),
  };
}

async function startDatabase(): Promise<SharedStore> {
  const server = await startPostgres();
  const urlAt = (port: number): string => server.url('pintle').replace(`:${server.port}`, `:${port}`);
  return {
    member: undefined, port: server.port, optionsAt: (port) => ({ datastoreEndpoint: urlAt(port) }),
    open: () => openPostgresStore({ endpoint: urlAt(server.port), clock: systemClock, compactionIntervalMs: 0 }), stop: () => server.stop(),
  };
}

/** All of them. */
export const sharedStores: readonly SharedStoreSort[] = [
  { name: 'etcd', skip: noEtcd, start: startEtcd }, { name: 'PostgreSQL', skip: noPostgres, start: startDatabase },
];

/** The flags that ask for a place on the command line. */
export const flagsOf = (place: PlaceOptions): readonly string[] =>
  ('etcdServers' in place ? ['--etcd-servers', place.etcdServers.join(',')] : ['--datastore-endpoint', place.datastoreEndpoint]);
