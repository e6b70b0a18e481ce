// Waiting in tests: for what must come to hold, and how long others had to.
import { readFileSync } from 'node:fs';
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

/** Milliseconds of processor time of the main thread, without those of workers; of the whole process where the system does not report them by thread. */
export function readMainThreadMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/**
 * The processor time of the longest turn of the event loop from here until it is asked for, between the turns of a 1 ms timer: the histogram of
 * perf_hooks misses long ones. A turn takes no more of it than it lasts.
 */
export function recordLongestTurn(): () => number {
  const usedMs = readMainThreadMs;
  let [lastMs, lastAtMs, longestMs] = [usedMs(), systemClock.monotonicMs(), 0];
  const look = (): void => {
    const [nowMs, atMs] = [usedMs(), systemClock.monotonicMs()];
    longestMs = Math.max(longestMs, Math.min(nowMs - lastMs, atMs - lastAtMs));
    [lastMs, lastAtMs] = [nowMs, atMs];
    timer = systemClock.after(1, look);
  };
  let timer = systemClock.after(1, look);
  return () => {
    look();
    timer.cancel();
    return longestMs;
  };
}
