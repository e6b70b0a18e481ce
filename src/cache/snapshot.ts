// A view of the prefix at one revision: one version of the persistent map and the revision it stands for.
import type { Chunk, SortedMap } from '../base/index.ts';
import type { KeyRange } from '../storage/index.ts';
import type { Entry, Snapshot } from './contract.ts';

class MapSnapshot<T> implements Snapshot<T> {
  readonly revision: number;
  readonly #map: SortedMap<Entry<T>>;

  constructor(map: SortedMap<Entry<T>>, revision: number) {
    this.revision = revision;
    this.#map = map;
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

  count(range: KeyRange): number {
    return this.#map.count(range);
  }
}

/** The snapshot that shows `map` as the state at `revision`. */
export function createSnapshot<T>(map: SortedMap<Entry<T>>, revision: number): Snapshot<T> {
  return new MapSnapshot(map, revision);
}
