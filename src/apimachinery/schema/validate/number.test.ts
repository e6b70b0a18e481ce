// Ranges of numbers by format.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkNumber } from './number.ts';

test('checkNumber takes for a float what rounds to one, up to the largest', () => {
  const problems = (value: number): number => checkNumber({ type: 'number', format: 'float' }, value, 'spec.f').length;
  assert.deepEqual([3.4028235e38, -3.4028235e38, 3.4028236e38, 1e300].map(problems), [0, 0, 1, 1]);
});
