// Buffers in pieces of memory, and what a collection leaves of the pieces.
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, it } from 'node:test';
import { eventually } from '../../test-support/index.ts';
import { LargePieces } from './large-pieces.ts';

const MB = 2 ** 20;

describe('LargePieces', () => {
  it('gives buffers that lie behind each other and do not overlap, in a new piece where there is no more room', () => {
    const pieces = new LargePieces();
    const buffers = [3 * MB, 20 * MB, 10 * MB, 1, 40 * MB].map((length) => pieces.take(length));
    assert.deepEqual(buffers.map(({ length }) => length), [3 * MB, 20 * MB, 10 * MB, 1, 40 * MB]);
    assert.deepEqual(buffers.map(({ byteOffset }) => byteOffset), [0, 3 * MB, 23 * MB, 0, 0]);
    assert.equal(new Set(buffers.map(({ buffer }) => buffer)).size, 3);
    assert.ok(buffers.every(({ buffer }) => buffer.byteLength > 32 * MB), 'the C library maps what is larger than 32 MB');
  });

  it('keeps no piece whose buffers are gone', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const pieces = new LargePieces();
    /** Collects until so much is left; V8 frees buffers beside the thread. */
    const collectTo = (low: number, high: number): Promise<void> => eventually(() => {
      collect();
      const left = process.memoryUsage().arrayBuffers;
      assert.ok(low <= left && left < high, `${left} bytes are left`);
    });
    let kept: Uint8Array | undefined;
    for (let i = 0; i < 20; i++) kept = pieces.take(3 * MB);
    await collectTo(32 * MB, 60 * MB);
    assert.equal(kept?.length, 3 * MB);
    kept = undefined;
    await collectTo(0, 20 * MB);
  });
});
