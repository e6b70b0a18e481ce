// Waiting until the cache has reached a revision, and learning which revision counts as current.
// A waiting read makes the Store report progress at once, and again every 100 ms (upstream's period) as long as one waits.
import type { Clock, Timer } from '../base/index.ts';
import type { Store } from '../storage/index.ts';

const ASK_AGAIN_MS = 100;
/** Reads that go on in one turn of the event loop: what each does next takes a fifth of a millisecond, and thousands may wait for the same. */
const WOKEN_AT_ONCE = 50;

/** The same answer in the next turn of the event loop. */
const inNextTurn = <T>(answer: T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(answer)));

/** The parts that waiting uses. */
interface FreshnessOptions {
  readonly store: Store;
  /** Where the keys of the cache begin. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Revision that the cache has reached. */
  readonly reached: () => number;
  /** Makes the Store report how far it is. */
  readonly requestProgress: () => void;
}

interface Waiter {
  readonly revision: number;
  readonly settle: (reached: boolean) => void;
}

/** The reads that wait for the cache. The cache calls `advance`, `resume` and `close`. */
export class Freshness {
  readonly #options: FreshnessOptions;
  readonly #waiters = new Set<Waiter>();
  /** Smallest revision waited for; spares a search on each change. */
  #lowest = Infinity;
  #asking = false;
  #askAgain: Timer | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** A question to the Store that is not sent yet: all reads until then share its answer. */
  #upcoming: Promise<number | undefined> | undefined;
  /** The reads that will get the answer in the turn in which `#upcoming` gives it. */
  #sharing = 0;
  #closed = false;

  constructor(options: FreshnessOptions) {
    this.#options = options;
  }

  /** True once the cache has reached `revision`; false when `timeoutMs` passed first or the cache closed. */
  waitUntil(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.#options.reached() >= revision) return Promise.resolve(true);
    if (this.#closed || timeoutMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        revision,
        settle: (reached) => {
          timer.cancel();
          this.#waiters.delete(waiter);
          resolve(reached);
        },
      };
      const timer = this.#options.clock.after(timeoutMs, () => waiter.settle(false));
      this.#waiters.add(waiter);
      this.#lowest = Math.min(this.#lowest, revision);
      this.#ask();
    });
  }

  /** As waitUntil, for the revision that the Store has when asked; also false when the Store does not answer. */
  async waitUntilCurrent(timeoutMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    const revision = await this.#within(this.#learnRevision(), timeoutMs);
    if (revision === undefined) return false;
    return this.waitUntil(revision, timeoutMs - (clock.monotonicMs() - startMs));
  }

  /** The cache has reached `revision`. */
  advance(revision: number): void {
    if (revision < this.#lowest) return;
    this.#lowest = Infinity;
    let woken = 0;
    for (const waiter of this.#waiters) {
      if (waiter.revision > revision) this.#lowest = Math.min(this.#lowest, waiter.revision);
      else if (woken++ < WOKEN_AT_ONCE) waiter.settle(true);
      else {
        this.#lowest = 0;
        setImmediate(() => this.advance(revision));
        return;
      }
    }
  }

  /** Asks for progress if a read waits; for a watch that has begun again. */
  resume(): void {
    if (this.#waiters.size > 0) this.#ask();
  }

  /** Every waiting read gets false. */
  close(): void {
    this.#closed = true;
    this.#askAgain?.cancel();
    for (const waiter of this.#waiters) waiter.settle(false);
  }

  /** One question for all reads that began to wait in this turn. */
  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    queueMicrotask(() => {
      this.#asking = false;
      if (this.#closed || this.#waiters.size === 0) return;
      this.#askAgain ??= this.#options.clock.after(ASK_AGAIN_MS, () => {
        this.#askAgain = undefined;
        this.resume();
      });
      this.#options.requestProgress();
    });
  }

  #learnRevision(): Promise<number | undefined> {
    if (this.#upcoming === undefined) {
      this.#sharing = 0;
      this.#upcoming = this.#running.then(() => {
        this.#upcoming = undefined;
        // A waiting read gets false in time; calls that write report the cause.
        const answer = this.#options.store.revision(this.#options.prefix).catch(() => undefined);
        this.#running = answer;
        return answer;
      });
    } else if (++this.#sharing % WOKEN_AT_ONCE === 0) this.#upcoming = this.#upcoming.then(inNextTurn);
    return this.#upcoming;
  }

  #within(answer: Promise<number | undefined>, timeoutMs: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(timeoutMs, () => resolve(undefined));
      void answer.then((revision) => {
        timer.cancel();
        resolve(revision);
      });
    });
  }
}
