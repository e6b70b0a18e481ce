// Values that are there and values that come later go the same way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Soon, attempt, follow } from './soon.ts';

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
