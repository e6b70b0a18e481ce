// A map for entries that come and leave quickly. A Map copies its table every few insertions and deletions; the old one, once it has grown old with its
// owner, keeps alive what it held and the tables after it until a full collection. With a Map of requests nearly everything that each of them allocated
// was moved among the old objects. A table here holds boxes, which are emptied when their entries leave.

interface Box<V> {
  value: V | undefined;
}

/** What a Map does, as far as it is needed of one whose entries leave quickly. */
export class PassingMap<K, V> {
  readonly #boxes = new Map<K, Box<V>>();

  get size(): number {
    return this.#boxes.size;
  }

  /** The key that has been there longest. */
  get firstKey(): K | undefined {
    for (const key of this.#boxes.keys()) return key;
    return undefined;
  }

  has(key: K): boolean {
    return this.#boxes.has(key);
  }

  get(key: K): V | undefined {
    return this.#boxes.get(key)?.value;
  }

  set(key: K, value: V): this {
    const box = this.#boxes.get(key);
    if (box === undefined) this.#boxes.set(key, { value });
    else box.value = value;
    return this;
  }

  /** Whether there was an entry. */
  delete(key: K): boolean {
    const box = this.#boxes.get(key);
    if (box === undefined) return false;
    box.value = undefined;
    return this.#boxes.delete(key);
  }

  clear(): void {
    for (const box of this.#boxes.values()) box.value = undefined;
    this.#boxes.clear();
  }

  /** Calls `callback` for each value; entries may leave meanwhile. */
  forEach(callback: (value: V) => void): void {
    for (const box of this.#boxes.values()) callback(box.value as V);
  }
}
