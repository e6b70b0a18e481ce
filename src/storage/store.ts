// The contract of every Store: etcd's semantics and words (range, txn, watch, compact, revision), nothing of Kubernetes.
// One suite (store.suite.ts) holds all implementations to it: memory, embedded (LMDB), etcd and PostgreSQL.
//
// Revisions are positive integers below 2^53 that grow by one with every committed txn, never go back and are never reused,
// not even for writes that a crash undid before they were acknowledged. An empty, new Store is at revision 1.

/** One version of one key. `value` is immutable. */
export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of the put that brought the key into being. */
  readonly createRevision: number;
  /** Revision of the put that wrote this version. */
  readonly modRevision: number;
  /** The reason for which the value cannot be read: its record is damaged. `value` is empty then. */
  readonly damage?: string;
}

/** A half-open interval of keys in byte order: `start` ≤ key < `end`. */
export interface KeyRange {
  readonly start: string;
  readonly end: string;
}

/** A read. Keys compare by their UTF-8 bytes. */
export interface RangeRequest extends KeyRange {
  /** Read the state as of this revision; absent means the newest. */
  readonly revision?: number;
  /** At most this many key-values; absent means all. `count` is not affected. */
  readonly limit?: number;
  /** Leave `kvs` empty, answer `count` only. */
  readonly countOnly?: boolean;
  /** The caller does not need `count`, which may then be that of `kvs`: a read of many pages would count the rest with each of them. */
  readonly uncounted?: boolean;
}

/** Expected outcomes of a read are values, not exceptions. */
export type RangeResult =
  | {
      readonly type: 'ok';
      /** The Store's revision when it answered (for an exact read: not the revision read at). */
      readonly revision: number;
      readonly kvs: readonly KeyValue[];
      /** There are keys in the range beyond those returned. */
      readonly more: boolean;
      /** All keys in the range at that revision. */
      readonly count: number;
    }
  | { readonly type: 'compacted'; readonly compactRevision: number; readonly revision: number }
  | { readonly type: 'future'; readonly revision: number };

/**
 * One optimistic write of one key: it commits if the key's modRevision is still `expect` (0: the key must be absent).
 * `value` absent means delete (of a key that exists: `expect` above 0).
 */
export interface TxnRequest {
  readonly key: string;
  readonly expect: number;
  readonly value?: Uint8Array;
  /** The key is deleted, as by a txn, this many seconds after the put unless written again (an etcd lease). */
  readonly ttlSeconds?: number;
}

/** `committed` is answered only when the write is durable; `conflict` only when the state that caused it is. */
export type TxnResult =
  | { readonly type: 'committed'; readonly revision: number }
  | { readonly type: 'conflict'; readonly revision: number; readonly current?: KeyValue };

/** One change. For a delete, `kv` has the key, an empty value and the revision of the deletion. */
export interface StoreEvent {
  readonly type: 'put' | 'delete';
  readonly kv: KeyValue;
  /** The version that this change replaced; absent for the creation of a key. */
  readonly previous?: KeyValue;
}

/**
 * Receives a watch. Called synchronously, in revision order, durable changes only; must not throw. A change comes no later than the
 * answer to its writer, or soon after where the Store is elsewhere.
 */
export interface WatchObserver {
  /** One or more changes, all of a revision in one call (keys that end with one lease share it); `revision` is that of the last. */
  events(batch: readonly StoreEvent[], revision: number): void;
  /** Everything up to and including `revision` has been delivered. */
  progress(revision: number): void;
  /** The watch is over: its start was compacted, the Store closed, or the connection to it was lost for good. */
  ended(reason: { type: 'compacted'; compactRevision: number } | { type: 'closed' } | { type: 'failed'; error: Error }): void;
}

/** A watch in progress. */
export interface StoreWatch {
  /** Asks for a `progress` call soon, with a revision at least as new as every write acknowledged before this call. */
  requestProgress(): void;
  /**
   * The Store's revision, at least that of every txn answered before the call, when everything up to it has been delivered; undefined when
   * that is not known in this turn. Absent where the Store is elsewhere and has to be asked.
   */
  delivered?(): number | undefined;
  /** Ends the watch; nothing is delivered afterwards, `ended` is not called. */
  close(): void;
}

/** Durable state for the layers above. */
export interface Store {
  range(request: RangeRequest): Promise<RangeResult>;
  /** Reads nothing back: callers have the value that they wrote. Rejects only on I/O failure, when the outcome may be unknown. */
  txn(request: TxnRequest): Promise<TxnResult>;
  /** Delivers every change of the range from revision `from` on (inclusive). History first, then live. */
  watch(range: KeyRange, from: number, observer: WatchObserver): StoreWatch;
  /** Forgets versions superseded at or before `revision`; exact reads and watches before it are then `compacted`. */
  compact(revision: number): Promise<{ readonly compactRevision: number }>;
  /** Seconds until keys end, by the revision of the put that began them; keys that were written again or deleted since may be among them. */
  timesToLive(): Promise<ReadonlyMap<number, number>>;
  /**
   * The newest durable revision, linearizable: at least that of every txn answered before the call. Where parts of a Store have revisions of their own
   * (parted-store.ts) it is that of the part which holds `key`.
   */
  revision(key?: string): Promise<number>;
  /**
   * The value that was written to `key` at `revision`, in this turn, in memory that the next call uses again; undefined where it cannot be had: it is too
   * new, or superseded and forgotten. Throws for one that is damaged. Only there where values are at hand without a copy in this process, which callers
   * need not keep then.
   */
  recall?(key: string, revision: number): Uint8Array | undefined;
  close(): Promise<void>;
}

/** The range of all keys that begin with `prefix` (which must not be empty nor end in U+FFFF). */
export function prefixRange(prefix: string): KeyRange {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}

/** The range that holds `key` alone. */
export function keyRange(key: string): KeyRange {
  return { start: key, end: `${key}\u0000` };
}
