// A Store of several: which one has what.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/index.ts';
import { createMemoryStore } from './memory/memory-store.ts';
import { createPartedStore } from './parted-store.ts';
import { prefixRange } from './store.ts';
import { Recorder, keysOf, ok, put } from './suite-tools.suite.ts';

test('createPartedStore keeps keys below a prefix in a part, whose revisions are its own', async () => {
  const clock = createManualClock();
  const [main, other] = [createMemoryStore({ clock }), createMemoryStore({ clock })];
  const store = createPartedStore(main, new Map([['/r/a/', other], ['/r/b/', other]]));
  const seen = new Recorder();
  store.watch(prefixRange('/r/b/'), 1, seen);
  for (const key of ['/r/a/1', '/r/ab/1', '/r/b/1', '/r/b/2']) await put(store, { key });
  assert.deepEqual(keysOf(ok(await main.range(prefixRange('/r/'))).kvs), ['/r/ab/1']);
  assert.deepEqual(keysOf(ok(await other.range(prefixRange('/r/'))).kvs), ['/r/a/1', '/r/b/1', '/r/b/2']);
  assert.deepEqual(keysOf(ok(await store.range(prefixRange('/r/b/'))).kvs), ['/r/b/1', '/r/b/2']);
  assert.deepEqual(seen.received.map(({ kv: { key, modRevision } }) => `${key} ${modRevision}`), ['/r/b/1 3', '/r/b/2 4']);
  assert.deepEqual(await Promise.all([store.revision(), store.revision('/r/ab/'), store.revision('/r/a/')]), [2, 2, 4]);
  await store.close();
  await Promise.all([main, other].map((part) => assert.rejects(part.revision(), { name: 'StorageClosedError' })));
});
