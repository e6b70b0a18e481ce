// Reads a range at one snapshot in slices, so that a large one does not hold the event loop.
import { type Clock, compareKeys } from '../../../base/index.ts';
import type { KeyRange, KeyValue, RangeRequest } from '../../store.ts';
import { StorageClosedError } from '../../errors.ts';
import type { ScannedVersion, Snapshot } from './tables.ts';

/** How long one slice may hold the loop. */
const SLICE_MS = 5;
/** Entries between two looks at the time. */
const ENTRIES_PER_LOOK = 4;

interface SlicedRead {
  readonly snapshot: Snapshot;
  readonly request: RangeRequest;
  /** Revision to read at; at most the snapshot's. */
  readonly revision: number;
  readonly isNewest: boolean;
  readonly timeSlice: TimeSlice;
}

/** Gives other work a turn whenever a slice has been used up. */
export class TimeSlice {
  readonly #isClosed: () => boolean;
  #entries = 0;
  #started: number;
  readonly #clock: Clock;

  constructor(clock: Clock, isClosed: () => boolean) {
    this.#clock = clock;
    this.#isClosed = isClosed;
    this.#started = clock.monotonicMs();
  }

  /** True when `pause` is due; cheap enough to ask for every entry. */
  get isDue(): boolean {
    this.#entries += 1;
    return this.#entries % ENTRIES_PER_LOOK === 0 && this.#clock.monotonicMs() - this.#started > SLICE_MS;
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#isClosed()) throw new StorageClosedError();
    this.#started = this.#clock.monotonicMs();
  }
}

/** The key-values and the count of `read.request`. */
export async function readSliced(read: SlicedRead): Promise<{ kvs: KeyValue[]; more: boolean; count: number }> {
  const { snapshot, request, timeSlice } = read;
  const limit = request.countOnly ? 0 : (request.limit ?? Infinity);
  const kvs: KeyValue[] = [];
  let count = 0;
  if (compareKeys(request.start, request.end) >= 0) return { kvs, more: false, count };
  for (const version of versionsAt(read)) {
    if (timeSlice.isDue) await timeSlice.pause();
    if (!version) continue;
    if (request.uncounted && kvs.length >= limit) return { kvs, more: true, count };
    if (read.isNewest && kvs.length >= limit) {
      count += await countLive({ snapshot, timeSlice, range: { start: version.key, end: request.end } });
      break;
    }
    if (kvs.length < limit) kvs.push(snapshot.read(version));
    count += 1;
  }
  return { kvs, more: count > kvs.length, count };
}

async function countLive(options: { snapshot: Snapshot; timeSlice: TimeSlice; range: KeyRange }): Promise<number> {
  let count = 0;
  for (count of options.snapshot.liveCounts(options.range)) {
    if (options.timeSlice.isDue) await options.timeSlice.pause();
  }
  return count;
}

/** Versions at the revision in key order, with undefined wherever nothing was found for a while. */
function versionsAt(read: SlicedRead): Iterable<ScannedVersion | undefined> {
  const live = read.snapshot.liveVersions(read.request);
  if (read.isNewest) return live;
  const { revision } = read;
  const old = read.snapshot.oldVersions(read.request);
  return mergeByKey(
    keep(live, (version) => version.modRevision <= revision),
    keep(old, (version) => version.modRevision <= revision && revision < version.supersededAt),
  );
}

/** Replaces what does not pass by undefined, so that the consumer keeps getting turns. */
function* keep<T extends ScannedVersion>(versions: Iterable<T | undefined>, passes: (version: T) => boolean): Generator<T | undefined> {
  for (const version of versions) yield version && passes(version) ? version : undefined;
}

/** Merges two sequences without common keys: at any revision a key has one version at most. */
function* mergeByKey(left: Iterator<ScannedVersion | undefined>, right: Iterator<ScannedVersion | undefined>): Generator<ScannedVersion | undefined> {
  let fromLeft = left.next();
  let fromRight = right.next();
  while (!fromLeft.done || !fromRight.done) {
    if (isNext(fromLeft, fromRight)) {
      yield fromLeft.value;
      fromLeft = left.next();
    } else {
      yield fromRight.value;
      fromRight = right.next();
    }
  }
}

/** Whether `one` comes before `other`; an undefined comes at once. */
function isNext(one: IteratorResult<ScannedVersion | undefined>, other: IteratorResult<ScannedVersion | undefined>): boolean {
  if (one.done) return false;
  if (other.done || one.value === undefined) return true;
  return other.value !== undefined && compareKeys(one.value.key, other.value.key) < 0;
}
