// Time as a value that is handed in: nothing below `server` reads the wall clock or sets a timer by itself.

/** A scheduled callback; `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

/** The only source of time. Tests hand in one that they move by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds that never run backwards; for measuring and deadlines. */
  monotonicMs(): number;
  /** Calls `callback` once, after `delayMs`; does not keep the process alive while it waits. */
  after(delayMs: number, callback: () => void): Timer;
}

/**
 * Calls `callback` after connections were looked at once. Timers that are due run one after the other without such a look, those that they set
 * meanwhile too; and the first immediate that a connection's callback sets comes before the next look.
 */
function afterLook(callback: () => void): Timer {
  // Without a reference they would wait until something else wakes the event loop.
  let handle = setImmediate(() => {
    handle = setImmediate(callback);
  });
  return { cancel: () => clearImmediate(handle) };
}

/** Node keeps an empty list for every other length of a timer without a reference until that time is over, also when the timer was cancelled. */
const LONG_MS = 10_000;
/** Node takes any longer time for 1 ms. */
const LONGEST_MS = 2 ** 31 - 1;

/** The wall clock of the process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    if (delayMs <= 0) return afterLook(callback);
    if (delayMs > LONGEST_MS) return afterLong(delayMs, callback);
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return {
      cancel() {
        // The list of a timer with a reference is removed with its last timer.
        if (delayMs > LONG_MS) handle.ref();
        clearTimeout(handle);
      },
    };
  },
};

function afterLong(delayMs: number, callback: () => void): Timer {
  let timer = systemClock.after(LONGEST_MS, () => {
    timer = systemClock.after(delayMs - LONGEST_MS, callback);
  });
  return { cancel: () => timer.cancel() };
}

/** Keeps the process alive until the returned function is called: timers of the clock do not, and a promise never does. */
export function holdProcess(): () => void {
  const handle = setInterval(() => {}, 2 ** 30);
  return () => clearInterval(handle);
}

/** Resolves after `delayMs` of `clock`'s time. */
export function delay(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
