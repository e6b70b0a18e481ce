// Work that is broken off comes to what it comes to at once, and does no part twice.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isResumable, remember, rememberWhole, resumableSteps } from './resumable.ts';
import { type Steps, finishSteps } from './steps.ts';

interface Tree {
  readonly name: number;
  readonly children: readonly Tree[];
}

let count = 0;
const grow = (depth: number, width: number): Tree =>
  ({ name: count++, children: depth === 0 ? [] : Array.from({ length: width }, () => grow(depth - 1, width)) });

function countSteps<T>(steps: Steps<T>): { readonly result: T; readonly count: number } {
  for (let taken = 1; ; taken++) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, count: taken };
  }
}

describe('resumableSteps', () => {
  const tree = grow(4, 6);
  const sum = (node: Tree, note: (name: number) => void): number => remember(() => {
    const below = node.children.reduce((total, child) => total + sum(child, note), 0);
    note(node.name);
    return below + node.name;
  });

  it('does each part once, in the order of the work at once, in steps of so many parts', () => {
    const [atOnce, inSteps]: [number[], number[]] = [[], []];
    const expected = sum(tree, (name) => atOnce.push(name));
    const { result, count: taken } = countSteps(resumableSteps(() => sum(tree, (name) => inSteps.push(name)), 10));
    assert.equal(result, expected);
    assert.deepEqual(inSteps, atOnce);
    assert.equal(taken, Math.ceil(atOnce.length / 10));
  });

  it('counts a heavy part as several', () => {
    const work = (): void => {
      for (let part = 0; part < 10; part++) remember(() => undefined, 10);
    };
    assert.equal(countSteps(resumableSteps(work, 20)).count, 5);
  });

  it('begins a heavy part in a step of its own', () => {
    const begun: string[] = [];
    const part = (name: string, weight: number): void => remember(() => void begun.push(name), weight);
    const steps = resumableSteps(() => {
      part('a', 1);
      part('b', 10);
      part('c', 20);
      part('d', 1);
      part('e', 1);
    }, 10);
    const seen: string[] = [];
    for (let step = steps.next(); ; step = steps.next()) {
      seen.push(begun.splice(0).join(''));
      if (step.done === true) break;
    }
    assert.deepEqual(seen, ['a', 'b', 'c', 'de']);
  });

  it('throws what a part throws, again where the work catches it and is broken off later', () => {
    let thrown = 0;
    const work = (): number => {
      let caught = 0;
      for (let part = 0; part < 20; part++) {
        try {
          remember(() => {
            thrown++;
            throw new RangeError('no');
          });
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          caught++;
        }
      }
      return caught;
    };
    assert.equal(finishSteps(resumableSteps(work, 3)), 20);
    assert.equal(thrown, 20);
    assert.throws(() => finishSteps(resumableSteps(() => remember(() => assert.fail('never')), 1)), /never/);
  });

  it('does a whole part in one step, also where it asks for others', () => {
    let begun = 0;
    const steps = resumableSteps(() => {
      remember(() => undefined);
      rememberWhole(() => {
        begun++;
        for (let part = 0; part < 10; part++) remember(() => undefined);
      });
    }, 1);
    assert.equal(countSteps(steps).count, 2);
    assert.equal(begun, 1);
  });

  it('is known to the work, and to no other', () => {
    const steps = resumableSteps(() => remember(() => remember(() => isResumable())), 1);
    steps.next();
    assert.equal(isResumable(), false);
    assert.equal(finishSteps(steps), true);
  });
});
