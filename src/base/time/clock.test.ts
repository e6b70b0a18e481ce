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
