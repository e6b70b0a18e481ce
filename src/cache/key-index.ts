// Who must be told of a change of a key: listeners filed by what they wait for, so that a change costs only those it concerns.
// Three files: one exact key, all keys below a path (a prefix that ends in '/'), and the rest, which is searched one by one.
import { type KeyRange, keyRange, prefixRange } from '../storage/index.ts';

/** Something that wants to know of changes inside its range. */
export interface Sleeper {
  readonly range: KeyRange;
  /** What `classifyRange` says of the range. */
  readonly rangeKind: RangeKind;
  isInside(key: string): boolean;
}

/** How a range is filed. */
export type RangeKind = 'key' | 'path' | 'other';

/** Tells whether the range is one key, all keys below a path, or something else. */
export function classifyRange(range: KeyRange): RangeKind {
  if (range.end === keyRange(range.start).end) return 'key';
  return range.start.endsWith('/') && range.end === prefixRange(range.start).end ? 'path' : 'other';
}

type Bucket<S> = Set<S>;

function addTo<S>(buckets: Map<string, Bucket<S>>, name: string, sleeper: S): void {
  const bucket = buckets.get(name);
  if (bucket === undefined) buckets.set(name, new Set([sleeper]));
  else bucket.add(sleeper);
}

function removeFrom<S>(buckets: Map<string, Bucket<S>>, name: string, sleeper: S): void {
  const bucket = buckets.get(name);
  if (bucket?.delete(sleeper) === true && bucket.size === 0) buckets.delete(name);
}

/** The filed sleepers. A sleeper stays filed until it is removed: a change that concerns a thousand of them moves none. */
export class KeyIndex<S extends Sleeper> {
  readonly #byKey = new Map<string, Bucket<S>>();
  readonly #byPath = new Map<string, Bucket<S>>();
  readonly #others = new Set<S>();

  add(sleeper: S): void {
    const { range, rangeKind } = sleeper;
    if (rangeKind === 'other') this.#others.add(sleeper);
    else addTo(rangeKind === 'key' ? this.#byKey : this.#byPath, range.start, sleeper);
  }

  /** Takes a sleeper out; does nothing when it is not filed. */
  remove(sleeper: S): void {
    const { range, rangeKind } = sleeper;
    if (rangeKind === 'other') this.#others.delete(sleeper);
    else removeFrom(rangeKind === 'key' ? this.#byKey : this.#byPath, range.start, sleeper);
  }

  /** Calls `visit` for all who wait for `key`. It may remove whom it visits, and must not add. */
  visit(key: string, visit: (sleeper: S) => void): void {
    if (this.#byKey.size > 0) this.#byKey.get(key)?.forEach(visit);
    if (this.#byPath.size > 0) {
      for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) this.#byPath.get(key.slice(0, at + 1))?.forEach(visit);
    }
    for (const sleeper of this.#others) if (sleeper.isInside(key)) visit(sleeper);
  }
}
