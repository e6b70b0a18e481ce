// The pauses between tries of a stream of changes, on any Store elsewhere.

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Each pause is twice as long as the one before, up to a second, until something came. */
export class Pauses {
  #nextMs = FIRST_PAUSE_MS;

  /** The pause to make now. */
  next(): number {
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    return pauseMs;
  }

  /** Something came: the next pause is short. */
  reset(): void {
    this.#nextMs = FIRST_PAUSE_MS;
  }
}
