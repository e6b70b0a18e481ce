// Waiting for a revision: woken by progress, given up in time, with one question for all reads that wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/index.ts';
import { createMemoryStore } from '../storage/index.ts';
import { Freshness } from './freshness.ts';
import { createBreakableStore, settle } from './harness.suite.ts';

function start(): { readonly freshness: Freshness; readonly clock: ReturnType<typeof createManualClock>; readonly seen: { reached: number; requests: number };
  readonly store: ReturnType<typeof createBreakableStore>; advance(revision: number): void } {
  const clock = createManualClock();
  const store = createBreakableStore(createMemoryStore({ clock, compactionIntervalMs: 1e12 }));
  const seen = { reached: 0, requests: 0 };
  const freshness = new Freshness({ store, prefix: '/a/', clock, reached: () => seen.reached, requestProgress: () => void (seen.requests += 1) });
  const advance = (revision: number): void => {
    seen.reached = revision;
    freshness.advance(revision);
  };
  return { freshness, clock, seen, store, advance };
}

test('waitUntil resolves each read at its own revision, and asks for progress once a turn and every 100 ms', async () => {
  const { freshness, clock, seen, advance } = start();
  const done: number[] = [];
  for (const revision of [5, 3, 9]) void freshness.waitUntil(revision, 1000).then((reached) => reached && done.push(revision));
  await settle();
  assert.equal(seen.requests, 1);
  advance(4);
  await settle();
  assert.deepEqual(done, [3]);
  clock.advance(100);
  await settle();
  assert.equal(seen.requests, 2);
  advance(9);
  await settle();
  assert.deepEqual(done, [3, 5, 9]);
  clock.advance(500);
  await settle();
  assert.equal(seen.requests, 2, 'without a waiting read the Store is not asked');
});

test('waitUntil is false after its time, at once without any, and when the cache closes', async () => {
  const { freshness, clock } = start();
  assert.equal(await freshness.waitUntil(5, 0), false);
  const late = freshness.waitUntil(5, 50);
  clock.advance(50);
  assert.equal(await late, false);
  const open = freshness.waitUntil(5, 1e6);
  freshness.close();
  assert.equal(await open, false);
  assert.equal(await freshness.waitUntil(5, 1e6), false);
});

test('waitUntilCurrent asks the Store once for reads of one turn, and is false when it does not answer or fails', async () => {
  const { freshness, clock, store, advance } = start();
  const both = Promise.all([freshness.waitUntilCurrent(1000), freshness.waitUntilCurrent(1000)]);
  await settle();
  assert.equal(store.calls.revision, 1);
  advance(1);
  assert.deepEqual(await both, [true, true]);
  store.down = true;
  assert.equal(await freshness.waitUntilCurrent(1000), false);
  store.revision = () => new Promise(() => {});
  const hanging = freshness.waitUntilCurrent(1000);
  await settle();
  clock.advance(1000);
  assert.equal(await hanging, false);
});

test('resume asks again only while a read waits', async () => {
  const { freshness, seen, advance } = start();
  freshness.resume();
  await settle();
  assert.equal(seen.requests, 0);
  const waiting = freshness.waitUntil(2, 1000);
  await settle();
  freshness.resume();
  await settle();
  assert.equal(seen.requests, 2);
  advance(2);
  assert.equal(await waiting, true);
});

test('reads that wait in great numbers go on in several turns of the event loop, whatever they wait for', async () => {
  const { freshness, advance } = start();
  let [turn, isOver] = [0, false];
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  for (const wait of [() => freshness.waitUntilCurrent(1000), () => freshness.waitUntil(9, 1000)]) {
    const turns = new Set<number>();
    const waits = Array.from({ length: 400 }, async () => {
      assert.equal(await wait(), true);
      turns.add(turn);
    });
    advance(turn < 2 ? 5 : 9);
    await Promise.all(waits);
    assert.ok(turns.size >= 5, `all went on in ${turns.size} turns`);
  }
  isOver = true;
});
