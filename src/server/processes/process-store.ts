// The owner's Store in a process that serves connections: calls are messages, and one watch of everything feeds all watches of the process.
import { type KeyRange, type KeyValue, type SharedValues, type Store, shareWatches } from '../../storage/index.ts';
import type { StoreAnswer, StoreCall } from '../worker/messages.ts';
import { RemoteStore } from '../worker/remote-store.ts';

interface ProcessStoreOptions {
  readonly post: (message: StoreCall) => void;
  /** Holds all keys of the server. */
  readonly range: KeyRange;
  readonly report: (error: unknown) => void;
  /** Values of the owner's file, where it is on this machine; closed with the Store. */
  readonly values?: SharedValues | undefined;
}

/** A Store whose answers come through `receive`; it opens when the first has come. */
export interface ProcessStore {
  readonly opened: Promise<Store>;
  receive(message: StoreAnswer): void;
}

/** Bytes of a message are a view of all that came with it, which would be kept as long as one of its values is. */
function ownValue<K extends KeyValue | undefined>(kv: K): K {
  return kv === undefined ? kv : { ...kv, value: new Uint8Array(kv.value) };
}

function ownValues(message: StoreAnswer): StoreAnswer {
  if (message.type === 'events') {
    return {
      ...message,
      batch: message.batch.map(({ type, kv, previous }) => ({ type, kv: ownValue(kv), ...(previous !== undefined && { previous: ownValue(previous) }) })),
    };
  }
  if (message.type !== 'answer' || typeof message.result !== 'object' || message.result === null) return message;
  const result = message.result as { readonly kvs?: readonly KeyValue[]; readonly current?: KeyValue };
  if (result.kvs !== undefined) return { ...message, result: { ...result, kvs: result.kvs.map(ownValue) } };
  return result.current === undefined ? message : { ...message, result: { ...result, current: ownValue(result.current) } };
}

const withValues = (store: Store, values: SharedValues): Store => ({
  ...store,
  recall: (key, revision) => values.read(key, revision),
  async close() {
    await store.close();
    await values.close();
  },
});

/** Connects to the Store of the owner. */
export function connectStore({ post, range, report, values }: ProcessStoreOptions): ProcessStore {
  const remote = new RemoteStore(post);
  const shared = shareWatches(remote, { range, report });
  const opened = values === undefined ? shared : shared.then((store) => withValues(store, values));
  return { opened, receive: (message) => remote.receive(ownValues(message)) };
}
