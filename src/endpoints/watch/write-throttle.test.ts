// Pauses after long rounds: every pump is called once, in order, and no pause follows a short round.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, createManualClock } from '../../base/index.ts';
import { WriteThrottle } from './write-throttle.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('WriteThrottle gathers the pumps that come after a long round and calls them together', async () => {
  const manual = createManualClock();
  let spentMs = 0;
  const clock: Clock = { now: () => manual.now(), monotonicMs: () => manual.monotonicMs() + spentMs, after: (ms, callback) => manual.after(ms, callback) };
  const writeThrottle = new WriteThrottle(clock, 0);
  const called: string[] = [];
  const pump = (name: string, ms: number): void => writeThrottle.run(() => {
    called.push(name);
    spentMs += ms;
  });
  pump('a', 1);
  pump('b', 1);
  await turn();
  manual.advance(0);
  pump('c', 7);
  pump('d', 10);
  assert.equal(called.join(''), 'abcd');
  await turn();
  manual.advance(0);
  pump('e', 0);
  pump('f', 0);
  assert.equal(called.join(''), 'abcd');
  manual.advance(19);
  assert.equal(called.join(''), 'abcd');
  manual.advance(1);
  assert.equal(called.join(''), 'abcdef');
  await turn();
  pump('g', 0);
  assert.equal(called.join(''), 'abcdefg');
});

test('WriteThrottle leaves pumps over when a turn has taken long, calls them in the turns that follow, and pauses after the last', async () => {
  const manual = createManualClock();
  let spentMs = 0;
  const clock: Clock = { now: () => manual.now(), monotonicMs: () => manual.monotonicMs() + spentMs, after: (ms, callback) => manual.after(ms, callback) };
  const writeThrottle = new WriteThrottle(clock, 0);
  const called: number[] = [];
  const pump = (name: number): void => writeThrottle.run(() => {
    called.push(name);
    spentMs += 5;
  });
  const counts: number[] = [];
  for (let name = 0; name < 7; name++) pump(name);
  for (let round = 0; round < 5; round++) {
    counts.push(called.length);
    await turn();
    manual.advance(0);
  }
  assert.deepEqual(counts, [2, 4, 6, 7, 7]);
  assert.deepEqual(called, [0, 1, 2, 3, 4, 5, 6]);
  pump(7);
  assert.equal(called.length, 7);
  manual.advance(20);
  assert.equal(called.length, 8);
});

test('WriteThrottle counts the work of the transport after the turn, but not all the work of others', async () => {
  const manual = createManualClock();
  let spentMs = 0;
  const clock: Clock = { now: () => manual.now(), monotonicMs: () => manual.monotonicMs() + spentMs, after: (ms, callback) => manual.after(ms, callback) };
  const writeThrottle = new WriteThrottle(clock, 0);
  const pauseAfter = async (turnMs: number, laterMs: number): Promise<number> => {
    writeThrottle.run(() => void (spentMs += turnMs));
    await turn();
    spentMs += laterMs;
    manual.advance(0);
    let called = false;
    writeThrottle.run(() => void (called = true));
    for (let ms = 0; ; ms++, manual.advance(1)) {
      await turn();
      if (called) return ms;
    }
  };
  const pauses = [await pauseAfter(0.5, 50), await pauseAfter(1.5, 1), await pauseAfter(2, 2), await pauseAfter(2, 50), await pauseAfter(30, 0)];
  assert.deepEqual(pauses, [0, 0, 8, 16, 20]);
});

test('WriteThrottle does not pause after rounds of few pumps, however long they take', async () => {
  const manual = createManualClock();
  let spentMs = 0;
  const clock: Clock = { now: () => manual.now(), monotonicMs: () => manual.monotonicMs() + spentMs, after: (ms, callback) => manual.after(ms, callback) };
  const writeThrottle = new WriteThrottle(clock);
  let called = 0;
  const pumpAll = async (count: number, ms: number): Promise<number> => {
    const before = called;
    for (let index = 0; index < count; index++) writeThrottle.run(() => void (called += 1, spentMs += ms));
    for (let round = 0; round < count; round++) {
      await turn();
      manual.advance(0);
    }
    return called - before;
  };
  assert.deepEqual([await pumpAll(1, 40), await pumpAll(32, 3), await pumpAll(1, 40)], [1, 32, 1]);
  assert.deepEqual([await pumpAll(33, 3), await pumpAll(1, 0)], [33, 0]);
  manual.advance(20);
  assert.equal(called, 68);
});
