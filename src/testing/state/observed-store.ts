// A memory Store that reports its commits: to the controllers that sleep until the first one, to waiting tests, to the record of requests.
import type { MemoryStore, Store, TxnRequest, TxnResult } from '../../storage/index.ts';

/** The Store of a test server. */
export interface ObservedStore extends Store {
  /** The Store beneath. */
  readonly memory: MemoryStore;
  /** Grows with every read and write. */
  readonly activity: number;
  /** Calls `listener` after every commit until the function that it answers is called. */
  onCommit(listener: (key: string, revision: number) => void): () => void;
}

/** Wraps a memory Store. */
export function observeStore(memory: MemoryStore): ObservedStore {
  const listeners = new Set<(key: string, revision: number) => void>();
  let activity = 0;
  return {
    memory,
    get activity() {
      return activity;
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    range(request) {
      activity++;
      return memory.range(request);
    },
    async txn(request: TxnRequest): Promise<TxnResult> {
      activity++;
      const result = await memory.txn(request);
      if (result.type === 'committed') for (const listener of listeners) listener(request.key, result.revision);
      return result;
    },
    watch: (range, from, observer) => memory.watch(range, from, observer),
    compact: (revision) => memory.compact(revision),
    timesToLive: () => memory.timesToLive(),
    revision: () => memory.revision(),
    close: () => memory.close(),
  };
}
