// Tells the garbage collector of every object of every row that can be deleted, rows of custom resources included as they come and go.
// Most objects have no owners and wait for nothing: their bytes are looked through, not parsed.
import { type Clock, delay } from '../base/index.ts';
import type { ObjectVersion, RegistryWatch, Resource } from '../registry/index.ts';
import { everything, hasReason } from './client.ts';
import type { ControllerContext } from './context.ts';

/** What the collector hears. `relisted`: changes of this row may have been missed. */
interface GarbageListener {
  present(object: ObjectVersion): void;
  gone(object: ObjectVersion): void;
  relisted(): void;
}

/** Objects handled in one turn of the event loop. */
const sliceSize = 256;
const lookAtCatalogMs = 500;
const lastRetryMs = 10_000;

/** Rows whose objects can own or be owned. Events are neither. */
const isCollected = (row: Resource): boolean =>
  row.storedAs === undefined && row.virtual !== true && row.plural !== 'events'
    && ['list', 'watch', 'delete'].every((verb) => row.verbs.some((v) => v === verb));

const rowKey = (row: Resource): string => `${row.group}/${row.plural}`;

/** The watches of all rows. */
export class GarbageWatches {
  readonly #context: ControllerContext;
  readonly #listener: GarbageListener;
  readonly #onCatalog: () => void;
  readonly #followers = new Map<string, RowFollower>();
  #generation = -1;
  #stopped = false;

  constructor(context: ControllerContext, listener: GarbageListener, onCatalog: () => void) {
    this.#context = context;
    this.#listener = listener;
    this.#onCatalog = onCatalog;
  }

  /** Follows what is served now, then whatever the catalog becomes. Resolves when all that is there has been told. */
  async start(): Promise<void> {
    await this.#adjust();
    void this.#followCatalog();
  }

  stop(): void {
    this.#stopped = true;
    for (const follower of this.#followers.values()) follower.stop();
  }

  async #followCatalog(): Promise<void> {
    while (!this.#stopped) {
      await delay(this.#context.clock, lookAtCatalogMs);
      if (this.#stopped || this.#context.catalog.generation === this.#generation) continue;
      await this.#adjust();
      this.#onCatalog();
    }
  }

  /** One row after the other: a server that has just started has more urgent things to do. */
  async #adjust(): Promise<void> {
    this.#generation = this.#context.catalog.generation;
    const rows = new Map(this.#context.catalog.resources().filter(isCollected).map((row) => [rowKey(row), row]));
    for (const [key, follower] of this.#followers) {
      if (rows.get(key) === follower.row) continue;
      follower.stop();
      this.#followers.delete(key);
    }
    for (const [key, row] of rows) {
      if (this.#stopped || this.#followers.has(key)) continue;
      const follower = new RowFollower(this.#context, row, this.#listener);
      this.#followers.set(key, follower);
      await follower.synced;
    }
  }
}

/** One row: a list, then a watch, until the row is replaced or gone. */
class RowFollower {
  readonly row: Resource;
  /** Resolves when the row was listed, or could not be at the first attempt. */
  readonly synced: Promise<void>;
  readonly #context: ControllerContext;
  readonly #listener: GarbageListener;
  #watch: RegistryWatch | undefined;
  #wake: (() => void) | undefined;
  #stopped = false;

  constructor(context: ControllerContext, row: Resource, listener: GarbageListener) {
    this.#context = context;
    this.row = row;
    this.#listener = listener;
    let markSynced = (): void => undefined;
    this.synced = new Promise((resolve) => {
      markSynced = resolve;
    });
    void this.#run(markSynced);
  }

  stop(): void {
    this.#stopped = true;
    this.#watch?.close();
    this.#wake?.();
  }

  /** A row that the catalog has replaced must not be read again: its objects are behind the new one. */
  get #over(): boolean {
    return this.#stopped || this.#context.catalog.findResource(this.row.group, this.row.plural) !== this.row;
  }

  async #run(markSynced: () => void): Promise<void> {
    const { clock, report } = this.#context;
    let retryMs = 50;
    for (let round = 0; !this.#over; round++) {
      try {
        const revision = await this.#tellAll();
        if (round > 0) this.#listener.relisted();
        markSynced();
        retryMs = 50;
        await this.#follow(revision);
      } catch (error) {
        markSynced();
        if (this.#over) return;
        if (!hasReason(error, 'Expired')) report('garbage-collector', rowKey(this.row), error);
        await delay(clock, retryMs);
        retryMs = Math.min(lastRetryMs, retryMs * 2);
      }
    }
    markSynced();
  }

  #target() {
    return { resource: this.row, version: this.row.storageVersion, namespace: '' };
  }

  async #tellAll(): Promise<number> {
    const list = await this.#context.registry.list(this.#target(), { predicate: everything, resourceVersion: '0' });
    let told = 0;
    for (const object of list.items) {
      this.#listener.present(object);
      if (++told % sliceSize === 0) await nextTurn(this.#context.clock);
    }
    return list.revision;
  }

  async #follow(revision: number): Promise<void> {
    const watch = await this.#context.registry.watch(this.#target(), { predicate: everything, resourceVersion: String(revision) });
    this.#watch = watch;
    try {
      while (!this.#stopped) {
        const events = watch.take(sliceSize);
        for (const event of events) {
          if (event.type === 'DELETED') this.#listener.gone(event.object);
          else if (event.type !== 'BOOKMARK') this.#listener.present(event.object);
        }
        if (events.length === sliceSize) await nextTurn(this.#context.clock);
        else if (watch.end !== undefined) return;
        else await this.#untilReadable(watch);
      }
    } finally {
      watch.close();
      this.#watch = undefined;
    }
  }

  #untilReadable(watch: RegistryWatch): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      watch.onReadable(resolve);
    });
  }
}

const nextTurn = (clock: Clock): Promise<void> => delay(clock, 0);
