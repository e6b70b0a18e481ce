// Values of flags, as Go reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBool, readFields, readFraction, readInteger } from './go-values.ts';

function attempt<T>(read: (text: string) => T, text: string): T | string {
  try {
    return read(text);
  } catch (error) {
    return (error as Error).message;
  }
}

test('readInteger reads signs, bases and underscores', () => {
  const numbers = [
    ['5', 5], ['+5', 5], ['-1', -1], ['0x10', 16], ['0X_1f', 31], ['0b101', 5], ['0o17', 15], ['017', 15], ['0_7', 7], ['1_000', 1000], ['00', 0],
    ['3000000000', 3_000_000_000], ['9223372036854775807', Number.MAX_SAFE_INTEGER], ['-0x1', -1],
  ] as const;
  for (const [text, value] of numbers) assert.equal(attempt(readInteger, text), value, text);
  for (const text of ['', '08', '1__0', '_1', '1_', '0x', '1e3', ' 5', '0b2', '٣']) {
    assert.equal(attempt(readInteger, text), `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  for (const text of ['9223372036854775808', '-9223372036854775809']) {
    assert.equal(attempt(readInteger, text), `strconv.ParseInt: parsing "${text}": value out of range`);
  }
});

test('readFraction and readBool read the spellings of Go', () => {
  const numbers = [['.5', 0.5], ['5.', 5], ['1e-3', 0.001], ['+Inf', Infinity], ['-inf', -Infinity], ['nan', NaN]] as const;
  for (const [text, value] of numbers) assert.equal(attempt(readFraction, text), value, text);
  for (const text of ['', '.', '1e', 'x']) assert.equal(attempt(readFraction, text), `strconv.ParseFloat: parsing "${text}": invalid syntax`);
  assert.equal(attempt(readFraction, '1e400'), 'strconv.ParseFloat: parsing "1e400": value out of range');
  assert.deepEqual(['T', '0', 'False'].map(readBool), [true, false, false]);
  assert.equal(attempt(readBool, 'tRUE'), 'strconv.ParseBool: parsing "tRUE": invalid syntax');
});

test('readFields reads one line of comma-separated values', () => {
  const lines = [
    ['', []], ['a', ['a']], ['a,', ['a', '']], [',', ['', '']], ['a, b', ['a', ' b']], ['"a,b",c', ['a,b', 'c']], ['"a""b"', ['a"b']], ['""', ['']],
    ['"a",', ['a', '']],
  ] as const;
  for (const [text, fields] of lines) assert.deepEqual(attempt(readFields, text), fields, text);
  const [bare, unended] = ['bare " in non-quoted-field', 'extraneous or missing " in quoted-field'];
  const faults = [
    ['a"b', 2, bare], [' "a"', 2, bare], ['é"', 3, bare], ['"a"x,b', 3, unended], ['"é"x', 4, unended], ['"a', 3, unended],
    ['x,"a', 5, unended],
  ] as const;
  for (const [text, column, problem] of faults) assert.equal(attempt(readFields, text), `parse error on line 1, column ${column}: ${problem}`, text);
});
