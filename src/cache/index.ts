// The door of cache: a watchable, versioned copy of one prefix of a Store.
export type { Cache, CacheEvent, CacheObserver, Compaction, Entry, Snapshot, WatchedRange, Watcher } from './contract.ts';
export { HISTORY_LIMIT, createCache } from './cache.ts';
