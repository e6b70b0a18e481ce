// Values that are there and values that come later go the same way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MaybePromise, catchMaybe, mapMaybe, runInOrder } from './maybe-promise.ts';

test('follow hands on a value that is there in the same turn, and a promised one later', async () => {
  assert.equal(mapMaybe(1, (value) => value + 1), 2);
  const later = mapMaybe(Promise.resolve(1), (value) => value + 1);
  assert.ok(later instanceof Promise);
  assert.equal(await later, 2);
});

test('attempt mends what was thrown at once and what was rejected later, and leaves answers alone', async () => {
  const mend = (error: unknown): string => `mended ${(error as Error).message}`;
  const fail = (): MaybePromise<string> => {
    throw new Error('now');
  };
  assert.equal(catchMaybe(fail, mend), 'mended now');
  assert.equal(await catchMaybe(() => Promise.reject<string>(new Error('later')), mend), 'mended later');
  assert.equal(catchMaybe(() => 'fine', mend), 'fine');
  assert.equal(await catchMaybe(() => Promise.resolve('fine'), mend), 'fine');
});

test('inOrder takes steps in this turn until one has to be waited for, and none after one that fails', async () => {
  const taken: number[] = [];
  const step = (number: number, answer?: unknown) => (): unknown => {
    taken.push(number);
    return answer;
  };
  assert.equal(runInOrder([step(1), step(2)]), undefined);
  const rest = runInOrder([step(3), step(4, Promise.resolve()), step(5)]);
  assert.deepEqual(taken, [1, 2, 3, 4]);
  await rest;
  assert.deepEqual(taken, [1, 2, 3, 4, 5]);
  await assert.rejects(async () => runInOrder([step(6, Promise.reject(new Error('no'))), step(7)]), /no/);
  assert.throws(() => runInOrder([assert.fail, step(8)]));
  assert.deepEqual(taken, [1, 2, 3, 4, 5, 6]);
});
