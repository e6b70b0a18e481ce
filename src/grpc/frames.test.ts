// Messages on a stream: however they are cut on the way, they come out as they went in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameReader, frameMessage } from './frames.ts';

test('FrameReader gives back what frameMessage framed, however the stream was cut', () => {
  const message = fc.uint8Array({ maxLength: 40 });
  fc.assert(fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (messages, cuts) => {
    const stream = Buffer.concat(messages.map(frameMessage));
    const reader = new FrameReader(1000);
    const found: Buffer[] = [];
    for (let at = 0, turn = 0; at < stream.length; turn += 1) {
      const size = cuts[turn % cuts.length] as number;
      found.push(...reader.take(stream.subarray(at, at + size)));
      at += size;
    }
    assert.deepEqual(found.map((bytes) => bytes.toString('hex')), messages.map((bytes) => Buffer.from(bytes).toString('hex')));
  }));
});

test('FrameReader refuses messages beyond the limit before they have come, and compressed ones', () => {
  const head = frameMessage(Buffer.alloc(11)).subarray(0, 5);
  assert.throws(() => new FrameReader(10).take(head), { name: 'GrpcError', code: 8, message: 'an answer of 11 bytes is larger than max (10)' });
  assert.deepEqual(new FrameReader(11).take(head), []);
  assert.throws(() => new FrameReader(10).take(Buffer.from([1, 0, 0, 0, 0])), { name: 'GrpcError', code: 13 });
});
