// A Store over another one whose watches are expensive: one watch of everything feeds all watches of this process (shared-watch.ts).
import { type Timer, systemClock } from '../../base/index.ts';
import type { KeyRange, Store, StoreWatch, WatchObserver } from '../store.ts';
import { RunningCalls, SharedQuestion } from './calls.ts';
import type { ChangeSink, ChangeStream } from './changes.ts';
import { Pauses } from './pauses.ts';
import { SharedWatch } from './shared-watch.ts';

interface SharedStoreOptions {
  /** Holds every key that is read and written. */
  readonly range: KeyRange;
  /** Called with failures after which a watch begins again. */
  readonly report: (error: unknown) => void;
}

/** Changes before these are asked of the other Store again, which is near. 8,000 new objects of 10 KB took 31 MB of each process beside its caches. */
const REMEMBERED_BYTES = 4 * 2 ** 20;

/** One watch of everything on a Store, which is opened again after a failure. */
class WatchedChanges implements ChangeStream {
  readonly #store: Store;
  readonly #options: SharedStoreOptions & { readonly onClosed: () => void };
  readonly #sink: ChangeSink;
  #watch: StoreWatch | undefined;
  /** Watches that were opened: the observer of an earlier one is not heard. */
  #opened = 0;
  readonly #pauses = new Pauses();
  #timer: Timer | undefined;
  position: number;

  constructor(store: Store, from: number, options: { readonly sink: ChangeSink } & SharedStoreOptions & { readonly onClosed: () => void }) {
    this.#store = store;
    this.#options = options;
    this.#sink = options.sink;
    this.position = Math.max(0, from - 1);
    this.#open();
  }

  hurry(): void {
    this.#watch?.requestProgress();
  }

  restart(): void {
    this.close();
    this.#open();
  }

  close(): void {
    this.#opened += 1;
    this.#timer?.cancel();
    this.#watch?.close();
    this.#watch = undefined;
  }

  #open(): void {
    const opened = ++this.#opened;
    const isOver = (): boolean => opened !== this.#opened;
    const observer: WatchObserver = {
      events: (batch, revision) => {
        if (isOver()) return;
        this.#pauses.reset();
        this.position = revision;
        this.#sink.events(batch, revision);
      },
      progress: (revision) => {
        if (isOver() || revision <= this.position) return;
        this.position = revision;
        this.#sink.events([], revision);
      },
      ended: (reason) => {
        if (isOver()) return;
        this.#watch = undefined;
        if (reason.type === 'compacted') this.#sink.compacted(reason.compactRevision);
        else if (reason.type === 'closed') this.#options.onClosed();
        else {
          this.#options.report(reason.error);
          this.#timer = systemClock.after(this.#pauses.next(), () => this.#open());
        }
      },
    };
    this.#watch = this.#store.watch(this.#options.range, this.position + 1, observer);
  }
}

/** Shares one watch; `inner` is closed with the Store. Rejects when the revision of `inner` cannot be read. */
export async function shareWatches(inner: Store, options: SharedStoreOptions): Promise<Store> {
  const question = new SharedQuestion(() => inner.revision());
  const openChanges = (from: number, sink: ChangeSink): ChangeStream =>
    new WatchedChanges(inner, from, { ...options, sink, onClosed: () => shared.close() });
  const shared: SharedWatch = new SharedWatch({
    openLive: openChanges, openReplay: openChanges, revision: await inner.revision(), readRevision: () => question.ask(), report: options.report,
    rememberedBytes: REMEMBERED_BYTES,
  });
  const calls = new RunningCalls();
  const ask = <T extends { readonly revision: number }>(call: () => Promise<T>): Promise<T> => calls.track(async () => {
    const result = await call();
    shared.noteRevision(result.revision);
    return result;
  });
  return {
    range: (request) => ask(() => inner.range(request)),
    txn: (request) => ask(() => inner.txn(request)),
    watch: (range, from, observer) => shared.watch(range, from, observer),
    compact: (revision) => calls.track(async () => {
      const result = await inner.compact(revision);
      shared.noteCompaction(result.compactRevision);
      return result;
    }),
    timesToLive: () => calls.track(() => inner.timesToLive()),
    revision: async () => (await ask(async () => ({ revision: await question.ask() }))).revision,
    close: () => calls.close(async () => {
      shared.close();
      await inner.close();
    }),
  };
}
