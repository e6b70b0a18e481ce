// Memory that the engine keeps for the next burst of work, given back when there is none: after many writes two thirds of the heap are
// pages with little on them, which it would collect when they are needed and not before.
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock, Timer } from '../../base/index.ts';

const CHECK_EVERY_MS = 3_000;
/** Below this share of busy time in an interval there are next to no requests for a collection to hold up. */
const IDLE_SHARE = 0.01;
/** What the heap must have grown by since the last time. */
const WORTH_BYTES = 24 * 2 ** 20;
/** Room in the heap that is worth looking for, and how often that is tried after it has grown. */
const SPARE_BYTES = 24 * 2 ** 20;
const MOST_ROUNDS = 3;
/** Pages that one pass empties are given back by the next; passes go on while that is worth it. */
const NEXT_PASS_MS = 200;
const PASS_BYTES = 4 * 2 ** 20;
const MOST_PASSES = 4;

/** Collects when the process has been idle for a while and its heap has grown a lot; answers what stops that. */
export function startHeapTrim(clock: Clock): () => void {
  let collect: ReturnType<typeof findCollector> | undefined;
  let settledBytes = getHeapStatistics().total_heap_size;
  let seen = performance.eventLoopUtilization();
  let timer: Timer;
  const again = (delayMs: number, step: () => void): void => void (timer = clock.after(delayMs, step));
  let rounds = 0;
  const pass = (left: number): void => {
    const before = getHeapStatistics().total_heap_size;
    (collect ??= findCollector())();
    settledBytes = getHeapStatistics().total_heap_size;
    if (left > 1 && before - settledBytes > PASS_BYTES) again(NEXT_PASS_MS, () => pass(left - 1));
    else again(CHECK_EVERY_MS, check);
  };
  const isWorthIt = (): boolean => {
    const { total_heap_size: total, used_heap_size: used } = getHeapStatistics();
    if (total - settledBytes >= WORTH_BYTES) rounds = MOST_ROUNDS;
    return rounds > 0 && (total - used > SPARE_BYTES || total - settledBytes >= WORTH_BYTES);
  };
  const check = (): void => {
    const now = performance.eventLoopUtilization();
    const busy = performance.eventLoopUtilization(now, seen).utilization;
    seen = now;
    if (busy > IDLE_SHARE || !isWorthIt()) return again(CHECK_EVERY_MS, check);
    rounds -= 1;
    pass(MOST_PASSES);
  };
  again(CHECK_EVERY_MS, check);
  return () => timer.cancel();
}

/** Collects, and moves what is left closer together: on its own the engine leaves a page in three as it is. */
function findCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    setFlagsFromString('--compact-on-every-full-gc');
    collect();
    setFlagsFromString('--no-compact-on-every-full-gc');
  };
}
