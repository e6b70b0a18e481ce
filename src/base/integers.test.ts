// Integers of texts have strconv's outcomes, and long texts are not turned into numbers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { int64Range, readInteger, uint64Range } from './integers.ts';

describe('readInteger', () => {
  it('reads what fits', () => {
    assert.equal(readInteger('0', int64Range), 0n);
    assert.equal(readInteger('+5', int64Range), 5n);
    assert.equal(readInteger('-9223372036854775808', int64Range), -(2n ** 63n));
    assert.equal(readInteger('18446744073709551615', uint64Range), 2n ** 64n - 1n);
    assert.equal(readInteger(`-${'0'.repeat(1_000_000)}7`, int64Range), -7n);
    assert.equal(readInteger('0'.repeat(1_000_000), int64Range), 0n);
  });

  it('says what does not', () => {
    for (const text of ['', '+', '1x', ' 1', '0x10', '1e3', '--1']) assert.equal(readInteger(text, int64Range), 'invalid syntax');
    const outOfRange = (text: string, range = int64Range) => assert.equal(readInteger(text, range), 'value out of range');
    for (const text of ['9223372036854775808', '-9223372036854775809', '9'.repeat(1_000_000)]) outOfRange(text);
    for (const text of ['18446744073709551616', '-1']) outOfRange(text, uint64Range);
  });
});
