// Waiting in tests: for what must come to hold, and how long others had to.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../base/index.ts';

/** Tries until `holds` does not throw; rejects with what it said last when `timeoutMs` have passed. */
export async function eventually(holds: () => void | Promise<void>, timeoutMs = 20_000): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + timeoutMs;
  for (;;) {
    try {
      return await holds();
    } catch (error) {
      if (systemClock.monotonicMs() > deadlineMs) throw error;
      await sleep(10);
    }
  }
}

/**
 * The processor time of the longest stretch in which nobody else got a turn, from here until it is asked for: measured between the turns of a 1 ms
 * timer, for the histogram of perf_hooks misses long ones, and in processor time, so that what else a busy machine does is not counted.
 */
export function recordLongestTurn(): () => number {
  const usedMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let [lastMs, longestMs] = [usedMs(), 0];
  const look = (): void => {
    const nowMs = usedMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    timer = systemClock.after(1, look);
  };
  let timer = systemClock.after(1, look);
  return () => {
    look();
    timer.cancel();
    return longestMs;
  };
}
