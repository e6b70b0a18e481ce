// Every kept version of every key, in memory: one key's life is a list of versions, a tombstone is a version without a value.
//
//   put a · put a · delete a · compact(4)        versions of a: [2:v1] → [2:v1 3:v2] → [2:v1 3:v2 4:✝] → none
//
// Synchronous and without time. It is the whole state of the memory Store, and what the embedded one is compared with in tests.
import { type SortedMap, createBoundsTest, createSortedMap, invariant } from '../base/index.ts';
import { forgottenBy } from './compaction.ts';
import type { KeyRange, KeyValue, RangeRequest, StoreEvent } from './store.ts';

/** The revision of a Store without a write. */
export const FIRST_REVISION = 1;

const noValue = new Uint8Array(0);

interface Version {
  readonly kv: KeyValue;
  readonly isTombstone: boolean;
}

/** The kept versions of one key, oldest first. A state changes the list of its own lives only; others it copies first. */
interface Life {
  readonly key: string;
  readonly versions: Version[];
  readonly owner: object;
}

/** Keys, versions and the log of changes since the last compaction. */
export class VersionedKeys {
  /** Keys that have any kept version. */
  #lives: SortedMap<Life> = createSortedMap<Life>();
  /** Keys that exist at the newest revision. */
  #live: SortedMap<KeyValue> = createSortedMap<KeyValue>();
  /** Changes after `compactRevision`; change i has revision `#logStart + i`. */
  #log: StoreEvent[] = [];
  #logStart = FIRST_REVISION + 1;
  /** Whether a fork has the same array of changes. */
  #sharesLog = false;
  #owner: object = {};
  revision = FIRST_REVISION;
  compactRevision = 0;

  /** The newest version of `key`, undefined when it does not exist. */
  head(key: string): KeyValue | undefined {
    return this.#live.get(key);
  }

  /** The same state, independent from now on: what neither changes stays shared. Takes no longer for many keys than for few. */
  fork(): VersionedKeys {
    const copy = new VersionedKeys();
    copy.#lives = this.#lives;
    copy.#live = this.#live;
    copy.#log = this.#log;
    copy.#logStart = this.#logStart;
    copy.revision = this.revision;
    copy.compactRevision = this.compactRevision;
    this.#sharesLog = copy.#sharesLog = true;
    // Lives of before belong to neither.
    this.#owner = {};
    return copy;
  }

  /** The state of a backup in place of an empty one: keys with the revisions that they had, without history. */
  restore(keys: Iterable<KeyValue>, revision: number): void {
    invariant(this.revision === FIRST_REVISION, 'only an empty state is restored');
    for (const { key, value, createRevision, modRevision } of keys) this.#append(key, { kv: { key, value, createRevision, modRevision }, isTombstone: false });
    this.revision = this.compactRevision = revision;
    this.#logStart = revision + 1;
  }

  /** All keys that exist at the newest revision, in order. */
  entries(): Iterable<KeyValue> {
    return this.#live;
  }

  /** The kept versions of a key, oldest first; a deletion has an empty value. */
  versions(key: string): readonly { readonly kv: KeyValue; readonly isTombstone: boolean }[] {
    return this.#lives.get(key)?.versions ?? [];
  }

  /** Writes the next revision; without a value it deletes a key that must exist. */
  commit(key: string, value: Uint8Array | undefined): StoreEvent {
    const previous = this.head(key);
    invariant(value || previous, 'only a key that exists is deleted');
    const modRevision = this.revision + 1;
    const createRevision = previous?.createRevision ?? modRevision;
    const kv: KeyValue = { key, value: value ?? noValue, createRevision, modRevision };
    const event: StoreEvent = { type: value ? 'put' : 'delete', kv, ...(previous && { previous }) };
    this.#append(key, { kv, isTombstone: !value });
    if (this.#sharesLog) this.#log = [...this.#log];
    this.#sharesLog = false;
    this.#log.push(event);
    this.revision = modRevision;
    return event;
  }

  /** The state of `request`'s range at its revision, which must be neither compacted nor in the future. */
  range(request: RangeRequest): { kvs: KeyValue[]; more: boolean; count: number } {
    const revision = request.revision ?? this.revision;
    const limit = request.countOnly ? 0 : (request.limit ?? Infinity);
    const isNewest = revision === this.revision;
    const kvs: KeyValue[] = [];
    let count = isNewest ? this.#live.count(request) : 0;
    for (const kv of isNewest ? this.#live.entries(request) : this.#statesAt(request, revision)) {
      if (isNewest && kvs.length >= limit) break;
      if (kvs.length < limit) kvs.push(kv);
      if (!isNewest) count += 1;
    }
    return { kvs, more: count > kvs.length, count };
  }

  /** Changes of `range` in `span`, which must begin after the compact revision. */
  changes(range: KeyRange, span: { readonly from: number; readonly through: number }): StoreEvent[] {
    const part = this.#log.slice(Math.max(0, span.from - this.#logStart), Math.max(0, span.through + 1 - this.#logStart));
    const isInside = createBoundsTest(range);
    return part.filter((event) => isInside(event.kv.key));
  }

  /** Forgets what was superseded at or before `revision`. */
  compact(revision: number): void {
    if (revision <= this.compactRevision) return;
    invariant(revision <= this.revision, 'only the past is compacted');
    const forgotten = Math.max(0, revision + 1 - this.#logStart);
    const newestForgotten = new Map<string, number>();
    for (const change of this.#log.slice(0, forgotten)) {
      const last = forgottenBy(change).at(-1);
      if (last !== undefined) newestForgotten.set(change.kv.key, last);
    }
    for (const [key, last] of newestForgotten) this.#forget(key, last);
    this.#log = this.#log.slice(forgotten);
    this.#sharesLog = false;
    this.#logStart += forgotten;
    this.compactRevision = revision;
  }

  #append(key: string, version: Version): void {
    const life = this.#lives.get(key);
    if (life?.owner === this.#owner) life.versions.push(version);
    else this.#lives = this.#lives.set({ key, versions: [...life?.versions ?? [], version], owner: this.#owner });
    this.#live = version.isTombstone ? this.#live.delete(key) : this.#live.set(version.kv);
  }

  *#statesAt(range: KeyRange, revision: number): Generator<KeyValue> {
    for (const { versions } of this.#lives.entries(range)) {
      const version = versions.findLast((candidate) => candidate.kv.modRevision <= revision);
      if (version && !version.isTombstone) yield version.kv;
    }
  }

  /** Versions older than a forgotten one are forgotten too: each was superseded by the next. */
  #forget(key: string, last: number): void {
    const life = this.#lives.get(key);
    if (life === undefined) return;
    const kept = life.versions.findIndex((version) => version.kv.modRevision > last);
    if (kept < 0) this.#lives = this.#lives.delete(key);
    else if (life.owner === this.#owner) life.versions.splice(0, kept);
    else this.#lives = this.#lives.set({ key, versions: life.versions.slice(kept), owner: this.#owner });
  }
}
