// Work in tests, counted instead of timed: the count is the same on every machine, however busy it is.
import { Session } from 'node:inspector/promises';
import { type Clock, systemClock } from '../base/index.ts';

/** Does work and answers how often blocks of JavaScript ran meanwhile. */
export type CountSteps = (work: () => unknown) => Promise<number>;

/**
 * Begins to count blocks that run: functions, branches and bodies of loops, of the product and of packages. What a built-in function does inside
 * counts nothing. Only functions that run for the first time afterwards are counted in full, so a test file calls this below its imports.
 */
export async function startStepCounter(): Promise<CountSteps> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const take = async (): Promise<number> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ranges = result.filter(({ url }) => url.startsWith('file:')).flatMap(({ functions }) => functions.flatMap((each) => each.ranges));
    return ranges.reduce((sum, { count }) => sum + count, 0);
  };
  return async (work) => {
    await take();
    await work();
    return take();
  };
}

/** A clock that counts the turns of the event loop that long work gives away, and how long it works in between. */
export interface TurnClock extends Clock {
  /** Turns that were given away so far. */
  readonly turns: number;
}

/**
 * A clock whose monotonic time moves by `lookMs` with each look at it, beside its own pace: long work gives its turn away after a number of looks,
 * on a fast machine as on a slow one.
 */
export function createTurnClock(lookMs: number): TurnClock {
  let [turns, lookedMs] = [0, 0];
  return {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + (lookedMs += lookMs),
    after(delayMs, callback) {
      if (delayMs <= 0) turns += 1;
      return systemClock.after(delayMs, callback);
    },
    get turns() {
      return turns;
    },
  };
}
