// Who must be woken by a change of a key: sleepers filed by what they wait for, so that a change costs only those it concerns.
// Three files: one exact key, all keys below a path (a prefix that ends in '/'), and the rest, which is searched one by one.
import { type KeyRange, keyRange, prefixRange } from '../storage/index.ts';

/** Something that waits for a change inside its range. */
export interface Sleeper {
  readonly range: KeyRange;
  /** What `classifyRange` says of the range; kept, since a sleeper is filed after each change it was woken for. */
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

function drain<S>(buckets: Map<string, Bucket<S>>, name: string, into: S[]): void {
  const bucket = buckets.get(name);
  if (bucket === undefined) return;
  buckets.delete(name);
  for (const sleeper of bucket) into.push(sleeper);
}

/** The filed sleepers. A sleeper is filed once and leaves by `take` or `remove`. */
export class Demux<S extends Sleeper> {
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

  /** Takes out and answers all who wait for `key`. */
  take(key: string): S[] {
    const woken: S[] = [];
    if (this.#byKey.size > 0) drain(this.#byKey, key, woken);
    if (this.#byPath.size > 0) {
      for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) drain(this.#byPath, key.slice(0, at + 1), woken);
    }
    for (const sleeper of this.#others) {
      if (!sleeper.isInside(key)) continue;
      this.#others.delete(sleeper);
      woken.push(sleeper);
    }
    return woken;
  }
}
