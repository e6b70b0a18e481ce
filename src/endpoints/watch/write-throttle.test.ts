// Rests after rounds that took long: everybody is called once, in order, and short rounds are never followed by one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, createManualClock } from '../../base/index.ts';
import { WriteThrottle } from './write-throttle.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('Pacing gathers what comes after a long round and calls it together', async () => {
  const manual = createManualClock();
  let spentMs = 0;
  const clock: Clock = { now: () => manual.now(), monotonicMs: () => manual.monotonicMs() + spentMs, after: (ms, callback) => manual.after(ms, callback) };
  const writeThrottle = new WriteThrottle(clock);
  const called: string[] = [];
  const pump = (name: string, ms: number): void => writeThrottle.run(() => {
    called.push(name);
    spentMs += ms;
  });
  pump('a', 1);
  pump('b', 1);
  await turn();
  manual.advance(0);
  pump('c', 10);
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

test('Pacing counts what the transport does after the turn, but not all the work of others', async () => {
  const manual = createManualClock();
  let spentMs = 0;
  const clock: Clock = { now: () => manual.now(), monotonicMs: () => manual.monotonicMs() + spentMs, after: (ms, callback) => manual.after(ms, callback) };
  const writeThrottle = new WriteThrottle(clock);
  const restAfter = async (turnMs: number, laterMs: number): Promise<number> => {
    writeThrottle.run(() => void (spentMs += turnMs));
    await turn();
    spentMs += laterMs;
    manual.advance(0);
    let rested = false;
    writeThrottle.run(() => void (rested = true));
    for (let ms = 0; ; ms++, manual.advance(1)) {
      await turn();
      if (rested) return ms;
    }
  };
  const rests = [await restAfter(0.5, 50), await restAfter(1.5, 1), await restAfter(2, 2), await restAfter(2, 50), await restAfter(30, 0)];
  assert.deepEqual(rests, [0, 0, 8, 16, 20]);
});
