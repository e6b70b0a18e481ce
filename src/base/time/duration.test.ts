// Durations as Go reads and prints them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDurationNanos, parseDuration, parseDurationNanos } from './duration.ts';

test('parseDuration reads what Go reads', () => {
  const table: [string, number][] = [['0', 0], ['-0', 0], ['300ms', 300], ['1m30s', 90_000], ['1.5h', 5_400_000], ['.5s', 500], ['1.s', 1000],
    ['-2m', -120_000], ['+1us', 0.001], ['1µs', 0.001], ['1h0.5ns', 3_600_000], ['0000000000000000000000001s', 1000]];
  for (const [text, ms] of table) assert.equal(parseDuration(text), ms, text);
  assert.equal(parseDurationNanos('9223372036854775807ns'), 2n ** 63n - 1n);
  assert.equal(parseDurationNanos('0.0000000000000000000000001h1ns'), 1n);
});

test('parseDuration reports what is wrong in Go\'s words', () => {
  for (const text of ['', '-', 's', '.s', '9223372036854775808ns', '99999999999h', '1s-2s', '1h ']) assert.match(String(parseDuration(text)), /^time: /, text);
  assert.equal(parseDuration('x'), 'time: invalid duration "x"');
  assert.equal(parseDuration('1ä"\0'), 'time: unknown unit "\\xc3\\xa4\\"\\x00" in duration "1\\xc3\\xa4\\"\\x00"');
  assert.equal(parseDuration('1'), 'time: missing unit in duration "1"');
  assert.equal(parseDuration('1.2.3s'), 'time: missing unit in duration "1.2.3s"');
  assert.equal(parseDuration('3d'), 'time: unknown unit "d" in duration "3d"');
});

test('parseDurationNanos reads sums of parts, and never throws', () => {
  fc.assert(fc.property(fc.nat(1000), fc.nat(59), fc.nat(59), fc.nat(999), (h, m, s, ms) => {
    assert.equal(parseDuration(`${h}h${m}m${s}.${String(ms).padStart(3, '0')}s`), ((h * 60 + m) * 60 + s) * 1000 + ms);
  }));
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom('1', '0', '.', 'h', 'm', 's', 'n', '-', ' ') }), (text) => void parseDurationNanos(text)));
});

test('formatDurationNanos prints what Go prints, and parseDurationNanos reads it back', () => {
  const table: [number | bigint, string][] = [[0, '0s'], [1, '1ns'], [1100n, '1.1µs'], [2_200_000, '2.2ms'], [3_300_000_000n, '3.3s'],
    [245_000_000_000, '4m5s'], [245_001_000_000n, '4m5.001s'], [18_367_001_000_000n, '5h6m7.001s'], [-480_000_000_001n, '-8m0.000000001s'],
    [3_600_000_000_000, '1h0m0s'], [2n ** 63n - 1n, '2562047h47m16.854775807s'], [-(2n ** 63n), '-2562047h47m16.854775808s']];
  for (const [nanos, text] of table) assert.equal(formatDurationNanos(nanos), text);
  fc.assert(fc.property(fc.bigInt(1n - 2n ** 63n, 2n ** 63n - 1n), (nanos) => assert.equal(parseDurationNanos(formatDurationNanos(nanos)), nanos)));
});
