// The door of storage: keys, bytes, revisions, durability.
export {
  type KeyRange, type KeyValue, type RangeRequest, type RangeResult, type Store, type StoreEvent, type StoreWatch,
  type TxnRequest, type TxnResult, type WatchObserver, keyRange, prefixRange,
} from './store.ts';
export { StorageClosedError, StorageCorruptError, StorageFormatError, StorageLockedError, StorageWriteError } from './errors.ts';
export { maxKeyBytes } from './keys.ts';
export { type MemoryStoreOptions, createMemoryStore } from './memory/memory-store.ts';
export { type CheckReport } from './embedded/check.ts';
export { type EmbeddedStoreOptions, checkEmbeddedStore, openEmbeddedStore } from './embedded/open.ts';
