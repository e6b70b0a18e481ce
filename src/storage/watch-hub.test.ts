// The watch hub with a source under the test's control: slices, compaction in the middle of a replay, failures, many watches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../base/index.ts';
import type { StoreEvent } from './store.ts';
import { Recorder, all, settle } from './suite-tools.suite.ts';
import { WatchHub } from './watch-hub.ts';

const change = (revision: number): StoreEvent => {
  const kv = { key: `/k/${revision}`, value: new Uint8Array(0), createRevision: revision, modRevision: revision };
  return { type: 'put', kv };
};

function createSource(revision: number) {
  const state = { revision, compactRevision: 0, error: undefined as Error | undefined, perTurn: Infinity };
  const hub = new WatchHub({
    revision: () => state.revision,
    compactRevision: () => state.compactRevision,
    read: (_range, { from, through }) => {
      if (state.error) throw state.error;
      const last = Math.min(through, from + state.perTurn - 1);
      return { events: Array.from({ length: last - from + 1 }, (_, index) => change(from + index)), through: last };
    },
  }, systemClock);
  const write = (): void => {
    state.revision += 1;
    hub.publish([change(state.revision)]);
  };
  return { state, hub, write };
}

test('WatchHub loses and repeats nothing when changes arrive while a watch catches up in small parts', async () => {
  const { state, hub, write } = createSource(1000);
  state.perTurn = 60;
  const watch = new Recorder();
  hub.add(all, 2, watch).requestProgress();
  for (let index = 0; index < 20; index += 1) {
    write();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await settle();
  assert.deepEqual(watch.received.map((event) => event.kv.modRevision), Array.from({ length: 1019 }, (_, index) => index + 2));
  assert.ok((watch.progressed[0] ?? 0) >= 1000);
});

test('WatchHub ends a watch whose history is compacted in the middle of its replay', async () => {
  const { state, hub } = createSource(1000);
  const watch = new Recorder();
  hub.add(all, 2, watch);
  await Promise.resolve();
  assert.equal(watch.received.length, 250);
  state.compactRevision = 900;
  await settle();
  assert.deepEqual([watch.received.length, watch.end], [250, { type: 'compacted', compactRevision: 900 }]);
});

test('WatchHub ends a watch whose history cannot be read', async () => {
  const { state, hub } = createSource(10);
  state.error = new Error('bad page');
  const watch = new Recorder();
  hub.add(all, 2, watch);
  await settle();
  assert.deepEqual(watch.end, { type: 'failed', error: state.error });
});
