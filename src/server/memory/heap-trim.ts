// Memory that the engine keeps for the next burst of work, given back when there is none. V8 shrinks a quiet heap by itself, in small steps, but only
// after a collection that something else has begun; an idle process begins none. So one is provoked. 12,000 objects
// that were created and deleted: 265 MB resident before, 136 after 20 s, in pauses of at most 15 ms for 42 MB in use; the four full collections of
// `gc()` left 129 and paused for 100 to 150 ms each.
//
// A collection leaves the pages on which something lives, which after a burst are most of them: it moves 4 MB together. V8 has a row of collections that
// move 12 MB each, but begins it only when its heap is larger than after the last such row, and that one may have ended amid the burst. So collections
// are provoked one after the other, in which V8 moves 6 MB from pages that are a fifth free, for as long as they give memory back: of 381 MB with 69 in
// use five of them left 323, 253, 188, 125 and 72, each with at most 37 ms of processor time at once, and five ordinary ones 318.
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Clock, Timer } from '../../base/index.ts';
import { provokeCollection } from './provoke-collection.ts';

const CHECK_EVERY_MS = 3_000;
/** Below this share of busy time in an interval there are next to no requests for a collection to hold up. */
const IDLE_SHARE = 0.01;
/** What the heap, and the memory beside it, must have grown by since the last time. */
const WORTH_BYTES = 24 * 2 ** 20;
/** Of all that it is for, a running process heeds this flag in its collections alone. */
const MOVE_MORE = '--optimize-for-size';
const MOVE_AS_USUAL = '--no-optimize-for-size';
/** A collection that gives back less was the last one. */
const PROGRESS_BYTES = 4 * 2 ** 20;
/** After the last one there is one more when caches have let go what was not used for a minute: nothing grows by that, so it would begin none. */
const LATE_MS = 90_000;

/** V8's heap together with the memory beside it, which holds the bytes of buffers until V8 collects them. */
function measureHeap(): { readonly total: number; readonly used: number } {
  const { total_heap_size: total, used_heap_size: used, external_memory: beside } = getHeapStatistics();
  return { total: total + beside, used: used + beside };
}

/** Answers the share of time since the last question in which the event loop had work. */
function createBusyMeter(): () => number {
  let seen = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, seen);
    seen = now;
    return utilization;
  };
}

/** Lets V8 collect while the process is idle and its heap has grown a lot, for as long as that gives memory back; answers what stops that. */
export function startHeapTrim(clock: Clock, takeBusyShare = createBusyMeter()): () => void {
  let settledBytes = measureHeap().total;
  let lateMs = Number.POSITIVE_INFINITY;
  let timer: Timer;
  const checkAfter = (step: () => void): void => void (timer = clock.after(CHECK_EVERY_MS, step));
  const endCollection = (before: number, isLate: boolean): void => {
    setFlagsFromString(MOVE_AS_USUAL);
    const { total, used } = measureHeap();
    // Caches learn by a collection that objects are gone, and then let go what they made of them.
    const mayShrink = before - total >= WORTH_BYTES || (before - total >= PROGRESS_BYTES && total - used >= WORTH_BYTES);
    settledBytes = mayShrink ? Math.min(settledBytes, total - WORTH_BYTES) : total;
    lateMs = isLate ? Number.POSITIVE_INFINITY : clock.monotonicMs() + LATE_MS;
    checkAfter(check);
  };
  const check = (): void => {
    const { total } = measureHeap();
    const hasGrown = total - settledBytes >= WORTH_BYTES;
    const isLate = !hasGrown && clock.monotonicMs() >= lateMs;
    if (takeBusyShare() > IDLE_SHARE || !(hasGrown || isLate)) return checkAfter(check);
    setFlagsFromString(MOVE_MORE);
    provokeCollection();
    checkAfter(() => endCollection(total, isLate));
  };
  checkAfter(check);
  return () => {
    timer.cancel();
    setFlagsFromString(MOVE_AS_USUAL);
  };
}
