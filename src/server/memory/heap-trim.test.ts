// Collecting while there is nothing to do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { createManualClock } from '../../base/index.ts';
import { eventually } from '../../test-support/index.ts';
import { startHeapTrim } from './heap-trim.ts';

test('startHeapTrim gives back what a burst of work has left, once the process is idle', async () => {
  // What the engine would collect by itself, after the collections of the burst, would hide whether one is provoked.
  setFlagsFromString('--no-memory-reducer');
  const clock = createManualClock();
  let busyShare = 0.5;
  const stop = startHeapTrim(clock, () => busyShare);
  let kept: unknown[] = Array.from({ length: 1_500_000 }, (_, i) => ({ i, text: `${i}` }));
  assert.equal(kept.length, 1_500_000);
  const grown = getHeapStatistics().total_heap_size;
  kept = [];
  clock.advance(3_000);
  await sleep(2_000);
  assert.ok(getHeapStatistics().total_heap_size > grown * 0.7, 'nothing collects yet');
  busyShare = 0;
  clock.advance(3_000);
  await eventually(() => assert.ok(getHeapStatistics().total_heap_size < grown * 0.7));
  stop();
  clock.advance(60_000);
});

test('startHeapTrim gives back pages on which little lives, in several collections', async () => {
  setFlagsFromString('--no-memory-reducer');
  const clock = createManualClock();
  const stop = startHeapTrim(clock, () => 0);
  let made: unknown[] = Array.from({ length: 1_500_000 }, (_, i) => ({ i, text: `${i}` }));
  const kept = made.filter((_, i) => i % 7 === 0);
  made = [];
  await eventually(async () => {
    clock.advance(3_000);
    await sleep(200);
    const { total_heap_size: total, used_heap_size: used } = getHeapStatistics();
    assert.ok(total - used < 30 * 2 ** 20, `${total} bytes for ${used}`);
  });
  assert.equal(made.length + kept.length, Math.ceil(1_500_000 / 7));
  stop();
});

test('startHeapTrim collects once more later, what caches have let go meanwhile', async () => {
  setFlagsFromString('--no-memory-reducer');
  const clock = createManualClock();
  const stop = startHeapTrim(clock, () => 0);
  let cached: unknown[] = Array.from({ length: 500_000 }, (_, i) => ({ i, text: `${i}` }));
  let made: unknown[] = Array.from({ length: 1_500_000 }, (_, i) => ({ i, text: `${i}` }));
  assert.equal(made.length + cached.length, 2_000_000);
  made = [];
  const totalAfter = async (checks: number): Promise<number> => {
    for (let check = 0; check < checks; check++) {
      clock.advance(3_000);
      await sleep(100);
    }
    return getHeapStatistics().total_heap_size;
  };
  const settled = await totalAfter(12);
  cached = [];
  assert.ok(await totalAfter(6) > settled * 0.9, 'nothing has grown');
  await eventually(async () => assert.ok(await totalAfter(12) < settled - 16 * 2 ** 20));
  assert.equal(made.length + cached.length, 0);
  stop();
});
