// Steps done at once and in turns come to the same.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Steps, createStride, finishSteps, runStepsInSlices, sortSteps } from './steps.ts';

function* count(to: number, seen: number[]): Steps<string> {
  for (let i = 0; i < to; i++) {
    seen.push(i);
    yield;
  }
  return 'done';
}

describe('steps', () => {
  it('finishSteps runs all of them at once', () => {
    const seen: number[] = [];
    assert.equal(finishSteps(count(3, seen)), 'done');
    assert.deepEqual(seen, [0, 1, 2]);
  });

  it('paceSteps waits where a pause is wanted, and answers the same', async () => {
    const seen: number[] = [];
    let pauses = 0;
    const result = runStepsInSlices(count(4, seen), () => (++pauses % 2 === 0 ? Promise.resolve() : undefined));
    assert.deepEqual(seen, [0, 1]);
    assert.equal(await result, 'done');
    assert.deepEqual(seen, [0, 1, 2, 3]);
  });

  it('paceSteps rejects with what a pause throws', async () => {
    await assert.rejects(runStepsInSlices(count(4, []), () => { throw new Error('too late'); }), /too late/);
  });

  it('sortSteps sorts as sort does, in many steps', () => {
    const texts = Array.from({ length: 10_001 }, (_, i) => String((i * 7919) % 10_007 % 5003));
    const steps = sortSteps(texts);
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses += 1;
    assert.deepEqual(step.value, [...texts].sort());
    assert.ok(pauses >= 5, `${pauses} pauses`);
    assert.deepEqual([finishSteps(sortSteps([])), finishSteps(sortSteps(['b', 'a']))], [[], ['a', 'b']]);
  });

  it('createStride says yes once in so many times', () => {
    const due = createStride(3);
    assert.deepEqual([due(), due(), due(), due(), due(), due()], [false, false, true, false, false, true]);
  });
});
