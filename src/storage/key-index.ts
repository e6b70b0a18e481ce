// Finds the watches whose range holds a key without a test of each: exact keys and prefixes by hash, other ranges in turn. Shared by the
// watches of a Store and the watchers of a cache.
import { createBoundsTest } from '../base/index.ts';
import { type KeyRange, keyRange, prefixRange } from './store.ts';

/** Anything that waits for changes in a range of keys. */
export interface Ranged {
  readonly range: KeyRange;
}

/** The number of code units. */
const UNITS = 2 ** 16;

/**
 * A set of watches. `visit` compares one character for each distinct length and last character of a prefix, and looks up where it fits:
 * with 10,000 watches of one namespace each, that is as often as there are lengths of names.
 */
export class KeyIndex<W extends Ranged> {
  readonly #exact = new Map<string, Set<W>>();
  readonly #prefixes = new Map<string, Set<W>>();
  /** Lengths of prefixes with their last character (length × units + character), each with the number of such prefixes. */
  readonly #ends = new Map<number, number>();
  readonly #others = new Map<W, (key: string) => boolean>();

  add(watch: W): void {
    const { range } = watch;
    if (isExact(range)) addTo(this.#exact, range.start, watch);
    else if (isPrefix(range)) {
      if (addTo(this.#prefixes, range.start, watch)) this.#countEnd(range, 1);
    } else this.#others.set(watch, createBoundsTest(range));
  }

  /** Does nothing when `watch` is not in the index. */
  remove(watch: W): void {
    const { range } = watch;
    if (isExact(range)) removeFrom(this.#exact, range.start, watch);
    else if (isPrefix(range)) {
      if (removeFrom(this.#prefixes, range.start, watch)) this.#countEnd(range, -1);
    } else this.#others.delete(watch);
  }

  /** Calls `visit` with every watch whose range holds `key`. It may remove the watch that it is called with, and must not add any. */
  visit(key: string, visit: (watch: W) => void): void {
    this.#exact.get(key)?.forEach(visit);
    for (const end of this.#ends.keys()) {
      const length = Math.floor(end / UNITS);
      if (key.charCodeAt(length - 1) === end % UNITS) this.#prefixes.get(key.slice(0, length))?.forEach(visit);
    }
    for (const [watch, isInside] of this.#others) {
      if (isInside(key)) visit(watch);
    }
  }

  #countEnd({ start }: KeyRange, step: number): void {
    const end = start.length * UNITS + start.charCodeAt(start.length - 1);
    const count = (this.#ends.get(end) ?? 0) + step;
    if (count === 0) this.#ends.delete(end);
    else this.#ends.set(end, count);
  }
}

function isExact(range: KeyRange): boolean {
  return range.end === keyRange(range.start).end;
}

/** Only prefixes whose end is one plain character further: beyond, code units and bytes disagree about the keys between. */
function isPrefix(range: KeyRange): boolean {
  const { start, end } = range;
  return start !== '' && start.charCodeAt(start.length - 1) < 0xd7ff && end === prefixRange(start).end;
}

/** True when `watch` is the first at `at`. */
function addTo<W>(sets: Map<string, Set<W>>, at: string, watch: W): boolean {
  const set = sets.get(at);
  if (set) {
    set.add(watch);
    return false;
  }
  sets.set(at, new Set([watch]));
  return true;
}

/** True when `watch` was the last at `at`. */
function removeFrom<W>(sets: Map<string, Set<W>>, at: string, watch: W): boolean {
  const set = sets.get(at);
  if (!set?.delete(watch) || set.size > 0) return false;
  return sets.delete(at);
}
