// The changes of a lagging watcher: a watch of its own on the Store, from a revision that in-memory history no longer has.
// Changes that were not taken yet are bounded: when there are too many, the Store's watch is closed, and opened again after the last of them.
import type { Clock } from '../base/index.ts';
import type { KeyRange, KeyValue, Store, StoreEvent, WatchObserver } from '../storage/index.ts';
import type { CacheEvent, Decode } from './contract.ts';

/** Changes held for one lagging watcher. */
const REPLAY_LIMIT = 1000;
/** Bytes of their values: a client that does not read may ask for a watch from before many large ones. One change is always held. */
const REPLAY_BYTES = 4 * 2 ** 20;
const RETRY_MS = 1000;

/** The parts of a replay, and its callbacks. */
interface ReplayOptions<T> {
  readonly store: Store;
  readonly clock: Clock;
  readonly decode: Decode<T>;
  readonly range: KeyRange;
  readonly after: number;
  /** Something came, or `reached` grew. May be called before the constructor has returned. */
  readonly advanced: () => void;
  readonly ended: (reason: 'expired' | 'closed') => void;
}

interface Session {
  over: boolean;
  stop: (() => void) | undefined;
  ask: (() => void) | undefined;
}

function toCacheEvent<T>({ type, kv, previous }: StoreEvent, decode: Decode<T>): CacheEvent<T> {
  const decodeMaybe = (version: KeyValue | undefined): T | undefined => (version === undefined ? undefined : decode(version));
  return { type, key: kv.key, revision: kv.modRevision, value: type === 'put' ? decode(kv) : undefined, previous: decodeMaybe(previous) };
}

/** A bounded, restartable watch of the Store. Everything up to `reached` is in the buffer or was taken. */
export class Replay<T> {
  readonly #options: ReplayOptions<T>;
  #buffer: CacheEvent<T>[] = [];
  /** Of the values of each change in the buffer. */
  readonly #sizes: number[] = [];
  #bytes = 0;
  #session: Session | undefined;
  #reached: number;
  #closed = false;

  constructor(options: ReplayOptions<T>) {
    this.#options = options;
    this.#reached = options.after;
  }

  get reached(): number {
    return this.#reached;
  }

  get size(): number {
    return this.#buffer.length;
  }

  /** Begins, or continues, at the change after `reached`. */
  open(): void {
    if (this.#closed || this.#session !== undefined) return;
    const session: Session = { over: false, stop: undefined, ask: undefined };
    this.#session = session;
    try {
      this.#connect(session);
    } catch {
      // The Store cannot be watched at the moment.
      this.#retryLater(session);
    }
  }

  /** Up to `limit` changes, the oldest first, and those that share the last one's revision. */
  take(limit: number): CacheEvent<T>[] {
    let count = Math.min(limit, this.#buffer.length);
    while (count > 0 && this.#buffer[count]?.revision === this.#buffer[count - 1]?.revision) count++;
    const taken = this.#buffer.splice(0, count);
    for (const bytes of this.#sizes.splice(0, count)) this.#bytes -= bytes;
    if (this.#buffer.length <= REPLAY_LIMIT / 2 && this.#bytes <= REPLAY_BYTES / 2) this.open();
    return taken;
  }

  /** Asks the Store how far this range is known to be complete. */
  requestProgress(): void {
    this.#session?.ask?.();
  }

  close(): void {
    this.#closed = true;
    this.#endSession();
  }

  #endSession(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) return;
    session.over = true;
    session.stop?.();
  }

  #connect(session: Session): void {
    const { store, range } = this.#options;
    const watch = store.watch(range, this.#reached + 1, this.#observe(session));
    if (session.over) return watch.close();
    session.stop = () => watch.close();
    session.ask = () => watch.requestProgress();
    watch.requestProgress();
  }

  #retryLater(session: Session): void {
    session.over = true;
    this.#session = undefined;
    this.#options.clock.after(RETRY_MS, () => this.open());
  }

  #observe(session: Session): WatchObserver {
    const { advanced, ended } = this.#options;
    return {
      events: (batch, revision) => {
        if (session.over) return;
        if (this.#keep(batch, revision)) advanced();
        else ended('expired');
      },
      progress: (revision) => {
        if (session.over) return;
        this.#reached = Math.max(this.#reached, revision);
        advanced();
      },
      ended: (reason) => {
        if (session.over) return;
        if (reason.type === 'failed') return this.#retryLater(session);
        session.over = true;
        this.#session = undefined;
        ended(reason.type === 'closed' ? 'closed' : 'expired');
      },
    };
  }

  /** False when a change cannot be decoded: the watcher must not go on without it. */
  #keep(batch: readonly StoreEvent[], revision: number): boolean {
    try {
      for (const event of batch) {
        const isFull = this.#buffer.length >= REPLAY_LIMIT || this.#bytes >= REPLAY_BYTES;
        if (isFull && event.kv.modRevision > this.#reached) {
          this.#endSession();
          return true;
        }
        this.#buffer.push(toCacheEvent(event, this.#options.decode));
        const bytes = event.kv.value.length + (event.previous?.value.length ?? 0);
        this.#sizes.push(bytes);
        this.#bytes += bytes;
        this.#reached = event.kv.modRevision;
      }
    } catch {
      this.close();
      return false;
    }
    this.#reached = Math.max(this.#reached, revision);
    return true;
  }
}
