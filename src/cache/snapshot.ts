// A view of the prefix at one revision: one version of the persistent map and the revision it stands for.
import type { Chunk, SortedMap } from '../base/index.ts';
import type { KeyRange } from '../storage/index.ts';
import type { ColumnValue, Entry, Snapshot } from './contract.ts';

type Find<T> = Snapshot<T>['find'];

class MapSnapshot<T> implements Snapshot<T> {
  readonly revision: number;
  readonly #map: SortedMap<Entry<T>>;
  readonly #find: Find<T>;

  constructor(map: SortedMap<Entry<T>>, revision: number, find: Find<T>) {
    this.revision = revision;
    this.#map = map;
    this.#find = find;
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: string): Entry<T> | undefined {
    return this.#map.get(key);
  }

  entries(range: KeyRange): Iterable<Entry<T>> {
    return this.#map.entries(range);
  }

  chunks(range: KeyRange): Iterable<Chunk<Entry<T>>> {
    return this.#map.chunks(range);
  }

  find(only: ColumnValue, range: KeyRange): readonly Entry<T>[] | undefined {
    return this.#find(only, range);
  }

  count(range: KeyRange): number {
    return this.#map.count(range);
  }
}

/** The snapshot that shows `map` as the state at `revision`; without `find` all entries must be looked at. */
export function createSnapshot<T>(map: SortedMap<Entry<T>>, revision: number, find: Find<T> = () => undefined): Snapshot<T> {
  return new MapSnapshot(map, revision, find);
}
