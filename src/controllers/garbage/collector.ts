// The garbage collector: deletes objects whose owners are gone, and ends foreground and orphaning deletions. One graph, kept by watches of
// all rows; one queue of objects to look at, so that any number of dependents is worked off in small pieces.
import { createTimeSlice } from '../../base/index.ts';
import { WorkQueue } from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { GarbageCollection } from './collection.ts';
import { GarbageGraph, type GarbageItem } from './graph.ts';
import { itemKey, readItem } from './item.ts';
import { GarbageWatches } from './watches.ts';

const CONCURRENCY = 16;
/** How long the collector holds the event loop at most; a store in memory would let it work everything off in one turn. */
const SLICE_MS = 3;

/** Whether an event about an item asks for a look: something has to be done that did not have to be before. */
function asksForLook(item: GarbageItem, before: GarbageItem | undefined): boolean {
  if (item.waits !== undefined) return item.waits !== before?.waits || before.uid !== item.uid;
  if (item.deleting || item.owners.length === 0) return false;
  const known = before?.uid === item.uid && before.owners.length === item.owners.length;
  return !known || item.owners.some(({ uid }) => !before.owners.some((owner) => owner.uid === uid));
}

/** Does something with each of the items there are: an owner may have a hundred thousand dependents. */
async function eachInTurns(items: Iterable<GarbageItem>, pause: () => Promise<void> | undefined, act: (item: GarbageItem) => void): Promise<void> {
  for (const item of [...items]) {
    const turn = pause();
    if (turn !== undefined) await turn;
    act(item);
  }
}

/** Starts the collector once `start` resolves: what is there at the start of the server comes first. */
export function createGarbageCollector(context: ControllerContext, start: Promise<unknown>): Controller {
  const graph = new GarbageGraph();
  const unresolved = new Set<string>();
  let synced = false;
  const pause = createTimeSlice(context.clock, SLICE_MS);
  const queue = new WorkQueue({
    observer: context.observeQueue?.('garbage_collector'),
    clock: context.clock, concurrency: CONCURRENCY,
    onError: (key, error) => context.report('garbage-collector', key, error),
    async work(key) {
      await pause();
      const item = graph.get(key);
      if (item === undefined) return;
      if ((await collection.look(item)) === 'unresolved') unresolved.add(key);
    },
  });
  // Before everything is listed, an owner may look absent that is not.
  const early = new Set<string>();
  const enqueue = (key: string): void => {
    if (synced) queue.add(key);
    else early.add(key);
  };
  const collection = new GarbageCollection(context, graph, { enqueue, pause });
  const tellOwners = (item: GarbageItem): void => {
    for (const { uid } of item.owners) {
      const owner = graph.isBlocked(uid) ? undefined : graph.withUid(uid);
      if (owner?.waits === 'foreground') enqueue(owner.key);
    }
  };
  const enqueueAll = (items: Iterable<GarbageItem>): void => void eachInTurns(items, pause, ({ key }) => enqueue(key));
  const tellDependents = (uid: string): void => enqueueAll(graph.dependentsOf(uid));
  const watches = new GarbageWatches(context, {
    present(object) {
      const item = readItem(object);
      const before = item === undefined ? graph.remove(itemKey(object)) : graph.put(item);
      if (before !== undefined) tellOwners(before);
      if (item === undefined || !asksForLook(item, before)) return;
      if (item.waits === 'foreground') tellDependents(item.uid);
      enqueue(item.key);
    },
    gone(object) {
      const item = graph.remove(itemKey(object));
      if (item !== undefined) tellOwners(item);
      tellDependents(item?.uid ?? object.uid);
    },
    relisted() {
      enqueueAll(graph.items());
    },
  }, () => {
    for (const key of unresolved) enqueue(key);
    unresolved.clear();
  });
  const ready = start.then(() => watches.start()).then(() => {
    synced = true;
    for (const key of early) queue.add(key);
    early.clear();
  });
  ready.catch((error: unknown) => context.report('garbage-collector', '', error));
  return {
    ready: () => ready,
    async stop() {
      watches.stop();
      await queue.stop();
    },
  };
}
