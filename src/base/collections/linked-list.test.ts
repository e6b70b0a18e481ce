// The list beside a naive twin.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Link, LinkedList } from './linked-list.ts';

test('LinkedList keeps the order of arrival whatever is taken out, as an array would', () => {
  fc.assert(fc.property(fc.array(fc.oneof(fc.constant('add'), fc.constant('shift'), fc.nat(20))), (steps) => {
    const list = new LinkedList<number>();
    let twin: Link<number>[] = [];
    for (const [index, step] of steps.entries()) {
      if (step === 'add') twin.push(list.add(index));
      else if (step === 'shift') assert.equal(list.shift(), twin.shift()?.value);
      else {
        const link = twin[step];
        if (link !== undefined) list.remove(link);
        twin = twin.filter((other) => other !== link);
      }
      assert.deepEqual([...list], twin.map(({ value }) => value));
      assert.deepEqual([list.size, list.first], [twin.length, twin[0]?.value]);
    }
  }));
});

test('LinkedList.remove may be called twice, and leaves a link that refers to nothing', () => {
  const list = new LinkedList<string>();
  const [first, second] = [list.add('first'), list.add('second')];
  list.remove(first);
  list.remove(first);
  assert.deepEqual([...list], ['second']);
  assert.deepEqual([first.next, first.previous], [undefined, undefined]);
  list.remove(second);
  assert.equal(list.size, 0);
});
