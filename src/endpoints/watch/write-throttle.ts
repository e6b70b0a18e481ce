// Holds watch writes back while the server is busy writing. With thousands of streams, a pause lets several events per stream gather, and each
// stream then sends them in one write; a write costs far more than its content. Servers with little to write never pause.
//
//   open ──the first pump of a turn──▶ writing ──the turn ends in less than MEASURED_MS, or after FEW_PUMPS or fewer──▶ open
//                                        └──it took longer──▶ measuring, until the transport has had its turn
//   measuring ──the round took less than BUSY_MS──▶ all waiting pumps run, open
//   measuring ──it took BUSY_MS or more──▶ resting, PAUSE_FACTOR times as long, LONGEST_PAUSE_MS at most ──▶ all waiting pumps run, open
//
// A long round of few pumps sends large events, or the machine has other work: gathering saves nothing then, and a controller would see its own
// writes late, which kube-controller-manager answers with a retry.
//
// A round is all pumps of one turn and the work that the transport does for them afterwards. Pumps that a turn of TURN_MS leaves over belong to the
// round too; they run in the turns that follow.
import type { Clock } from '../../base/index.ts';

/** Rounds of no more pumps are never followed by a pause. */
const FEW_PUMPS = 32;
/** How long pumps may run in one turn. */
const TURN_MS = 8;
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
  readonly #fewPumps: number;
  #isPaused = false;
  #startedMs: number | undefined;
  /** What earlier turns of the round took. */
  #earlierMs = 0;
  /** The pumps of the round so far. */
  #pumps = 0;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock, fewPumps: number = FEW_PUMPS) {
    this.#clock = clock;
    this.#fewPumps = fewPumps;
  }

  /** Calls `pump` in this turn or, during a pause, together with all others after it. */
  run(pump: () => void): void {
    if (this.#isPaused || this.#isTurnOver()) return void this.#waiting.push(pump);
    this.#beginTurn();
    this.#pumps += 1;
    pump();
  }

  #isTurnOver(): boolean {
    return this.#startedMs !== undefined && this.#clock.monotonicMs() - this.#startedMs >= TURN_MS;
  }

  #beginTurn(): void {
    if (this.#startedMs !== undefined) return;
    this.#startedMs = this.#clock.monotonicMs();
    queueMicrotask(() => this.#endTurn());
  }

  #endTurn(): void {
    const startedMs = this.#startedMs as number;
    const turnMs = this.#clock.monotonicMs() - startedMs;
    const earlierMs = this.#earlierMs;
    const isLeftOver = this.#waiting.length > 0;
    const pumps = this.#pumps;
    this.#startedMs = undefined;
    this.#earlierMs = isLeftOver ? earlierMs + turnMs : 0;
    if (!isLeftOver) this.#pumps = 0;
    if (!isLeftOver && (earlierMs + turnMs < MEASURED_MS || pumps <= this.#fewPumps)) return;
    this.#isPaused = true;
    this.#clock.after(0, () => {
      if (isLeftOver) this.#resume();
      else this.#pause(earlierMs + Math.min(this.#clock.monotonicMs() - startedMs, turnMs * ROUND_LIMIT));
    });
  }

  #pause(roundMs: number): void {
    if (roundMs < BUSY_MS) this.#resume();
    else this.#clock.after(Math.min(roundMs * PAUSE_FACTOR, LONGEST_PAUSE_MS), () => this.#resume());
  }

  #resume(): void {
    this.#isPaused = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    this.#beginTurn();
    for (const [at, pump] of waiting.entries()) {
      if (this.#isTurnOver()) {
        this.#waiting = [...waiting.slice(at), ...this.#waiting];
        return;
      }
      this.#pumps += 1;
      pump();
    }
  }
}
