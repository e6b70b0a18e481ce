// The Store without a disk: everything is in this process and ends with it. Relies on mvcc.ts for state and watch-hub.ts for watches.
// An acknowledged write is as durable as the process; otherwise its promises are those of every Store.
import type { Clock } from '../../base/index.ts';
import { AutomaticCompaction } from '../compaction.ts';
import { StorageClosedError } from '../errors.ts';
import { ExpiryAlarm, computeTimesToLive } from '../expiry.ts';
import type { RestoredKey } from '../image.ts';
import { checkTxn } from '../keys.ts';
import { VersionedKeys } from '../mvcc.ts';
import type { KeyRange, KeyValue, RangeRequest, RangeResult, Store, StoreWatch, TxnRequest, TxnResult, WatchObserver } from '../store.ts';
import { WatchHub } from '../watch-hub.ts';
import { MemoryLeases } from './leases.ts';

/** Options of a memory Store. */
interface MemoryStoreOptions {
  readonly clock: Clock;
  /** How long superseded versions are kept at least; 5 minutes when absent. */
  readonly historyMs?: number;
  /** Time between automatic compactions; 5 minutes when absent. */
  readonly compactionIntervalMs?: number;
}

/** A Store that can be doubled, and shows the versions of a key. */
export interface MemoryStore extends Store {
  /** The revision of the last commit. */
  readonly newest: number;
  /** All keys that exist, in order. */
  entries(): Iterable<KeyValue>;
  /** A Store of its own with the same keys, history and leases; what neither writes stays shared memory. Closed Stores can be forked too. */
  fork(options: MemoryStoreOptions): MemoryStore;
  /** The kept versions of a key, oldest first; a deletion has an empty value. */
  versions(key: string): readonly { readonly kv: KeyValue; readonly isTombstone: boolean }[];
}

/** Opens a Store that lives in memory only: empty, or with the keys of a backup at its revision. What the backup's keys have left to live begins now. */
export function createMemoryStore(options: MemoryStoreOptions, backup?: { readonly keys: Iterable<RestoredKey>; readonly revision: number }): MemoryStore {
  const [state, leases] = [new VersionedKeys(), new MemoryLeases()];
  if (backup !== undefined) {
    const keys = [...backup.keys];
    state.restore(keys, backup.revision);
    for (const { key, modRevision, ttlSeconds } of keys) {
      if (ttlSeconds !== undefined) leases.add({ key, revision: modRevision, expiresAt: options.clock.now() + ttlSeconds * 1000 });
    }
  }
  return new StoreInMemory(options, state, leases);
}

class StoreInMemory implements MemoryStore {
  readonly #clock: Clock;
  readonly #state: VersionedKeys;
  readonly #hub: WatchHub;
  readonly #leases: MemoryLeases;
  readonly #alarm: ExpiryAlarm;
  readonly #compaction: AutomaticCompaction;
  #closed = false;

  constructor(options: MemoryStoreOptions, state: VersionedKeys, leases: MemoryLeases) {
    this.#clock = options.clock;
    this.#state = state;
    this.#leases = leases;
    this.#hub = new WatchHub({
      revision: () => this.#state.revision,
      compactRevision: () => this.#state.compactRevision,
      read: (range, span) => ({ events: this.#state.changes(range, span), through: span.through }),
    }, options.clock);
    this.#alarm = new ExpiryAlarm({
      clock: options.clock,
      book: this.#leases,
      expire: (lease) => this.txn({ key: lease.key, expect: lease.revision }),
    });
    const earliest = leases.earliest();
    if (earliest !== undefined) this.#alarm.arm(earliest);
    this.#compaction = new AutomaticCompaction({
      clock: options.clock,
      historyMs: options.historyMs,
      intervalMs: options.compactionIntervalMs,
      revision: () => this.#state.revision,
      compact: (revision) => this.compact(revision),
    });
  }

  get newest(): number {
    return this.#state.revision;
  }

  entries(): Iterable<KeyValue> {
    return this.#state.entries();
  }

  fork(options: MemoryStoreOptions): MemoryStore {
    return new StoreInMemory(options, this.#state.fork(), new MemoryLeases(this.#leases));
  }

  versions(key: string): ReturnType<MemoryStore['versions']> {
    return this.#state.versions(key);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#checkOpen();
    const { revision, compactRevision } = this.#state;
    if (request.revision !== undefined && request.revision > revision) return { type: 'future', revision };
    if (request.revision !== undefined && request.revision < compactRevision) return { type: 'compacted', compactRevision, revision };
    return { type: 'ok', revision, ...this.#state.range(request) };
  }

  async txn(request: TxnRequest): Promise<TxnResult> {
    this.#checkOpen();
    checkTxn(request);
    const current = this.#state.head(request.key);
    if ((current?.modRevision ?? 0) !== request.expect) {
      return { type: 'conflict', revision: this.#state.revision, ...(current && { current }) };
    }
    const event = this.#state.commit(request.key, request.value);
    const revision = event.kv.modRevision;
    if (request.ttlSeconds !== undefined && request.value) this.#lend(request.key, revision, request.ttlSeconds);
    this.#hub.publish([event]);
    return { type: 'committed', revision };
  }

  watch(range: KeyRange, from: number, observer: WatchObserver): StoreWatch {
    return this.#hub.add(range, from, observer);
  }

  async compact(revision: number): Promise<{ readonly compactRevision: number }> {
    this.#checkOpen();
    if (revision > this.#state.revision) throw new RangeError(`revision ${revision} is in the future`);
    this.#state.compact(revision);
    return { compactRevision: this.#state.compactRevision };
  }

  async timesToLive(): Promise<ReadonlyMap<number, number>> {
    this.#checkOpen();
    return computeTimesToLive(this.#leases.all(), this.#clock.now());
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    return this.#state.revision;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#alarm.stop();
    this.#hub.end({ type: 'closed' });
    await this.#compaction.stop();
  }

  #lend(key: string, revision: number, ttlSeconds: number): void {
    const expiresAt = this.#clock.now() + ttlSeconds * 1000;
    this.#leases.add({ key, revision, expiresAt });
    this.#alarm.arm(expiresAt);
  }

  #checkOpen(): void {
    if (this.#closed) throw new StorageClosedError();
  }
}
