// Long works take turns: one piece of one of them in each turn of the event loop, and connections are looked at in between.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';
import { createManualClock } from './manual-clock.ts';
import { beginTurn, createTimeSlice, startOfTurn } from './time-slice.ts';

test('a slice lasts as long as it may, and ends with a turn', async () => {
  const clock = createManualClock();
  const pause = createTimeSlice(clock, 10);
  assert.equal(pause(), undefined);
  clock.advance(10);
  const turn = pause();
  assert.equal(pause(), turn);
  clock.advance(0);
  await turn;
  assert.equal(pause(), undefined);
});

test('what has waited for another process while the event loop turned continues at once', () => {
  const clock = createManualClock();
  const pause = createTimeSlice(clock, 10);
  clock.advance(500);
  beginTurn(clock);
  clock.advance(9);
  assert.equal(pause(), undefined);
  clock.advance(1);
  assert.notEqual(pause(), undefined);
});

test('works that begin in one turn share it, and the next turn begins again', async () => {
  const clock = createManualClock();
  const begin = (): ReturnType<typeof createTimeSlice> => createTimeSlice(clock, 10, startOfTurn(clock));
  assert.equal(begin()(), undefined);
  clock.advance(10);
  assert.notEqual(begin()(), undefined);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(begin()(), undefined);
});

test('two works that pause at once go on in different turns', async () => {
  const seen: string[] = [];
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const work = async (name: string): Promise<void> => {
    const pause = createTimeSlice(systemClock, 0);
    for (let piece = 0; piece < 3; piece += 1) {
      await pause();
      seen.push(`${name} ${turns}`);
    }
  };
  await Promise.all([work('a'), work('b')]);
  isDone = true;
  const inTurns = seen.map((each) => each.split(' ')[1]);
  assert.equal(new Set(inTurns).size, 6, seen.join(', '));
  assert.deepEqual(seen.map((each) => each[0]), ['a', 'b', 'a', 'b', 'a', 'b']);
});
