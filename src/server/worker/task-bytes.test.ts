// The bytes of inputs, handed over to another thread.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { handOver, takeOver } from './task-bytes.ts';

/** What arrives of a message. */
async function send(message: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  try {
    return await new Promise((resolve) => {
      port2.once('message', resolve);
      port1.postMessage(message, transfer);
    });
  } finally {
    port1.close();
  }
}

it('bytes arrive as they are, alone and as a member, without the rest of the piece that they lie in', async () => {
  for (const length of [3, 100_000]) {
    const piece = Buffer.alloc(2 ** 20, 7);
    const body = piece.subarray(5, 5 + length).fill(1);
    for (const given of [body, { body, path: '/a', user: { name: 'u' } }]) {
      const { input, copies } = handOver(given);
      assert.deepEqual(copies.map(({ byteLength }) => byteLength), [length]);
      const taken = takeOver(await send(input, copies));
      const bytes = given === body ? taken as Uint8Array : (taken as { body: Uint8Array }).body;
      assert.deepEqual([bytes.length, bytes.buffer.byteLength, bytes.every((byte) => byte === 1)], [length, length, true]);
      assert.equal((bytes.buffer as { resizable?: boolean }).resizable ?? false, false, 'V8 reads what is resizable slowly');
      if (given !== body) assert.deepEqual({ ...taken as object, body: undefined }, { body: undefined, path: '/a', user: { name: 'u' } });
    }
    assert.equal(body.length, length, 'the one who sends keeps them');
  }
});
