// The contract of the watchable copy of one key prefix. T is whatever the owner decodes a version into; the cache never looks inside.
import type { KeyRange, KeyValue } from '../storage/index.ts';

/** One live key at one version. */
export interface Entry<T> {
  readonly key: string;
  readonly modRevision: number;
  readonly value: T;
}

/** A value of one of the columns that a cache reads of its values (see CacheOptions). */
export interface ColumnValue {
  readonly column: number;
  readonly value: string;
}

/** Reads the columns of a value; undefined where they cannot be read. */
export type ColumnsOf<T> = (value: T) => readonly string[] | undefined;

/** Whether the owner of a chunk had work with it; 'later': a part is to be done, but cannot be yet. */
export type Compaction = boolean | 'later';

/** An immutable view of the prefix at exactly `revision`. Reading from it is synchronous and never blocks a writer. */
export interface Snapshot<T> {
  readonly revision: number;
  readonly size: number;
  get(key: string): Entry<T> | undefined;
  /** Entries of `range` in key order. */
  entries(range: KeyRange): Iterable<Entry<T>>;
  /**
   * The same entries as runs that never change: a chunk object is the same (===) for every snapshot that shares it,
   * so that what is computed from a chunk (its encoded bytes) can be kept in a WeakMap. `from`/`to` bound the part in range.
   */
  chunks(range: KeyRange): Iterable<{ readonly chunk: readonly Entry<T>[]; readonly from: number; readonly to: number }>;
  /**
   * Entries of `range` in key order, among them all that have `only`, found without looking at the others; undefined where that cannot be done: in past
   * states, while the column is not indexed (which the first call begins), where many have the value.
   */
  find(only: ColumnValue, range: KeyRange): readonly Entry<T>[] | undefined;
  /** Number of entries in `range`, in logarithmic time. */
  count(range: KeyRange): number;
}

/** One change of one key, in revision order. */
export interface CacheEvent<T> {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  /** The new version; for a delete, undefined. */
  readonly value: T | undefined;
  /** The version before; undefined for a creation. */
  readonly previous: T | undefined;
}

/** What a watcher wants: changes of keys in a range, and of these, with `only`, those of values that have this in a column, before the change or after it. */
export interface WatchedRange extends KeyRange {
  readonly only?: ColumnValue | undefined;
}

/**
 * A watcher is a cursor into shared history: the cache never pushes values into it and never waits for it.
 *
 *   synced ──(its reader falls behind history)──▶ expired
 *     ▲ └─ take() empties it, wake() is called on the next event
 *   lagging (starts before in-memory history: replayed from the Store until it joins)
 */
export interface Watcher<T> {
  /** Up to `limit` changes in its range since the last call, and those that share the last one's revision; empty when there is nothing to do now. */
  take(limit: number): readonly CacheEvent<T>[];
  /** Everything up to this revision was taken (advances on quiet prefixes too, when take() has emptied it). */
  readonly revision: number;
  /** Set once history no longer holds what the watcher has not taken, or the cache closed. */
  readonly end: 'expired' | 'closed' | undefined;
  close(): void;
}

/** The watchable copy of one prefix. */
export interface Cache<T> {
  /** Resolves when the first list has arrived. */
  ready(): Promise<void>;
  /** The newest snapshot; before ready, an empty one at revision 0. */
  latest(): Snapshot<T>;
  /** The entry of one key in the newest snapshot, found faster than there. */
  get(key: string): Entry<T> | undefined;
  /** The snapshot at exactly `revision`, or undefined when it is not in history (any more, or yet). */
  at(revision: number): Snapshot<T> | undefined;
  /** Revision that this cache has reached (its snapshot's, or a later one known by progress). */
  readonly revision: number;
  /** True once the cache has reached `revision`; false when `timeoutMs` passed first. */
  waitUntil(revision: number, timeoutMs: number): Promise<boolean>;
  /** True when the copy has every write acknowledged before, as far as that is known without waiting; `revision` is then the Store's. */
  isCurrent(): boolean;
  /** Learns the Store's revision and waits for it: a read begun now sees every write acknowledged before. */
  waitUntilCurrent(timeoutMs: number): Promise<boolean>;
  /**
   * Watches `range` for changes after revision `after`. `wake` is called (at most once per emptying take) when there is something to take. Changes that
   * `only` leaves out may be taken as well, where they are read from the Store.
   */
  watch(range: WatchedRange, after: number, wake: () => void): Watcher<T>;
  close(): void;
}

/** Receives what a cache does, to count it. */
export interface CacheObserver {
  /** A list has filled the copy, for the first time or again. */
  initialized(entries: number): void;
  /** Changes have come. */
  changed(changes: number): void;
  /** A read has waited until the copy was fresh enough, or for as long as it might. */
  waited(ms: number): void;
}

/** Makes a T of what the Store holds. Called once per version. */
export type Decode<T> = (kv: KeyValue) => T;
