// All objects of one row, kept up to date by a watch that is read when somebody asks: a change that was committed before the question is
// part of the answer, and quiet times cost nothing. Relies on the registry waking its watches in the turn of the commit.
//
//   listing ──list and watch begin──▶ following ──watch ended (history gone)──▶ listing; what was known stays until the new list is there
import { type Clock, delay } from '../../base/index.ts';
import { type StoredObject, type Registry, type RegistryWatch, type Target, everything } from '../../registry/index.ts';

/** Who is told. Called in order; `reset` comes before the objects of a list. Must not throw. */
export interface RuleReflector {
  reset(): void;
  put(object: StoredObject): void;
  remove(object: StoredObject): void;
}

interface FollowOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly target: Target;
  readonly follower: RuleReflector;
  /** Told of failures, which are tried again. */
  readonly onError: (error: unknown) => void;
}

/** A row that is followed. */
export interface Followed {
  /** Resolves when everything that was there at the start has been told. */
  readonly ready: Promise<void>;
  /** Tells every change that is committed. */
  catchUp(): void;
  stop(): void;
}

const batchSize = 512;
const firstRetryMs = 50;
const lastRetryMs = 5_000;

class FollowedRow implements Followed {
  readonly ready: Promise<void>;
  readonly #options: FollowOptions;
  #markReady: () => void = () => undefined;
  #watch: RegistryWatch | undefined;
  /** The watch may have something. */
  #dirty = false;
  #stopped = false;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#markReady = resolve;
    });
    void this.#begin();
  }

  catchUp(): void {
    while (this.#dirty) {
      const watch = this.#watch as RegistryWatch;
      const events = watch.take(batchSize);
      for (const event of events) {
        if (event.type === 'DELETED') this.#options.follower.remove(event.object);
        else if (event.type !== 'BOOKMARK') this.#options.follower.put(event.object);
      }
      if (events.length >= batchSize) continue;
      this.#dirty = false;
      if (watch.end === undefined) watch.onReadable(() => this.#wake(watch));
      else this.#restart(watch);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#dirty = false;
    this.#watch?.close();
  }

  #wake(watch: RegistryWatch): void {
    if (this.#watch !== watch || this.#stopped) return;
    this.#dirty = true;
    // Nobody may ask for long: what has changed is taken before history forgets it.
    this.#options.clock.after(1_000, () => this.catchUp());
  }

  #restart(watch: RegistryWatch): void {
    watch.close();
    this.#watch = undefined;
    if (!this.#stopped && watch.end !== 'closed') void this.#begin();
  }

  async #begin(): Promise<void> {
    const { clock, onError } = this.#options;
    for (let retryMs = firstRetryMs; !this.#stopped; retryMs = Math.min(lastRetryMs, retryMs * 2)) {
      try {
        await this.#listAndWatch();
        return;
      } catch (error) {
        if (this.#stopped) return;
        onError(error);
        await delay(clock, retryMs);
      }
    }
  }

  async #listAndWatch(): Promise<void> {
    const { registry, target, follower } = this.#options;
    const list = await registry.list(target, { predicate: everything });
    const watch = await registry.watch(target, { predicate: everything, resourceVersion: String(list.revision) });
    if (this.#stopped) return watch.close();
    follower.reset();
    for (const object of list.items) follower.put(object);
    this.#watch = watch;
    this.#dirty = true;
    this.catchUp();
    this.#markReady();
  }
}

/** Begins to follow a row. */
export function reflectRow(options: FollowOptions): Followed {
  return new FollowedRow(options);
}
