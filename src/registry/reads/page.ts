// One page of a list: from a snapshot, or (for revisions that memory no longer has) from the store. Pages of everything are never copied:
// they are runs of chunks that snapshots share.
import { type Steps, createStride } from '../../base/index.ts';
import type { Entry, Snapshot } from '../../cache/index.ts';
import type { KeyRange, Store } from '../../storage/index.ts';
import { READ_AT_ONCE, isIndexed, mayHold, settleLarge } from '../objects/chunk-values.ts';
import type { Predicate } from '../contract.ts';
import type { RequestScope, ResourceStorage } from '../core.ts';
import type { StoredRevision } from '../objects/stored-object.ts';
import { joinItems } from '../objects/chunk.ts';

interface Chunk {
  readonly chunk: readonly Entry<StoredRevision>[];
  readonly from: number;
  readonly to: number;
}

/** A part of a chunk that is the same (===) in all snapshots that share it. */
interface Run extends Chunk {
  joined(): Steps<Uint8Array>;
}

class ChunkRun implements Run {
  readonly chunk: readonly Entry<StoredRevision>[];
  readonly from: number;
  readonly to: number;

  constructor(chunk: readonly Entry<StoredRevision>[], from: number, to: number) {
    this.chunk = chunk;
    this.from = from;
    this.to = to;
  }

  joined(): Steps<Uint8Array> {
    return joinItems(this.chunk, this.from, this.to);
  }
}

/** What a list answers. */
export interface Page {
  readonly type: 'ok';
  readonly revision: number;
  readonly items: Iterable<StoredRevision>;
  readonly count: number;
  /** Objects that were read, and that the predicate was asked about. */
  readonly read: { readonly fetched: number; readonly evaluated: number };
  readonly runs?: Iterable<Run>;
  /** Set when the limit was reached and there are more keys: the last key looked at. */
  readonly lastKey?: string;
  /** Keys after the last one. */
  readonly remaining?: number;
}

/** What to read. */
interface PageRequest {
  readonly predicate: Predicate;
  readonly range: KeyRange;
  /** 0: no limit. */
  readonly limit: number;
}

type ScopedRequest = PageRequest & { readonly scope: RequestScope };

const readAll = (count: number): Page['read'] => ({ fetched: count, evaluated: count });

/** The first `limit` entries of runs, as runs. */
function cutRuns(runs: Iterable<Chunk>, limit: number): Run[] {
  const cut: Run[] = [];
  let left = limit;
  for (const { chunk, from, to } of runs) {
    if (left <= 0) break;
    const end = Math.min(to, from + left);
    cut.push(new ChunkRun(chunk, from, end));
    left -= end - from;
  }
  return cut;
}

function itemsOf(runs: Iterable<Run>): Iterable<StoredRevision> {
  return {
    *[Symbol.iterator]() {
      for (const { chunk, from, to } of runs) for (let i = from; i < to; i++) yield (chunk[i] as Entry<StoredRevision>).value;
    },
  };
}

function wholePage(snapshot: Snapshot<StoredRevision>, { range, limit }: PageRequest, revision: number): Page {
  const total = snapshot.count(range);
  if (limit === 0 || total <= limit) {
    const runs = { *[Symbol.iterator]() { for (const { chunk, from, to } of snapshot.chunks(range)) yield new ChunkRun(chunk, from, to); } };
    return { type: 'ok', revision, items: itemsOf(runs), count: total, read: readAll(total), runs };
  }
  const runs = cutRuns(snapshot.chunks(range), limit);
  const last = runs.at(-1) as Run;
  return { type: 'ok', revision, items: itemsOf(runs), count: limit, read: readAll(limit), runs,
    lastKey: (last.chunk[last.to - 1] as Entry<StoredRevision>).key, remaining: total - limit };
}

/** Objects that are looked at without a pause. */
const STRIDE = 64;

/**
 * Chunks that are passed over between two looks at the clock, which take longer than to pass over one: a label that selects none of 100,000 objects takes
 * 0.7 of the time of a look for each.
 */
const PASSED_WITHOUT_PAUSE = 32;

/** The entries to look at, in key order: those that a snapshot finds, or all of the range, where chunks without what is `wanted` are passed over. */
function choose(snapshot: Snapshot<StoredRevision>, { predicate, range, scope }: ScopedRequest): { runs: Iterable<Chunk>; wanted: Predicate['wanted'] } {
  const { only, wanted } = scope.viewed ? {} : predicate;
  const found = only && snapshot.find(only, range);
  return found === undefined ? { runs: snapshot.chunks(range), wanted } : { runs: inChunks(found), wanted: undefined };
}

function* inChunks(entries: readonly Entry<StoredRevision>[]): Iterable<Chunk> {
  for (let from = 0; from < entries.length; from += STRIDE) yield { chunk: entries, from, to: Math.min(from + STRIDE, entries.length) };
}

/** A page of a snapshot, a chunk at a time; `revision` is what the list says it is from. Chunks that hold nothing of what is wanted are passed over. */
export function* pageOfSnapshot(snapshot: Snapshot<StoredRevision>, request: ScopedRequest, revision: number): Steps<Page> {
  const { predicate, range, scope, limit } = request;
  if (predicate.everything) return wholePage(snapshot, request, revision);
  const { runs, wanted } = choose(snapshot, request);
  const withFields = Object.keys(scope.storage.resource.selectableFields).length > 0;
  const items: StoredRevision[] = [];
  let read = 0;
  const isPauseDue = createStride(PASSED_WITHOUT_PAUSE);
  const isLargeRead = createStride(READ_AT_ONCE);
  for (const { chunk, from, to } of runs) {
    const isKnown = wanted !== undefined && isIndexed(chunk);
    if (!isKnown) yield;
    if (wanted !== undefined && !(yield* mayHold(chunk, wanted, withFields))) {
      if (isPauseDue()) yield;
      continue;
    }
    if (isKnown) yield;
    for (let i = from; i < to; i++) {
      const { key, value } = chunk[i] as Entry<StoredRevision>;
      read++;
      if (isLargeRead(value.size)) yield;
      if (value.size > READ_AT_ONCE) yield* settleLarge(value);
      if (!predicate.matches(scope.show(value))) continue;
      items.push(value);
      if (items.length !== limit) continue;
      const more = snapshot.count({ start: `${key}\u0000`, end: range.end }) > 0;
      return { type: 'ok', revision, items, count: items.length, read: readAll(read), ...(more && { lastKey: key }) };
    }
  }
  return { type: 'ok', revision, items, count: items.length, read: readAll(read) };
}

/** Keys read at once from the store; upstream's largest page. */
const STORE_PAGE_SIZE = 10_000;

interface StoreRequest extends PageRequest {
  readonly storage: ResourceStorage;
  readonly scope: RequestScope;
  readonly revision?: number;
  readonly pause: () => Promise<void> | undefined;
}

/** A page read from the store, at `revision` or the newest. */
export async function pageOfStore(store: Store, request: StoreRequest): Promise<Page | { readonly type: 'compacted' | 'future'; readonly revision: number }> {
  const { range, limit, predicate, storage, scope, pause } = request;
  const items: StoredRevision[] = [];
  let { start } = range;
  let revision = request.revision;
  let [fetched, evaluated] = [0, 0];
  for (;;) {
    const size = predicate.everything && limit > 0 ? Math.min(limit - items.length, STORE_PAGE_SIZE) : STORE_PAGE_SIZE;
    // Only a page that ends before its collection does reports how much is left.
    const result = await store.range({ start, end: range.end, limit: size, uncounted: limit === 0, ...(revision !== undefined && { revision }) });
    if (result.type !== 'ok') return { type: result.type, revision: result.revision };
    revision ??= result.revision;
    fetched += result.kvs.length;
    for (const [i, kv] of result.kvs.entries()) {
      if (i % STRIDE === 0) await pause();
      const version = storage.decode(kv);
      evaluated++;
      if (!predicate.matches(scope.show(version))) continue;
      items.push(version);
      if (items.length !== limit) continue;
      const remaining = result.count - i - 1;
      return { type: 'ok', revision, items, count: items.length, read: { fetched, evaluated }, ...(remaining > 0 && { lastKey: kv.key, remaining }) };
    }
    const last = result.kvs.at(-1);
    if (!result.more || last === undefined) return { type: 'ok', revision, items, count: items.length, read: { fetched, evaluated } };
    start = `${last.key}\u0000`;
  }
}
