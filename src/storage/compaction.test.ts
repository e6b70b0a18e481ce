// Automatic compaction by a clock moved by hand: never early, once per interval, bounded bookkeeping for odd intervals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/index.ts';
import { AutomaticCompaction } from './compaction.ts';
import { settle } from './suite-tools.suite.ts';

async function run(options: { historyMs: number; intervalMs: number; forMs: number }): Promise<{ at: number; revision: number }[]> {
  const clock = createManualClock();
  const compactions: { at: number; revision: number }[] = [];
  const compaction = new AutomaticCompaction({
    clock, ...options,
    // One revision per millisecond, so that a revision is its age.
    revision: () => clock.monotonicMs(),
    compact: async (revision) => compactions.push({ at: clock.monotonicMs(), revision }),
  });
  for (let step = 0; step < 100; step += 1) {
    clock.advance(options.forMs / 100);
    await Promise.resolve();
  }
  await settle();
  await compaction.stop();
  assert.equal(clock.pendingTimers, 0);
  return compactions;
}

test('AutomaticCompaction keeps what is newer than historyMs and little more', async () => {
  const compactions = await run({ historyMs: 1000, intervalMs: 500, forMs: 10_000 });
  assert.ok(compactions.length >= 15);
  for (const { at, revision } of compactions.slice(2)) {
    const age = at - revision;
    assert.ok(age >= 1000 && age <= 1300, `${age}`);
  }
});

test('AutomaticCompaction with an interval of years never runs', async () => {
  assert.deepEqual(await run({ historyMs: 300_000, intervalMs: 1e15, forMs: 3_600_000 }), []);
});

test('AutomaticCompaction without history compacts to the newest revision it sampled', async () => {
  const compactions = await run({ historyMs: 0, intervalMs: 1000, forMs: 10_000 });
  assert.ok(compactions.length >= 8 && compactions.every(({ at, revision }) => at - revision <= 200));
});
