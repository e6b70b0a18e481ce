// List, watch, resume: the calls that the sink of a reflector gets, and the pauses between attempts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BreakableStore, type StoreHarness, all, createBreakableStore, createStoreHarness, settle } from './harness.suite.ts';
import { type ReflectorSink, StoreReflector } from './store-reflector.ts';

interface Case extends StoreHarness {
  readonly breakable: BreakableStore;
  readonly reflector: StoreReflector;
  readonly calls: string[];
  readonly errors: string[];
  /** Thrown by the next `changes`. */
  refusal: Error | undefined;
}

async function start({ objects = 0, down = false, pageSize = 2, value = 'v' } = {}): Promise<Case> {
  const harness = createStoreHarness();
  for (let index = 0; index < objects; index += 1) await harness.write(`/p/${index}`, value);
  const breakable = createBreakableStore(harness.store);
  breakable.down = down;
  const calls: string[] = [];
  const errors: string[] = [];
  let reached = 0;
  const sink: ReflectorSink = {
    beginList: () => void calls.push('beginList'),
    addPage: (kvs) => void calls.push(`page of ${kvs.length}`),
    endList: (revision) => void calls.push(`list at ${(reached = revision)}`),
    changes: (batch, revision) => {
      if (made.refusal !== undefined) throw made.refusal;
      calls.push(`${batch.map(({ type, kv }) => `${type} ${kv.key}`).join()} at ${(reached = revision)}`);
    },
    progress: (revision) => void calls.push(`progress ${(reached = revision)}`),
    resumed: () => void calls.push('resumed'),
    closed: () => void calls.push('closed'),
  };
  const report = (error: unknown): void => void errors.push((error as Error).message);
  const reflector = new StoreReflector({ store: breakable, clock: harness.clock, range: all, pageSize, sink, reached: () => reached, report });
  const made: Case = { ...harness, breakable, reflector, calls, errors, refusal: undefined };
  void reflector.start();
  await settle();
  return made;
}

test('start lists in pages of one revision, then watches', async () => {
  const { calls, write, reflector } = await start({ objects: 3 });
  assert.deepEqual(calls.splice(0), ['beginList', 'page of 2', 'page of 1', 'list at 4', 'resumed']);
  await write('/p/new', 'v');
  reflector.requestProgress();
  await settle();
  assert.deepEqual(calls, ['put /p/new at 5', 'progress 5']);
  reflector.close();
  await write('/p/late', 'v');
  assert.equal(calls.length, 2);
});

test('pages of large values have fewer of them, and the first one is small', async () => {
  const pages = async (objects: number, value: string): Promise<string[]> => {
    const { calls, reflector } = await start({ objects, value, pageSize: 100 });
    reflector.close();
    return calls.filter((call) => call.startsWith('page'));
  };
  assert.deepEqual(await pages(20, 'x'.repeat(2 ** 20)), ['page of 16', 'page of 4']);
  assert.deepEqual(await pages(150, 'x'), ['page of 16', 'page of 100', 'page of 34']);
});

test('a list that fails is tried again after pauses that double', async () => {
  const { breakable, clock, calls, errors } = await start({ down: true });
  for (const pauseMs of [50, 100, 200]) {
    clock.advance(pauseMs - 1);
    await settle();
    const before = breakable.calls.revision;
    clock.advance(1);
    await settle();
    assert.equal(breakable.calls.revision, before + 1);
  }
  breakable.down = false;
  clock.advance(400);
  await settle();
  assert.deepEqual(calls, ['beginList', 'page of 0', 'list at 1', 'resumed']);
  assert.deepEqual(errors, Array(4).fill('the store is down'));
});

test('a watch that failed begins again after its last change; one that was compacted is listed again', async () => {
  const { breakable, clock, calls, errors, write } = await start();
  await write('/p/a', '1');
  breakable.breakWatches({ type: 'failed', error: new Error('cut') });
  await write('/p/a', '2');
  calls.length = 0;
  clock.advance(50);
  await settle();
  assert.deepEqual([calls.splice(0), errors.splice(0)], [['resumed', 'put /p/a at 3'], ['cut']]);
  breakable.breakWatches({ type: 'compacted', compactRevision: 3 });
  clock.advance(50);
  await settle();
  assert.deepEqual([calls, errors], [['beginList', 'page of 1', 'list at 3', 'resumed'], []]);
});

test('a change that the sink cannot take in is reported, and the state is listed again', async () => {
  const made = await start();
  made.refusal = new Error('not decodable');
  await made.write('/p/a', '1');
  assert.deepEqual(made.errors, ['not decodable']);
  made.refusal = undefined;
  made.calls.length = 0;
  made.clock.advance(50);
  await settle();
  assert.deepEqual(made.calls, ['beginList', 'page of 1', 'list at 2', 'resumed']);
});

test('a Store that closes closes the sink, and no attempt follows', async () => {
  const { breakable, clock, calls } = await start();
  const timers = clock.pendingTimers;
  breakable.breakWatches({ type: 'closed' });
  await settle();
  assert.deepEqual([calls.at(-1), clock.pendingTimers], ['closed', timers]);
});
