// When watches are written by the thousand, what comes next rests for a moment, so that the next round finds several events per watch
// and sends them in one piece: a write costs far more than what is in it. Streams that cost little are never held back.
//
//   open ──a turn of writes is over──▶ measuring (until the transport has had its turn) ──the round took BUSY_MS──▶ resting
//    ▲ └── that took next to nothing         └──── it took less ────▶ one round of all who came ◀── REST times as long, LONGEST_REST_MS at most
//    └──────────────────────────────────────────────────────────────────────────┘
import type { Clock } from '../../base/index.ts';

/** Turns shorter than this are not looked at. */
const MEASURED_MS = 1;
const BUSY_MS = 4;
const LONGEST_REST_MS = 20;
/** With rests no longer than rounds, updates that come as fast as rounds can be are hardly gathered. */
const REST = 2;
/**
 * A round goes on after its turn: a share of it when the transport only tells of each write, three times as long when HTTP/2 makes its
 * frames then. More than that is somebody else's work.
 */
const AFTERMATH_LIMIT = 4;

/** Decides when the streams of one server write. */
export class WriteThrottle {
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
    queueMicrotask(() => this.#endTurn());
  }

  #endTurn(): void {
    const startedMs = this.#startedMs as number;
    const turnMs = this.#clock.monotonicMs() - startedMs;
    this.#startedMs = undefined;
    if (turnMs < MEASURED_MS) return;
    this.#resting = true;
    this.#clock.after(0, () => this.#rest(Math.min(this.#clock.monotonicMs() - startedMs, turnMs * AFTERMATH_LIMIT)));
  }

  #rest(tookMs: number): void {
    if (tookMs < BUSY_MS) this.#resume();
    else this.#clock.after(Math.min(tookMs * REST, LONGEST_REST_MS), () => this.#resume());
  }

  #resume(): void {
    this.#resting = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) this.#beginRound();
    for (const pump of waiting) pump();
  }
}
