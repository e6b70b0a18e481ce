// Values that are there and values that come later go the same way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Soon, attempt, follow, inOrder } from './soon.ts';

test('follow hands on a value that is there in the same turn, and a promised one later', async () => {
  assert.equal(follow(1, (value) => value + 1), 2);
  const later = follow(Promise.resolve(1), (value) => value + 1);
  assert.ok(later instanceof Promise);
  assert.equal(await later, 2);
});

test('attempt mends what was thrown at once and what was rejected later, and leaves answers alone', async () => {
  const mend = (error: unknown): string => `mended ${(error as Error).message}`;
  const fail = (): Soon<string> => {
    throw new Error('now');
  };
  assert.equal(attempt(fail, mend), 'mended now');
  assert.equal(await attempt(() => Promise.reject<string>(new Error('later')), mend), 'mended later');
  assert.equal(attempt(() => 'fine', mend), 'fine');
  assert.equal(await attempt(() => Promise.resolve('fine'), mend), 'fine');
});

test('inOrder takes steps in this turn until one has to be waited for, and none after one that fails', async () => {
  const taken: number[] = [];
  const step = (number: number, answer?: unknown) => (): unknown => {
    taken.push(number);
    return answer;
  };
  assert.equal(inOrder([step(1), step(2)]), undefined);
  const rest = inOrder([step(3), step(4, Promise.resolve()), step(5)]);
  assert.deepEqual(taken, [1, 2, 3, 4]);
  await rest;
  assert.deepEqual(taken, [1, 2, 3, 4, 5]);
  await assert.rejects(async () => inOrder([step(6, Promise.reject(new Error('no'))), step(7)]), /no/);
  assert.throws(() => inOrder([assert.fail, step(8)]));
  assert.deepEqual(taken, [1, 2, 3, 4, 5, 6]);
});
