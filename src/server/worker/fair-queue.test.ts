// Users take turns in the queue, and users with the most tasks or bytes lose tasks when it is full.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from './fair-queue.ts';

const task = (user: string, name: string, bytes = 1) => ({ user, name, bytes });
const createQueue = (limits = { tasks: 10, bytes: 100 }) => new FairQueue<ReturnType<typeof task>>(limits);

const push = (queue: ReturnType<typeof createQueue>, each: ReturnType<typeof task>): string[] => queue.push(each).map(({ name }) => name);

function drain(queue: ReturnType<typeof createQueue>): string[] {
  const names: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) names.push(next.name);
  return names;
}

describe('FairQueue', () => {
  it('take gives each user a turn', () => {
    const queue = createQueue();
    for (const each of [task('a', 'a1'), task('a', 'a2'), task('b', 'b1'), task('a', 'a3'), task('c', 'c1')]) queue.push(each);
    assert.deepEqual(drain(queue), ['a1', 'b1', 'c1', 'a2', 'a3']);
    assert.equal(queue.length, 0);
  });

  it('take passes over tasks that are not accepted, which keep their turn', () => {
    const queue = createQueue();
    for (const each of [task('a', 'a1'), task('b', 'b1')]) queue.push(each);
    assert.equal(queue.take(({ user }) => user !== 'a')?.name, 'b1');
    assert.equal(queue.take(() => false), undefined);
    assert.deepEqual(drain(queue), ['a1']);
  });

  it('push returns the last task of the user with the most tasks when there are too many', () => {
    const queue = createQueue({ tasks: 3, bytes: 100 });
    for (const each of [task('a', 'a1'), task('a', 'a2'), task('a', 'a3')]) assert.deepEqual(push(queue, each), []);
    assert.deepEqual(push(queue, task('b', 'b1')), ['a3']);
    assert.deepEqual(drain(queue), ['a1', 'b1', 'a2']);
  });

  it('push bounds the bytes of what waits', () => {
    const queue = createQueue();
    assert.deepEqual(push(queue, task('a', 'a1', 60)), []);
    assert.deepEqual(push(queue, task('a', 'a2', 60)), ['a2']);
    assert.deepEqual(push(queue, task('a', 'a3', 40)), []);
  });

  it('push drops until the bytes fit, from the user with the most of them', () => {
    const queue = createQueue();
    for (const each of [task('b', 'b1', 10), task('b', 'b2', 10), task('b', 'b3', 10), task('b', 'b4', 10), task('b', 'b5', 5)]) push(queue, each);
    for (const each of [task('a', 'a1', 35), task('a', 'a2', 15)]) assert.deepEqual(push(queue, each), []);
    assert.deepEqual(push(queue, task('c', 'c1', 30)), ['a2', 'b5', 'b4']);
    assert.deepEqual(push(queue, task('c', 'c2', 5)), []);
    assert.deepEqual(push(queue, task('d', 'd1', 101)), ['d1']);
    assert.deepEqual(drain(queue), ['b1', 'a1', 'c1', 'b2', 'c2', 'b3']);
  });

  it('remove takes a task out', () => {
    const queue = createQueue();
    const waiting = task('a', 'a1');
    queue.push(waiting);
    assert.equal(queue.remove(waiting), true);
    assert.equal(queue.remove(waiting), false);
    assert.deepEqual(drain(queue), []);
  });
});
