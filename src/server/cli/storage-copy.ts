// `pintle storage copy`: everything from one store into an empty one, embedded or etcd: every key and value as of one revision, compared
// again at the end, and the rest of times to live. Knowledge of the store itself does not travel: revisions start again.
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Clock, systemClock } from '../../base/index.ts';
import { type EtcdStoreOptions, type KeyRange, type KeyValue, type Store, type TxnResult, openEmbeddedStore, openEtcdStore } from '../../storage/index.ts';
import { findStoreDirectory } from '../data-directory.ts';
import { StartError } from '../options/options.ts';

/** What to copy. Places are data directories, or one or more endpoints of etcd with their scheme. */
interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly tls?: EtcdStoreOptions['tls'];
  readonly clock?: Clock;
  /** Receives how many keys are done. */
  readonly progress?: (done: number, total: number) => void;
}

/** The outcome of a copy. */
interface CopyReport {
  readonly keys: number;
  readonly bytes: number;
  /** The revision of the source that the target holds. */
  readonly revision: number;
}

const PAGE_KEYS = 500;
const WRITES_AT_ONCE = 64;
const everything: KeyRange = { start: '\u0001', end: '\u{10ffff}' };
/** Servers agree on compactions by it; it says nothing in another store. */
const ownKeys: ReadonlySet<string> = new Set(['compact_rev_key']);
/** Longer than any copy takes. */
const NEVER_MS = 1e15;

/** Copies; rejects with StartError when the source cannot be read as a whole or the target is not empty. */
export async function copyStorage(options: CopyOptions): Promise<CopyReport> {
  const source = await openPlace(options, 'from');
  try {
    const target = await openPlace(options, 'to');
    try {
      return await copyAll({ source, target, ...options });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

const isEtcd = (place: string): boolean => /^https?:\/\//.test(place);

async function openPlace(options: CopyOptions, role: 'from' | 'to'): Promise<Store> {
  const { tls, clock = systemClock } = options;
  const place = options[role];
  try {
    if (isEtcd(place)) return await openEtcdStore({ endpoints: place.split(','), clock, compactionIntervalMs: 0, ...(tls !== undefined && { tls }) });
    const directory = role === 'from' ? findStoreDirectory(place) : prepareTarget(place);
    return await openEmbeddedStore({ directory, clock, historyMs: NEVER_MS, compactionIntervalMs: NEVER_MS });
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`--${role} ${place}: ${(error as Error).message}`, { cause: error });
  }
}

function prepareTarget(place: string): string {
  const directory = join(resolve(place), 'store');
  if (!existsSync(directory)) mkdirSync(resolve(place), { recursive: true, mode: 0o700 });
  return directory;
}

type Copy = CopyOptions & { readonly source: Store; readonly target: Store };

async function copyAll(copy: Copy): Promise<CopyReport> {
  const { source, target, progress } = copy;
  if (await holdsAnything(target)) throw new StartError(`--to ${copy.to} is not empty`);
  const revision = await source.revision();
  const total = await countKeys(source, revision);
  const timesToLive = await source.timesToLive();
  let keys = 0;
  let bytes = 0;
  for await (const page of readPages(source, revision)) {
    await writePage(copy, page, timesToLive);
    keys += page.length;
    bytes = page.reduce((sum, kv) => sum + kv.key.length + kv.value.length, bytes);
    progress?.(keys, total);
  }
  await compare(copy, revision);
  return { keys, bytes, revision };
}

async function holdsAnything(store: Store): Promise<boolean> {
  const result = await store.range({ ...everything, limit: ownKeys.size + 1 });
  return result.type !== 'ok' || result.kvs.some(({ key }) => !ownKeys.has(key));
}

async function countKeys(store: Store, revision: number): Promise<number> {
  const result = await store.range({ ...everything, revision, countOnly: true });
  return result.type === 'ok' ? result.count : 0;
}

async function* readPages(store: Store, revision: number | undefined): AsyncGenerator<readonly KeyValue[]> {
  for (let { start } = everything; ;) {
    const page = await store.range({ start, end: everything.end, limit: PAGE_KEYS, uncounted: true, ...(revision !== undefined && { revision }) });
    if (page.type !== 'ok') throw new StartError('the source was compacted while it was read; try again');
    const damaged = page.kvs.find(({ damage }) => damage !== undefined);
    if (damaged !== undefined) throw new StartError(`${damaged.key} cannot be copied: ${damaged.damage}; "pintle storage check --repair" moves it out of the store`);
    yield page.kvs.filter(({ key }) => !ownKeys.has(key));
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return;
    start = `${last.key}\u0000`;
  }
}

async function writePage({ target, to }: Copy, page: readonly KeyValue[], timesToLive: ReadonlyMap<number, number>): Promise<void> {
  const write = ({ key, value, modRevision }: KeyValue): Promise<TxnResult> => {
    const ttlSeconds = timesToLive.get(modRevision);
    return target.txn({ key, expect: 0, value, ...(ttlSeconds !== undefined && { ttlSeconds }) });
  };
  for (let at = 0; at < page.length; at += WRITES_AT_ONCE) {
    const results = await Promise.all(page.slice(at, at + WRITES_AT_ONCE).map(write));
    if (results.some(({ type }) => type !== 'committed')) throw new StartError(`--to ${to}: somebody else writes to it`);
  }
}

/** Reads both again, side by side. */
async function compare({ source, target, to }: Copy, revision: number): Promise<void> {
  const copied = readPages(target, undefined);
  let rest: KeyValue[] = [];
  for await (const page of readPages(source, revision)) {
    for (const kv of page) {
      while (rest.length === 0) {
        const next = await copied.next();
        if (next.done === true) throw new StartError(`--to ${to}: ${kv.key} is missing`);
        rest = [...next.value].reverse();
      }
      const copy = rest.pop() as KeyValue;
      if (copy.key !== kv.key || Buffer.compare(copy.value, kv.value) !== 0) throw new StartError(`--to ${to}: ${kv.key} differs`);
    }
  }
}

/** One line that is written over itself. */
export function formatProgress(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const width = 40;
  const filled = Math.round(share * width);
  return `[${'#'.repeat(filled)}${' '.repeat(width - filled)}] ${String(Math.floor(share * 100)).padStart(3)} % ${done}/${total} keys`;
}
