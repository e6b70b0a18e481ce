// The versions in memory: what the drawing in mvcc.ts says, and that compaction leaves nothing behind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStepCounter } from '../test-support/steps.ts';
import { VersionedKeys } from './mvcc.ts';

const countSteps = await startStepCounter();

const all = { start: '', end: '\uffff' };
const value = new Uint8Array([1]);

test('VersionedKeys keeps versions until compact makes them unreachable', () => {
  const state = new VersionedKeys();
  state.commit('a', value);
  state.commit('a', value);
  const deletion = state.commit('a', undefined);
  assert.deepEqual([deletion.type, deletion.kv.modRevision, deletion.kv.createRevision, deletion.previous?.modRevision], ['delete', 4, 2, 3]);
  assert.deepEqual([1, 2, 3, 4].map((revision) => state.range({ ...all, revision }).kvs[0]?.modRevision), [undefined, 2, 3, undefined]);
  state.compact(3);
  assert.equal(state.range({ ...all, revision: 3 }).kvs[0]?.modRevision, 3);
  assert.deepEqual(state.changes(all, { from: 4, through: 4 }), [deletion]);
  state.compact(4);
  assert.equal(state.range({ ...all, revision: 4 }).count, 0);
  assert.deepEqual([state.revision, state.compactRevision], [4, 4]);
  assert.equal(state.commit('a', value).kv.createRevision, 5);
});

test('VersionedKeys compacts a key of many versions in steps that do not grow with their square', async () => {
  const state = new VersionedKeys();
  for (let index = 0; index < 50_000; index += 1) state.commit('hot', value);
  const steps = await countSteps(() => state.compact(50_000));
  assert.ok(steps > 50_000 && steps < 10 * 50_000, `${steps} steps`);
  assert.equal(state.range({ ...all, revision: 50_000 }).kvs[0]?.modRevision, 50_000);
});

test('fork gives two states that share what they had and nothing that they write', () => {
  const one = new VersionedKeys();
  one.commit('a', value);
  one.commit('b', value);
  const two = one.fork();
  one.commit('a', undefined);
  two.commit('a', value);
  two.commit('c', value);
  const three = two.fork();
  three.commit('b', undefined);
  three.compact(5);
  const keys = (state: VersionedKeys, revision?: number): string => state.range({ ...all, ...(revision !== undefined && { revision }) }).kvs.map(
    ({ key, modRevision }) => `${key}${modRevision}`).join(' ');
  assert.deepEqual([keys(one), keys(two), keys(three)], ['b3', 'a4 b3 c5', 'a4 c5']);
  assert.deepEqual([keys(one, 3), keys(two, 3), keys(two, 4)], ['a2 b3', 'a2 b3', 'a4 b3']);
  assert.deepEqual([one, two, three].map((state) => state.versions('a').map(({ kv }) => kv.modRevision)), [[2, 4], [2, 4], [4]]);
  assert.deepEqual([one, two, three].map((state) => state.changes(all, { from: 2, through: 9 }).length), [3, 4, 1]);
  assert.deepEqual([one.versions('a')[1]?.isTombstone, two.versions('a')[1]?.isTombstone], [true, false]);
});
