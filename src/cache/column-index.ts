// The newest entries by the value that they have in a column: the pods of one node among all pods. An index is made when such entries are first looked
// for, follows the changes from then on, and is dropped once it has been of no use for a while.
//
//   absent ──find()──▶ filling: a snapshot is read in slices, changes are kept ──all is read──▶ ready ──of no use for UNUSED_MS, or listed again──▶ absent
import { type Clock, compareKeys, createBoundsTest, createTimeSlice, takeTurn } from '../base/index.ts';
import type { KeyRange } from '../storage/index.ts';
import type { CacheEvent, ColumnValue, ColumnsOf, Entry } from './contract.ts';

/** To read all takes little time then. */
const FEW_ENTRIES = 256;
/** To find more takes so long that all entries are read in turns instead. */
const MOST_FOUND = 2048;
/** Columns that are indexed at a time: a client may ask for a value of each that there is. */
const MOST_INDEXES = 4;
/** Changes that wait until an index is filled; each holds two versions of a value. With more of them the index is given up. */
const MOST_MISSED = 5000;
const UNUSED_MS = 600_000;
/** The longest turn of filling, unless the columns of one value take longer to read. */
const TURN_MS = 8;

/** A state that can be read chunk by chunk and does not change. */
interface State<T> {
  readonly size: number;
  chunks(): Iterable<{ readonly chunk: readonly Entry<T>[] }>;
}

/** A change of one key; without an entry it is a deletion. */
interface Step<T> {
  readonly event: CacheEvent<T>;
  readonly entry: Entry<T> | undefined;
}

class ColumnIndex<T> {
  readonly #column: number;
  readonly #columnsOf: ColumnsOf<T>;
  readonly #byValue = new Map<string, Map<string, Entry<T>>>();
  /** Entries whose columns cannot be read: they may have any value. */
  readonly #unread = new Map<string, Entry<T>>();
  /** Changes since the state that is being read; undefined once it is read. */
  #missed: Step<T>[] | undefined = [];
  #isDropped = false;
  usedMs = 0;

  constructor(column: number, columnsOf: ColumnsOf<T>) {
    this.#column = column;
    this.#columnsOf = columnsOf;
  }

  get isReady(): boolean {
    return this.#missed === undefined;
  }

  async fill(state: State<T>, clock: Clock): Promise<void> {
    await takeTurn(clock);
    const pause = createTimeSlice(clock, TURN_MS);
    for (const { chunk } of state.chunks()) {
      for (const entry of chunk) {
        await pause();
        if (this.#isDropped) return;
        this.#add(entry);
      }
    }
    // Further changes come while these are followed.
    for (const step of this.#missed ?? []) {
      await pause();
      if (this.#isDropped) return;
      this.#follow(step);
    }
    this.#missed = undefined;
  }

  /** Ends the filling. */
  drop(): void {
    this.#isDropped = true;
    this.#missed = undefined;
  }

  /** Follows a change; false when there have been too many before the index is filled. */
  take(step: Step<T>): boolean {
    if (this.#missed !== undefined) return this.#missed.push(step) <= MOST_MISSED;
    this.#follow(step);
    return true;
  }

  /** Entries in a range that have the value, or may have it, in key order; undefined when there are many. */
  find(value: string, range: KeyRange): readonly Entry<T>[] | undefined {
    const entries = this.#byValue.get(value);
    if ((entries?.size ?? 0) + this.#unread.size > MOST_FOUND) return undefined;
    const isInside = createBoundsTest(range);
    const found = [...(entries?.values() ?? []), ...this.#unread.values()].filter(({ key }) => isInside(key));
    return found.sort((one, other) => compareKeys(one.key, other.key));
  }

  #follow({ event: { key, previous }, entry }: Step<T>): void {
    if (previous !== undefined) this.#remove(key, previous);
    if (entry !== undefined) this.#add(entry);
  }

  #add(entry: Entry<T>): void {
    const value = this.#columnsOf(entry.value)?.[this.#column];
    let entries = value === undefined ? this.#unread : this.#byValue.get(value);
    if (entries === undefined) this.#byValue.set(value as string, (entries = new Map()));
    entries.set(entry.key, entry);
  }

  #remove(key: string, previous: T): void {
    this.#unread.delete(key);
    const value = this.#columnsOf(previous)?.[this.#column];
    if (value === undefined) return;
    const entries = this.#byValue.get(value);
    entries?.delete(key);
    if (entries?.size === 0) this.#byValue.delete(value);
  }
}

/** The indexes of one cache, by column. */
export class ColumnIndexes<T> {
  readonly #columnsOf: ColumnsOf<T>;
  readonly #clock: Clock;
  readonly #indexes = new Map<number, ColumnIndex<T>>();

  constructor(columnsOf: ColumnsOf<T>, clock: Clock) {
    this.#columnsOf = columnsOf;
    this.#clock = clock;
  }

  /** Entries of `newest` in a range that have the value, or may have it, in key order; undefined while all entries must be looked at. */
  find({ column, value }: ColumnValue, range: KeyRange, newest: State<T>): readonly Entry<T>[] | undefined {
    let index = this.#indexes.get(column);
    if (index === undefined) {
      if (newest.size <= FEW_ENTRIES || this.#indexes.size === MOST_INDEXES) return undefined;
      index = new ColumnIndex(column, this.#columnsOf);
      this.#indexes.set(column, index);
      void index.fill(newest, this.#clock);
    }
    const found = index.isReady ? index.find(value, range) : undefined;
    if (found !== undefined || !index.isReady) index.usedMs = this.#clock.monotonicMs();
    return found;
  }

  get isEmpty(): boolean {
    return this.#indexes.size === 0;
  }

  /** Changes in the order in which they came. */
  take(step: Step<T>): void {
    for (const [column, index] of this.#indexes) if (!index.take(step)) this.#drop(column, index);
  }

  /** The cache begins again, or ends. */
  clear(): void {
    for (const index of this.#indexes.values()) index.drop();
    this.#indexes.clear();
  }

  /** Drops indexes that have found nothing for a while. */
  dropUnused(): void {
    const sinceMs = this.#clock.monotonicMs() - UNUSED_MS;
    for (const [column, index] of this.#indexes) {
      if (index.usedMs <= sinceMs) this.#drop(column, index);
    }
  }

  #drop(column: number, index: ColumnIndex<T>): void {
    index.drop();
    this.#indexes.delete(column);
  }
}
