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
