// When watches are written by the thousand, what comes next rests for a moment, so that the next round finds several events per watch
// and sends them in one piece: a write costs far more than what is in it. Streams that cost little are never held back.
//
//   open ──a round took longer than BUSY_MS──▶ resting (REST times as long, at most LONGEST_REST_MS) ──▶ one round of all who came
import type { Clock } from '../base/index.ts';

const BUSY_MS = 4;
const LONGEST_REST_MS = 20;
/**
 * By how much a rest is longer than the round was. A quarter of it is what a round costs after its turn, when the transport tells of each
 * write; with a rest hardly longer than that, updates that come as fast as rounds can be are not gathered.
 */
const REST = 2.5;

/** Decides when the streams of one server write. */
export class Pacing {
  readonly #clock: Clock;
  #resting = false;
  #startedMs: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `pump` in this turn or, while the server rests, together with all others after it. */
  run(pump: () => void): void {
    if (this.#resting) return void this.#waiting.push(pump);
    this.#beginRound();
    pump();
  }

  /** All calls of one turn are a round. */
  #beginRound(): void {
    if (this.#startedMs !== undefined) return;
    this.#startedMs = this.#clock.monotonicMs();
    queueMicrotask(() => this.#endRound());
  }

  #endRound(): void {
    const tookMs = this.#clock.monotonicMs() - (this.#startedMs as number);
    this.#startedMs = undefined;
    if (tookMs < BUSY_MS) return;
    this.#resting = true;
    this.#clock.after(Math.min(tookMs * REST, LONGEST_REST_MS), () => this.#resume());
  }

  #resume(): void {
    this.#resting = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) this.#beginRound();
    for (const pump of waiting) pump();
  }
}
