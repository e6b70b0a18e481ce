// The work queue: one run per key at a time, retries with a growing delay, other keys undisturbed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createManualClock } from '../../base/index.ts';
import { WorkQueue } from './work-queue.ts';

/** Everything that is due without time passing has happened. */
async function settle(): Promise<void> {
  for (let count = 0; count < 5; count += 1) await turn();
}

describe('WorkQueue', () => {
  it('works a key again when it is added while it runs, never twice at once', async () => {
    let running = 0;
    let runs = 0;
    const clock = createManualClock();
    const queue = new WorkQueue({
      clock, concurrency: 4, onError: assert.fail,
      async work() {
        assert.equal((running += 1), 1);
        runs += 1;
        await turn();
        running -= 1;
      },
    });
    queue.add('a');
    for (let count = 0; count < 10; count += 1) queue.add('a');
    await settle();
    assert.deepEqual([runs, running], [2, 0]);
    await queue.stop();
  });

  it('tries a key again after a failure, later each time, without holding others up', async () => {
    const clock = createManualClock();
    const starts: number[] = [];
    const done: string[] = [];
    const errors: string[] = [];
    const queue = new WorkQueue({
      clock, concurrency: 1, onError: (key) => errors.push(key),
      async work(key) {
        if (key === 'bad') starts.push(clock.monotonicMs());
        if (key === 'bad' && starts.length < 4) throw new Error('not yet');
        done.push(key);
      },
    });
    queue.add('bad');
    queue.add('good');
    await settle();
    assert.deepEqual([done, errors], [['good'], ['bad']]);
    for (let ms = 0; ms < 200; ms += 10) {
      clock.advance(10);
      await settle();
    }
    assert.deepEqual([done, errors], [['good', 'bad'], ['bad', 'bad', 'bad']]);
    assert.deepEqual(starts, [0, 20, 60, 140]);
    await queue.stop();
  });

  it('looks again when the work asks for it, and forgets everything when stopped', async () => {
    const clock = createManualClock();
    let runs = 0;
    const queue = new WorkQueue({ clock, concurrency: 1, onError: assert.fail, work: async () => ((runs += 1) < 3 ? 5 : undefined) });
    queue.add('a');
    for (const expected of [1, 2, 3, 3]) {
      await settle();
      assert.equal(runs, expected);
      clock.advance(5);
    }
    queue.add('b');
    await settle();
    const stopped = queue.stop();
    queue.add('a');
    await stopped;
    clock.advance(60_000);
    await settle();
    assert.deepEqual([runs, clock.pendingTimers], [4, 0]);
  });
});
