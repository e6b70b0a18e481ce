// A replay holds a bounded number of changes, opens its watch again as they are taken, and never parts the changes of one revision.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BreakableStore, type StoreHarness, all, createBreakableStore, createStoreHarness, settle } from './harness.suite.ts';
import { Replay } from './replay.ts';

interface Case {
  readonly replay: Replay<string>;
  readonly breakable: BreakableStore;
  readonly ends: string[];
}

async function open(harness: StoreHarness, decode = (text: string): string => text): Promise<Case> {
  const breakable = createBreakableStore(harness.store);
  const ends: string[] = [];
  const replay = new Replay({
    store: breakable, clock: harness.clock, range: all, after: 1, decode: (kv) => decode(Buffer.from(kv.value).toString()),
    advanced: () => undefined, ended: (reason) => void ends.push(reason),
  });
  replay.open();
  await settle();
  return { replay, breakable, ends };
}

async function write(harness: StoreHarness, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await harness.write(`/p/${index % 7}`, `${index}`);
}

test('take returns every change once, in order, though only 1000 are held at a time', async () => {
  const harness = createStoreHarness();
  await write(harness, 2600);
  const { replay, breakable, ends } = await open(harness);
  const seen: number[] = [];
  for (let round = 0; round < 100 && seen.length < 2600; round += 1) {
    assert.ok(replay.size <= 1000, `${replay.size} are held`);
    seen.push(...replay.take(300).map(({ revision }) => revision));
    await settle();
  }
  assert.deepEqual(seen, Array.from({ length: 2600 }, (_, index) => index + 2));
  assert.equal(replay.reached, 2601);
  assert.ok(breakable.calls.watch >= 3, 'the watch was opened again');
  assert.deepEqual(ends, []);
  replay.close();
});

test('of large values no more than 4 MB and one change are held, and take returns every one', async () => {
  const harness = createStoreHarness();
  const value = 'x'.repeat(2 ** 20);
  for (let index = 0; index < 20; index += 1) await harness.write(`/p/${index}`, value);
  const { replay, ends } = await open(harness);
  const seen: number[] = [];
  for (let round = 0; round < 100 && seen.length < 20; round += 1) {
    assert.ok(replay.size <= 5, `${replay.size} are held`);
    seen.push(...replay.take(2).map(({ revision }) => revision));
    await settle();
  }
  assert.deepEqual(seen, Array.from({ length: 20 }, (_, index) => index + 2));
  assert.deepEqual(ends, []);
  replay.close();
});

test('a watch that failed is opened again after a second, where it was', async () => {
  const harness = createStoreHarness();
  await write(harness, 3);
  const { replay, breakable, ends } = await open(harness);
  breakable.breakWatches({ type: 'failed', error: new Error('cut') });
  await write(harness, 0);
  await harness.write('/p/late', 'late');
  await settle();
  assert.equal(replay.size, 3);
  harness.clock.advance(1000);
  await settle();
  assert.deepEqual(replay.take(9).map(({ key }) => key), ['/p/0', '/p/1', '/p/2', '/p/late']);
  assert.deepEqual(ends, []);
  replay.close();
});

test('a compacted start, a closed Store and a change that cannot be decoded end it', async () => {
  const harness = createStoreHarness();
  await write(harness, 3);
  const failing = await open(harness, () => {
    throw new Error('not decodable');
  });
  assert.deepEqual(failing.ends, ['expired']);
  const closing = await open(harness);
  closing.breakable.breakWatches({ type: 'closed' });
  assert.deepEqual(closing.ends, ['closed']);
  await harness.store.compact(3);
  const late = await open(harness);
  assert.deepEqual(late.ends, ['expired']);
});
