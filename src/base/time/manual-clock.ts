// A clock that stands still until a test moves it.
import type { Clock, Timer } from './clock.ts';

/** A Clock under a test's control. */
export interface ManualClock extends Clock {
  /** Moves time on, calling what falls due on the way, in order of due time. */
  advance(byMs: number): void;
  /** Timers that wait. */
  readonly pendingTimers: number;
}

interface Entry {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

function takeDue(waiting: Set<Entry>, untilMs: number): Entry | undefined {
  let next: Entry | undefined;
  for (const entry of waiting) {
    if (entry.dueMs > untilMs) continue;
    if (next === undefined || entry.dueMs < next.dueMs || (entry.dueMs === next.dueMs && entry.order < next.order)) next = entry;
  }
  if (next !== undefined) waiting.delete(next);
  return next;
}

/** A clock that begins at `startMs` and moves by `advance` only. */
export function createManualClock(startMs: number = Date.UTC(2026, 0, 1)): ManualClock {
  const waiting = new Set<Entry>();
  let elapsedMs = 0;
  let order = 0;
  return {
    now: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    after(delayMs, callback): Timer {
      const entry: Entry = { dueMs: elapsedMs + Math.max(0, delayMs), order: order++, callback };
      waiting.add(entry);
      return { cancel: () => waiting.delete(entry) };
    },
    advance(byMs) {
      const untilMs = elapsedMs + byMs;
      for (let entry = takeDue(waiting, untilMs); entry !== undefined; entry = takeDue(waiting, untilMs)) {
        elapsedMs = Math.max(elapsedMs, entry.dueMs);
        entry.callback();
      }
      elapsedMs = untilMs;
    },
    get pendingTimers() {
      return waiting.size;
    },
  };
}
