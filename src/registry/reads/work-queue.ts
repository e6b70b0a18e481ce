// Keys to be worked on: each at most once at a time, again after a failure with a growing delay. A key that fails does not hold others up.
//
//   add(k) ─▶ waiting ─▶ running ─┬─▶ done
//                ▲                ├─ added meanwhile: waiting again
//                └── after delay ─┴─ failed, or asked for another look
import type { Clock, Timer } from '../../base/index.ts';

/** How the work of a queue is measured. */
export interface QueueObserver {
  /** Keys that wait, and keys that are worked on with the time of their begin. */
  follow(queue: { readonly depth: number; readonly startedMs: Iterable<number> }): void;
  added(): void;
  retried(): void;
  started(waitedMs: number): void;
  finished(workedMs: number): void;
}

interface WorkQueueOptions {
  readonly observer?: QueueObserver | undefined;
  readonly clock: Clock;
  /** Does the work of one key. A number asks for another look after so many milliseconds. */
  readonly work: (key: string) => Promise<number | void>;
  readonly onError: (key: string, error: unknown) => void;
  /** Keys worked on at the same time. */
  readonly concurrency: number;
  /** The delay after the first failure of a key, which doubles with each one after it, and the longest. */
  readonly firstRetryMs?: number | undefined;
  readonly lastRetryMs?: number | undefined;
}

const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 15_000;

/** The queue of one controller. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  /** With the time since when. */
  readonly #waiting = new Map<string, number>();
  readonly #running = new Map<string, number>();
  readonly #delayed = new Map<string, Timer>();
  readonly #failures = new Map<string, number>();
  #onIdle: (() => void) | undefined;
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    const [waiting, running] = [this.#waiting, this.#running];
    options.observer?.follow({
      get depth() {
        return waiting.size;
      },
      get startedMs() {
        return running.values();
      },
    });
  }

  /** Asks for work on `key` as soon as possible. */
  add(key: string): void {
    if (this.#stopped) return;
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
    if (!this.#waiting.has(key)) {
      this.#waiting.set(key, this.#options.clock.monotonicMs());
      this.#options.observer?.added();
    }
    this.#next();
  }

  /** Forgets everything that waits; resolves when what runs has run to its end. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    for (const timer of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    return this.#running.size === 0 ? Promise.resolve() : new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #next(): void {
    for (const [key, sinceMs] of this.#waiting) {
      if (this.#running.size >= this.#options.concurrency) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      const nowMs = this.#options.clock.monotonicMs();
      this.#running.set(key, nowMs);
      this.#options.observer?.started(nowMs - sinceMs);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      const againMs = await this.#options.work(key);
      this.#failures.delete(key);
      if (typeof againMs === 'number') this.#addLater(key, againMs);
    } catch (error) {
      if (this.#stopped) return;
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.#options.observer?.retried();
      this.#options.onError(key, error);
      const { firstRetryMs = FIRST_RETRY_MS, lastRetryMs = LAST_RETRY_MS } = this.#options;
      this.#addLater(key, Math.min(lastRetryMs, firstRetryMs * 2 ** failures));
    } finally {
      const { clock, observer } = this.#options;
      observer?.finished(clock.monotonicMs() - (this.#running.get(key) ?? 0));
      this.#running.delete(key);
      if (this.#running.size === 0) this.#onIdle?.();
      this.#next();
    }
  }

  #addLater(key: string, delayMs: number): void {
    if (this.#stopped || this.#waiting.has(key)) return;
    this.#delayed.get(key)?.cancel();
    this.#delayed.set(key, this.#options.clock.after(delayMs, () => this.add(key)));
  }
}
