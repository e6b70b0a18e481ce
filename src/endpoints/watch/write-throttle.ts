// Holds watch writes back while the server is busy writing. With thousands of streams, a pause lets several events per stream gather, and each
// stream then sends them in one write; a write costs far more than its content. Servers with little to write never pause.
//
//   open ──the first pump of a turn──▶ writing ──the turn ends in less than MEASURED_MS──▶ open
//                                        └──it took longer──▶ measuring, until the transport has had its turn
//   measuring ──the round took less than BUSY_MS──▶ all waiting pumps run, open
//   measuring ──it took BUSY_MS or more──▶ resting, PAUSE_FACTOR times as long, LONGEST_PAUSE_MS at most ──▶ all waiting pumps run, open
//
// A round is all pumps of one turn and the work that the transport does for them afterwards.
import type { Clock } from '../../base/index.ts';

/** Turns shorter than this are not measured further. */
const MEASURED_MS = 1;
const BUSY_MS = 4;
const LONGEST_PAUSE_MS = 20;
/** Pauses no longer than rounds hardly gather anything when updates come as fast as rounds can be. */
const PAUSE_FACTOR = 2;
/**
 * The transport works on after the turn: for a fraction of it on HTTP/1.1, for three times as long on HTTP/2, which makes its frames then. Time
 * beyond this multiple of the turn is work of other parts of the server.
 */
const ROUND_LIMIT = 4;

/** Decides when the streams of one server write. */
export class WriteThrottle {
  readonly #clock: Clock;
  #isPaused = false;
  #startedMs: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `pump` in this turn or, during a pause, together with all others after it. */
  run(pump: () => void): void {
    if (this.#isPaused) return void this.#waiting.push(pump);
    this.#beginRound();
    pump();
  }

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
    this.#isPaused = true;
    this.#clock.after(0, () => this.#pause(Math.min(this.#clock.monotonicMs() - startedMs, turnMs * ROUND_LIMIT)));
  }

  #pause(roundMs: number): void {
    if (roundMs < BUSY_MS) this.#resume();
    else this.#clock.after(Math.min(roundMs * PAUSE_FACTOR, LONGEST_PAUSE_MS), () => this.#resume());
  }

  #resume(): void {
    this.#isPaused = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) this.#beginRound();
    for (const pump of waiting) pump();
  }
}
