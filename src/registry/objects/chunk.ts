// Chunks of a snapshot as one piece of memory: the JSON items of neighbouring objects are side by side, each with a comma before it, so that
// a list is a few views into such pieces and nothing is copied, and so that a hundred objects cost one allocation instead of a hundred.
//
//   ,{"metadata":{"name":"a",…}},{"metadata":{"name":"b",…}},{"metadata":…
//    └── item of a ────────────┘ └── item of b ────────────┘
//
// A superseded revision leaves its piece (the cache reports it): an object that changes often would otherwise keep one piece alive per change.
//
// Where the store can be read again without waiting, objects rest instead of being packed, and a list lends them a piece: such pieces are kept as long as
// lists use them, up to a bound for the process.
import { BoundedCache, type Steps, allocateLasting, createStride, isBrokenOff, once, partOf } from '../../base/index.ts';
import type { Compaction } from '../../cache/index.ts';
import { allocate } from './splice.ts';
import type { StoredRevision } from './stored-object.ts';

/** A chunk of the registry's snapshots. */
type ObjectChunk = readonly { readonly value: StoredRevision }[];

/** A chunk is packed in the background when more than a quarter of it is elsewhere; a list packs the chunks that it reads. */
const LOOSE_SHARE = 0.25;
/** A leaf that was split leaves its piece to one half: more than this share of a piece unused is given back. */
const SPARE_SHARE = 0.1;
const COMMA = 0x2c;

/** What pieces lent to resting objects may take. A list of 500 ConfigMaps of 1.25 KB uses 0.7 MB of them. */
const LENT_BYTES = 16 * 2 ** 20;
/** Larger chunks are joined for each list. */
const LENT_PIECE_BYTES = LENT_BYTES / 4;
/** A list that wants less of a chunk of resting objects reads what it wants. */
const LENT_SHARE = 0.25;
/** While the bound is reached, one chunk in so many is lent a piece, so that a list larger than the bound still finds a part of itself. */
const LEND_EVERY = 8;

/** The pieces that resting objects are in. Those that lists have not used for longest are given up. */
class LentPieces {
  readonly #borrowers = new BoundedCache<Uint8Array, readonly StoredRevision[]>({
    limit: LENT_BYTES, sizeOf: (_, piece) => piece.length, onEvicted: (borrowers, piece) => leaveAll(piece, borrowers),
  });
  #refused = 0;

  has(piece: Uint8Array): boolean {
    return this.#borrowers.peek(piece) !== undefined;
  }

  /** Notes that a list uses a piece. */
  use(piece: Uint8Array): void {
    if (this.#borrowers.count > 0) this.#borrowers.get(piece);
  }

  /** Whether there is room for a piece of this size, or it is its turn. */
  admits(size: number): boolean {
    return this.#borrowers.total + size <= LENT_BYTES || ++this.#refused % LEND_EVERY === 0;
  }

  /** Keeps the piece that a chunk was moved to, and gives up those that its objects were in before. */
  lend(piece: Uint8Array, chunk: ObjectChunk, before: ReadonlySet<Uint8Array | undefined>): void {
    for (const each of before) {
      const borrowers = each && this.#borrowers.peek(each);
      if (each === undefined || borrowers === undefined) continue;
      this.#borrowers.delete(each);
      leaveAll(each, borrowers);
    }
    this.#borrowers.set(piece, chunk.map(({ value }) => value));
  }
}

function leaveAll(piece: Uint8Array, borrowers: readonly StoredRevision[]): void {
  for (const value of borrowers) value.leave(piece);
}

const lentPieces = new LentPieces();
/** Chunks in which every object rests that can. */
const restingChunks = new WeakSet<ObjectChunk>();

const sizeOf = (chunk: ObjectChunk): number => chunk.reduce((sum, { value }) => sum + value.size, 0);

/** Whether a list of the objects [from, to) has the whole chunk moved to a piece. Objects that rest are read one by one for that. */
function isWorthPacking(chunk: ObjectChunk, from: number, to: number): boolean {
  if (!chunk.some(({ value }) => value.isResting)) return true;
  const size = sizeOf(chunk);
  if (size > LENT_PIECE_BYTES || to - from < chunk.length * LENT_SHARE) return false;
  // Objects that are packed already leave the room that they take.
  return chunk.some(({ value }) => value.memory !== undefined) || lentPieces.admits(size);
}

/** True when objects [from, to) are side by side in one piece. */
function isJoined(chunk: ObjectChunk, from: number, to: number): boolean {
  const first = (chunk[from] as ObjectChunk[number]).value;
  const { memory } = first;
  if (memory === undefined) return false;
  let { end } = first;
  for (let i = from + 1; i < to; i++) {
    const { value } = chunk[i] as ObjectChunk[number];
    if (value.memory !== memory || value.start !== end + 1) return false;
    end = value.end;
  }
  return true;
}

const SCRATCH_BYTES = 2 ** 18;
const scratch = once(() => Buffer.allocUnsafeSlow(SCRATCH_BYTES));

/** Places side by side, until the next ones are asked for, for items on their way to a piece. */
function createPlaces(): (length: number) => Uint8Array {
  let used = 0;
  return (length) => {
    if (used + length > SCRATCH_BYTES) return allocate(length);
    used += length;
    return scratch().subarray(used - length, used);
  };
}

/** Bytes that are copied without a pause. */
const COPIED_AT_ONCE = 2 ** 20;

/** The items of objects, in steps; where many bytes have to be read, in memory of their own. */
function* collectItems(chunk: ObjectChunk): Steps<Uint8Array[]> {
  const place = chunk.some(({ value }) => value.isResting) && sizeOf(chunk) <= COPIED_AT_ONCE ? createPlaces() : undefined;
  const items: Uint8Array[] = [];
  const isPauseDue = createStride(COPIED_AT_ONCE);
  for (const { value } of chunk) {
    const item = value.item(place);
    items.push(item);
    if (isPauseDue(item.length)) yield;
  }
  return items;
}

function* copyItems(items: readonly Uint8Array[], allocateJoined: (length: number) => Uint8Array): Steps<Uint8Array> {
  const joined = allocateJoined(items.reduce((sum, item) => sum + item.length + 1, 0));
  const isPauseDue = createStride(COPIED_AT_ONCE);
  let at = 0;
  for (const item of items) {
    joined[at] = COMMA;
    joined.set(item, at + 1);
    at += item.length + 1;
    if (isPauseDue(item.length)) yield;
  }
  return joined;
}

/** Moves all objects of a chunk into one new piece, but for those that are superseded meanwhile. False when one must stay where it is; then none has moved. */
function* pack(chunk: ObjectChunk): Steps<boolean> {
  if (!chunk.every(({ value }) => value.movable)) return false;
  const items = yield* collectItems(chunk);
  const memory = yield* copyItems(items, allocateLasting);
  const isLent = chunk.some(({ value }) => value.isResting);
  const before = new Set<Uint8Array | undefined>();
  let at = 0;
  for (const [i, { length }] of items.entries()) {
    const { value } = chunk[i] as ObjectChunk[number];
    if (value.movable) {
      before.add(value.memory);
      value.move(memory, at + 1, at + 1 + length);
    }
    at += length + 1;
  }
  if (isLent) lentPieces.lend(memory, chunk, before);
  return true;
}

/** A large object may take long to be brought into its row's layout: each is a step. So may what its row needs for that. */
function* settle(chunk: ObjectChunk): Steps<void> {
  const row = chunk[0]?.value.resource;
  yield* row?.prepare?.(row.storageVersion) ?? [];
  for (const { value } of chunk) {
    const steps = value.settle();
    if (steps === undefined) continue;
    yield* steps;
    yield;
  }
}

/** The part of a piece that holds the objects [from, to), which are side by side in it. */
function viewOf(chunk: ObjectChunk, from: number, to: number): Uint8Array {
  const first = (chunk[from] as ObjectChunk[number]).value;
  lentPieces.use(first.memory as Uint8Array);
  return partOf(first.memory as Uint8Array, first.start - 1, (chunk[to - 1] as ObjectChunk[number]).value.end);
}

/**
 * The JSON items [from, to) of a chunk in the storage version, a comma before each; a view of the chunk's piece where that is possible. Objects that are
 * not side by side in a piece are settled first.
 */
export function* joinItems(chunk: ObjectChunk, from: number, to: number): Steps<Uint8Array> {
  if (isJoined(chunk, from, to)) return viewOf(chunk, from, to);
  const part = chunk.slice(from, to);
  yield* settle(part);
  if (isWorthPacking(chunk, from, to) && (yield* pack(chunk)) && isJoined(chunk, from, to)) return viewOf(chunk, from, to);
  const isRead = chunk.some(({ value }) => value.isResting);
  return yield* copyItems(yield* collectItems(part), isRead ? allocate : allocateLasting);
}

/** Whether so much of a chunk is elsewhere, or so much of its piece belongs to other chunks, that it should be packed again. */
function isLoose(chunk: ObjectChunk): boolean {
  const memory = chunk[0]?.value.memory;
  if (memory === undefined) return true;
  let loose = 0;
  let used = 0;
  for (const { value } of chunk) {
    if (value.memory === memory) used += value.end - value.start + 1;
    else loose++;
  }
  return loose > chunk.length * LOOSE_SHARE || used < memory.length * (1 - SPARE_SHARE);
}

/** Packs a chunk of which much is elsewhere, or which uses little of its piece; true when there was work. Objects that cannot be read stay. */
export function* packLoose(chunk: ObjectChunk): Steps<boolean> {
  if (chunk.length === 0 || !isLoose(chunk)) return false;
  try {
    if (chunk.every(({ value }) => value.movable)) yield* settle(chunk);
    return yield* pack(chunk);
  } catch {
    return false;
  }
}

/** The outcome for one object; what cannot be read stays. */
function* restOne(value: StoredRevision): Steps<Compaction> {
  if (value.isResting || !value.movable) return value.isResting;
  try {
    yield* value.settle() ?? [];
    return value.rest();
  } catch (error) {
    if (isBrokenOff(error)) throw error;
    return false;
  }
}

/**
 * Lets the objects of a chunk rest whose bytes the store has. A chunk without such objects is packed. A process that serves 100,000 ConfigMaps of 1.25 KB
 * has 125 to 132 MB for itself instead of 247 to 259. A list beyond the bound of lent pieces costs more: one of all of them 1.2 s of CPU instead of 0.22.
 */
export function* restChunk(chunk: ObjectChunk): Steps<Compaction> {
  if (chunk.length === 0 || restingChunks.has(chunk)) return false;
  const row = (chunk[0] as ObjectChunk[number]).value.resource;
  yield* row.prepare?.(row.storageVersion) ?? [];
  let [resting, isLater] = [0, false];
  for (const { value } of chunk) {
    const outcome = yield* restOne(value);
    if (outcome === 'later') isLater = true;
    else if (outcome) resting += 1;
    yield;
  }
  if (!isLater) restingChunks.add(chunk);
  if (resting === 0 && !isLater) return yield* packLoose(chunk);
  // A piece that was made before is not kept for the few that stay.
  for (const { value } of chunk) if (!value.isResting && value.memory !== undefined && !lentPieces.has(value.memory)) value.leave(value.memory);
  return isLater ? 'later' : true;
}
