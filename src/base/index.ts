// The door of base: data structures, time and chance. No I/O, no Kubernetes word.
export { type Clock, type Timer, delay, holdProcess, systemClock } from './clock.ts';
export { type ManualClock, createManualClock } from './manual-clock.ts';
export { type Random, systemRandom } from './random.ts';
export { InvariantError, invariant } from './invariant.ts';
export { compareKeys, createBoundsTest, needsByteOrder, sortKeys } from './collections/key-order.ts';
export { type Chunk, SortedMap, SortedMapBuilder, SortedMapEdit, createSortedMap } from './collections/sorted-map.ts';
export { type Link, LinkedList } from './collections/linked-list.ts';
export { BoundedCache } from './collections/bounded-cache.ts';
export { ChunkedList } from './collections/chunked-list.ts';
export { RingBuffer } from './collections/ring-buffer.ts';
export { allocateLasting } from './pages.ts';
export { createTimeSlice, takeTurn } from './time-slice.ts';
export { type Steps, createStride, finishSteps, guardSteps, runStepsInSlices, sortSteps } from './steps.ts';
export { type MaybePromise, catchMaybe, mapMaybe } from './maybe-promise.ts';
export { announceWork, limitTime, remainingMs, tooLong } from './time-limit.ts';
export { trimEnd } from './text.ts';
export { int64Range, readInteger, uint64Range } from './integers.ts';
export { formatDurationNanos, parseDuration, parseDurationNanos } from './duration.ts';
