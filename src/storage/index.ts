// The door of storage: keys, bytes, revisions, durability.
export {
  type KeyRange, type KeyValue, type RangeRequest, type RangeResult, type Store, type StoreEvent, type StoreWatch,
  type TxnRequest, type TxnResult, type WatchObserver, keyRange, prefixRange,
} from './store.ts';
export { StorageClosedError, StorageCorruptError, StorageFormatError, StorageLockedError, StorageUnavailableError, StorageWriteError } from './errors.ts';
export { maxKeyBytes } from './keys.ts';
export { type MemoryStoreOptions, createMemoryStore } from './memory/memory-store.ts';
// `export type`, not `export { type … }`: the latter would still load the module, and the database library with it.
export type { CheckReport } from './embedded/check.ts';
export type { EmbeddedStoreOptions } from './embedded/open.ts';
export { checkEmbeddedStore, openEmbeddedStore } from './embedded/lazy.ts';
export { type ValueTransform, chainTransforms, transformValues } from './transform.ts';
export type { EtcdStoreOptions } from './etcd/open.ts';
export { openEtcdStore } from './etcd/lazy.ts';
