// A sorted set of keys in short runs: insertion and removal touch one run, counting a range touches run lengths only.
import { compareKeys } from './keys.ts';
import type { KeyRange } from './store.ts';

const longestRun = 512;

/** Keys in byte order. */
export class SortedKeys {
  readonly #runs: string[][] = [[]];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(key: string): void {
    const { run, at, found } = this.#find(key);
    if (found) return;
    const keys = this.#runs[run] as string[];
    keys.splice(at, 0, key);
    this.#size += 1;
    if (keys.length > longestRun) this.#runs.splice(run + 1, 0, keys.splice(longestRun / 2));
  }

  delete(key: string): void {
    const { run, at, found } = this.#find(key);
    if (!found) return;
    const keys = this.#runs[run] as string[];
    keys.splice(at, 1);
    this.#size -= 1;
    if (keys.length === 0 && this.#runs.length > 1) this.#runs.splice(run, 1);
  }

  /** Keys of `range` in order. The set must not change meanwhile. */
  *between({ start, end }: KeyRange): Generator<string> {
    const first = this.#find(start);
    for (let run = first.run; run < this.#runs.length; run += 1) {
      const keys = this.#runs[run] as string[];
      for (let at = run === first.run ? first.at : 0; at < keys.length; at += 1) {
        const key = keys[at] as string;
        if (compareKeys(key, end) >= 0) return;
        yield key;
      }
    }
  }

  count({ start, end }: KeyRange): number {
    if (compareKeys(start, end) >= 0) return 0;
    const first = this.#find(start);
    const last = this.#find(end);
    let count = last.at - first.at;
    for (let run = first.run; run < last.run; run += 1) count += (this.#runs[run] as string[]).length;
    return count;
  }

  /** Where `key` is, or would be inserted. */
  #find(key: string): { run: number; at: number; found: boolean } {
    const run = lastAtOrBefore(this.#runs.length, (index) => compareKeys(this.#runs[index]?.[0] ?? '', key) <= 0);
    const keys = this.#runs[run] as string[];
    const before = lastAtOrBefore(keys.length, (index) => compareKeys(keys[index] as string, key) < 0, -1);
    return { run, at: before + 1, found: keys[before + 1] === key };
  }
}

/** The last index for which `holds` (true for a leading part of all indexes), or `none`. */
function lastAtOrBefore(length: number, holds: (index: number) => boolean, none = 0): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? none : low - 1;
}
