// The etcd Store as the door hands it out: its modules are loaded when one is opened, and not before.
import type { Store } from '../store.ts';
import type { StatusAnswer } from './grpc/messages.ts';
import type { EtcdStoreOptions } from './open.ts';

/** Connects to etcd; rejects with StorageUnavailableError when no server answers, RangeError for what is no endpoint. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  return (await import('./open.ts')).openEtcdStore(options);
}

/** The status of the server that answers first; rejects with StorageUnavailableError when none does. */
export async function readEtcdStatus(options: Pick<EtcdStoreOptions, 'endpoints' | 'tls'>): Promise<StatusAnswer> {
  return (await import('./open.ts')).readEtcdStatus(options);
}
