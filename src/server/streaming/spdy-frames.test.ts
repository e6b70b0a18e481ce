// Frames: what is written can be read, in pieces of any size, and what is no SPDY/3.1 ends the reading.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { constants, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { FIN, FrameReader, encodeControl, encodeDataHead, encodeNumbers, encodeSynStream, frameTypes } from './spdy-frames.ts';

/** What a reader finds; pieces of data frames are joined again. */
function readAll(chunks: readonly Buffer[]): unknown[] {
  const found: unknown[] = [];
  let data = '';
  const reader = new FrameReader({
    data(stream, piece, isLast) {
      data += piece.toString('hex');
      if (isLast) found.push(['end', stream, data]);
      if (isLast) data = '';
    },
    control: (type, flags, stream, body) => void found.push([type, flags, stream, body.toString('hex')]),
  });
  for (const chunk of chunks) reader.push(chunk);
  return found;
}

function splitAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [0, ...[...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

const frame = fc.oneof(
  fc.record({ stream: fc.integer({ min: 1, max: 2 ** 31 - 1 }), content: fc.uint8Array({ maxLength: 300 }) }).map(({ stream, content }) => ({
    bytes: Buffer.concat([encodeDataHead(stream, content.length, true), content]), expected: ['end', stream, Buffer.from(content).toString('hex')] as unknown,
  })),
  fc.record({ type: fc.integer({ min: 1, max: 9 }), flags: fc.constantFrom(0, FIN), first: fc.integer({ min: 0, max: 2 ** 31 - 1 }) })
    .map(({ type, flags, first }) => {
      const body = encodeNumbers(type, first, 7).subarray(8);
      return { bytes: encodeControl(type, flags, body), expected: [type, flags, first, body.toString('hex')] as unknown };
    }),
);

describe('SPDY frames', () => {
  it('are found in pieces of any size', () => {
    fc.assert(fc.property(fc.array(frame, { maxLength: 20 }), fc.array(fc.nat(10_000), { maxLength: 30 }), (frames, places) => {
      const bytes = Buffer.concat(frames.map((each) => each.bytes));
      assert.deepEqual(readAll(splitAt(bytes, places)), frames.map(({ expected }) => expected));
    }));
  });

  it('carry headers that any zlib reads', () => {
    const readHeaders = (bytes: Buffer): string[] => {
      const block = inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
      const texts: string[] = [];
      for (let at = 4; at < block.length;) {
        const length = block.readUInt32BE(at);
        texts.push(block.toString('utf8', at + 4, at + 4 + length));
        at += 4 + length;
      }
      assert.equal(block.readUInt32BE(0) * 2, texts.length);
      return texts;
    };
    const first = encodeSynStream(1, [['streamtype', 'error']], true);
    assert.equal(first.subarray(18, 24).toString('hex'), '78bbe3c6a7c2');
    assert.deepEqual(readHeaders(first.subarray(24)), ['streamtype', 'error']);
    assert.deepEqual(readHeaders(encodeSynStream(3, [['streamtype', 'stdin'], ['port', '80']], false).subarray(18)), ['streamtype', 'stdin', 'port', '80']);
  });

  it('of another version, or too long, are refused', () => {
    assert.throws(() => readAll([Buffer.from('8002000600000004', 'hex')]), /another version/);
    assert.throws(() => readAll([Buffer.from('8003000600ffffff', 'hex')]), /too long/);
    assert.throws(() => encodeDataHead(1, 2 ** 24, false), RangeError);
    assert.deepEqual(readAll([encodeNumbers(frameTypes.ping, 2).subarray(0, 11)]), []);
  });
});
