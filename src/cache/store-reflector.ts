// Keeps a copy of one prefix current: lists it at one exact revision, then watches from the next one on, and resumes after failures.
//
//   listing ──all pages of one revision──▶ watching ──failed──▶ pausing ──▶ watching again, after the last change
//      ▲ └─ failed or compacted meanwhile: pause, again             │
//      └────────── compacted, or a change that cannot be taken in ◀───────┘        closed: the Store is gone, over
import { type Clock, type Timer, delay, invariant } from '../base/index.ts';
import { type KeyRange, type KeyValue, type Store, type StoreEvent, type StoreWatch, type WatchObserver } from '../storage/index.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 10_000;

/** Receives the list and the changes. */
export interface ReflectorSink {
  /** One page of a listing, in key order; pages of an abandoned listing are forgotten at the next `beginList`. */
  beginList(): void;
  addPage(kvs: readonly KeyValue[]): Promise<void> | void;
  /** The pages since `beginList` are the whole state at `revision`. */
  endList(revision: number): void;
  changes(batch: readonly StoreEvent[], revision: number): void;
  progress(revision: number): void;
  /** Watching has begun (again). */
  resumed(): void;
  closed(): void;
}

/** A store elsewhere sends a page as one message: pages of large values have few of them. */
const FIRST_PAGE = 16;
const PAGE_BYTES = 4 * 2 ** 20;

/** How many values like these make a page. */
function fittingPage(kvs: readonly KeyValue[]): number {
  const bytes = kvs.reduce((sum, { value }) => sum + value.length, 0);
  return Math.max(1, Math.floor((PAGE_BYTES * kvs.length) / Math.max(1, bytes)));
}

/** The parts of a reflector. */
interface StoreReflectorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly range: KeyRange;
  readonly pageSize: number;
  readonly sink: ReflectorSink;
  /** Revision that the sink has reached. */
  readonly reached: () => number;
  /** Called with failures from which the reflector recovers. */
  readonly report: (error: unknown) => void;
}

interface Session {
  over: boolean;
  watch: StoreWatch | undefined;
}

/** The connection of one cache to its Store. */
export class StoreReflector {
  readonly #options: StoreReflectorOptions;
  #session: Session | undefined;
  #retry: Timer | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #closed = false;

  constructor(options: StoreReflectorOptions) {
    this.#options = options;
  }

  /** Lists until it succeeds, then watches. Never rejects. */
  async start(): Promise<void> {
    while (!this.#closed) {
      try {
        const revision = await this.#list();
        if (revision !== undefined && !this.#closed) {
          this.#options.sink.endList(revision);
          return this.#watch();
        }
      } catch (error) {
        if (!this.#closed) this.#options.report(error);
      }
      if (!this.#closed) await delay(this.#options.clock, this.#nextPause());
    }
  }

  /** Makes the Store report how far it is; without effect while there is no watch. */
  requestProgress(): void {
    this.#session?.watch?.requestProgress();
  }

  /** The Store's revision, when all changes up to it have come in; undefined when that is not known in this turn. */
  delivered(): number | undefined {
    return this.#session?.watch?.delivered?.();
  }

  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#leave();
  }

  /** The revision listed, or undefined when it was compacted on the way. */
  async #list(): Promise<number | undefined> {
    const { store, range, sink, pageSize } = this.#options;
    const revision = await store.revision(range.start);
    sink.beginList();
    let { start } = range;
    let limit = Math.min(pageSize, FIRST_PAGE);
    for (;;) {
      const page = await store.range({ start, end: range.end, revision, limit, uncounted: true });
      if (page.type !== 'ok' || this.#closed) return undefined;
      limit = Math.min(pageSize, fittingPage(page.kvs));
      await sink.addPage(page.kvs);
      if (this.#closed) return undefined;
      const last = page.kvs.at(-1);
      if (!page.more || last === undefined) return revision;
      start = `${last.key}\u0000`;
    }
  }

  #watch(): void {
    if (this.#closed) return;
    const { store, range, reached, sink, report } = this.#options;
    const session: Session = { over: false, watch: undefined };
    this.#session = session;
    try {
      const watch = store.watch(range, reached() + 1, this.#observe(session));
      if (session.over) return watch.close();
      session.watch = watch;
      sink.resumed();
    } catch (error) {
      report(error);
      this.#pauseThen(() => this.#watch());
    }
  }

  #observe(session: Session): WatchObserver {
    const { sink, reached } = this.#options;
    return {
      events: (batch, revision) => {
        if (session.over) return;
        this.#guard(() => {
          invariant(batch.every(({ kv }) => kv.modRevision > reached()), 'a watch delivers each revision once');
          sink.changes(batch, revision);
          this.#pauseMs = FIRST_PAUSE_MS;
        });
      },
      progress: (revision) => {
        if (session.over) return;
        this.#pauseMs = FIRST_PAUSE_MS;
        sink.progress(revision);
      },
      ended: (reason) => {
        if (session.over) return;
        this.#leave();
        this.#end(reason);
      },
    };
  }

  /** A change that cannot be taken in leaves the copy incomplete: it is thrown away and listed again. */
  #guard(takeIn: () => void): void {
    try {
      takeIn();
    } catch (error) {
      this.#leave();
      this.#options.report(error);
      this.#pauseThen(() => void this.start());
    }
  }

  #end(reason: Parameters<WatchObserver['ended']>[0]): void {
    if (reason.type === 'closed') {
      this.#closed = true;
      this.#options.sink.closed();
    } else if (reason.type === 'compacted') {
      this.#pauseThen(() => void this.start());
    } else {
      this.#options.report(reason.error);
      this.#pauseThen(() => this.#watch());
    }
  }

  #leave(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) return;
    session.over = true;
    session.watch?.close();
  }

  #pauseThen(next: () => void): void {
    if (this.#closed) return;
    this.#retry = this.#options.clock.after(this.#nextPause(), next);
  }

  #nextPause(): number {
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    return pauseMs;
  }
}
