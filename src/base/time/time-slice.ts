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

/** When the first work of this turn began that asked for it, by clock. */
const sharedStarts = new WeakMap<Clock, number>();

/** When this turn of the event loop began, as far as works that ask for it know: many that begin in one turn hold it together as long as one alone may. */
export function startOfTurn(clock: Clock): number {
  const known = sharedStarts.get(clock);
  if (known !== undefined) return known;
  const startMs = clock.monotonicMs();
  sharedStarts.set(clock, startMs);
  setImmediate(() => sharedStarts.delete(clock));
  return startMs;
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

/** A pause between pieces of work: none while the slice lasts, which begins now or has begun earlier, a turn of the event loop when it is over. */
export function createTimeSlice(clock: Clock, sliceMs: number, beganMs: number = clock.monotonicMs()): () => Promise<void> | undefined {
  let startedMs = beganMs;
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
