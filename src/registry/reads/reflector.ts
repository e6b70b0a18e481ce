// A list, then a watch, for as long as the reflector runs: its owner learns of every object that exists and of every change. Mirrors a client-go
// reflector without its store, since the cache is in the same process. Relies on the registry waking its watches in the turn of the commit.
//
//   listing ──list handed over──▶ watching ──watch ended (history gone), or an error──▶ listing
import { StatusError } from '../../apimachinery/index.ts';
import { type Clock, delay } from '../../base/index.ts';
import type { ListResult, StoredObject, Predicate, Registry, Target } from '../contract.ts';
import { everything } from './predicate.ts';

/** Receives one object and the revision in which it came to be so. Must not throw. */
export type ReflectorListener<Item = StoredObject> = (type: 'present' | 'deleted', object: Item, revision: number) => void;

/** A list as a reflector reads it. */
export interface ReflectedList<Item> {
  readonly items: Iterable<Item>;
  readonly revision: number;
}

/** A watch as a reflector reads it, see RegistryWatch. */
export interface ReflectedWatch<Item> {
  take(limit: number): readonly (
    { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Item; readonly revision: number } | { readonly type: 'BOOKMARK' })[];
  onReadable(wake: () => void): void;
  readonly end: 'expired' | 'closed' | undefined;
  readonly error?: StatusError | undefined;
  close(): void;
}

/** The reads that a reflector is made of: those of a registry, or of a server elsewhere. */
export interface ReflectorSource<Item, List extends ReflectedList<Item> = ReflectedList<Item>> {
  list(): Promise<List>;
  /** Changes after the revision of a list. */
  watch(revision: number): Promise<ReflectedWatch<Item>>;
}

/** How objects and changes are handed over. */
export interface FollowOptions<Item, List extends ReflectedList<Item> = ReflectedList<Item>> {
  readonly clock: Clock;
  readonly onChange: ReflectorListener<Item>;
  /** Called before the objects of a list, at first and after each loss. */
  readonly onReset?: () => void;
  /** Called after the objects of a list: objects that are not in it are gone without a 'deleted'. */
  readonly onListed?: (list: List) => void;
  /**
   * `push` (the default): changes are handed over as they come, long lists in several turns. `on-demand`: changes wait for `catchUp`, for a second at
   * most, so that rows that change often and are asked about rarely cost little; a list is handed over in one turn, and what was known before
   * stays valid until then.
   */
  readonly delivery?: 'push' | 'on-demand';
  /** Asked before each list; false ends the reflector. */
  readonly isNeeded?: () => boolean;
  /** Receives failures, after which the reflector lists again. */
  readonly onError: (error: unknown) => void;
}

interface ReflectorOptions extends FollowOptions<StoredObject, ListResult> {
  readonly registry: Registry;
  readonly target: Target;
  /** Everything by default. */
  readonly predicate?: Predicate;
  /** `0`: the state of the cache is new enough to begin with. By default a list is as new as the store. */
  readonly listFrom?: '0';
}

/** A running reflector. */
export interface Reflector {
  /** Resolves when every object that existed at the start has been handed over, or when the reflector ended before. */
  readonly synced: Promise<void>;
  /** Hands over every change that is committed, in this turn. Does nothing during a list. */
  catchUp(): void;
  stop(): void;
}

/** Objects handed over in one turn of the event loop. */
const BATCH_SIZE = 256;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;
/** How long changes wait for `catchUp`: less than history remembers them. */
const ON_DEMAND_MS = 1_000;

class RunningReflector<Item, List extends ReflectedList<Item>> implements Reflector {
  readonly synced: Promise<void>;
  readonly #source: ReflectorSource<Item, List>;
  readonly #options: FollowOptions<Item, List>;
  #markSynced: () => void = () => undefined;
  #watch: ReflectedWatch<Item> | undefined;
  /** The watch may have events. */
  #isReadable = false;
  #wake: () => void = () => undefined;
  #stopped = false;

  constructor(source: ReflectorSource<Item, List>, options: FollowOptions<Item, List>) {
    this.#source = source;
    this.#options = options;
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
    void this.#run();
  }

  catchUp(): void {
    while (this.#isReadable && this.#watch !== undefined) this.#takeBatch(this.#watch);
  }

  stop(): void {
    this.#stopped = true;
    this.#isReadable = false;
    this.#watch?.close();
    this.#wake();
  }

  get #isOver(): boolean {
    return this.#stopped || this.#options.isNeeded?.() === false;
  }

  async #run(): Promise<void> {
    const { clock, onError } = this.#options;
    let retryMs = FIRST_RETRY_MS;
    while (!this.#isOver) {
      try {
        const watch = await this.#listAndWatch();
        retryMs = FIRST_RETRY_MS;
        await this.#deliver(watch);
      } catch (error) {
        if (this.#isOver) break;
        if (!hasExpired(error)) onError(error);
        await delay(clock, retryMs);
        retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
      }
    }
    this.#markSynced();
  }

  /** Hands a list over and returns the watch that continues it. */
  async #listAndWatch(): Promise<ReflectedWatch<Item>> {
    const list = await this.#source.list();
    const watch = await this.#source.watch(list.revision);
    await this.#handOver(list);
    // Only from here on: an event that `catchUp` took earlier would be undone by the list.
    this.#watch = watch;
    this.#isReadable = true;
    this.#markSynced();
    return watch;
  }

  async #handOver(list: List): Promise<void> {
    const { clock, delivery, onChange, onListed, onReset } = this.#options;
    if (this.#stopped) return;
    onReset?.();
    let count = 0;
    for (const object of list.items) {
      onChange('present', object, list.revision);
      if (++count % BATCH_SIZE === 0 && delivery !== 'on-demand') await delay(clock, 0);
      if (this.#stopped) return;
    }
    onListed?.(list);
  }

  /** Hands events over until the watch ends. */
  async #deliver(watch: ReflectedWatch<Item>): Promise<void> {
    const { clock, delivery } = this.#options;
    try {
      while (!this.#stopped) {
        if (!this.#isReadable) {
          if (watch.end !== undefined) return throwUnlessExpired(watch);
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          if (delivery === 'on-demand' && !this.#stopped) await delay(clock, ON_DEMAND_MS);
        } else {
          this.#takeBatch(watch);
          if (this.#isReadable) await delay(clock, 0);
        }
      }
    } finally {
      watch.close();
      this.#watch = undefined;
      this.#isReadable = false;
    }
  }

  #takeBatch(watch: ReflectedWatch<Item>): void {
    const events = watch.take(BATCH_SIZE);
    this.#isReadable = events.length >= BATCH_SIZE;
    for (const event of events) {
      if (event.type !== 'BOOKMARK') this.#options.onChange(event.type === 'DELETED' ? 'deleted' : 'present', event.object, event.revision);
    }
    if (this.#isReadable || this.#stopped) return;
    if (watch.end === undefined) watch.onReadable(() => this.#markReadable(watch));
    else this.#wake();
  }

  #markReadable(watch: ReflectedWatch<Item>): void {
    if (this.#stopped || this.#watch !== watch) return;
    this.#isReadable = true;
    this.#wake();
  }
}

/** A watch that fails for another reason than lost history is tried again later, as a failed list is. */
function throwUnlessExpired({ error }: Pick<ReflectedWatch<unknown>, 'error'>): void {
  if (error !== undefined && !hasExpired(error)) throw error;
}

const hasExpired = (error: unknown): boolean => error instanceof StatusError && error.reason === 'Expired';

/** Starts a reflector over a registry. After a loss (history gone, an error) everything that exists is handed over again. */
export function startReflector(options: ReflectorOptions): Reflector {
  const { registry, target, listFrom, predicate = everything } = options;
  return followSource({
    list: () => registry.list(target, { predicate, ...(listFrom !== undefined && { resourceVersion: listFrom }) }),
    watch: (revision) => registry.watch(target, { predicate, resourceVersion: String(revision) }),
  }, options);
}

/** The same over any source. */
export const followSource = <Item, List extends ReflectedList<Item>>(source: ReflectorSource<Item, List>, options: FollowOptions<Item, List>): Reflector =>
  new RunningReflector(source, options);
