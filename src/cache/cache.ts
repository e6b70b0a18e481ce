// The watchable copy of one prefix: list, then watch. Every change of state happens in one turn, inside a call of the Store's watch;
// watchers are woken after the state is complete. Like upstream's watch cache it serves reads, exact reads and watches from memory,
// and unlike it never pushes: a slow watcher costs the others nothing.
import { type Clock, type Steps, type Timer, createTimeSlice, runStepsInSlices } from '../base/index.ts';
import { type KeyValue, type Store, type StoreEvent, prefixRange } from '../storage/index.ts';
import type { Cache, CacheObserver, ColumnsOf, Compaction, Decode, Entry, Snapshot, WatchedRange, Watcher } from './contract.ts';
import { StoreReflector, type ReflectorSink } from './store-reflector.ts';
import { Freshness } from './freshness.ts';
import { type Change, History, KEPT_AT_LEAST, Listing } from './history.ts';
import { ChunkCompactor } from './chunk-compactor.ts';
import { ColumnIndexes } from './column-index.ts';
import { createSnapshot } from './snapshot.ts';
import { WatchIndex } from './watch-index.ts';
import { HistoryWatcher, type WatchHost } from './watcher.ts';

/** Changes that a cache keeps at most unless an option says otherwise. */
export const HISTORY_LIMIT = 100_000;

/** Options of a cache. */
export interface CacheOptions<T> {
  readonly store: Store;
  /** All keys of the copy begin with it; best ends in '/'. */
  readonly prefix: string;
  /** Called once per version (lagging watchers make old versions again). Must not throw: a throw makes the cache start over. */
  readonly decode: Decode<T>;
  readonly clock: Clock;
  /** How long changes are kept for watchers and exact reads; 5 minutes when absent, never under 75 s (upstream's freshness of events). */
  readonly historyMs?: number;
  /** How many changes are kept at most; HISTORY_LIMIT when absent, never under 100. */
  readonly historyLimit?: number;
  /** How many bytes of superseded values are kept at most; 32 MiB when absent. */
  readonly historyBytes?: number;
  /** Bytes that a value takes. */
  readonly sizeOf?: (value: T) => number;
  /** Entries per call of the listing. */
  readonly pageSize?: number;
  /** How often the Store is asked for progress when no read waits. */
  readonly progressIntervalMs?: number;
  /** Called with failures from which the cache recovers by itself. */
  readonly report?: (error: unknown) => void;
  /** Called with the chunks of a quiet copy from time to time, to move their values closer together. */
  readonly compactChunk?: (chunk: readonly Entry<T>[]) => Steps<Compaction>;
  /** Called with values that were changed or deleted: from then on only history holds them. */
  readonly supersede?: (value: T) => void;
  /** What watchers and reads may want a value of, see WatchedRange and Snapshot.find; no column can be read when absent. */
  readonly columnsOf?: ColumnsOf<T>;
  readonly observer?: CacheObserver | undefined;
}

const SHORTEST_WINDOW_MS = 75_000;
/** The longest turn of work on the values of a page, unless one of them takes longer. */
const TURN_MS = 8;
/** Large objects that change often would fill the memory well within the window; older changes are replayed from the Store. */
const HISTORY_BYTES = 32 * 2 ** 20;
/** Bounds for the whole window: the changes of a burst take 1 to 2 KB each beside their values, and the reference forgets them after 75 s too. */
const lasting = { recentMs: SHORTEST_WINDOW_MS, limit: 5000, limitBytes: 4 * 2 ** 20 };
/** After so many changes chunks are compacted, so that a burst does not wait for the next tick. */
const COMPACTED_AFTER = 2000;

class PrefixCache<T> implements Cache<T> {
  readonly #options: CacheOptions<T>;
  readonly #history: History<T>;
  readonly #watchIndex: WatchIndex<T, HistoryWatcher<T>>;
  readonly #columnIndexes: ColumnIndexes<T>;
  readonly #watchers = new Set<HistoryWatcher<T>>();
  readonly #host: WatchHost<T>;
  readonly #reflector: StoreReflector;
  readonly #freshness: Freshness;
  readonly #chunkCompactor: ChunkCompactor<T> | undefined;
  readonly #ready: Promise<void>;
  #resolveReady: () => void = () => undefined;
  #rejectReady: (error: Error) => void = () => undefined;
  #revision = 0;
  #listed = false;
  #closed = false;
  #tick: Timer | undefined;
  #latest: Snapshot<T> | undefined;
  #listing = new Listing<T>();
  #uncompacted = 0;

  constructor(options: CacheOptions<T>) {
    const { store, clock, prefix, historyMs = 300_000, historyLimit = HISTORY_LIMIT, pageSize = 1000, report = () => undefined } = options;
    this.#options = options;
    const bounds = { windowMs: Math.max(historyMs, SHORTEST_WINDOW_MS), limit: Math.max(historyLimit, KEPT_AT_LEAST) };
    this.#history = new History({ ...bounds, limitBytes: options.historyBytes ?? HISTORY_BYTES, lasting }, options.sizeOf);
    const reached = (): number => this.#revision;
    const forget = (watcher: HistoryWatcher<T>): void => void this.#watchers.delete(watcher);
    const decode = (kv: KeyValue): T => this.#toEntry(kv).value;
    const { columnsOf = () => undefined } = options;
    this.#watchIndex = new WatchIndex(columnsOf);
    this.#columnIndexes = new ColumnIndexes(columnsOf, clock);
    this.#host = { history: this.#history, watchIndex: this.#watchIndex, columnsOf, store, clock, decode, reached, report, forget };
    this.#reflector = new StoreReflector({ store, clock, pageSize, range: prefixRange(prefix), sink: this.#makeSink(), reached, report });
    this.#freshness = new Freshness({ store, prefix, clock, reached, requestProgress: () => this.#reflector.requestProgress() });
    this.#chunkCompactor = options.compactChunk === undefined ? undefined : new ChunkCompactor(clock, options.compactChunk);
    this.#ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    // A caller of ready() gets the failure; there may be none.
    this.#ready.catch(() => undefined);
    void this.#reflector.start();
    this.#scheduleTick();
  }

  get revision(): number {
    return this.#revision;
  }

  ready(): Promise<void> {
    return this.#ready;
  }

  latest(): Snapshot<T> {
    if (this.#latest !== undefined) return this.#latest;
    const map = this.#history.newest;
    const state = { size: map.size, chunks: () => map.chunks(prefixRange(this.#options.prefix)) };
    const find: Snapshot<T>['find'] = (only, range) => (map === this.#history.newest ? this.#columnIndexes.find(only, range, state) : undefined);
    return (this.#latest = createSnapshot(map, this.#revision, find));
  }

  get(key: string): Entry<T> | undefined {
    return this.#history.get(key);
  }

  at(revision: number): Snapshot<T> | undefined {
    if (revision > this.#revision || !this.#listed) return undefined;
    if (revision === this.#revision) return this.latest();
    const map = this.#history.at(revision);
    return map === undefined ? undefined : createSnapshot(map, revision);
  }

  waitUntil(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.#revision < revision) return this.#observeWait(this.#freshness.waitUntil(revision, timeoutMs));
    this.#options.observer?.waited(0);
    return Promise.resolve(true);
  }

  isCurrent(): boolean {
    const revision = this.#listed ? this.#reflector.delivered() : undefined;
    if (revision === undefined) return false;
    if (revision > this.#revision) this.#advance(revision);
    return true;
  }

  waitUntilCurrent(timeoutMs: number): Promise<boolean> {
    if (!this.isCurrent()) return this.#observeWait(this.#freshness.waitUntilCurrent(timeoutMs));
    this.#options.observer?.waited(0);
    return Promise.resolve(true);
  }

  #observeWait(wait: Promise<boolean>): Promise<boolean> {
    const { observer, clock } = this.#options;
    if (observer === undefined) return wait;
    const startedMs = clock.monotonicMs();
    return wait.then((reached) => {
      observer.waited(clock.monotonicMs() - startedMs);
      return reached;
    });
  }

  watch(range: WatchedRange, after: number, wake: () => void): Watcher<T> {
    const watcher = new HistoryWatcher(this.#host, { range, after, wake });
    if (this.#closed) {
      watcher.finish('closed');
    } else {
      this.#watchers.add(watcher);
      if (this.#listed) watcher.start();
    }
    queueMicrotask(() => watcher.activate());
    return watcher;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#reflector.close();
    this.#tick?.cancel();
    this.#chunkCompactor?.close();
    this.#columnIndexes.clear();
    this.#freshness.close();
    this.#rejectReady(new Error('the cache was closed'));
    for (const watcher of this.#watchers) watcher.drain();
  }

  #makeSink(): ReflectorSink {
    return {
      beginList: () => (this.#listing = new Listing()),
      addPage: (kvs) => this.#addPage(kvs),
      endList: (revision) => this.#endList(revision),
      changes: (batch, revision) => this.#takeIn(batch, revision),
      progress: (revision) => this.#advance(revision),
      resumed: () => this.#freshness.resume(),
      closed: () => this.close(),
    };
  }

  /** The values of a page are compacted before the next one comes, which can then use the memory that they came in. */
  async #addPage(kvs: readonly KeyValue[]): Promise<void> {
    const { clock, compactChunk } = this.#options;
    const pause = createTimeSlice(clock, TURN_MS);
    const entries: Entry<T>[] = [];
    for (const kv of kvs) {
      const turn = pause();
      if (turn !== undefined) await turn;
      entries.push(this.#toEntry(kv));
    }
    const chunks = this.#listing.add(entries);
    if (this.#listed || compactChunk === undefined) return;
    for (const chunk of chunks) await runStepsInSlices(compactChunk(chunk), pause);
  }

  #endList(revision: number): void {
    this.#history.reset(this.#listing, revision);
    this.#columnIndexes.clear();
    this.#listing = new Listing();
    this.#listed = true;
    this.#options.observer?.initialized(this.#history.newest.size);
    this.#advance(revision);
    this.#chunkCompactor?.begin(this.#history.newest);
    for (const watcher of Array.from(this.#watchers)) watcher.relist(); // A woken reader may begin a new watch.
    this.#resolveReady();
  }

  #takeIn(batch: readonly StoreEvent[], revision: number): void {
    const changes = batch.map(({ type, kv }): Change<T> => {
      return { key: kv.key, revision: kv.modRevision, entry: type === 'put' ? this.#toEntry(kv) : undefined };
    });
    const first = this.#history.next;
    this.#history.extend(changes, this.#options.clock.monotonicMs());
    this.#options.observer?.changed(changes.length);
    this.#reportSuperseded(first);
    if (!this.#columnIndexes.isEmpty) this.#indexColumns(changes, first);
    const woken = this.#findWoken(changes, first);
    this.#advance(revision);
    this.#compactSome(changes.length);
    for (const watcher of woken) watcher.signal();
  }

  #compactSome(changed: number): void {
    this.#uncompacted += changed;
    if (this.#uncompacted < COMPACTED_AFTER) return;
    this.#uncompacted = 0;
    this.#chunkCompactor?.begin(this.#history.newest);
  }

  #reportSuperseded(first: number): void {
    const { supersede } = this.#options;
    if (supersede === undefined) return;
    for (let cursor = first; cursor < this.#history.next; cursor++) {
      const previous = this.#history.eventAt(cursor)?.previous;
      if (previous !== undefined) supersede(previous);
    }
  }

  #indexColumns(changes: readonly Change<T>[], first: number): void {
    for (const [index, { entry }] of changes.entries()) {
      const event = this.#history.eventAt(first + index);
      // A batch beyond the bounds of history leaves nothing that says what it replaced.
      if (event === undefined) return this.#columnIndexes.clear();
      this.#columnIndexes.take({ event, entry });
    }
  }

  #findWoken(changes: readonly Change<T>[], first: number): HistoryWatcher<T>[] {
    const woken: HistoryWatcher<T>[] = [];
    for (let index = 0; index < changes.length; index++) {
      const { key, revision } = changes[index] as Change<T>;
      this.#watchIndex.visit(key, this.#history.eventAt(first + index), (watcher) => {
        if (watcher.notify(first + index, revision)) woken.push(watcher);
      });
    }
    return woken;
  }

  #advance(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
    this.#latest = undefined;
    this.#freshness.advance(this.#revision);
  }

  /** A version that the copy has is used as it is, with everything computed from it. */
  #toEntry(kv: KeyValue): Entry<T> {
    const known = this.#history.get(kv.key);
    if (known?.modRevision === kv.modRevision) return known;
    // All versions of a key share one string.
    const { key } = known ?? kv;
    return { key, modRevision: kv.modRevision, value: this.#options.decode(known === undefined ? kv : { ...kv, key }) };
  }

  /** Keeps the revision of a quiet prefix from falling behind, and drops history that has grown old. */
  #scheduleTick(): void {
    const { clock, progressIntervalMs = 10_000 } = this.#options;
    this.#tick = clock.after(progressIntervalMs, () => {
      this.#reflector.requestProgress();
      this.#history.trim(clock.monotonicMs());
      this.#chunkCompactor?.begin(this.#history.newest);
      this.#columnIndexes.dropUnused();
      for (const watcher of this.#watchers) if (watcher.lagging) watcher.requestProgress();
      this.#scheduleTick();
    });
  }
}

/** Begins to copy a prefix of the Store; `ready()` resolves when the copy can be read. */
export function createCache<T>(options: CacheOptions<T>): Cache<T> {
  return new PrefixCache(options);
}
