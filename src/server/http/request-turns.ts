// Requests that arrive at once begin in several turns of the event loop: HTTP/2 hands over all that one read brought, thousands when many
// connections are readable. While they wait, connections take turns, so that one with a hundred streams does not come before one with a single request.
import type { Clock } from '../../base/index.ts';

/** How long requests may begin in one turn, so that others get theirs within the time that is promised. */
const TURN_MS = 8;

/** The requests of one listener that have arrived and not begun. */
export class RequestTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By connection, in the order of their turns. */
  readonly #waiting = new Map<object, (() => void)[]>();
  /** When the first request of this turn began; undefined before it. */
  #startedMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Calls `work` now, or in a later turn when this one has taken long; `nowMs` is the time. */
  begin(connection: object, nowMs: number, work: () => void): void {
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs;
      setImmediate(() => this.#nextTurn());
    }
    if (this.#waiting.size === 0 && nowMs - this.#startedMs < TURN_MS) return work();
    const waiting = this.#waiting.get(connection);
    if (waiting === undefined) this.#waiting.set(connection, [work]);
    else waiting.push(work);
  }

  #nextTurn(): void {
    this.#startedMs = undefined;
    if (this.#waiting.size === 0) return;
    const startedMs = this.#startedMs = this.#clock.monotonicMs();
    setImmediate(() => this.#nextTurn());
    while (this.#waiting.size > 0 && this.#clock.monotonicMs() - startedMs < TURN_MS) this.#take()();
  }

  /** The first request of the connection whose turn it is; its next one comes after everybody else's. */
  #take(): () => void {
    for (const [connection, waiting] of this.#waiting) {
      const work = waiting.shift() as () => void;
      this.#waiting.delete(connection);
      if (waiting.length > 0) this.#waiting.set(connection, waiting);
      return work;
    }
    throw new Error('a request waits');
  }
}
