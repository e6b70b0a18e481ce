// The work queue: one run per key at a time, retries with a growing delay, other keys undisturbed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../base/index.ts';
import { WorkQueue } from './work-queue.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('WorkQueue', () => {
  it('works a key again when it is added while it runs, never twice at once', async () => {
    let running = 0;
    let runs = 0;
    const queue = new WorkQueue({
      clock: systemClock, concurrency: 4, onError: assert.fail,
      async work() {
        assert.equal((running += 1), 1);
        runs += 1;
        await pause(5);
        running -= 1;
      },
    });
    queue.add('a');
    for (let count = 0; count < 10; count += 1) queue.add('a');
    await pause(40);
    assert.equal(runs, 2);
    await queue.stop();
  });

  it('tries a key again after a failure, later each time, without holding others up', async () => {
    const starts: number[] = [];
    const done: string[] = [];
    const errors: string[] = [];
    const queue = new WorkQueue({
      clock: systemClock, concurrency: 1, onError: (key) => errors.push(key),
      async work(key) {
        if (key === 'bad') starts.push(performance.now());
        if (key === 'bad' && starts.length < 3) throw new Error('not yet');
        done.push(key);
      },
    });
    queue.add('bad');
    queue.add('good');
    await pause(150);
    assert.deepEqual(done, ['good', 'bad']);
    assert.deepEqual(errors, ['bad', 'bad']);
    const [first = 0, second = 0, third = 0] = starts;
    assert.ok(third - second > (second - first) * 1.3);
    await queue.stop();
  });

  it('looks again when the work asks for it, and forgets everything when stopped', async () => {
    let runs = 0;
    const queue = new WorkQueue({ clock: systemClock, concurrency: 1, onError: assert.fail, work: async () => ((runs += 1) < 3 ? 5 : undefined) });
    queue.add('a');
    await pause(60);
    assert.equal(runs, 3);
    await queue.stop();
    queue.add('a');
    await pause(10);
    assert.equal(runs, 3);
  });
});
