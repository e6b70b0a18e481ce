// Messages as they are written are read back field by field, whatever their lengths.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MessageReader, MessageWriter } from './wire.ts';

const lengths = fc.oneof(fc.nat(300), fc.constantFrom(126, 127, 128, 16_382, 16_383, 16_384, 70_000));

describe('MessageWriter', () => {
  it('writes nested messages that MessageReader reads, from buffers that are too small too', () => {
    fc.assert(fc.property(lengths, fc.string({ maxLength: 40 }), fc.nat(2 ** 40), fc.nat(400), (length, text, number, capacity) => {
      const value = Buffer.alloc(length, 'v');
      const written = new MessageWriter(capacity)
        .message(1, (outer) => outer.message(2, (inner) => inner.bytes(1, text).bytes(2, value).oneOf(3, number)).bytes(4, text))
        .message(5, () => {})
        .bytes(6, text)
        .finish();
      const reader = new MessageReader(written);
      assert.equal(reader.next(), 1);
      const outer = reader.nested();
      assert.equal(outer.next(), 2);
      const inner = outer.nested();
      if (text !== '') assert.deepEqual([inner.next(), inner.text()], [1, Buffer.from(text).toString()]);
      if (length > 0) assert.deepEqual([inner.next(), Buffer.compare(inner.bytes(), value)], [2, 0]);
      assert.deepEqual([inner.next(), inner.number(), inner.next()], [3, number, 0]);
      if (text !== '') assert.deepEqual([outer.next(), outer.text()], [4, Buffer.from(text).toString()]);
      assert.equal(outer.next(), 0);
      assert.deepEqual([reader.next(), reader.nested().next()], [5, 0]);
      if (text !== '') assert.deepEqual([reader.next(), reader.text()], [6, Buffer.from(text).toString()]);
      assert.equal(reader.next(), 0);
    }));
  });
});
