// The one cache with a bound: entries have sizes, and those that were used least recently leave when the sizes add up to too much.

export interface BoundedCacheOptions<K, V> {
  /** What the sizes may add up to. */
  readonly limit: number;
  /** The size of an entry; 1 when left out, so that the limit counts entries. Entries larger than the limit are not kept. */
  readonly sizeOf?: (value: V, key: K) => number;
  /** Called with an entry that leaves for want of room, when it has left. */
  readonly onEvicted?: (value: V, key: K) => void;
}

interface Entry<V> {
  readonly value: V;
  readonly size: number;
}

/** A map that forgets. */
export class BoundedCache<K, V> {
  readonly #entries = new Map<K, Entry<V>>();
  readonly #limit: number;
  readonly #sizeOf: (value: V, key: K) => number;
  readonly #onEvicted: ((value: V, key: K) => void) | undefined;
  #total = 0;

  constructor({ limit, sizeOf = () => 1, onEvicted }: BoundedCacheOptions<K, V>) {
    this.#limit = limit;
    this.#sizeOf = sizeOf;
    this.#onEvicted = onEvicted;
  }

  /** Number of entries. */
  get count(): number {
    return this.#entries.size;
  }

  /** What the sizes add up to. */
  get total(): number {
    return this.#total;
  }

  /** The value, which counts as used; undefined when it is not kept. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** The value without counting as a use, at the cost of one look-up. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Keeps a value as the one used last, and lets go of those used least recently. Returns it. */
  set(key: K, value: V): V {
    this.delete(key);
    const size = this.#sizeOf(value, key);
    if (size > this.#limit) return value;
    this.#entries.set(key, { value, size });
    this.#total += size;
    for (const [oldest, { value: evicted }] of this.#entries) {
      if (this.#total <= this.#limit) break;
      this.delete(oldest);
      this.#onEvicted?.(evicted, oldest);
    }
    return value;
  }

  /** The value that is kept, else the one that `make` makes. */
  getOrMake(key: K, make: () => V): V {
    return this.get(key) ?? this.set(key, make());
  }

  /** Every value that is kept, those used least recently first. */
  *values(): Iterable<V> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /** Forgets an entry; whether there was one. */
  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#total -= entry.size;
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#total = 0;
  }
}
