// The etcd Store as the door hands it out: the gRPC library is loaded by those who open one, and by nobody else.
import type { Store } from '../store.ts';
import type { EtcdStoreOptions } from './open.ts';

/** Connects to etcd; rejects with StorageUnavailableError when no server answers, RangeError for what is no endpoint. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  return (await import('./open.ts')).openEtcdStore(options);
}
