// Clients at work on several Stores over one cluster: writers that compare and swap, readers of the store and of caches over it, watches
// that begin anywhere. Everything is written into a RunHistory.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/index.ts';
import { type Cache, createCache } from '../../src/cache/index.ts';
import { type KeyRange, type Store, prefixRange } from '../../src/storage/index.ts';
import { Log, type RunHistory } from './history.ts';

const prefix = '/registry/faults/';
const keys = Array.from({ length: 10 }, (_, index) => `${prefix}${index % 2 === 0 ? 'a' : 'b'}/${index}`);
const everything: KeyRange = prefixRange('/');
const pauseMs = 4;

/** Work that continues until it is stopped. */
export class Workload {
  readonly #stores: readonly Store[];
  readonly #caches: readonly Cache<number>[];
  readonly #history: RunHistory;
  readonly #loops: Promise<void>[] = [];
  /** What writers believe of each key. */
  readonly #known = new Map<string, number>();
  #count = 0;
  #stopped = false;
  /** Failed calls, by the name of the error. */
  readonly failures = new Map<string, number>();
  longestCallMs = 0;

  constructor(stores: readonly Store[], history: RunHistory) {
    this.#stores = stores;
    this.#history = history;
    this.#caches = stores.map((store) => createCache({ store, prefix, clock: systemClock, decode: (kv) => kv.modRevision }));
    for (const store of stores) this.#watch(store, everything, 2);
  }

  start(writers: number): void {
    for (let writer = 0; writer < writers; writer += 1) this.#loop(() => this.#write(this.#pickStore(writer)));
    for (const store of this.#stores) this.#loop(() => this.#read(store));
    for (const [index, cache] of this.#caches.entries()) this.#loop(() => this.#readCached(cache, index));
    this.#loop(() => this.#watchSomewhere());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    for (const cache of this.#caches) cache.close();
  }

  #loop(step: () => Promise<void>): void {
    const run = async (): Promise<void> => {
      while (!this.#stopped) {
        const began = systemClock.monotonicMs();
        try {
          await step();
        } catch (error) {
          const { name } = error as Error;
          this.failures.set(name, (this.failures.get(name) ?? 0) + 1);
        }
        this.longestCallMs = Math.max(this.longestCallMs, systemClock.monotonicMs() - began);
        await sleep(pauseMs);
      }
    };
    this.#loops.push(run());
  }

  #pickStore(index: number): Store {
    return this.#stores[index % this.#stores.length] as Store;
  }

  async #write(store: Store): Promise<void> {
    const key = keys[Math.floor(Math.random() * keys.length)] as string;
    const expect = this.#known.get(key) ?? 0;
    const value = expect > 0 && Math.random() < 0.2 ? undefined : `${key}#${(this.#count += 1)}`;
    const after = this.#history.acknowledged;
    try {
      const result = await store.txn({ key, expect, ...(value !== undefined && { value: Buffer.from(value) }) });
      if (result.type === 'conflict') return void this.#learn(key, result.current?.modRevision ?? 0, result.revision);
      this.#history.writes.push({ key, value, after, revision: result.revision });
      this.#history.acknowledge(result.revision);
      this.#learn(key, value === undefined ? 0 : result.revision, result.revision);
    } catch (error) {
      this.#history.writes.push({ key, value, after });
      throw error;
    }
  }

  #learn(key: string, modRevision: number, revision: number): void {
    this.#known.set(key, modRevision);
    this.#history.acknowledge(Math.min(revision, Math.max(modRevision, this.#history.acknowledged)));
  }

  async #read(store: Store): Promise<void> {
    const { acknowledged: after } = this.#history;
    const result = await store.range(prefixRange(prefix));
    if (result.type !== 'ok') throw new Error('a read of the newest state was refused');
    const state = new Map(result.kvs.map((kv) => [kv.key, kv.modRevision]));
    this.#history.reads.push({ after, revision: result.revision, state, by: 'range' });
    const before = this.#history.acknowledged;
    this.#history.revisions.push({ after: before, revision: await store.revision() });
  }

  async #readCached(cache: Cache<number>, index: number): Promise<void> {
    const { acknowledged: after } = this.#history;
    if (!(await cache.waitUntilCurrent(3_000))) throw Object.assign(new Error('the cache is behind'), { name: 'CacheBehind' });
    const snapshot = cache.latest();
    const state = new Map([...snapshot.entries(prefixRange(prefix))].map((entry) => [entry.key, entry.modRevision]));
    this.#history.reads.push({ after, revision: snapshot.revision, state, by: `cache ${index}` });
  }

  async #watchSomewhere(): Promise<void> {
    const range = Math.random() < 0.5 ? prefixRange(`${prefix}a/`) : prefixRange(`${prefix}b/`);
    const from = 2 + Math.floor(Math.random() * this.#history.acknowledged);
    this.#watch(this.#pickStore(Math.floor(Math.random() * 8)), range, from);
    await sleep(100);
  }

  #watch(store: Store, range: KeyRange, from: number): void {
    const log = new Log(range, from);
    this.#history.logs.push(log);
    const watch = store.watch(range, from, log);
    if (Math.random() < 0.5) watch.requestProgress();
  }
}
