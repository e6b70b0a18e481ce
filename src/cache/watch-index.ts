// Finds the watchers that a change concerns. Most want all changes of a range of keys. Those that want one value of a column, as each kubelet wants the
// pods of its node, are found by that value: a change of a pod concerns one of a thousand kubelets.
import { KeyIndex, type Ranged } from '../storage/index.ts';
import type { CacheEvent, ColumnValue, ColumnsOf } from './contract.ts';

/** A watcher as the index sees it. */
export interface Indexed extends Ranged {
  readonly only: ColumnValue | undefined;
  isInside(key: string): boolean;
}

/** Whether a change concerns the watchers of one value of a column: the value is there before the change or after it, or may be. */
export function concerns<T>({ value, previous }: CacheEvent<T>, { column, value: wanted }: ColumnValue, columnsOf: ColumnsOf<T>): boolean {
  return [value, previous].some((state) => state !== undefined && (columnsOf(state)?.[column] ?? wanted) === wanted);
}

/** A set of watchers. */
export class WatchIndex<T, W extends Indexed> {
  readonly #columnsOf: ColumnsOf<T>;
  readonly #byKey = new KeyIndex<W>();
  /** By column, and by the value that is wanted of it. */
  readonly #byColumn = new Map<number, Map<string, Set<W>>>();

  constructor(columnsOf: ColumnsOf<T>) {
    this.#columnsOf = columnsOf;
  }

  add(watcher: W): void {
    const { only } = watcher;
    if (only === undefined) return this.#byKey.add(watcher);
    const byValue = getOrAdd(this.#byColumn, only.column, () => new Map<string, Set<W>>());
    getOrAdd(byValue, only.value, () => new Set<W>()).add(watcher);
  }

  /** Does nothing when the watcher is not in the index. */
  remove(watcher: W): void {
    const { only } = watcher;
    if (only === undefined) return this.#byKey.remove(watcher);
    const byValue = this.#byColumn.get(only.column);
    const set = byValue?.get(only.value);
    if (byValue === undefined || set === undefined) return;
    set.delete(watcher);
    if (set.size === 0) byValue.delete(only.value);
    if (byValue.size === 0) this.#byColumn.delete(only.column);
  }

  /** Calls `visit` with every watcher that a change of `key` concerns; of a change without `event` it is not known what it changed. */
  visit(key: string, event: CacheEvent<T> | undefined, visit: (watcher: W) => void): void {
    this.#byKey.visit(key, visit);
    const visitInside = (watcher: W): void => {
      if (watcher.isInside(key)) visit(watcher);
    };
    for (const [column, byValue] of this.#byColumn) {
      const values = event === undefined ? undefined : this.#valuesOf(event, column);
      if (values === undefined) for (const set of byValue.values()) set.forEach(visitInside);
      else for (const value of values) byValue.get(value)?.forEach(visitInside);
    }
  }

  /** What a column held before a change and after it; undefined where that is not known. */
  #valuesOf({ value, previous }: CacheEvent<T>, column: number): ReadonlySet<string> | undefined {
    const values = new Set<string>();
    for (const state of [previous, value]) {
      if (state === undefined) continue;
      const text = this.#columnsOf(state)?.[column];
      if (text === undefined) return undefined;
      values.add(text);
    }
    return values;
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
