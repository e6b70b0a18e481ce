// The last changes of the prefix, in revision order, and the state after each of them. Shared by all watchers, which are numbers into it.
//
//   base ──e1──e2──e3── … ──en = newest        base: the state (and revision) before the oldest change that is kept
//         m1       m3           mn             m: versions of the map; a missing one is made again from the one before
//
// Every change has its map at first. Among older changes only each 1024th keeps it: 100,000 versions of a large map would
// otherwise hold a copied leaf each, and reading at one of them costs at most 1024 insertions.
import { BoundedCache, RingBuffer, type SortedMap, SortedMapBuilder, type SortedMapEdit, createSortedMap } from '../base/index.ts';
import type { CacheEvent, Entry } from './contract.ts';

/** One change on its way into history. `entry` is absent for a delete. */
export interface Change<T> {
  readonly key: string;
  readonly revision: number;
  readonly entry: Entry<T> | undefined;
}

/** Bounds of the kept changes. */
interface HistoryBounds {
  /** Changes older than this are dropped (except the last 100). */
  readonly windowMs: number;
  /** At most this many changes are kept. */
  readonly limit: number;
  /** At most so many bytes of values that only history holds; the last change is always kept. */
  readonly limitBytes: number;
  /** Closer bounds for changes that are no longer recent: watches come back within seconds, and older changes are in the Store too. */
  readonly lasting: { readonly recentMs: number; readonly limit: number; readonly limitBytes: number };
}

interface Step<T> {
  readonly event: CacheEvent<T>;
  readonly entry: Entry<T> | undefined;
  /** Whole milliseconds: a fraction would take memory of its own. */
  readonly timeMs: number;
  /** Of the value that the change replaced. */
  readonly bytes: number;
  map: SortedMap<Entry<T>> | undefined;
}

/** Upstream's smallest watch cache: this many changes stay however old they are. */
export const KEPT_AT_LEAST = 100;
const RECENT_MAPS = 4096;
const MAP_EVERY = 1024;
const REBUILT_LIMIT = 8;

function applyStep<T>(edit: SortedMapEdit<Entry<T>>, { event, entry }: Step<T>): void {
  if (entry !== undefined) edit.set(entry);
  else edit.delete(event.key);
}

function mapAfter<T>(map: SortedMap<Entry<T>>, steps: readonly Step<T>[]): SortedMap<Entry<T>> {
  const edit = map.edit();
  for (const step of steps) applyStep(edit, step);
  return edit.finish();
}

/** A whole state as it is listed, a page at a time: in key order, and by key. */
export class Listing<T> {
  readonly #builder = new SortedMapBuilder<Entry<T>>();
  readonly byKey = new Map<string, Entry<T>>();

  /** Adds the next entries; answers the chunks of the map that are complete with them. */
  add(entries: readonly Entry<T>[]): readonly (readonly Entry<T>[])[] {
    for (const entry of entries) this.byKey.set(entry.key, entry);
    return this.#builder.add(entries);
  }

  /** The map of all that was added. */
  finish(): SortedMap<Entry<T>> {
    return this.#builder.finish();
  }
}

/** Changes and states of one prefix. All methods finish in one turn. */
export class History<T> {
  readonly #bounds: HistoryBounds;
  readonly #sizeOf: (value: T) => number;
  #bytes = 0;
  readonly #steps = new RingBuffer<Step<T>>();
  /** Maps made again for exact reads, the most recently made last. */
  readonly #rebuilt = new BoundedCache<number, SortedMap<Entry<T>>>({ limit: REBUILT_LIMIT });
  #base = { map: createSortedMap<Entry<T>>(), revision: 0 };
  #newest = this.#base.map;
  /** The newest state once more: a search in the tree touches twenty places of cold memory, and most look-ups are for one key of this state. */
  #byKey: Map<string, Entry<T>> = new Map();

  constructor(bounds: HistoryBounds, sizeOf: (value: T) => number = () => 0) {
    this.#bounds = bounds;
    this.#sizeOf = sizeOf;
  }

  /** The state after the last change. */
  get newest(): SortedMap<Entry<T>> {
    return this.#newest;
  }

  /** The entry of a key after the last change. */
  get(key: string): Entry<T> | undefined {
    return this.#byKey.get(key);
  }

  /** All changes after this revision are kept. */
  get baseRevision(): number {
    return this.#base.revision;
  }

  /** Number of the oldest change; a cursor below it has fallen out. */
  get first(): number {
    return this.#steps.first;
  }

  /** Number that the next change will get. */
  get next(): number {
    return this.#steps.next;
  }

  /** The change under that number, if kept. */
  eventAt(cursor: number): CacheEvent<T> | undefined {
    return this.#steps.at(cursor)?.event;
  }

  /** Number of the first change after `revision`, which must not be before the base. */
  cursorAfter(revision: number): number {
    return this.#steps.search(({ event }) => event.revision <= revision);
  }

  /** Begins again from a listed state, which is the history's from then on. Older cursors have fallen out. */
  reset(listing: Listing<T>, revision: number): void {
    const map = listing.finish();
    this.#steps.clear();
    this.#rebuilt.clear();
    this.#bytes = 0;
    this.#base = { map, revision };
    this.#newest = map;
    this.#byKey = listing.byKey;
  }

  /** Adds changes in revision order. */
  extend(changes: readonly Change<T>[], nowMs: number): void {
    const edit = this.#newest.edit();
    const last = changes.at(-1);
    const timeMs = Math.floor(nowMs);
    for (const change of changes) {
      const { key, revision, entry } = change;
      const previous = this.#byKey.get(key)?.value;
      const event: CacheEvent<T> = { type: entry === undefined ? 'delete' : 'put', key, revision, value: entry?.value, previous };
      const bytes = previous === undefined ? 0 : this.#sizeOf(previous);
      const step: Step<T> = { event, entry, timeMs, bytes, map: undefined };
      this.#bytes += bytes;
      applyStep(edit, step);
      if (entry !== undefined) this.#byKey.set(key, entry);
      else this.#byKey.delete(key);
      if (change === last || this.next % MAP_EVERY === 0) step.map = edit.finish();
      this.#newest = step.map ?? this.#newest;
      this.#thinMaps(this.#steps.push(step));
    }
    this.trim(nowMs);
  }

  /** Drops changes beyond the bounds. */
  trim(nowMs: number): void {
    const base = { ...this.#base };
    /** Dropped changes after the base that have no map: one edit takes all of them, since an edit of each would copy the same nodes again. */
    let mapless: Step<T>[] = [];
    while (this.#isOverfull(nowMs)) {
      this.#rebuilt.delete(this.#steps.first);
      const step = this.#steps.shift() as Step<T>;
      this.#bytes -= step.bytes;
      base.revision = step.event.revision;
      if (step.map === undefined) mapless.push(step);
      else [base.map, mapless] = [step.map, []];
    }
    if (base.revision === this.#base.revision) return;
    this.#base = { map: mapless.length === 0 ? base.map : mapAfter(base.map, mapless), revision: base.revision };
  }

  /** Whether the oldest change is to be dropped. */
  #isOverfull(nowMs: number): boolean {
    const { size, first } = this.#steps;
    const { windowMs, limit, limitBytes, lasting } = this.#bounds;
    const ageMs = nowMs - (this.#steps.at(first)?.timeMs ?? nowMs);
    const tooOld = size > KEPT_AT_LEAST && (ageMs > windowMs || (ageMs > lasting.recentMs && size > lasting.limit));
    const tooLarge = size > 1 && (this.#bytes > limitBytes || (ageMs > lasting.recentMs && this.#bytes > lasting.limitBytes));
    return size > limit || tooOld || tooLarge;
  }

  /** The state at `revision`; undefined when that is before the base. The caller knows that `revision` has been reached. */
  at(revision: number): SortedMap<Entry<T>> | undefined {
    if (revision < this.#base.revision) return undefined;
    const cursor = this.cursorAfter(revision) - 1;
    if (cursor < this.first) return this.#base.map;
    return this.#steps.at(cursor)?.map ?? this.#rebuilt.get(cursor) ?? this.#rebuild(cursor);
  }

  #thinMaps(newest: number): void {
    const old = newest - RECENT_MAPS;
    const step = this.#steps.at(old);
    if (step !== undefined && old % MAP_EVERY !== 0) step.map = undefined;
  }

  #rebuild(cursor: number): SortedMap<Entry<T>> {
    const steps: Step<T>[] = [];
    let from = this.#base.map;
    for (let at = cursor; at >= this.first; at--) {
      const step = this.#steps.at(at) as Step<T>;
      if (step.map !== undefined) {
        from = step.map;
        break;
      }
      steps.push(step);
    }
    const map = mapAfter(from, steps.toReversed());
    return this.#rebuilt.set(cursor, map);
  }
}
