// A Store whose values can be decrypted when they come: those that need a key which a plugin has to decrypt first are held until it has. So the layers
// above decode in the turn in which they are given a value. A change waits for those before it; a watch or list that cannot be readied fails, and its
// owner begins again, as it does when a store cannot be reached.
import { internalError } from '../../apimachinery/index.ts';
import {
  type KeyRange, type KeyValue, StorageUnavailableError, type Store, type StoreEvent, type StoreWatch, type WatchObserver,
} from '../../storage/index.ts';

/** What a value has to wait for; undefined when it waits for nothing. */
type Prepare = (stored: Uint8Array) => Promise<void> | undefined;

/** Keys that are asked for at the same time. */
const AT_ONCE = 16;
/** Changes that wait for a key; a watch with more fails. */
const MOST_WAITING = 10_000;

/** Wraps a Store. */
export function createPreparedStore(store: Store, prepare: Prepare): Store {
  return {
    async range(request) {
      const result = await store.range(request);
      if (result.type !== 'ok') return result;
      const isSingle = request.end === `${request.start}\u0000`;
      await prepareAll(result.kvs, prepare)?.catch((error: unknown) => {
        // A caller that reads one value learns from it what is wrong; the others of its resource are not concerned.
        if (!isSingle) throw error;
      });
      return result;
    },
    async txn(request) {
      const result = await store.txn(request);
      if (result.type === 'conflict' && result.current !== undefined) await prepareAll([result.current], prepare)?.catch(() => undefined);
      return result;
    },
    watch(range, from, observer) {
      const watch = new PreparedWatch(observer, prepare);
      return watch.follow(store, range, from);
    },
    compact: (revision) => store.compact(revision),
    timesToLive: () => store.timesToLive(),
    revision: (key) => store.revision(key),
    ...(store.recall !== undefined && { recall: (key: string, revision: number) => keepSealed(store.recall?.(key, revision)) }),
    close: () => store.close(),
  };
}

const sealed = Buffer.from('k8s:enc:');

/** Sealed values are not recalled: a read cannot wait, and the key that they were opened with may have been forgotten or replaced since. */
const keepSealed = (value: Uint8Array | undefined): Uint8Array | undefined =>
  (value !== undefined && sealed.equals(value.subarray(0, sealed.length)) ? undefined : value);

/** What the values have to wait for; undefined when it is nothing. Rejects with the reason for which one of them cannot be decrypted. */
function prepareAll(kvs: readonly KeyValue[], prepare: Prepare): Promise<void> | undefined {
  for (const [index, kv] of kvs.entries()) {
    const ready = prepareOne(kv, prepare);
    if (ready !== undefined) return prepareRest(kvs.slice(index + 1), [ready], prepare);
  }
  return undefined;
}

async function prepareRest(kvs: readonly KeyValue[], waiting: Promise<void>[], prepare: Prepare): Promise<void> {
  for (const kv of kvs) {
    const ready = prepareOne(kv, prepare);
    if (ready !== undefined) waiting.push(ready);
    if (waiting.length >= AT_ONCE) await Promise.all(waiting.splice(0));
  }
  await Promise.all(waiting);
}

function prepareOne({ key, value }: KeyValue, prepare: Prepare): Promise<void> | undefined {
  return prepare(value)?.catch((error: Error) => {
    throw internalError(`unable to transform key ${JSON.stringify(key)}: ${error.message}`);
  });
}

const valuesOf = (batch: readonly StoreEvent[]): KeyValue[] => batch.flatMap(({ kv, previous }) => (previous === undefined ? [kv] : [kv, previous]));

/** Delivers in order. */
class PreparedWatch {
  readonly #observer: WatchObserver;
  readonly #prepare: Prepare;
  /** Deliveries after a change that waits; undefined while none does. */
  #queue: (() => Promise<void> | undefined)[] | undefined;
  #waiting = 0;
  #inner: StoreWatch | undefined;
  #over = false;

  constructor(observer: WatchObserver, prepare: Prepare) {
    this.#observer = observer;
    this.#prepare = prepare;
  }

  follow(store: Store, range: KeyRange, from: number): StoreWatch {
    const inner = store.watch(range, from, {
      events: (batch, revision) => this.#take(batch, revision),
      progress: (revision) => this.#enqueue(() => void this.#observer.progress(revision)),
      ended: (reason) => this.#enqueue(() => void this.#end(reason)),
    });
    this.#inner = inner;
    if (this.#over) inner.close();
    return {
      requestProgress: () => inner.requestProgress(),
      ...(inner.delivered !== undefined && { delivered: () => (this.#queue === undefined ? inner.delivered?.() : undefined) }),
      close: () => {
        this.#over = true;
        inner.close();
      },
    };
  }

  #take(batch: readonly StoreEvent[], revision: number): void {
    const deliver = (): void => this.#observer.events(batch, revision);
    const values = valuesOf(batch);
    this.#waiting += batch.length;
    this.#enqueue(() => {
      this.#waiting -= batch.length;
      const waits = prepareAll(values, this.#prepare);
      if (waits === undefined) return void deliver();
      return waits.then(() => {
        if (!this.#over) deliver();
      });
    });
    if (this.#waiting > MOST_WAITING) this.#fail(new Error('too many changes wait for a key'));
  }

  /** Runs in this turn unless something before it waits. */
  #enqueue(run: () => Promise<void> | undefined): void {
    if (this.#queue !== undefined) return void this.#queue.push(run);
    this.#queue = [run];
    this.#drain();
  }

  #drain(): void {
    const queue = this.#queue ?? [];
    for (let run = queue.shift(); run !== undefined && !this.#over; run = queue.shift()) {
      const waits = run();
      if (waits !== undefined) return void waits.then(() => this.#drain(), (error: Error) => this.#fail(error));
    }
    this.#queue = undefined;
  }

  #fail({ message }: Error): void {
    this.#inner?.close();
    this.#end({ type: 'failed', error: new StorageUnavailableError(message, { outcomeKnown: true }) });
  }

  #end(reason: Parameters<WatchObserver['ended']>[0]): void {
    if (this.#over) return;
    this.#over = true;
    this.#observer.ended(reason);
  }
}
