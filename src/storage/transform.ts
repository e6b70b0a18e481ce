// A Store whose values look different where they are kept: encrypted, or in another encoding. Keys, revisions and outcomes are untouched.
import type { KeyRange, KeyValue, RangeRequest, RangeResult, Store, StoreEvent, StoreWatch, TxnRequest, TxnResult, WatchObserver } from './store.ts';

/** How values look inside the Store and outside of it. Both may throw: for values that cannot be read, and for keys that are not there. */
export interface ValueTransform {
  toStore(value: Uint8Array, key: string): Uint8Array;
  fromStore(stored: Uint8Array, key: string): Uint8Array;
  /** Whether `toStore` would write the value otherwise than it is stored (with another key, in another encoding). Absent: never. */
  isOutdated?(stored: Uint8Array, key: string): boolean;
}

/** Both transforms as one: what `inner` makes of values lies in the Store. */
export function chainTransforms(inner: ValueTransform, outer: ValueTransform): ValueTransform {
  return {
    toStore: (value, key) => inner.toStore(outer.toStore(value, key), key),
    fromStore: (stored, key) => outer.fromStore(inner.fromStore(stored, key), key),
    isOutdated: (stored, key) => inner.isOutdated?.(stored, key) === true || outer.isOutdated?.(inner.fromStore(stored, key), key) === true,
  };
}

/** The same Store through a transform; closing one closes the other. */
export function transformValues(store: Store, transform: ValueTransform): Store {
  return new TransformedStore(store, transform);
}

class TransformedStore implements Store {
  readonly #store: Store;
  readonly #transform: ValueTransform;

  constructor(store: Store, transform: ValueTransform) {
    this.#store = store;
    this.#transform = transform;
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    const result = await this.#store.range(request);
    return result.type === 'ok' ? { ...result, kvs: result.kvs.map((kv) => this.#read(kv)) } : result;
  }

  async txn(request: TxnRequest): Promise<TxnResult> {
    const { key, value } = request;
    const result = await this.#store.txn(value === undefined ? request : { ...request, value: this.#transform.toStore(value, key) });
    return result.type === 'conflict' && result.current !== undefined ? { ...result, current: this.#read(result.current) } : result;
  }

  watch(range: KeyRange, from: number, observer: WatchObserver): StoreWatch {
    let isOver = false;
    const watch = this.#store.watch(range, from, {
      events: (batch, revision) => {
        if (isOver) return;
        const events = this.#readEvents(batch);
        if (!(events instanceof Error)) return observer.events(events, revision);
        isOver = true;
        watch.close();
        observer.ended({ type: 'failed', error: events });
      },
      progress: (revision) => isOver || observer.progress(revision),
      ended: (reason) => isOver || observer.ended(reason),
    });
    return watch;
  }

  compact(revision: number): Promise<{ readonly compactRevision: number }> {
    return this.#store.compact(revision);
  }

  timesToLive(): Promise<ReadonlyMap<number, number>> {
    return this.#store.timesToLive();
  }

  revision(): Promise<number> {
    return this.#store.revision();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #read(kv: KeyValue): KeyValue {
    return { ...kv, value: this.#transform.fromStore(kv.value, kv.key) };
  }

  /** A deletion has no value to read; what it replaced has. */
  #readEvents(batch: readonly StoreEvent[]): StoreEvent[] | Error {
    try {
      return batch.map(({ type, kv, previous }) => ({
        type, kv: type === 'put' ? this.#read(kv) : kv, ...(previous !== undefined && { previous: this.#read(previous) }),
      }));
    } catch (error) {
      return error as Error;
    }
  }
}
