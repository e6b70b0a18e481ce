// One watcher: a range and a cursor into shared history.
//
//   waiting ──first list──▶ lagging ──has reached what history holds──▶ reading ──take() emptied it──▶ idle
//      │                       ▲                                         │ ▲ ▲ └────── a change inside its range ◀─┘
//      │                       └─── history has dropped its next change ─┘ │
//      └──────────────────────── after ≥ history's base ───────────────────┘
//
// An idle watcher has no cursor: however much history passes it by, it cannot fall out. A reading one can, and lags then. From every
// state `close` ends it at once; `drain` ends all but a reading one, which ends after its last take.
import { type Clock, createBoundsTest } from '../base/index.ts';
import type { KeyRange, Store } from '../storage/index.ts';
import type { CacheEvent, ColumnValue, ColumnsOf, Decode, WatchedRange, Watcher } from './contract.ts';
import type { History } from './history.ts';
import { Replay } from './replay.ts';
import { type Indexed, type WatchIndex, concerns } from './watch-index.ts';

/** The parts that the cache shares with its watchers. */
export interface WatchHost<T> {
  readonly history: History<T>;
  readonly watchIndex: WatchIndex<T, HistoryWatcher<T>>;
  readonly columnsOf: ColumnsOf<T>;
  readonly store: Store;
  readonly clock: Clock;
  readonly decode: Decode<T>;
  /** Revision that the cache has reached. */
  reached(): number;
  /** Called with the error of a wake that threw. */
  readonly report: (error: unknown) => void;
  /** The watcher has ended and is not to be kept. */
  forget(watcher: HistoryWatcher<T>): void;
}

/** The range, the revision after which it is watched, and the callback of its reader. */
interface WatchRequest {
  readonly range: WatchedRange;
  readonly after: number;
  readonly wake: () => void;
}

type State = 'waiting' | 'lagging' | 'reading' | 'idle' | 'ended';

/** A Watcher over History. The cache calls `start`, `activate`, `notify`, `signal`, `relist` and `drain`; the reader the rest. */
export class HistoryWatcher<T> implements Watcher<T>, Indexed {
  readonly range: KeyRange;
  readonly only: ColumnValue | undefined;
  readonly isInside: (key: string) => boolean;
  readonly #host: WatchHost<T>;
  readonly #wake: () => void;
  #state: State = 'waiting';
  #end: 'expired' | 'closed' | undefined;
  /** Every change up to this revision was taken or is not wanted. */
  #passed: number;
  /** Changes of history up to this revision are not taken from it: the replay brought them, or they are not wanted. */
  #floor: number;
  #cursor = 0;
  #replay: Replay<T> | undefined;
  /** The reader found nothing and waits for its wake. */
  #isWaiting = false;
  #touched = false;
  /** The cache has closed: history gets no more changes. */
  #draining = false;

  constructor(host: WatchHost<T>, { range: { start, end, only }, after, wake }: WatchRequest) {
    this.range = { start, end };
    this.only = only;
    this.#host = host;
    this.#wake = wake;
    this.#passed = after;
    this.#floor = after;
    this.isInside = createBoundsTest(this.range);
  }

  get end(): 'expired' | 'closed' | undefined {
    this.#checkCursor();
    return this.#end;
  }

  get revision(): number {
    if (this.#replay !== undefined && this.#replay.size > 0) return this.#passed;
    if (this.#state === 'idle') return Math.max(this.#passed, this.#host.reached());
    if (this.#state === 'lagging') return Math.max(this.#passed, this.#replay?.reached ?? 0);
    if (this.#state !== 'reading') return this.#passed;
    return Math.max(this.#passed, (this.#upcoming?.revision ?? 0) - 1);
  }

  get #upcoming(): CacheEvent<T> | undefined {
    return this.#host.history.eventAt(this.#cursor);
  }

  get lagging(): boolean {
    return this.#state === 'lagging';
  }

  take(limit: number): readonly CacheEvent<T>[] {
    this.#touched = true;
    const taken = this.#takeReplayed(limit);
    if (this.#state === 'reading' && taken.length < limit) this.#takeHistory(limit, taken);
    this.#isWaiting = !this.#hasSomething();
    return taken;
  }

  close(): void {
    this.#isWaiting = false;
    this.#touched = true;
    this.finish('closed');
  }

  /** Begins in history when that reaches back far enough, else with a replay from the Store. */
  start(): void {
    const { history, store, clock, decode } = this.#host;
    if (this.#state === 'ended' || this.#state === 'lagging') return;
    if (this.#passed >= history.baseRevision) return this.#join(this.#passed);
    this.#state = 'lagging';
    const { range } = this;
    const advanced = (): void => this.#followReplay();
    this.#replay = new Replay({ store, clock, decode, range, after: this.#passed, advanced, ended: (reason) => this.finish(reason) });
    this.#replay.open();
  }

  /** Begins to wake the reader, unless it has taken or closed already. */
  activate(): void {
    if (this.#touched) return;
    this.#isWaiting = true;
    if (this.#hasSomething()) this.signal();
  }

  /** A change in the range; false when the watcher is not idle, or begins after it. */
  notify(cursor: number, revision: number): boolean {
    if (this.#state !== 'idle' || revision <= this.#passed) return false;
    this.#state = 'reading';
    this.#cursor = cursor;
    return true;
  }

  /** Calls wake if the reader waits for it. */
  signal(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    try {
      this.#wake();
    } catch (error) {
      this.#host.report(error);
    }
  }

  /** Asks the Store again how far the replay is complete. */
  requestProgress(): void {
    this.#replay?.requestProgress();
  }

  /** History begins again with a newer list: a watcher that has not come that far has missed changes. */
  relist(): void {
    if (this.#state === 'reading' || (this.#state === 'idle' && this.#passed < this.#host.history.baseRevision)) this.finish('expired');
    else if (this.#state === 'lagging') this.#followReplay();
    else this.start();
  }

  /** The cache is closing: what history holds can still be taken, then the watcher ends. */
  drain(): void {
    if (this.#state !== 'reading') return this.finish('closed');
    this.#draining = true;
    this.signal();
  }

  /** Ends the watcher; does nothing when it has ended before. */
  finish(end: 'expired' | 'closed'): void {
    if (this.#state === 'ended') return;
    if (end === 'closed') this.#passed = this.revision;
    this.#state = 'ended';
    this.#end = end;
    this.#replay?.close();
    this.#replay = undefined;
    this.#host.watchIndex.remove(this);
    this.#host.forget(this);
    this.signal();
  }

  #hasSomething(): boolean {
    return this.#state === 'ended' || this.#state === 'reading' || (this.#replay?.size ?? 0) > 0;
  }

  #checkCursor(): void {
    if (this.#state === 'reading' && this.#cursor < this.#host.history.first) this.#fallBehind();
  }

  /** History has dropped changes that the reader has not taken: they are read from the Store, as those before it are. */
  #fallBehind(): void {
    if (this.#draining) return this.finish('expired');
    this.#host.watchIndex.remove(this);
    this.#state = 'waiting';
    this.start();
  }

  #takeReplayed(limit: number): CacheEvent<T>[] {
    if (this.#replay === undefined) return [];
    const taken = this.#replay.take(limit);
    this.#passed = taken.at(-1)?.revision ?? this.#passed;
    if (this.#state === 'reading' && this.#replay?.size === 0) this.#leaveReplay(this.#replay.reached);
    return taken;
  }

  /** Changes of one revision are never parted: a reader that has one of them has all. */
  #takeHistory(limit: number, into: CacheEvent<T>[]): void {
    this.#checkCursor();
    while (this.#state === 'reading') {
      const event = this.#upcoming;
      if (event === undefined || (into.length >= limit && event.revision !== this.#passed)) break;
      into.push(event);
      this.#passed = event.revision;
      this.#cursor++;
      this.#seek();
    }
  }

  /** Moves the cursor to the next change that is wanted; without one the watcher is idle. */
  #seek(): void {
    const { history } = this.#host;
    if (this.#cursor < history.first) return this.#fallBehind();
    for (; this.#cursor < history.next; this.#cursor++) if (this.#isWanted(this.#upcoming as CacheEvent<T>)) return;
    this.#state = 'idle';
    if (this.#draining) this.finish('closed');
  }

  #isWanted(event: CacheEvent<T>): boolean {
    if (event.revision <= this.#floor || !this.isInside(event.key)) return false;
    return this.only === undefined || concerns(event, this.only, this.#host.columnsOf);
  }

  #join(after: number): void {
    this.#host.watchIndex.add(this);
    this.#state = 'reading';
    this.#cursor = this.#host.history.cursorAfter(after);
    if (this.#replay === undefined) return this.#seek();
    this.#replay.close();
    // Buffered changes are older than `after` and are taken first; the cursor waits behind them.
    if (this.#replay.size === 0) this.#leaveReplay(after);
  }

  #leaveReplay(reached: number): void {
    this.#replay = undefined;
    this.#passed = Math.max(this.#passed, reached);
    this.#floor = this.#passed;
    this.#seek();
  }

  #followReplay(): void {
    const replay = this.#replay;
    if (this.#state !== 'lagging' || replay === undefined) return;
    if (replay.reached >= this.#host.history.baseRevision) this.#join(replay.reached);
    if (this.#hasSomething()) this.signal();
  }
}
