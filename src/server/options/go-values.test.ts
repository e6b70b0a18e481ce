// Values of flags, as Go reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FlagType, readValue } from './go-values.ts';

function attempt(type: FlagType, text: string): unknown {
  try {
    return readValue(type, text);
  } catch (error) {
    return (error as Error).message;
  }
}

test('integers have signs, bases and underscores', () => {
  const numbers = [
    ['5', 5], ['+5', 5], ['-1', -1], ['0x10', 16], ['0X_1f', 31], ['0b101', 5], ['0o17', 15], ['017', 15], ['0_7', 7], ['1_000', 1000], ['00', 0],
    ['3000000000', 3_000_000_000], ['9223372036854775807', Number.MAX_SAFE_INTEGER], ['-0x1', -1],
  ] as const;
  for (const [text, value] of numbers) assert.equal(attempt('integer', text), value, text);
  for (const text of ['', '08', '1__0', '_1', '1_', '0x', '1e3', ' 5', '0b2', '٣']) {
    assert.equal(attempt('integer', text), `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  for (const text of ['9223372036854775808', '-9223372036854775809']) {
    assert.equal(attempt('integer', text), `strconv.ParseInt: parsing "${text}": value out of range`);
  }
});

test('numbers and truth values have the spellings of Go', () => {
  const numbers = [['.5', 0.5], ['5.', 5], ['1e-3', 0.001], ['+Inf', Infinity], ['-inf', -Infinity], ['nan', NaN]] as const;
  for (const [text, value] of numbers) assert.equal(attempt('number', text), value, text);
  for (const text of ['', '.', '1e', 'x']) assert.equal(attempt('number', text), `strconv.ParseFloat: parsing "${text}": invalid syntax`);
  assert.equal(attempt('number', '1e400'), 'strconv.ParseFloat: parsing "1e400": value out of range');
  assert.deepEqual(['T', '0', 'False'].map((text) => readValue('switch', text)), [true, false, false]);
  assert.equal(attempt('switch', 'tRUE'), 'strconv.ParseBool: parsing "tRUE": invalid syntax');
});

test('lists are one line of comma-separated values', () => {
  const lines = [
    ['', []], ['a', ['a']], ['a,', ['a', '']], [',', ['', '']], ['a, b', ['a', ' b']], ['"a,b",c', ['a,b', 'c']], ['"a""b"', ['a"b']], ['""', ['']],
    ['"a",', ['a', '']],
  ] as const;
  for (const [text, fields] of lines) assert.deepEqual(attempt('list', text), fields, text);
  const [bare, unended] = ['bare " in non-quoted-field', 'extraneous or missing " in quoted-field'];
  const faults = [
    ['a"b', 2, bare], [' "a"', 2, bare], ['é"', 3, bare], ['"a"x,b', 3, unended], ['"é"x', 4, unended], ['"a', 3, unended],
    ['x,"a', 5, unended],
  ] as const;
  for (const [text, column, problem] of faults) assert.equal(attempt('list', text), `parse error on line 1, column ${column}: ${problem}`, text);
});

test('naturals have no sign, quantities a suffix, and patterns a level each', () => {
  assert.deepEqual(['0x1', '1_0', '18446744073709551615'].map((text) => readValue('natural', text)), [1, 10, Number.MAX_SAFE_INTEGER]);
  for (const text of ['-1', '+1', 'x']) assert.equal(attempt('natural', text), `strconv.ParseUint: parsing "${text}": invalid syntax`);
  assert.equal(attempt('natural', '18446744073709551616'), 'strconv.ParseUint: parsing "18446744073709551616": value out of range');
  assert.deepEqual(['1Ki', '-5', '0.1m'].map((text) => readValue('quantity', text)), ['1Ki', '-5', '0.1m']);
  assert.match(attempt('quantity', 'a') as string, /^quantities must match the regular expression/);
  assert.deepEqual(readValue('patterns', 'a=1,, b=2147483647,'), ['a=1', ' b=2147483647']);
  for (const text of ['a', 'a=', '=1', ' ', 'a=1=2']) assert.equal(attempt('patterns', `b=1,${text}`), `"${text}" does not have the pattern=N format`);
  for (const [level, problem] of [['-1', 'invalid syntax'], ['0x1', 'invalid syntax'], ['2147483648', 'value out of range']] as const) {
    assert.equal(attempt('patterns', `a=${level}`), `parsing verbosity in "a=${level}": strconv.ParseUint: parsing "${level}": ${problem}`);
  }
});
