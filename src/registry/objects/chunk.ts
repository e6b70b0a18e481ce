// Chunks of a snapshot as one piece of memory: the JSON items of neighbouring objects are side by side, each with a comma before it, so that
// a list is a few views into such pieces and nothing is copied, and so that a hundred objects cost one allocation instead of a hundred.
//
//   ,{"metadata":{"name":"a",…}},{"metadata":{"name":"b",…}},{"metadata":…
//    └── item of a ────────────┘ └── item of b ────────────┘
//
// A superseded revision leaves its piece (the cache reports it): an object that changes often would otherwise keep one piece alive per change.
import { type Steps, allocateLasting, partOf } from '../../base/index.ts';
import type { StoredRevision } from './stored-object.ts';

/** A chunk of the registry's snapshots. */
type ObjectChunk = readonly { readonly value: StoredRevision }[];

/** A chunk is packed in the background when more than a quarter of it is elsewhere; a list packs the chunks that it reads. */
const LOOSE_SHARE = 0.25;
/** A leaf that was split leaves its piece to one half: more than this share of a piece unused is given back. */
const SPARE_SHARE = 0.1;
const COMMA = 0x2c;

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

/** Moves all objects of a chunk into one new piece. False when one of them must stay where it is; then nothing has moved. */
function pack(chunk: ObjectChunk): boolean {
  const items: Uint8Array[] = [];
  let size = 0;
  for (const { value } of chunk) {
    if (!value.movable) return false;
    const item = value.item();
    items.push(item);
    size += item.length + 1;
  }
  const memory = allocateLasting(size);
  let at = 0;
  for (const [i, item] of items.entries()) {
    memory[at] = COMMA;
    memory.set(item, at + 1);
    (chunk[i] as ObjectChunk[number]).value.move(memory, at + 1, at + 1 + item.length);
    at += item.length + 1;
  }
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
  return partOf(first.memory as Uint8Array, first.start - 1, (chunk[to - 1] as ObjectChunk[number]).value.end);
}

/** joinItems in steps. Objects side by side in a piece are settled. */
export function* joinItemsInSteps(chunk: ObjectChunk, from: number, to: number): Steps<Uint8Array> {
  if (isJoined(chunk, from, to)) return viewOf(chunk, from, to);
  yield* settle(chunk.slice(from, to));
  return joinItems(chunk, from, to);
}

/** The JSON items [from, to) of a chunk in the storage version, a comma before each; a view of the chunk's piece where that is possible. */
export function joinItems(chunk: ObjectChunk, from: number, to: number): Uint8Array {
  if (isJoined(chunk, from, to) || (pack(chunk) && isJoined(chunk, from, to))) return viewOf(chunk, from, to);
  const items = chunk.slice(from, to).map(({ value }) => value.item());
  const joined = allocateLasting(items.reduce((sum, item) => sum + item.length + 1, 0));
  let at = 0;
  for (const item of items) {
    joined[at] = COMMA;
    joined.set(item, at + 1);
    at += item.length + 1;
  }
  return joined;
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
    return pack(chunk);
  } catch {
    return false;
  }
}
