// Long work in small pieces: other work gets its turn whenever a slice of time is used up.
import { type Clock, delay } from './clock.ts';

/** A pause between pieces of work: none while the slice lasts, a turn of the event loop when it is over. */
export function createTimeSlice(clock: Clock, sliceMs: number): () => Promise<void> | undefined {
  let startedMs = clock.monotonicMs();
  let turn: Promise<void> | undefined;
  return () => {
    if (turn !== undefined) return turn;
    if (clock.monotonicMs() - startedMs < sliceMs) return undefined;
    turn = delay(clock, 0).then(() => {
      turn = undefined;
      startedMs = clock.monotonicMs();
    });
    return turn;
  };
}
