// A list, then a watch, for as long as the server runs: tells its listeners of every object there is and of every change. Mirrors a
// client-go informer without its store, since the registry's own cache is right here.
import { type Clock, delay } from '../base/index.ts';
import type { ObjectVersion, Predicate, Registry, RegistryWatch, Target } from '../registry/index.ts';
import { hasReason } from './client.ts';

/** What a listener hears. Must not throw. */
export type InformerListener = (type: 'present' | 'deleted', object: ObjectVersion) => void;

interface InformerOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly target: Target;
  readonly predicate: Predicate;
  readonly listeners: readonly InformerListener[];
  readonly onError: (error: unknown) => void;
}

/** A running informer. */
export interface Informer {
  /** Resolves when every object that was there at the start has been told of. */
  readonly synced: Promise<void>;
  stop(): void;
}

/** Events handled in one turn of the event loop. */
const batchSize = 256;
const lastRetryMs = 10_000;

/** Starts telling. After a loss (history gone, an error) everything present is told again. */
export function startInformer(options: InformerOptions): Informer {
  const state: InformerState = { stopped: false, watch: undefined, wake: undefined };
  let markSynced = () => {};
  const synced = new Promise<void>((resolve) => {
    markSynced = resolve;
  });
  void run(options, state, markSynced);
  return {
    synced,
    stop() {
      state.stopped = true;
      state.watch?.close();
      state.wake?.();
    },
  };
}

interface InformerState {
  stopped: boolean;
  watch: RegistryWatch | undefined;
  wake: (() => void) | undefined;
}

async function run(options: InformerOptions, state: InformerState, markSynced: () => void): Promise<void> {
  let retryMs = 50;
  while (!state.stopped) {
    try {
      const revision = await tellAll(options);
      markSynced();
      retryMs = 50;
      await follow(options, state, revision);
    } catch (error) {
      if (state.stopped) return;
      if (!hasReason(error, 'Expired')) options.onError(error);
      await delay(options.clock, retryMs);
      retryMs = Math.min(lastRetryMs, retryMs * 2);
    }
  }
}

async function tellAll({ registry, target, predicate, listeners }: InformerOptions): Promise<number> {
  const list = await registry.list(target, { predicate });
  for (const object of list.items) for (const listener of listeners) listener('present', object);
  return list.revision;
}

async function follow({ registry, target, predicate, listeners }: InformerOptions, state: InformerState, revision: number): Promise<void> {
  const watch = await registry.watch(target, { predicate, resourceVersion: String(revision) });
  state.watch = watch;
  try {
    while (!state.stopped) {
      for (const event of watch.take(batchSize)) {
        if (event.type === 'BOOKMARK') continue;
        for (const listener of listeners) listener(event.type === 'DELETED' ? 'deleted' : 'present', event.object);
      }
      if (watch.end !== undefined) return;
      await untilReadable(watch, state);
    }
  } finally {
    watch.close();
    state.watch = undefined;
  }
}

function untilReadable(watch: RegistryWatch, state: InformerState): Promise<void> {
  return new Promise((resolve) => {
    state.wake = resolve;
    watch.onReadable(resolve);
  });
}
