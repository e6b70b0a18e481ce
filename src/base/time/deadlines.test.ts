// Deadlines of one length by a clock that a test moves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from './manual-clock.ts';
import { Deadlines } from './deadlines.ts';

test('Deadlines come each in its time, in their order, and not at all once removed', () => {
  const clock = createManualClock();
  const deadlines = new Deadlines(clock, 1000);
  const expired: string[] = [];
  const add = (name: string) => deadlines.add(() => expired.push(name));
  const first = add('first');
  clock.advance(400);
  add('second');
  const third = add('third');
  assert.equal(clock.pendingTimers, 1);
  deadlines.remove(first);
  clock.advance(999);
  assert.deepEqual(expired, []);
  deadlines.remove(third);
  deadlines.remove(third);
  clock.advance(1);
  assert.deepEqual(expired, ['second']);
  assert.equal(clock.pendingTimers, 0);
  add('fourth');
  clock.advance(1000);
  assert.deepEqual(expired, ['second', 'fourth']);
});

test('a deadline may be set again when it comes, with one timer for all', () => {
  const clock = createManualClock();
  const deadlines = new Deadlines(clock, 1000);
  let count = 0;
  const again = (): void => {
    count += 1;
    deadlines.add(again);
  };
  deadlines.add(again);
  clock.advance(5000);
  assert.deepEqual([count, clock.pendingTimers], [5, 1]);
});

test('deadlines that come in the same moment are left to several turns', () => {
  const clock = createManualClock();
  const deadlines = new Deadlines(clock, 1000);
  let count = 0;
  const counts: number[] = [];
  for (let set = 0; set < 250; set++) deadlines.add(() => void count++);
  const after = clock.after.bind(clock);
  clock.after = (delayMs, callback) => {
    counts.push(count, delayMs);
    return after(delayMs, callback);
  };
  clock.advance(1000);
  assert.deepEqual([count, ...counts], [250, 100, 0, 200, 0]);
});
