// The compactor: every chunk of a map once, a little at a time, and nothing after it was closed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, createSortedMap } from '../base/index.ts';
import type { Entry } from './contract.ts';
import { ChunkCompactor } from './chunk-compactor.ts';

function makeClock(): { clock: Clock; runAll: () => number } {
  let nowMs = 0;
  const due: (() => void)[] = [];
  const clock: Clock = {
    now: () => nowMs,
    monotonicMs: () => (nowMs += 1),
    after(_delayMs, callback) {
      due.push(callback);
      return { cancel: () => void due.splice(due.indexOf(callback), due.includes(callback) ? 1 : 0) };
    },
  };
  const runAll = (): number => {
    let ran = 0;
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      next();
      ran++;
    }
    return ran;
  };
  return { clock, runAll };
}

const mapOf = (count: number) => createSortedMap<Entry<number>>(
  Array.from({ length: count }, (_, i) => ({ key: `/${String(i).padStart(6, '0')}`, modRevision: i + 1, value: i })),
);

test('begin hands over every chunk once, in slices, and a map that was gone over not again', () => {
  const { clock, runAll } = makeClock();
  const seen: number[] = [];
  const chunkCompactor = new ChunkCompactor<number>(clock, function* (chunk) {
    seen.push(...chunk.map(({ value }) => value));
    return true;
  });
  const map = mapOf(2000);
  chunkCompactor.begin(map);
  chunkCompactor.begin(mapOf(3));
  assert.ok(runAll() > 2, 'the work is cut into slices');
  assert.deepEqual(seen, Array.from({ length: 2000 }, (_, i) => i));
  chunkCompactor.begin(map);
  assert.equal(runAll(), 0);
});

test('the steps of one chunk are cut into slices too', () => {
  const { clock, runAll } = makeClock();
  let steps = 0;
  const chunkCompactor = new ChunkCompactor<number>(clock, function* () {
    for (; steps < 100; steps++) yield;
    return true;
  });
  chunkCompactor.begin(mapOf(1));
  assert.ok(runAll() > 10);
  assert.equal(steps, 100);
});

test('close ends the work', () => {
  const { clock, runAll } = makeClock();
  let chunks = 0;
  const chunkCompactor = new ChunkCompactor<number>(clock, function* () {
    chunks++;
    chunkCompactor.close();
    return true;
  });
  chunkCompactor.begin(mapOf(2000));
  runAll();
  chunkCompactor.begin(mapOf(10));
  assert.ok(runAll() === 0 && chunks < 10);
});

test('begin hands over a map again when something in it was to be done later', () => {
  const { clock, runAll } = makeClock();
  const outcomes: ('later' | boolean)[] = ['later', false, true];
  const chunkCompactor = new ChunkCompactor<number>(clock, function* () {
    return outcomes.shift() ?? assert.fail('it was handed over once too often');
  });
  const map = mapOf(3);
  chunkCompactor.begin(map);
  assert.equal(runAll(), 1);
  chunkCompactor.begin(map);
  assert.equal(runAll(), 1);
  chunkCompactor.begin(map);
  assert.equal(runAll(), 0);
});
