// What the cache costs: a change delivered to 1,000 watchers of one range or to one of 1,000 names, and a page of a snapshot.
import { systemClock } from '../src/base/index.ts';
import { type Cache, type Watcher, createCache } from '../src/cache/index.ts';
import { type KeyRange, type Store, createMemoryStore, keyRange, prefixRange } from '../src/storage/index.ts';

/** One measurement: `nsPer` nanoseconds for each of `count` units. */
interface Measurement {
  readonly name: string;
  readonly nsPer: number;
  readonly count: number;
}

const all = prefixRange('/b/');
const value = new Uint8Array(256);
const keyOf = (i: number): string => `/b/ns${i % 20}/${String(i).padStart(6, '0')}`;

async function fill(objects: number): Promise<{ store: Store; cache: Cache<number>; revisions: number[] }> {
  const store = createMemoryStore({ clock: systemClock });
  const revisions: number[] = [];
  for (let i = 0; i < objects; i++) revisions.push((await store.txn({ key: keyOf(i), expect: 0, value })).revision);
  const cache = createCache({ store, clock: systemClock, prefix: '/b/', decode: (kv) => kv.modRevision });
  await cache.ready();
  return { store, cache, revisions };
}

async function closeAll({ store, cache }: { store: Store; cache: Cache<number> }): Promise<void> {
  cache.close();
  await store.close();
}

/** Writes for a while with `ranges.length` watchers that read when woken; counts what they took. */
async function measureFanOut(name: string, ranges: readonly KeyRange[], seconds: number): Promise<Measurement[]> {
  const { store, cache, revisions } = await fill(1000);
  let delivered = 0;
  for (const range of ranges) {
    const watcher: Watcher<number> = cache.watch(range, cache.revision, () => (delivered += watcher.take(100).length));
  }
  await Promise.resolve();
  const startMs = performance.now();
  let writes = 0;
  for (; performance.now() - startMs < seconds * 1000; writes++) {
    const i = (writes * 7) % 1000;
    revisions[i] = (await store.txn({ key: keyOf(i), expect: revisions[i] as number, value })).revision;
  }
  const ns = (performance.now() - startMs) * 1e6;
  await closeAll({ store, cache });
  return [
    { name: `${name}, per delivered change`, nsPer: ns / Math.max(1, delivered), count: delivered },
    { name: `${name}, per write`, nsPer: ns / writes, count: writes },
  ];
}

/** Pages of 500 at growing starts, as a list with a limit makes them. */
async function measurePages(objects: number, seconds: number): Promise<Measurement> {
  const { store, cache } = await fill(objects);
  const startMs = performance.now();
  let pages = 0;
  let items = 0;
  for (; performance.now() - startMs < seconds * 1000; pages++) {
    const start = keyOf((pages * 7919) % objects);
    const snapshot = cache.latest();
    let left = 500;
    for (const { from, to } of snapshot.chunks({ start, end: all.end })) {
      left -= to - from;
      if (left <= 0) break;
    }
    items += 500 - left + snapshot.count({ start, end: all.end });
  }
  const ns = (performance.now() - startMs) * 1e6;
  await closeAll({ store, cache });
  return { name: `page of 500 with count of the rest, ${objects} objects (${items % 2})`, nsPer: ns / pages, count: pages };
}

/** Runs every measurement for about `seconds` in all. */
export async function run({ seconds }: { readonly seconds: number }): Promise<Measurement[]> {
  const share = seconds / 4;
  const everybody = Array.from({ length: 1000 }, () => all);
  const names = Array.from({ length: 1000 }, (_, i) => keyRange(keyOf(i)));
  const large = seconds >= 1 ? 100_000 : 20_000;
  return [
    ...(await measureFanOut('1000 watchers of everything', everybody, share)),
    ...(await measureFanOut('1000 watchers of one name each', names, share)),
    await measurePages(10_000, share),
    await measurePages(large, share),
  ];
}
