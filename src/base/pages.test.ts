// Views of long-lived memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pieces, allocateLasting, partOf } from './pages.ts';

test('all of the bytes are no new view, a part of them is one', () => {
  for (const length of [10, 100_000]) {
    const bytes = allocateLasting(length);
    for (const [start, end] of [[0, length], [0, length + 1]] as const) assert.equal(partOf(bytes, start, end), bytes);
    for (const [start, end] of [[1, length], [0, length - 1], [3, 4]] as const) {
      const part = partOf(bytes, start, end);
      assert.equal(part.buffer, bytes.buffer);
      assert.deepEqual([part.byteOffset - bytes.byteOffset, part.length], [start, end - start]);
    }
  }
});

test('places lie behind each other; a large one does not end a piece that has more room', () => {
  let made = 0;
  const pieces = new Pieces({ pieceBytes: 10, allocate: (length) => new Uint8Array(length).fill(++made) });
  const places = [4, 8, 6, 30, 2, 1, 10].map((length) => pieces.take(length));
  assert.deepEqual(places.map(({ memory, start }) => [memory[0], memory.length, start]), [
    [1, 10, 0], [2, 10, 0], [1, 10, 4], [3, 30, 0], [4, 10, 0], [4, 10, 2], [5, 10, 0],
  ]);
});
