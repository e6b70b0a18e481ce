// The Store of a process that serves connections, over messages as child processes send them: the contract of every Store.
import { deserialize, serialize } from 'node:v8';
import { createMemoryStore } from '../../storage/index.ts';
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
    store: owned, copiesItself: true, noteWrite() {}, post: carry<StoreAnswer>((message) => connected.receive(message)),
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
