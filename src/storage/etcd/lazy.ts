// The etcd Store as the door hands it out: its modules are loaded when one is opened, and not before.
import type { Store } from '../store.ts';
import type { EtcdStoreOptions } from './open.ts';

/** Connects to etcd; rejects with StorageUnavailableError when no server answers, RangeError for what is no endpoint. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  return (await import('./open.ts')).openEtcdStore(options);
}
