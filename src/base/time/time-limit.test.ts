// Work within a limit of time, on a clock that is moved by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announceWork, limitTime, remainingMs, tooLong } from './time-limit.ts';
import { createManualClock } from './manual-clock.ts';

test('limitTime answers what the work comes to, and tooLong for work that takes or announces more', () => {
  const clock = createManualClock();
  assert.equal(limitTime(clock, 10, () => 1), 1);
  assert.equal(limitTime(clock, 10, () => announceWork(11)), tooLong);
  assert.equal(limitTime(clock, 10, () => {
    announceWork(9);
    clock.advance(11);
    announceWork(0);
  }), tooLong);
});

test('limitTime lets other errors through, and ends with the work', () => {
  const clock = createManualClock();
  assert.throws(() => limitTime(clock, 10, () => { throw new Error('of the work'); }), /of the work/);
  assert.equal(remainingMs(), Infinity);
  announceWork(1e9);
});
