// Random writes, deletes, compactions, broken connections and readers of every speed, against a log of what was written.
// Held of every watcher: what it took is a gapless prefix of the log in its range and column, `revision` never runs ahead of that,
// and in the end it has everything or has said `expired`; and no reader that only reads when woken is forgotten.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBoundsTest } from '../base/index.ts';
import { keyRange, prefixRange } from '../storage/index.ts';
import type { Cache, CacheEvent, WatchedRange, Watcher } from './contract.ts';
import { type BreakableStore, type StoreHarness, all, createBreakableStore, createStoreHarness, settle, startCache } from './harness.suite.ts';

interface Reader {
  readonly watcher: Watcher<string>;
  readonly after: number;
  readonly isWanted: (event: CacheEvent<string>) => boolean;
  readonly seen: CacheEvent<string>[];
  woken: boolean;
}

interface World {
  readonly harness: StoreHarness;
  readonly store: BreakableStore;
  readonly log: CacheEvent<string>[];
  readonly state: Map<string, string>;
  readonly readers: Reader[];
  readonly cache: Cache<string>;
}

const ranges: WatchedRange[] = [
  all, prefixRange('/p/n1/'), prefixRange('/p/n2/'), keyRange('/p/n1/a'), keyRange('/p/n2/b'), { start: '/p/n1/b', end: '/p/n2/b' },
  { ...all, only: { column: 0, value: '0' } }, { ...all, only: { column: 0, value: '1' } }, { ...prefixRange('/p/n1/'), only: { column: 1, value: 'odd' } },
];
const keys = ['/p/n1/a', '/p/n1/b', '/p/n2/a', '/p/n2/b', '/p/n3/a'];

/** A value's remainder by three, and whether it is odd; those of some values cannot be read. */
function columnsOf(value: string): readonly string[] | undefined {
  const number = Number(value);
  return number % 7 === 0 ? undefined : [String(number % 3), number % 2 === 1 ? 'odd' : 'even'];
}

function testOf(range: WatchedRange): Reader['isWanted'] {
  const isInside = createBoundsTest(range);
  const { only } = range;
  const mayHave = (value: string | undefined): boolean => value !== undefined && (columnsOf(value)?.[only!.column] ?? only!.value) === only!.value;
  return ({ key, value, previous }) => isInside(key) && (only === undefined || mayHave(value) || mayHave(previous));
}

async function writeOne({ harness, log, state }: World, key: string, value: string | undefined): Promise<void> {
  const previous = state.get(key);
  if (value === undefined && previous === undefined) return;
  const revision = value === undefined ? await harness.remove(key) : await harness.write(key, value);
  log.push({ type: value === undefined ? 'delete' : 'put', key, revision, value, previous });
  if (value === undefined) state.delete(key);
  else state.set(key, value);
}

function addReader({ cache, readers, log }: World, range: WatchedRange, back: number): void {
  const after = back < 0 ? cache.revision - back : (log.at(-1 - back)?.revision ?? 1);
  const reader = { after, isWanted: testOf(range), seen: [] as CacheEvent<string>[], woken: false };
  const watcher = cache.watch(range, after, () => ((readers.find((each) => each.watcher === watcher) as Reader).woken = true));
  readers.push(Object.assign(reader, { watcher }));
}

function expectedOf({ log }: World, { after, isWanted }: Reader): CacheEvent<string>[] {
  return log.filter((event) => event.revision > after && isWanted(event));
}

function readFrom(world: World, reader: Reader, limit: number): number {
  const taken = reader.watcher.take(limit);
  assert.ok(taken.length <= limit);
  // What a watcher takes from the Store is not chosen by columns.
  reader.seen.push(...taken.filter(reader.isWanted));
  const expected = expectedOf(world, reader);
  assert.deepEqual(reader.seen, expected.slice(0, reader.seen.length));
  const { revision } = reader.watcher;
  assert.ok(revision >= reader.after);
  assert.ok(expected.filter((event) => event.revision <= revision).length <= reader.seen.length, 'revision runs ahead of what was taken');
  return taken.length;
}

async function writeMany(world: World, first: number): Promise<void> {
  for (let i = first; i < first + 60; i++) await writeOne(world, keys[i % keys.length] as string, i % 7 === 6 ? undefined : `${world.log.length}`);
}

async function act(world: World, step: { readonly op: string; readonly a: number; readonly b: number }): Promise<void> {
  const { op, a, b } = step;
  const { store, log, readers, harness } = world;
  const reader = readers[a % Math.max(1, readers.length)];
  if (op === 'write') await writeOne(world, keys[a % keys.length] as string, `${log.length}`);
  else if (op === 'burst') await writeMany(world, a);
  else if (op === 'delete') await writeOne(world, keys[a % keys.length] as string, undefined);
  else if (op === 'foreign') await harness.write('/q/x', `${a}`);
  else if (op === 'watch') addReader(world, ranges[a % ranges.length] as WatchedRange, b - 3);
  else if (op === 'read' && reader !== undefined) readFrom(world, reader, 1 + (b % 5));
  else if (op === 'settle') await settle();
  else if (op === 'compact') await store.compact(Math.max(1, (await store.revision()) - b));
  else if (op === 'fail') store.breakWatches({ type: 'failed', error: new Error('cut') });
  else if (op === 'close' && reader !== undefined && a % 3 === 0) readers.splice(readers.indexOf(reader), 1)[0]?.watcher.close();
  else if (op === 'time') harness.clock.advance(b * 40);
}

async function finishReading(world: World): Promise<void> {
  const { cache, readers, harness, log, state } = world;
  harness.clock.advance(20_000);
  await settle();
  for (const reader of readers) reader.woken ||= reader.seen.length === 0 && !reader.watcher.end;
  for (let round = 0; round < 30; round++) {
    for (const reader of readers) {
      reader.woken = false;
      while (readFrom(world, reader, 50) > 0);
    }
    await settle();
    harness.clock.advance(1000);
  }
  assert.equal(await cache.waitUntilCurrent(1000), true);
  assert.deepEqual(new Map([...cache.latest().entries(all)].map(({ key, value }) => [key, value])), state);
  for (const reader of readers) {
    const { end } = reader.watcher;
    if (end !== undefined) assert.equal(end, 'expired');
    else assert.equal(reader.seen.length, expectedOf(world, reader).length, `reader after ${reader.after} of ${log.length}`);
  }
}

/** Every reader that has taken all and sleeps is woken by one more change of its range. */
async function checkWakes(world: World): Promise<void> {
  for (const key of keys) await writeOne(world, key, 'final');
  await settle();
  for (const reader of world.readers) {
    if (reader.watcher.end !== undefined || expectedOf(world, reader).length === reader.seen.length) continue;
    assert.ok(reader.woken, 'a reader with something to take was not woken');
    while (readFrom(world, reader, 3) > 0);
  }
}

const opArb = fc.record({
  op: fc.constantFrom(...'write write write burst delete foreign watch watch read read read settle compact fail close time'.split(' ')),
  a: fc.nat(100),
  b: fc.nat(40),
});

test('watch delivers to every reader exactly the changes of its range, or ends expired', async () => {
  const property = fc.asyncProperty(fc.array(opArb, { maxLength: 120, size: 'max' }), fc.nat(8), async (steps, early) => {
    const harness = createStoreHarness();
    const store = createBreakableStore(harness.store);
    const log: CacheEvent<string>[] = [];
    const beginning = { harness, store, log, state: new Map<string, string>(), readers: [] };
    for (let i = 0; i < early * 5; i++) await writeOne(beginning as unknown as World, keys[i % keys.length] as string, `${i}`);
    const cache = await startCache({ store, clock: harness.clock, historyLimit: 100, columnsOf });
    const world: World = { ...beginning, cache };
    for (const step of steps) await act(world, step);
    await finishReading(world);
    await checkWakes(world);
    cache.close();
  });
  await fc.assert(property, { numRuns: 120 });
});
