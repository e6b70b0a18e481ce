// The ends of strings beside a walk over each byte.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StringEnds } from './strings.ts';

/** The end of a string, byte by byte. */
function findByByte(bytes: Uint8Array, from: number): { readonly end: number; readonly hasSurrogate: boolean } {
  let hasSurrogate = false;
  let i = from;
  for (; i < bytes.length && bytes[i] !== 0x22; i++) {
    if (bytes[i] !== 0x5c) continue;
    i++;
    hasSurrogate ||= bytes[i] === 0x75 && (bytes[i + 1] === 0x64 || bytes[i + 1] === 0x44);
  }
  return { end: Math.min(i, bytes.length), hasSurrogate };
}

const piece = fc.oneof(fc.constantFrom('"', '\\', '\\\\', '\\"', '\\n', '\\ud83d', '\\uD800', '\\u0041', 'é'), fc.nat(90).map((length) => 'y'.repeat(length)));

test('StringEnds finds the ends of strings that a walk over each byte finds', () => {
  fc.assert(fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
    const buffer = Buffer.from(pieces.join(''));
    for (const bytes of [buffer, new Uint8Array(buffer)]) {
      const ends = new StringEnds(bytes);
      let hasSurrogate = false;
      for (let from = 0; from <= bytes.length;) {
        const expected = findByByte(bytes, from);
        hasSurrogate ||= expected.hasSurrogate;
        const end = ends.find(from);
        assert.equal(Math.min(end, bytes.length), expected.end);
        assert.equal(ends.hasSurrogate, hasSurrogate);
        from = end + 1;
      }
    }
  }), { numRuns: 2000 });
});
