// The keys of a store at one revision, as a backup reads them: page by page, each key with the revisions that it was written at.
import { StorageCorruptError } from './errors.ts';
import type { KeyRange, KeyValue, Store } from './store.ts';

/** One consistent state of a store, which may go on being written meanwhile. */
export interface StoreImage {
  readonly revision: number;
  /** How many keys it has. */
  readonly keys: number;
  /** Seconds that were left of keys with a time to live, by the revision of their put. */
  readonly timesToLive: ReadonlyMap<number, number>;
  /** Every key once. Rejects with StorageCorruptError for a damaged record, and when the state was compacted before it was read. */
  pages(): AsyncIterable<readonly KeyValue[]>;
  /** Gives up the state, and what was opened for it. */
  close(): Promise<void>;
}

/** A key of a backup. */
export interface RestoredKey extends KeyValue {
  /** Seconds that are left of it; it lives for ever when absent. */
  readonly ttlSeconds?: number | undefined;
}

const PAGE_KEYS = 500;
const BATCH_KEYS = 1000;
const BATCH_BYTES = 4 * 2 ** 20;

/** The newest state of `range` by the means of the contract. The store must keep its history for as long as the pages are read. */
export async function openImage(store: Store, range: KeyRange): Promise<StoreImage> {
  const timesToLive = await store.timesToLive();
  const revision = await store.revision();
  const counted = await store.range({ ...range, revision, countOnly: true });
  const keys = counted.type === 'ok' ? counted.count : 0;
  return { revision, keys, timesToLive, pages: () => readPages(store, range, revision), close: () => store.close() };
}

async function* readPages(store: Store, { start: first, end }: KeyRange, revision: number): AsyncGenerator<readonly KeyValue[]> {
  for (let start = first; ;) {
    const page = await store.range({ start, end, revision, limit: PAGE_KEYS, uncounted: true });
    if (page.type !== 'ok') throw new StorageCorruptError(`revision ${revision} was compacted while it was read; try again`);
    yield page.kvs.map(refuseDamage);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return;
    start = `${last.key}\u0000`;
  }
}

/** The key-value, unless it is damaged. */
export function refuseDamage(kv: KeyValue): KeyValue {
  if (kv.damage === undefined) return kv;
  throw new StorageCorruptError(`${kv.key} cannot be copied: ${kv.damage}; "pintle storage check --repair" moves it out of the store`);
}

/** The keys of a backup in parts that a store takes at once. */
export function* formBatches(keys: Iterable<RestoredKey>): Generator<readonly RestoredKey[]> {
  let batch: RestoredKey[] = [];
  let bytes = 0;
  for (const key of keys) {
    batch.push(key);
    bytes += key.value.length;
    if (batch.length < BATCH_KEYS && bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
