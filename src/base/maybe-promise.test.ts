// Values that are there and values that come later go the same way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MaybePromise, catchMaybe, mapMaybe } from './maybe-promise.ts';

test('mapMaybe hands on a value that is there in the same turn, and a promised one later', async () => {
  assert.equal(mapMaybe(1, (value) => value + 1), 2);
  const later = mapMaybe(Promise.resolve(1), (value) => value + 1);
  assert.ok(later instanceof Promise);
  assert.equal(await later, 2);
});

test('catchMaybe mends what was thrown at once and what was rejected later, and leaves answers alone', async () => {
  const mend = (error: unknown): string => `mended ${(error as Error).message}`;
  const fail = (): MaybePromise<string> => {
    throw new Error('now');
  };
  assert.equal(catchMaybe(fail, mend), 'mended now');
  assert.equal(await catchMaybe(() => Promise.reject<string>(new Error('later')), mend), 'mended later');
  assert.equal(catchMaybe(() => 'fine', mend), 'fine');
  assert.equal(await catchMaybe(() => Promise.resolve('fine'), mend), 'fine');
});
