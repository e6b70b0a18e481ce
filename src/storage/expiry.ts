// Deletes keys whose time to live is over, as an etcd lease does. The Store keeps the leases, ExpiryAlarm the timer.
import type { Clock, Timer } from '../base/index.ts';

/** One put with a time to live. A newer version of the key makes it void. */
export interface Lease {
  readonly key: string;
  readonly revision: number;
  readonly expiresAt: number;
}

/** Where leases are kept, ordered by the time at which they end. */
export interface LeaseBook {
  earliest(): number | undefined;
  /** Up to `limit` leases that ended at or before `now`, earliest first. */
  due(now: number, limit: number): readonly Lease[];
  remove(leases: readonly Lease[]): Promise<void>;
}

/** The rest of each lease as Store.timesToLive returns it; at least a second, also of leases that end this moment. */
export function computeTimesToLive(leases: readonly Lease[], now: number): ReadonlyMap<number, number> {
  return new Map(leases.map(({ revision, expiresAt }) => [revision, Math.max(1, Math.ceil((expiresAt - now) / 1000))]));
}

const LEASES_PER_ROUND = 64;
/** Timers hold 31 bits of milliseconds; a later lease is looked at again then. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;
const RETRY_MS = 1000;

/** Rings at the earliest end of a lease. */
export class ExpiryAlarm {
  readonly #clock: Clock;
  readonly #book: LeaseBook;
  readonly #expire: (lease: Lease) => Promise<unknown>;
  #timer: Timer | undefined;
  #ringsAt = Infinity;
  #busy = false;
  #stopped = false;

  constructor(options: { clock: Clock; book: LeaseBook; expire: (lease: Lease) => Promise<unknown> }) {
    this.#clock = options.clock;
    this.#book = options.book;
    this.#expire = options.expire;
  }

  /** A lease ends at `expiresAt`; called for each new one, and with the earliest at start. */
  arm(expiresAt: number): void {
    if (this.#stopped || this.#busy || expiresAt >= this.#ringsAt) return;
    this.#timer?.cancel();
    this.#ringsAt = expiresAt;
    const delayMs = Math.min(Math.max(expiresAt - this.#clock.now(), 0), LONGEST_DELAY_MS);
    this.#timer = this.#clock.after(delayMs, () => void this.#ring());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #ring(): Promise<void> {
    this.#busy = true;
    this.#ringsAt = Infinity;
    let again: number | undefined;
    try {
      await this.#expireDue();
      if (!this.#stopped) again = this.#book.earliest();
    } catch {
      // The disk refused: the leases are still in the book and are tried again.
      again = this.#clock.now() + RETRY_MS;
    }
    this.#busy = false;
    if (again !== undefined) this.arm(again);
  }

  async #expireDue(): Promise<void> {
    while (!this.#stopped) {
      const due = this.#book.due(this.#clock.now(), LEASES_PER_ROUND);
      if (due.length === 0) return;
      await Promise.all(due.map((lease) => this.#expire(lease)));
      // Stopped meanwhile: the leases are found again, and are void by then.
      if (!this.#stopped) await this.#book.remove(due);
    }
  }
}
