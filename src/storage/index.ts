// The door of storage: keys, bytes, revisions, durability.
export {
  type KeyRange, type KeyValue, type Store, type StoreEvent, type StoreWatch, type TxnRequest, type TxnResult, type WatchObserver, keyRange, prefixRange,
} from './store.ts';
export { MAX_KEY_BYTES } from './keys.ts';
export { type DamagedRecord, StorageHealth } from './health.ts';
export { StorageClosedError, StorageCorruptError, StorageUnavailableError, StorageWriteError } from './errors.ts';
export { KeyIndex, type Ranged } from './key-index.ts';
export { type MemoryStore, createMemoryStore } from './memory/memory-store.ts';
// `export type`, not `export { type … }`: the latter would still load the module, and the database library with it.
export type { CheckReport } from './embedded/reports.ts';
export type { SharedValues } from './embedded/tables/shared-values.ts';
export {
  bumpRevision, checkEmbeddedStore, openEmbeddedImage, openEmbeddedStore, openSharedValues, repairEmbeddedStore, restoreEmbeddedStore,
} from './embedded/lazy.ts';
export { createPartedStore } from './parted-store.ts';
export { shareWatches } from './remote/shared-store.ts';
export { type RestoredKey, type StoreImage, openImage } from './image.ts';
export type { EtcdStoreOptions } from './etcd/open.ts';
export { openEtcdStore, readEtcdStatus } from './etcd/lazy.ts';
export type { PostgresStoreOptions } from './postgres/open.ts';
export { bumpPostgresRevision, openPostgresStore, restorePostgresStore } from './postgres/lazy.ts';
export { isPostgresUrl, redactPostgresUrl } from './postgres/url.ts';
