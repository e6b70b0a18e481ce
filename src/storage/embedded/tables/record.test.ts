// Bytes on disk: everything is read as it was written, keys keep their order, and every flipped bit is noticed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareKeys } from '../../../base/index.ts';
import {
  decodeNumbers, decodeOldKey, decodePointer, decodeRecord, decodeRevision, encodeNumbers, encodeOldKey, encodePointer, encodeRecord, encodeRevision, escapeKey,
} from './record.ts';

const revision = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const key = fc.string({ unit: fc.constantFrom('/', 'a', '\0', '\u0001', 'é', '\uffee', '\u{1f600}'), minLength: 1, maxLength: 8 });

test('encodeRecord and decodeRecord are inverse, and any flipped bit is found', () => {
  const record = fc.record({
    isTombstone: fc.boolean(), key, value: fc.uint8Array({ maxLength: 100 }), modRevision: revision, createRevision: revision, replaced: revision,
  });
  fc.assert(fc.property(record, fc.nat(), (original, flip) => {
    const bytes = encodeRecord(original);
    const decoded = decodeRecord(bytes, original.modRevision);
    assert.deepEqual({ ...decoded, value: new Uint8Array(decoded.value) }, { ...original });
    const bit = flip % (bytes.length * 8);
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    assert.throws(() => decodeRecord(bytes, original.modRevision), { name: 'StorageCorruptError' });
  }));
});

test('encodeRevision keeps order and value up to 2^53', () => {
  fc.assert(fc.property(revision, revision, (one, two) => {
    assert.equal(decodeRevision(encodeRevision(one)), one);
    assert.equal(Math.sign(one - two), Buffer.compare(encodeRevision(one), encodeRevision(two)));
  }));
});

test('encodeOldKey orders by key, then revision, and stays within the bounds of its key', () => {
  fc.assert(fc.property(key, key, revision, (one, two, at) => {
    const bytes = encodeOldKey(one, at);
    assert.deepEqual(decodeOldKey(bytes), { key: one, supersededAt: at });
    if (one !== two) assert.equal(Buffer.compare(bytes, encodeOldKey(two, 1)), Math.sign(compareKeys(one, two)));
    assert.equal(Buffer.compare(bytes, escapeKey(two)) >= 0, compareKeys(one, two) >= 0);
  }));
});

test('decodeNumbers answers undefined for what encodeNumbers did not write', () => {
  const bytes = encodeNumbers([1, 2 ** 53 - 1]);
  assert.deepEqual(decodeNumbers(bytes), [1, 2 ** 53 - 1]);
  bytes[7] = 99;
  assert.equal(decodeNumbers(bytes), undefined);
  assert.equal(decodeNumbers(Buffer.alloc(3)), undefined);
});

test('a pointer with any flipped bit holds revisions that a table key can spell', () => {
  fc.assert(fc.property(revision, revision, fc.nat(127), (modRevision, createRevision, bit) => {
    const bytes = encodePointer({ modRevision, createRevision });
    assert.deepEqual(decodePointer(bytes), { modRevision, createRevision });
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    const damaged = decodePointer(bytes);
    for (const found of [damaged.modRevision, damaged.createRevision]) assert.equal(decodeRevision(encodeRevision(found)), found);
  }));
});
