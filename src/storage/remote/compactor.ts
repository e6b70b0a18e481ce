// Compaction by one of many servers, as kube-apiserver does it: in each interval they race to count it in the store first, and the
// winner compacts up to the revision of the interval before.
import type { Clock, Timer } from '../../base/index.ts';

/** The outcome of a race: whether this server won, the count of intervals in the store, and the store's revision. */
interface RaceResult {
  readonly won: boolean;
  readonly interval: number;
  readonly revision: number;
}

interface CompactorOptions {
  readonly clock: Clock;
  /** 0: never. */
  readonly intervalMs: number;
  /** Counts one interval more in the store if its count is still `interval`; `mark` is the revision to which the winner compacts. */
  readonly race: (interval: number, mark: number) => Promise<RaceResult>;
  readonly compact: (revision: number) => Promise<unknown>;
  readonly report: (error: unknown) => void;
}

/** Runs until it is stopped. */
export class Compactor {
  readonly #options: CompactorOptions;
  /** The count of intervals, and the revision of the store, as of the interval before. */
  #interval = 0;
  #revision = 0;
  #timer: Timer | undefined;
  /** One after the other, however slow the store is. */
  #racing: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
    if (options.intervalMs > 0) this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    this.#timer = this.#options.clock.after(this.#options.intervalMs, () => {
      if (this.#stopped) return;
      this.#schedule();
      this.#racing = this.#racing.then(() => this.#race()).catch((error: unknown) => this.#stopped || this.#options.report(error));
    });
  }

  async #race(): Promise<void> {
    if (this.#stopped) return;
    const mark = this.#revision;
    const { won, interval, revision } = await this.#options.race(this.#interval, mark);
    this.#interval = interval;
    this.#revision = revision;
    // The first one only marks where the interval began.
    if (won && mark > 0) await this.#options.compact(mark);
  }
}
