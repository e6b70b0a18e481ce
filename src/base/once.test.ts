// Values that are made once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { once } from './once.ts';
import { formatSecond } from './time/time-text.ts';

test('once makes a value at the first call, and answers the same one from then on', () => {
  let made = 0;
  const ask = once(() => ({ number: (made += 1) }));
  assert.equal(made, 0);
  assert.equal(ask(), ask());
  assert.equal(made, 1);
});

test('formatSecond writes each second, also after another one, in years of four digits', () => {
  const seconds = [0, 1_767_225_599, 0, -62_135_596_800, 253_402_300_799, 253_402_300_799];
  assert.deepEqual(seconds.map(formatSecond), [
    '1970-01-01T00:00:00', '2025-12-31T23:59:59', '1970-01-01T00:00:00', '0001-01-01T00:00:00', '9999-12-31T23:59:59', '9999-12-31T23:59:59',
  ]);
});
