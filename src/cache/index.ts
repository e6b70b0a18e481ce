// The door of cache: a watchable, versioned copy of one prefix of a Store.
export type { Cache, CacheEvent, Decode, Entry, Snapshot, Watcher } from './contract.ts';
export { type CacheOptions, createCache } from './cache.ts';
