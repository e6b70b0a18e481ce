// The clock of a test server: around the clock that it is given, it can be wrong by a while (skew), and it lets go of it when the server stops, so
// that the stop takes real time even where the given clock stands still.
import { type Clock, type ManualClock, type Timer, createManualClock, systemClock } from '../../base/index.ts';

/** The clock as the server sees it. */
export interface ServerClock extends Clock {
  /** What `now()` is ahead of the clock beneath; negative when it is behind. */
  skewMs: number;
  /** Lets the rest of every timer pass in real time from now on. */
  release(): void;
}

interface Waiting {
  readonly dueMs: number;
  readonly callback: () => void;
  beneath: Timer;
}

/** Wraps the clock of a server. */
export function createServerClock(beneath: Clock): ServerClock {
  const waiting = new Set<Waiting>();
  const wait = (clock: Clock, entry: Omit<Waiting, 'beneath'>, delayMs: number): Timer => {
    const one: Waiting = { ...entry, beneath: clock.after(delayMs, () => {
      waiting.delete(one);
      entry.callback();
    }) };
    waiting.add(one);
    return {
      cancel() {
        waiting.delete(one);
        one.beneath.cancel();
      },
    };
  };
  let released = false;
  const clock: ServerClock = {
    skewMs: 0,
    now: () => beneath.now() + clock.skewMs,
    monotonicMs: () => beneath.monotonicMs(),
    // What only lets others have a turn takes no time, so that it does not wait for a clock that stands.
    after: (delayMs, callback) => wait(released || delayMs <= 0 ? systemClock : beneath, { dueMs: beneath.monotonicMs() + delayMs, callback }, delayMs),
    release() {
      if (released || beneath === systemClock) return;
      released = true;
      for (const entry of waiting) {
        entry.beneath.cancel();
        entry.beneath = systemClock.after(Math.max(0, entry.dueMs - beneath.monotonicMs()), () => {
          waiting.delete(entry);
          entry.callback();
        });
      }
    },
  };
  return clock;
}

/** A clock whose time is moved by hand while its timers pass in real time: what a seed gives a server, so that waiting still ends. */
export function createStandingClock(startMs: number): ManualClock {
  const manual = createManualClock(startMs);
  const both = (delayMs: number, callback: () => void): Timer => {
    let isOver = false;
    const once = (): void => {
      if (isOver) return;
      isOver = true;
      timers.forEach((timer) => timer.cancel());
      callback();
    };
    const timers = [manual.after(delayMs, once), systemClock.after(delayMs, once)];
    return {
      cancel() {
        isOver = true;
        timers.forEach((timer) => timer.cancel());
      },
    };
  };
  return {
    now: () => manual.now(),
    monotonicMs: () => manual.monotonicMs(),
    after: both,
    advance: (byMs) => manual.advance(byMs),
    get pendingTimers() {
      return manual.pendingTimers;
    },
  };
}

/** Whether a clock can be moved. */
export const isManual = (clock: Clock): clock is ManualClock => typeof (clock as Partial<ManualClock>).advance === 'function';
