// Long work in small pieces: other work gets its turn whenever a slice of time is used up.
import { type Clock, delay } from './clock.ts';

/** The last turn that was given away, by clock. */
const lastTurns = new WeakMap<Clock, Promise<void>>();

/** When the turn of the event loop that runs now began, by clock, as far as it was said. */
const turnStarts = new WeakMap<Clock, number>();

/** Says that the event loop has just turned: a work that has waited for another process has not held up others meanwhile. */
export function beginTurn(clock: Clock): void {
  turnStarts.set(clock, clock.monotonicMs());
}

/** A turn of the event loop that no other long work has: pieces of several works one after the other would hold up the rest as one long piece does. */
export function takeTurn(clock: Clock): Promise<void> {
  const before = lastTurns.get(clock);
  const turn = before === undefined ? delay(clock, 0) : before.then(() => delay(clock, 0));
  lastTurns.set(clock, turn);
  void turn.then(() => {
    if (lastTurns.get(clock) === turn) lastTurns.delete(clock);
  });
  return turn;
}

/** A pause between pieces of work: none while the slice lasts, a turn of the event loop when it is over. */
export function createTimeSlice(clock: Clock, sliceMs: number): () => Promise<void> | undefined {
  let startedMs = clock.monotonicMs();
  let turn: Promise<void> | undefined;
  return () => {
    if (turn !== undefined) return turn;
    if (clock.monotonicMs() - startedMs < sliceMs) return undefined;
    startedMs = Math.max(startedMs, turnStarts.get(clock) ?? 0);
    if (clock.monotonicMs() - startedMs < sliceMs) return undefined;
    turn = takeTurn(clock).then(() => {
      turn = undefined;
      startedMs = clock.monotonicMs();
    });
    return turn;
  };
}
