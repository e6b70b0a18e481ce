// Views of long-lived memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocateLasting, partOf } from './pages.ts';

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
