// How long the encodings of chunks are kept, and what they keep.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createManualClock } from '../../base/index.ts';
import { type Chunk, type EncodedChunk, EncodedChunkCache } from './encoded-chunk-cache.ts';

const MB = 2 ** 20;
const makeChunk = (): Chunk => [{ value: 'a' }] as unknown as Chunk;
const encoded = (size: number): EncodedChunk => ({ bytes: new Uint8Array(size), offsets: new Uint32Array([0, size]) });

test('an encoding is kept until no list has read it for 30 to 60 seconds', () => {
  const clock = createManualClock();
  const cache = new EncodedChunkCache(clock);
  const [read, unread] = [makeChunk(), makeChunk()];
  for (const chunk of [read, unread]) cache.set(chunk, 'k', encoded(10));
  clock.advance(30_000);
  assert.equal(cache.get(read, 'k')?.bytes.length, 10);
  assert.equal(cache.get(read, 'other'), undefined);
  clock.advance(30_000);
  assert.deepEqual([cache.get(read, 'k')?.bytes.length, cache.get(unread, 'k')], [10, undefined]);
  clock.advance(90_000);
  assert.equal(cache.get(read, 'k'), undefined);
});

test('the chunk read least recently leaves for want of room, and what does not fit is not kept', () => {
  const cache = new EncodedChunkCache(createManualClock());
  const chunks = Array.from({ length: 7 }, makeChunk);
  for (const chunk of chunks) cache.set(chunk, 'k', encoded(9 * MB));
  const sizes = (key = 'k') => chunks.map((chunk) => (cache.get(chunk, key)?.bytes.length ?? 0) / MB);
  assert.deepEqual(sizes(), [9, 9, 9, 9, 9, 9, 9]);
  for (let tries = 0; tries < 8; tries++) cache.set(chunks[6] as Chunk, 'other', encoded(9 * MB));
  assert.deepEqual([sizes(), sizes('other')], [[0, 9, 9, 9, 9, 9, 9], [0, 0, 0, 0, 0, 0, 9]]);
  for (let tries = 0; tries < 8; tries++) cache.set(chunks[5] as Chunk, 'large', encoded(60 * MB));
  assert.deepEqual([sizes(), sizes('large')], [[0, 9, 9, 9, 9, 9, 9], [0, 0, 0, 0, 0, 0, 0]]);
});

test('a chunk that no snapshot has any more is let go, and what is kept of it', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const cache = new EncodedChunkCache(createManualClock());
  const makeKept = (): readonly WeakRef<object>[] => {
    const [chunk, bytes] = [makeChunk(), encoded(10)];
    cache.set(chunk, 'k', bytes);
    return [new WeakRef(chunk), new WeakRef(bytes)];
  };
  const kept = makeKept();
  const lives = () => kept.map((each) => each.deref() !== undefined);
  assert.deepEqual(lives(), [true, true]);
  for (let rounds = 0; rounds < 100 && lives().includes(true); rounds++) {
    await sleep(10);
    collect();
  }
  assert.deepEqual(lives(), [false, false]);
});
