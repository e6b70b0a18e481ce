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
  /** Calls `callback` once, after `delayMs`; does not keep the process alive. */
  after(delayMs: number, callback: () => void): Timer;
}

/** The wall clock of the process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    // Timers that are due run one after the other, those that they set meanwhile too; connections are looked at before every immediate.
    if (delayMs <= 0) {
      const immediate = setImmediate(callback);
      immediate.unref();
      return { cancel: () => clearImmediate(immediate) };
    }
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Keeps the process alive until the returned function is called: timers of the clock do not, and a promise never does. */
export function holdProcess(): () => void {
  const handle = setInterval(() => {}, 2 ** 30);
  return () => clearInterval(handle);
}

/** Resolves after `delayMs` of `clock`'s time. */
export function delay(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
