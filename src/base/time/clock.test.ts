// What timers of the system's clock leave behind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from './clock.ts';

test('long timers that are cancelled leave no memory behind until they would have been due, whatever their lengths', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const setAndCancel = (count: number): void => {
    for (let at = 0; at < count; at++) systemClock.after(1_800_000 + at * 1.7, () => {}).cancel();
  };
  setAndCancel(1000);
  collect();
  const before = process.memoryUsage().heapUsed;
  setAndCancel(50_000);
  collect();
  const bytesEach = (process.memoryUsage().heapUsed - before) / 50_000;
  assert.ok(bytesEach < 40, `${bytesEach.toFixed(0)} bytes each`);
});

test('a time that is longer than Node takes is waited for', async (context) => {
  let calls = 0;
  const early = systemClock.after(2 ** 32, () => calls++);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(calls, 0);
  early.cancel();
  context.mock.timers.enable({ apis: ['setTimeout'] });
  systemClock.after(2 ** 31, () => calls++);
  context.mock.timers.tick(2 ** 31 - 1);
  assert.equal(calls, 0);
  context.mock.timers.tick(1);
  assert.equal(calls, 1);
  systemClock.after(2 ** 31, () => calls++).cancel();
  const late = systemClock.after(2 ** 31, () => calls++);
  context.mock.timers.tick(2 ** 31 - 1);
  late.cancel();
  context.mock.timers.tick(2 ** 31);
  assert.equal(calls, 1);
});
