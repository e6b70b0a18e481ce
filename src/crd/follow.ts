// Follows the definitions: a list, then a watch, for as long as the server runs. After a loss everything is listed again, and what is no
// longer there is told as gone.
import { type Clock, delay } from '../base/index.ts';
import { type ObjectVersion, type Registry, type RegistryWatch, type Target, everything } from '../registry/index.ts';

interface FollowOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly target: Target;
  readonly onObject: (object: ObjectVersion) => void;
  readonly onGone: (object: { readonly name: string; readonly revision: number }) => void;
  readonly onError: (error: unknown) => void;
}

/** A running follower. */
export interface Follower {
  /** Resolves when everything that was there at the start has been told. */
  readonly synced: Promise<void>;
  stop(): void;
}

const batchSize = 256;
const lastRetryMs = 5000;

class DefinitionFollower implements Follower {
  readonly #options: FollowOptions;
  readonly synced: Promise<void>;
  #markSynced: () => void = () => undefined;
  #names = new Set<string>();
  #watch: RegistryWatch | undefined;
  #wake: () => void = () => undefined;
  #stopped = false;

  constructor(options: FollowOptions) {
    this.#options = options;
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
    let retryMs = 50;
    while (!this.#stopped) {
      try {
        const revision = await this.#list();
        this.#markSynced();
        retryMs = 50;
        await this.#follow(revision);
      } catch (error) {
        if (this.#stopped) break;
        this.#options.onError(error);
        await delay(this.#options.clock, retryMs);
        retryMs = Math.min(lastRetryMs, retryMs * 2);
      }
    }
    this.#markSynced();
  }

  async #list(): Promise<number> {
    const { registry, target, onObject, onGone } = this.#options;
    const list = await registry.list(target, { predicate: everything });
    const gone = this.#names;
    this.#names = new Set();
    for (const object of list.items) {
      this.#names.add(object.name);
      gone.delete(object.name);
      onObject(object);
    }
    for (const name of gone) onGone({ name, revision: list.revision });
    return list.revision;
  }

  async #follow(revision: number): Promise<void> {
    const { registry, target } = this.#options;
    const watch = await registry.watch(target, { predicate: everything, resourceVersion: String(revision) });
    this.#watch = watch;
    try {
      while (!this.#stopped) {
        for (const event of watch.take(batchSize)) if (event.type !== 'BOOKMARK') this.#tell(event.type === 'DELETED', event.object, event.revision);
        if (watch.end !== undefined) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          watch.onReadable(resolve);
        });
      }
    } finally {
      watch.close();
    }
  }

  #tell(deleted: boolean, object: ObjectVersion, revision: number): void {
    if (deleted) {
      this.#names.delete(object.name);
      this.#options.onGone({ name: object.name, revision });
    } else {
      this.#names.add(object.name);
      this.#options.onObject(object);
    }
  }
}

/** Starts following. */
export function followDefinitions(options: FollowOptions): Follower {
  return new DefinitionFollower(options);
}
