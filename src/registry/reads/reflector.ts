// A list, then a watch, for as long as a server runs: tells of every object there is and of every change. Mirrors a client-go informer without its
// store, since the cache is right here.
//
//   listing ──everything told, watch begins──▶ following ──watch ended, or an error──▶ listing
import { StatusError } from '../../apimachinery/index.ts';
import { type Clock, delay } from '../../base/index.ts';
import type { ListResult, StoredObject, Predicate, Registry, RegistryWatch, Target } from '../contract.ts';
import { everything } from './predicate.ts';

/** What a listener hears, and in which revision it came to be so. Must not throw. */
export type ReflectorListener = (type: 'present' | 'deleted', object: StoredObject, revision: number) => void;

interface ReflectorOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly target: Target;
  /** Everything by default. */
  readonly predicate?: Predicate;
  readonly listeners: readonly ReflectorListener[];
  /** `0`: what the cache has is new enough to begin with. By default a list is as new as the store. */
  readonly listFrom?: '0';
  /** Asked before each list: an informer that nobody needs ends. */
  readonly isNeeded?: () => boolean;
  /** Called when a list has been told, at first and after each loss: objects that are not in it are gone, though nobody was told. */
  readonly onListed?: (list: ListResult) => void;
  /** Told of failures, which are tried again. */
  readonly onError: (error: unknown) => void;
}

/** A running informer. */
export interface Reflector {
  /** Resolves when every object that was there at the start has been told of, or when the informer ended before. */
  readonly synced: Promise<void>;
  stop(): void;
}

/** Objects told of in one turn of the event loop. */
const batchSize = 256;
const firstRetryMs = 50;
const lastRetryMs = 10_000;

class RunningReflector implements Reflector {
  readonly synced: Promise<void>;
  readonly #options: ReflectorOptions;
  readonly #predicate: Predicate;
  #markSynced: () => void = () => undefined;
  #watch: RegistryWatch | undefined;
  #wake: () => void = () => undefined;
  #stopped = false;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#predicate = options.predicate ?? everything;
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#watch?.close();
    this.#wake();
  }

  async #run(): Promise<void> {
    const { clock, isNeeded = () => true, onError } = this.#options;
    let retryMs = firstRetryMs;
    while (!this.#stopped && isNeeded()) {
      try {
        const revision = await this.#list();
        retryMs = firstRetryMs;
        await this.#follow(revision);
      } catch (error) {
        if (this.#stopped || !isNeeded()) break;
        if (!(error instanceof StatusError && error.reason === 'Expired')) onError(error);
        await delay(clock, retryMs);
        retryMs = Math.min(lastRetryMs, retryMs * 2);
      }
    }
    this.#markSynced();
  }

  async #list(): Promise<number> {
    const { registry, target, clock, listFrom, onListed } = this.#options;
    const list = await registry.list(target, { predicate: this.#predicate, ...(listFrom !== undefined && { resourceVersion: listFrom }) });
    let told = 0;
    for (const object of list.items) {
      if (this.#stopped) break;
      this.#tell('present', object, list.revision);
      if (++told % batchSize === 0) await delay(clock, 0);
    }
    if (!this.#stopped) onListed?.(list);
    this.#markSynced();
    return list.revision;
  }

  async #follow(revision: number): Promise<void> {
    const { registry, target, clock } = this.#options;
    const watch = await registry.watch(target, { predicate: this.#predicate, resourceVersion: String(revision) });
    this.#watch = watch;
    try {
      while (!this.#stopped) {
        const events = watch.take(batchSize);
        for (const event of events) {
          if (event.type !== 'BOOKMARK') this.#tell(event.type === 'DELETED' ? 'deleted' : 'present', event.object, event.revision);
        }
        if (events.length >= batchSize) await delay(clock, 0);
        else if (watch.end !== undefined) return;
        else await this.#untilReadable(watch);
      }
    } finally {
      watch.close();
      this.#watch = undefined;
    }
  }

  #tell(type: 'present' | 'deleted', object: StoredObject, revision: number): void {
    for (const listener of this.#options.listeners) listener(type, object, revision);
  }

  #untilReadable(watch: RegistryWatch): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      watch.onReadable(resolve);
    });
  }
}

/** Starts telling. After a loss (history gone, an error) everything present is told again. */
export function startReflector(options: ReflectorOptions): Reflector {
  return new RunningReflector(options);
}
