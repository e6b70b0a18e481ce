// The server's Store from the worker's side: the contract of every Store over messages. What a Store elsewhere may be, this one is: errors keep
// their classes, watches end when the server cannot send any more.
import {
  type KeyRange, StorageClosedError, StorageUnavailableError, StorageWriteError, type Store, type StoreWatch, type TxnResult, type WatchObserver,
} from '../../storage/index.ts';
import type { StoreAnswer, StoreCall, StoreFailure, StoreMethod } from './messages.ts';

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

function reviveFailure({ name, message, outcomeKnown }: StoreFailure): Error {
  if (name === 'StorageUnavailableError') return new StorageUnavailableError(message, { outcomeKnown: outcomeKnown === true });
  if (name === 'StorageClosedError') return new StorageClosedError();
  if (name === 'RangeError') return new RangeError(message);
  return name === 'StorageWriteError' ? new StorageWriteError(message) : new Error(message);
}

/** A Store whose answers come through `receive`. */
export class RemoteStore implements Store {
  readonly #post: (message: StoreCall) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #observers = new Map<number, WatchObserver>();
  #lastId = 0;

  constructor(post: (message: StoreCall) => void) {
    this.#post = post;
  }

  receive(message: StoreAnswer): void {
    if (message.type === 'answer') this.#answer(message);
    else this.#observe(message);
  }

  range(request: Parameters<Store['range']>[0]): ReturnType<Store['range']> {
    return this.#call('range', request);
  }

  txn(request: Parameters<Store['txn']>[0]): Promise<TxnResult> {
    return this.#call('txn', request);
  }

  compact(revision: number): ReturnType<Store['compact']> {
    return this.#call('compact', revision);
  }

  timesToLive(): Promise<ReadonlyMap<number, number>> {
    return this.#call('timesToLive', undefined);
  }

  revision(key?: string): Promise<number> {
    return this.#call('revision', key);
  }

  watch(range: KeyRange, from: number, observer: WatchObserver): StoreWatch {
    const watch = ++this.#lastId;
    this.#observers.set(watch, observer);
    this.#post({ type: 'watch', watch, range, from });
    return {
      requestProgress: () => this.#post({ type: 'requestProgress', watch }),
      close: () => {
        if (this.#observers.delete(watch)) this.#post({ type: 'closeWatch', watch });
      },
    };
  }

  /** The Store is the server's to close. */
  async close(): Promise<void> {}

  #call<T>(method: StoreMethod, request: unknown): Promise<T> {
    const id = ++this.#lastId;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ type: 'call', id, method, request });
    });
  }

  #answer({ id, result, failure }: Extract<StoreAnswer, { type: 'answer' }>): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failure === undefined) waiting?.resolve(result as never);
    else waiting?.reject(reviveFailure(failure));
  }

  #observe(message: Exclude<StoreAnswer, { type: 'answer' }>): void {
    const observer = this.#observers.get(message.watch);
    if (message.type === 'events') {
      this.#post({ type: 'taken', bytes: message.bytes });
      observer?.events(message.batch, message.revision);
    } else if (message.type === 'progress') observer?.progress(message.revision);
    else {
      this.#observers.delete(message.watch);
      const { reason } = message;
      observer?.ended(reason.type === 'failed' ? { type: 'failed', error: reviveFailure(reason.failure) } : reason);
    }
  }
}
