// The server's Store as a worker uses it, from the server's side: calls come as messages, answers and watches go back as messages. Messages to
// a worker that does not keep up are bounded. A worker is a thread (task-worker.ts) or a process (../processes).
import { StorageUnavailableError, type Store, type StoreEvent, type StoreWatch, type KeyValue } from '../../storage/index.ts';
import type { StoreAnswer, StoreCall, StoreFailure } from './messages.ts';

type Call = Extract<StoreCall, { type: 'call' }>;

/** Bytes of events that a worker has been sent and not taken in; with more, its watches fail and begin again with what there is then. */
const MOST_PENDING_BYTES = 32 * 1024 * 1024;

/** An error of the store as data. */
function describeFailure(error: unknown): StoreFailure {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, message, ...(error instanceof StorageUnavailableError && { outcomeKnown: error.outcomeKnown }) };
}

interface StoreServiceOptions {
  readonly store: Store;
  /** `post` makes a copy of what it sends: none is made for it. */
  readonly copiesItself?: boolean;
  readonly post: (message: StoreAnswer, transfer?: readonly ArrayBuffer[]) => void;
}

/** Answers the calls of one worker. */
export class StoreService {
  readonly #store: Store;
  readonly #post: (message: StoreAnswer, transfer?: readonly ArrayBuffer[]) => void;
  readonly #copiesItself: boolean;
  readonly #watches = new Map<number, StoreWatch>();
  #pendingBytes = 0;

  constructor({ store, post, copiesItself = false }: StoreServiceOptions) {
    this.#store = store;
    this.#post = post;
    this.#copiesItself = copiesItself;
  }

  receive(message: StoreCall): void {
    if (message.type === 'call') void this.#answer(message);
    else if (message.type === 'taken') this.#pendingBytes -= message.bytes;
    else if (message.type === 'watch') this.#watch(message);
    else if (message.type === 'requestProgress') this.#watches.get(message.watch)?.requestProgress();
    else this.#closeWatch(message.watch);
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
  }

  async #answer({ id, method, request }: Call): Promise<void> {
    try {
      const transfer: ArrayBuffer[] = [];
      const result = this.#copyResult(await (this.#store[method] as (request: unknown) => Promise<unknown>)(request), transfer);
      this.#post({ type: 'answer', id, result }, transfer);
    } catch (error) {
      this.#post({ type: 'answer', id, failure: describeFailure(error) });
    }
  }

  /** A copy that may be given away. */
  #copy(kv: KeyValue, transfer: ArrayBuffer[]): KeyValue {
    if (this.#copiesItself) return kv;
    const value = new Uint8Array(kv.value);
    transfer.push(value.buffer);
    return { ...kv, value };
  }

  /** Values of a read or of a conflict are copied; everything else is plain data. */
  #copyResult(result: unknown, transfer: ArrayBuffer[]): unknown {
    if (typeof result !== 'object' || result === null) return result;
    if ('kvs' in result) return { ...result, kvs: (result.kvs as KeyValue[]).map((kv) => this.#copy(kv, transfer)) };
    if ('current' in result && result.current !== undefined) return { ...result, current: this.#copy(result.current as KeyValue, transfer) };
    return result;
  }

  #watch({ watch, range, from }: Extract<StoreCall, { type: 'watch' }>): void {
    this.#watches.set(watch, this.#store.watch(range, from, {
      events: (batch, revision) => this.#sendEvents(watch, batch, revision),
      progress: (revision) => this.#post({ type: 'progress', watch, revision }),
      ended: (reason) => {
        this.#watches.delete(watch);
        this.#post({ type: 'ended', watch, reason: reason.type === 'failed' ? { type: 'failed', failure: describeFailure(reason.error) } : reason });
      },
    }));
  }

  #sendEvents(watch: number, batch: readonly StoreEvent[], revision: number): void {
    const transfer: ArrayBuffer[] = [];
    const copies = batch.map(({ type, kv, previous }) =>
      ({ type, kv: this.#copy(kv, transfer), ...(previous !== undefined && { previous: this.#copy(previous, transfer) }) }));
    const bytes = batch.reduce((sum, { kv, previous }) => sum + kv.value.length + (previous?.value.length ?? 0), 0);
    this.#pendingBytes += bytes;
    this.#post({ type: 'events', watch, batch: copies, revision, bytes }, transfer);
    if (this.#pendingBytes <= MOST_PENDING_BYTES) return;
    this.#closeWatch(watch);
    const failure = describeFailure(new StorageUnavailableError('the worker does not keep up with changes', { outcomeKnown: true }));
    this.#post({ type: 'ended', watch, reason: { type: 'failed', failure } });
  }

  #closeWatch(watch: number): void {
    this.#watches.get(watch)?.close();
    this.#watches.delete(watch);
  }
}
