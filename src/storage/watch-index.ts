// Finds the watches that a key belongs to without asking each of them: exact keys and prefixes by hash, other ranges in turn.
import { createBoundsTest } from '../base/index.ts';
import { type KeyRange, keyRange, prefixRange } from './store.ts';

/** Anything that is interested in a range of keys. */
interface Ranged {
  readonly range: KeyRange;
}

/** Code units that there are. */
const units = 2 ** 16;

/** A set of watches; `matching` costs one look-up per distinct prefix length whose last character fits, not per watch. */
export class WatchIndex<W extends Ranged> {
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

  remove(watch: W): void {
    const { range } = watch;
    if (isExact(range)) removeFrom(this.#exact, range.start, watch);
    else if (isPrefix(range)) {
      if (removeFrom(this.#prefixes, range.start, watch)) this.#countEnd(range, -1);
    } else this.#others.delete(watch);
  }

  /** Calls `visit` with every watch whose range holds `key`. */
  matching(key: string, visit: (watch: W) => void): void {
    this.#exact.get(key)?.forEach(visit);
    for (const end of this.#ends.keys()) {
      const length = Math.floor(end / units);
      if (key.charCodeAt(length - 1) === end % units) this.#prefixes.get(key.slice(0, length))?.forEach(visit);
    }
    for (const [watch, isInside] of this.#others) {
      if (isInside(key)) visit(watch);
    }
  }

  #countEnd({ start }: KeyRange, step: number): void {
    const end = start.length * units + start.charCodeAt(start.length - 1);
    const count = (this.#ends.get(end) ?? 0) + step;
    if (count === 0) this.#ends.delete(end);
    else this.#ends.set(end, count);
  }
}

function isExact(range: KeyRange): boolean {
  return range.end === keyRange(range.start).end;
}

/** Only prefixes whose end is one plain character further: beyond, code units and bytes disagree about what lies between. */
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
