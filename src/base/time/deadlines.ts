// Many deadlines of one length, kept in the order in which they come: one timer for all of them, and a link for each. A timer per request
// costs more than finding the object that it asks for.
import { type Link, LinkedList } from '../collections/linked-list.ts';
import type { Clock } from './clock.ts';

interface Deadline {
  readonly atMs: number;
  readonly expire: () => void;
}

/** A deadline that has been set. */
type DeadlineLink = Link<Deadline>;

/** So many come in one turn: an attacker may have set thousands in the same moment. */
const EXPIRED_A_TURN = 100;

/** Deadlines that all come `afterMs` after they were set. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #waiting = new LinkedList<Deadline>();
  #armed = false;

  constructor(clock: Clock, afterMs: number) {
    this.#clock = clock;
    this.#afterMs = afterMs;
  }

  /** Calls `expire` in time, once, unless the deadline is removed first; `expire` may add another. */
  add(expire: () => void): DeadlineLink {
    if (!this.#armed) this.#arm(this.#afterMs);
    return this.#waiting.add({ atMs: this.#clock.monotonicMs() + this.#afterMs, expire });
  }

  /** Idempotent. */
  remove(deadline: DeadlineLink): void {
    this.#waiting.remove(deadline);
  }

  #arm(delayMs: number): void {
    this.#armed = true;
    this.#clock.after(delayMs, () => this.#sweep());
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    let left = EXPIRED_A_TURN;
    for (let first = this.#waiting.first; first !== undefined; first = this.#waiting.first) {
      if (first.atMs > nowMs || left-- === 0) return this.#arm(Math.max(first.atMs - nowMs, 0));
      this.#waiting.shift();
      first.expire();
    }
    this.#armed = false;
  }
}
