// Frames against the bytes that clients expect.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameJson, frameProtobuf } from './watch-frame.ts';

test('frameJson writes one line per event', () => {
  const frame = frameJson('ADDED', new TextEncoder().encode('{"kind":"Pod"}'));
  assert.equal(new TextDecoder().decode(frame), '{"type":"ADDED","object":{"kind":"Pod"}}\n');
});

test('frameProtobuf writes a length and the event with the envelope inside', () => {
  assert.equal(Buffer.from(frameProtobuf('ADDED', Uint8Array.of(1, 2, 3))).toString('hex'),
    `0000000e${'0a05'}${Buffer.from('ADDED').toString('hex')}${'1205'}${'0a03'}010203`);
  for (const size of [0, 127, 128, 16_380, 16_384, 2_097_152]) {
    const frame = frameProtobuf('BOOKMARK', new Uint8Array(size).fill(7));
    assert.equal(new DataView(frame.buffer).getUint32(0), frame.length - 4);
    assert.ok(frame.subarray(frame.length - size).every((byte) => byte === 7));
  }
});
