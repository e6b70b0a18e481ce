// What the tests of this room share: a memory Store that is easy to write to, and a started cache of strings.
import { type ManualClock, createManualClock } from '../base/index.ts';
import { type KeyRange, type Store, type StoreWatch, type WatchObserver, createMemoryStore, prefixRange } from '../storage/index.ts';
import { type CacheOptions, createCache } from './cache.ts';
import type { Cache } from './contract.ts';

/** The range of the whole copy in these tests. */
export const all: KeyRange = prefixRange('/p/');

/** A Store with writes that need no revision. */
export interface StoreHarness {
  readonly store: Store;
  readonly clock: ManualClock;
  /** Puts, whatever was there; answers the revision. */
  write(key: string, value: string): Promise<number>;
  /** Deletes a key that exists; answers the revision. */
  remove(key: string): Promise<number>;
}

/** Everything that is due without time passing has happened. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** An empty memory Store under a manual clock. */
export function createStoreHarness(): StoreHarness {
  const clock = createManualClock();
  const store = createMemoryStore({ clock, compactionIntervalMs: 1e12 });
  const known = new Map<string, number>();
  const commit = async (key: string, value: Uint8Array | undefined): Promise<number> => {
    const result = await store.txn({ key, expect: known.get(key) ?? 0, ...(value && { value }) });
    if (result.type !== 'committed') throw new Error(`write of ${key} met a conflict`);
    known.set(key, value === undefined ? 0 : result.revision);
    return result.revision;
  };
  return { store, clock, write: (key, value) => commit(key, Buffer.from(value)), remove: (key) => commit(key, undefined) };
}

/** A cache of the values under `/p/` as strings, ready to be read. */
export async function startCache(options: Partial<CacheOptions<string>> & Pick<CacheOptions<string>, 'store' | 'clock'>): Promise<Cache<string>> {
  const cache = createCache({ prefix: '/p/', decode: (kv) => Buffer.from(kv.value).toString(), ...options });
  await cache.ready();
  return cache;
}

type EndReason = Parameters<WatchObserver['ended']>[0];

/** A Store whose watches can be broken from outside. */
export interface BreakableStore extends Store {
  /** Ends all watches with this reason, as the Store itself might. */
  breakWatches(reason: EndReason): void;
  /** Calls so far. */
  readonly calls: { revision: number; watch: number; range: number };
  /** While set, `revision` and `range` reject and new watches fail at once. */
  down: boolean;
}

/** Hands on each change in a batch of its own, so that whatever follows a watch passes through every revision. */
function deliverSingly(observer: WatchObserver): WatchObserver {
  return {
    events: (batch) => {
      for (const event of batch) observer.events([event], event.kv.modRevision);
    },
    progress: (revision) => observer.progress(revision),
    ended: (reason) => observer.ended(reason),
  };
}

/** Puts breakable watches in front of a Store. They deliver one change at a time, also those of history. */
export function createBreakableStore(store: Store): BreakableStore {
  const open = new Map<StoreWatch, WatchObserver>();
  const calls = { revision: 0, watch: 0, range: 0 };
  const unlessDown = <A extends unknown[], R>(name: 'revision' | 'range', call: (...args: A) => Promise<R>) => async (...args: A): Promise<R> => {
    calls[name]++;
    if (broken.down) throw new Error('the store is down');
    return call(...args);
  };
  const watchStore = (range: KeyRange, from: number, observer: WatchObserver): StoreWatch => {
    calls.watch++;
    if (broken.down) throw new Error('the store is down');
    const inner = store.watch(range, from, deliverSingly(observer));
    const watch: StoreWatch = {
      requestProgress: () => inner.requestProgress(),
      close: () => {
        open.delete(watch);
        inner.close();
      },
    };
    open.set(watch, observer);
    return watch;
  };
  const breakWatches = (reason: EndReason): void => {
    for (const [watch, observer] of Array.from(open)) {
      watch.close();
      observer.ended(reason);
    }
  };
  const broken: BreakableStore = {
    txn: (request) => store.txn(request), compact: (revision) => store.compact(revision),
    timesToLive: () => store.timesToLive(), close: () => store.close(),
    range: unlessDown('range', (request) => store.range(request)), revision: unlessDown('revision', () => store.revision()),
    watch: watchStore, breakWatches, calls, down: false,
  };
  return broken;
}
