// The Store of a process that serves connections, over messages as child processes send them: the contract of every Store.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, serialize } from 'node:v8';
import { createManualClock } from '../../base/index.ts';
import { type SharedValues, createMemoryStore } from '../../storage/index.ts';
import { describeStore } from '../../storage/store.suite.ts';
import { StoreService } from '../worker/store-service.ts';
import type { StoreAnswer, StoreCall } from '../worker/messages.ts';
import { type ProcessStore, connectStore } from './process-store.ts';

const everything = { start: '\u0001', end: '\u{10ffff}' };

/** Messages of one direction: copied, in their order, in a later turn. */
const carry = <M>(receive: (message: M) => void) => (message: M): void => {
  const bytes = serialize(message);
  setImmediate(() => receive(deserialize(bytes) as M));
};

describeStore('ProcessStore', async (clock) => {
  const owned = createMemoryStore({ clock });
  const service: StoreService = new StoreService({
    store: owned, copiesItself: true, post: carry<StoreAnswer>((message) => connected.receive(message)),
  });
  const connected: ProcessStore = connectStore({ post: carry<StoreCall>((message) => service.receive(message)), range: everything, report() {} });
  const store = await connected.opened;
  return {
    ...store,
    async close() {
      await store.close();
      service.close();
      await owned.close();
    },
  };
});

test('connectStore recalls the values of the file that it is given, and closes them with the Store', async () => {
  const owned = createMemoryStore({ clock: createManualClock() });
  const service: StoreService = new StoreService({ store: owned, copiesItself: true, post: (message) => connected.receive(message) });
  let closed = 0;
  const values: SharedValues = { read: (key, revision) => Buffer.from(`${key} ${revision}`), close: async () => void (closed += 1) };
  const connected: ProcessStore = connectStore({ post: (message) => service.receive(message), range: everything, report() {}, values });
  const store = await connected.opened;
  assert.equal(store.recall?.('/a', 7)?.toString(), '/a 7');
  await store.close();
  assert.equal(closed, 1);
  service.close();
  await owned.close();
});

test('connectStore keeps the newest changes alone in memory, and asks the owner for those before', async () => {
  const owned = createMemoryStore({ clock: createManualClock() });
  const service: StoreService = new StoreService({ store: owned, copiesItself: true, post: (message) => connected.receive(message) });
  const watches: number[] = [];
  const post = (message: StoreCall): void => {
    if (message.type === 'watch') watches.push(message.from);
    service.receive(message);
  };
  const connected: ProcessStore = connectStore({ post, range: everything, report() {} });
  const store = await connected.opened;
  for (let i = 0; i < 6; i += 1) await store.txn({ key: `/k/${i}`, expect: 0, value: Buffer.alloc(2 ** 20) });
  const seen: number[] = [];
  const all = new Promise<void>((resolve) => {
    store.watch(everything, 2, {
      events(batch) {
        seen.push(...batch.map(({ kv }) => kv.modRevision));
        if (seen.length === 6) resolve();
      },
      progress() {}, ended() {},
    });
  });
  await all;
  assert.deepEqual([seen, watches], [[2, 3, 4, 5, 6, 7], [2, 2]]);
  await store.close();
  service.close();
  await owned.close();
});
