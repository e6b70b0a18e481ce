// Hands the garbage collector every object of every row that can be deleted, rows of custom resources included as they come and go.
// Most objects have no owners and wait for nothing: their bytes are looked through, not parsed.
import { type StoredObject, type Resource, startReflector } from '../../registry/index.ts';
import type { ControllerContext } from '../context.ts';

/** What the collector hears. `relisted`: changes of this row may have been missed. */
interface GarbageListener {
  present(object: StoredObject): void;
  gone(object: StoredObject): void;
  relisted(): void;
}

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
  readonly #followed = new Map<string, { readonly row: Resource; stop(): void }>();
  #ignoreCatalog = (): void => undefined;
  /** The last adjustment; the next one waits for it. */
  #adjusted: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(context: ControllerContext, listener: GarbageListener, onCatalog: () => void) {
    this.#context = context;
    this.#listener = listener;
    this.#onCatalog = onCatalog;
  }

  /** Follows what is served now, then each later state of the catalog. Resolves when every object that exists has been handed over. */
  async start(): Promise<void> {
    this.#ignoreCatalog = this.#context.catalog.onChange(() => void this.#adjust().then(this.#onCatalog));
    await this.#adjust();
  }

  stop(): void {
    this.#stopped = true;
    this.#ignoreCatalog();
    for (const followed of this.#followed.values()) followed.stop();
  }

  #adjust(): Promise<void> {
    return (this.#adjusted = this.#adjusted.then(() => this.#followRows()));
  }

  /** One row after the other: a server that has just started has more urgent things to do. */
  async #followRows(): Promise<void> {
    const rows = new Map(this.#context.catalog.resources().filter(isCollected).map((row) => [rowKey(row), row]));
    for (const [key, followed] of this.#followed) {
      if (rows.get(key) === followed.row) continue;
      followed.stop();
      this.#followed.delete(key);
    }
    for (const [key, row] of rows) {
      if (this.#stopped || this.#followed.has(key)) continue;
      await this.#followRow(key, row);
    }
  }

  /** Follows a row until it is replaced or gone; resolves when it was listed, or could not be at the first attempt. */
  #followRow(key: string, row: Resource): Promise<void> {
    const { registry, catalog, clock, report } = this.#context;
    let lists = 0;
    return new Promise((resolve) => {
      const reflector = startReflector({
        registry, clock, target: { resource: row, version: row.storageVersion, namespace: '' }, listFrom: '0',
        // A row that the catalog has replaced must not be read again: its objects are behind the new one.
        isNeeded: () => catalog.findResource(row.group, row.plural) === row,
        onChange: (type, object) => (type === 'deleted' ? this.#listener.gone(object) : this.#listener.present(object)),
        onListed: () => void (lists++ > 0 && this.#listener.relisted()),
        onError: (error) => {
          report('garbage-collector', key, error);
          resolve();
        },
      });
      this.#followed.set(key, { row, stop: () => reflector.stop() });
      void reflector.synced.then(resolve);
    });
  }
}
