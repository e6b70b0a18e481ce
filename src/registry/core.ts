// What the verbs share: the store, one cache per row, and the layouts of rows. Caches start when a row is first used.
import { type Clock, type Steps, createTimeSlice, runStepsInSlices, startOfTurn } from '../base/index.ts';
import { type Cache, type CacheObserver, createCache } from '../cache/index.ts';
import { type KeyValue, StorageUnavailableError, type Store, type TxnRequest, type TxnResult, keyRange } from '../storage/index.ts';
import { timeoutError } from '../apimachinery/index.ts';
import { isProtobuf } from '../codec/index.ts';
import type { Catalog, StoredObject, RegistryDependencies, Target } from './contract.ts';
import { initializing } from './errors.ts';
import { DecodedObjectCache } from './objects/decoded-object-cache.ts';
import { DEFAULT_ROOT, resourcePrefix } from './objects/keys.ts';
import { hasBytesAt } from './objects/json-scan.ts';
import { type Layout, createLayout, encodeObject } from './objects/layout.ts';
import { type EncodingMemo, createEncodingMemo } from './objects/encoded-bytes.ts';
import { type StorageCodec, type StorageFormat, createStorageCodec, plainFormat } from './objects/storage-codec.ts';
import { type ObjectContext, StoredRevision } from './objects/stored-object.ts';
import { viewObject } from './objects/viewed-object.ts';
import { UnreadableObject, decodeValue, unreadableList } from './objects/unreadable-object.ts';
import type { Resource } from './resource.ts';
import { packLoose, restChunk } from './objects/chunk.ts';

/** Receives what the cache of a resource does, and its lists, to count them. */
export interface ResourceObserver extends CacheObserver {
  /** A read of the newest state was served: from the cache, or from the store where the cache did not get there. */
  readConsistently(fallback: boolean): void;
  /** A list, or a page of one: objects that were read, compared with selectors, and answered. */
  listed(source: 'cache' | 'storage', counts: { readonly fetched: number; readonly evaluated: number; readonly returned: number }): void;
}

/** What a registry is made of. */
export interface RegistryOptions extends RegistryDependencies {
  readonly store: Store;
  readonly catalog: Catalog;
  /** Where keys begin; `/registry` when absent, as in kube-apiserver. */
  readonly root?: string;
  /** How long changes are kept for watches and exact reads, see the cache. */
  readonly historyMs?: number;
  /** How values lie in the store; plain JSON when absent. */
  readonly format?: StorageFormat;
  /** Whether lists of any state take a limit, which the reference ignores unless its watch cache is off. */
  readonly limitsAnyState?: boolean;
  /** Rows that are only written to have no cache: a worker that handles a few large writes must not hold all their neighbours. */
  readonly cacheOnlyReads?: boolean;
  /** Whether errors name the keys of values that cannot be read, as where these may be removed. */
  readonly namesUnreadable?: boolean;
  /** Is called with failures that caches mend by themselves. */
  readonly report?: (error: unknown) => void;
  readonly observe?: ((resource: Resource) => ResourceObserver) | undefined;
}

/** What history takes for a superseded revision beside its bytes: its object, its key, and the change. 100,000 deletions of small objects took 50 MB more. */
const KEPT_BYTES = 500;

/** The longest wait for a cache to be filled or to catch up; upstream's three seconds. */
export const FRESHNESS_LIMIT_MS = 3000;
/** A store that has not reported its revision by then either is not asked for objects. */
const LAST_CHANCE_MS = 300;

/** How long the steps of one read may hold the loop in one turn: a selector may have to look at a hundred thousand objects. */
const READ_TURN_MS = 8;

/** How long the steps of one write may hold the loop in one turn: large objects are written in several. */
export const WRITE_TURN_MS = 12;

/** A row's objects: their layout and their cache. */
export interface ResourceStorage {
  /** The row that stores the objects. */
  readonly resource: Resource;
  readonly layout: Layout;
  readonly cache: Cache<StoredRevision>;
  /** What the cache has of a key, as old as that may be; undefined also where no cache has started. */
  cached(key: string): StoredRevision | undefined;
  readonly observer: ResourceObserver | undefined;
  /** How its values lie in the store. */
  readonly codec: StorageCodec;
  /** The object of a stored value; one that cannot be read says so when it is. */
  decode(kv: StoredValue): StoredRevision;
  /** The object of JSON that was just encoded; `isOwn` as the encoding says. */
  readonly fromJson: (kv: StoredValue, isOwn: boolean) => StoredRevision;
  /** The same, once it is stored: the cache's own where it has come there, so that answer and watches share what is made of it. */
  readonly fromWritten: (kv: StoredValue, isOwn: boolean) => StoredRevision;
}

/** A value of the store, or what was just written. */
type StoredValue = Pick<KeyValue, 'key' | 'value' | 'modRevision'>;

/** A request's row, where its objects are, and how they look through it. */
export interface RequestScope {
  readonly target: Target;
  readonly storage: ResourceStorage;
  /** The row asked for shows objects that another row stores. */
  readonly viewed: boolean;
  show(version: StoredRevision): StoredObject;
}

interface Slot extends ResourceStorage {
  readonly context: ObjectContext;
  readonly closeCache: () => void;
  /** Revision at which the definition of a custom resource came to be. */
  defined?: Promise<number>;
  /** Revision that the cache began with: whatever defines the row was there. */
  listed: number;
  /** Unreadable values that the cache has come upon; some may be gone. */
  readonly unreadable: Map<string, UnreadableObject>;
}

/** Packages of the reference's types that are not named like their groups. */
const packages: Readonly<Record<string, string>> = { '': 'core', 'events.k8s.io': 'core', 'internal.apiserver.k8s.io': 'apiserverinternal' };

/** A type as the reference's caches name it: a custom one by its version, others by their package. */
const nameType = ({ custom, group, storageVersion, kind }: Resource): string => (custom
  ? `${group}/${storageVersion}, Kind=${kind}` : `*${packages[group] ?? group.split('.')[0]}.${kind}`);

/** The selectable fields of an object; undefined where they cannot be read. */
function readFields(object: StoredRevision): readonly string[] | undefined {
  try {
    return object.fields;
  } catch {
    return undefined;
  }
}

/** Reads values of the store again, as the registry holds them. */
const createRecall = (store: Store, codec: StorageCodec): NonNullable<ObjectContext['recall']> => (key, revision) => {
  const stored = store.recall?.(key, revision);
  return stored && codec.reread(stored, key);
};

const showAsIs = (version: StoredRevision): StoredObject => version;

/** Whether a promise is fulfilled before the time is up; rejects with it. */
async function isDoneWithin(clock: Clock, limitMs: number, done: Promise<unknown>): Promise<boolean> {
  let cancel = (): void => undefined;
  const late = new Promise<false>((resolve) => {
    const timer = clock.after(limitMs, () => resolve(false));
    cancel = () => timer.cancel();
  });
  try {
    return await Promise.race([done.then(() => true), late]);
  } finally {
    cancel();
  }
}

/** State of one registry. */
export class Core {
  readonly options: RegistryOptions;
  readonly root: string;
  readonly hot = new DecodedObjectCache();
  readonly #memo: EncodingMemo = createEncodingMemo();
  /** By key prefix, and the same by row. */
  readonly #slots = new Map<string, Slot>();
  readonly #slotOf = new Map<Resource, Slot>();
  /** Row asked for to row that stores, while the catalog stays as it is. */
  #rows = new WeakMap<Resource, Resource>();
  #rowsGeneration = -1;
  readonly #views = new WeakMap<Resource, ObjectContext>();
  #closed = false;

  constructor(options: RegistryOptions) {
    this.options = options;
    this.root = options.root ?? DEFAULT_ROOT;
  }

  get clock(): Clock {
    return this.options.clock;
  }
  get store(): Store {
    return this.options.store;
  }

  /** The pauses of one read. */
  paceRead(): () => Promise<void> | undefined {
    return createTimeSlice(this.clock, READ_TURN_MS);
  }

  /** The pauses of one watch that reads its first state; many may begin in one turn, which they share. */
  paceFirstState(): () => Promise<void> | undefined {
    return createTimeSlice(this.clock, READ_TURN_MS, startOfTurn(this.clock));
  }

  /** Does the steps of one read, in as many turns as they take. */
  readInSlices<T>(steps: Steps<T>, pause = this.paceRead()): Promise<T> {
    return runStepsInSlices(steps, pause);
  }

  /** The scope of a request; its cache may still be filling. */
  scope(target: Target): RequestScope {
    const { resource } = target;
    const storing = this.#storingRow(resource);
    const storage = this.#slot(storing);
    const viewed = storing.plural !== resource.plural || storing.group !== resource.group;
    if (!viewed) return { target, storage, viewed, show: showAsIs };
    const context = this.#viewContext(resource);
    return { target, storage, viewed, show: (version) => viewObject(context, version) };
  }

  /** The same, once the cache is filled; 429 when that takes too long. */
  async readyScope(target: Target, isList = false): Promise<RequestScope> {
    const scope = this.scope(target);
    await this.awaitFilled(scope);
    this.#refuseUnreadable(scope, isList);
    return scope;
  }

  /** 429 while one of the row's values cannot be read: the reference's cache does not begin then. A list may name all of its namespace instead. */
  #refuseUnreadable({ target: { namespace }, storage: { resource, layout } }: RequestScope, isList: boolean): void {
    const { unreadable, cache } = this.#slot(resource);
    for (const [key, object] of unreadable) if (cache.get(key)?.value !== object) unreadable.delete(key);
    const [first] = unreadable.values();
    if (first === undefined) return;
    if (!isList || this.options.namesUnreadable !== true) {
      const place = first.isSealed ? `unable to transform key ${JSON.stringify(first.key)}: ` : '';
      throw initializing(`failed to list ${nameType(resource)}: ${place}${first.cause}`);
    }
    const listed = [...unreadable.values()].filter(({ key }) => key.startsWith(namespace === '' ? layout.prefix : `${layout.prefix}${namespace}/`));
    if (listed.length > 0) throw unreadableList(resource, listed.sort((one, other) => (one.key < other.key ? -1 : 1)));
  }

  /** Resolves when the cache of the scope is filled; rejects with 429 when that takes too long. */
  async awaitFilled({ storage }: RequestScope): Promise<void> {
    if (storage.cache.revision === 0) await this.#awaitReady(storage.cache);
  }

  /** Ends the cache of a row that is no longer served, and with it its watches. */
  release(resource: Resource): void {
    const prefix = resourcePrefix(this.root, resource);
    const slot = this.#slots.get(prefix);
    if (slot === undefined) return;
    slot.closeCache();
    this.#slots.delete(prefix);
    this.#slotOf.delete(slot.resource);
  }

  close(): void {
    this.#closed = true;
    for (const slot of this.#slots.values()) slot.closeCache();
    this.#slots.clear();
    this.#slotOf.clear();
  }

  /** Store.txn. What the value was foreseen to decode to is kept once it is stored; of a value that was not foreseen nothing is kept. */
  async commit(request: TxnRequest): Promise<TxnResult> {
    const { key, value } = request;
    try {
      const result = await this.store.txn(request);
      const isKept = result.type === 'conflict' || (value !== undefined && this.hot.arrive({ key, value, modRevision: result.revision }));
      if (!isKept) this.hot.drop(key);
      return result;
    } finally {
      if (value !== undefined) this.hot.forget(key, value);
    }
  }

  /** The value of a key as the store has it this moment. */
  async readValue(key: string): Promise<KeyValue | undefined> {
    const result = await this.store.range({ limit: 1, ...keyRange(key) });
    return result.type === 'ok' ? result.kvs[0] : undefined;
  }

  /** The object as the store has it this moment. */
  async readStored(storage: ResourceStorage, key: string): Promise<StoredRevision | undefined> {
    const kv = await this.readValue(key);
    return kv === undefined ? undefined : storage.decode(kv);
  }

  /** True for revisions older than a custom resource itself: no client has seen it there, and upstream has nothing to watch from. */
  async isBeforeDefinition(storage: ResourceStorage, revision: number): Promise<boolean> {
    if (!storage.resource.custom) return false;
    const slot = this.#slotOf.get(storage.resource);
    if (slot === undefined || revision >= slot.listed) return false;
    // A definition that cannot be read hides nothing.
    slot.defined ??= this.#readDefinition(storage.resource).catch(() => 0);
    return revision < (await slot.defined);
  }

  /**
   * Whether a write of the object would store the same bytes: with this encryption key, in this encoding, in the storage version; and for
   * built-in kinds, with the defaults and in the order of today.
   */
  isCurrent({ resource, layout, codec }: ResourceStorage, { key, value }: KeyValue, object: StoredRevision): boolean {
    if (!codec.isCurrent(value, key)) return false;
    if (resource.custom && resource.versions.length < 2) return true;
    const stored = codec.decode(value, key);
    if (resource.custom) return hasBytesAt(stored.value, 0, layout.head);
    if (isProtobuf(stored.value)) return Buffer.compare(stored.value, codec.plain(encodeObject(layout, object.object(resource.storageVersion)))) === 0;
    return stored.isOwn || Buffer.compare(stored.value, object.stored()) === 0;
  }

  /** After a cache did not become current in time: rejects with StorageUnavailableError unless the store answers at once. */
  async assureStore({ layout: { prefix } }: ResourceStorage): Promise<void> {
    const answers = await isDoneWithin(this.clock, LAST_CHANCE_MS, this.store.revision(prefix));
    if (!answers) throw new StorageUnavailableError('the store does not answer in time', { outcomeKnown: true });
  }

  async #readDefinition({ definedBy }: Resource): Promise<number> {
    if (definedBy === undefined) return 0;
    const key = `${this.root}/${definedBy}`;
    const result = await this.store.range({ limit: 1, ...keyRange(key) });
    return result.type === 'ok' ? result.kvs[0]?.createRevision ?? 0 : 0;
  }

  #storingRow(resource: Resource): Resource {
    const { catalog } = this.options;
    if (this.#rowsGeneration !== catalog.generation) {
      this.#rows = new WeakMap();
      this.#rowsGeneration = catalog.generation;
    }
    let row = this.#rows.get(resource);
    if (row === undefined) {
      const [group, plural] = (resource.storedAs ?? `${resource.group}/${resource.plural}`).split('/') as [string, string];
      this.#rows.set(resource, (row = catalog.findResource(group, plural) ?? resource));
    }
    return row;
  }

  #slot(resource: Resource): Slot {
    const known = this.#slotOf.get(resource);
    if (known !== undefined) return known;
    const prefix = resourcePrefix(this.root, resource);
    const slot = this.#slots.get(prefix);
    // A row that was replaced (a definition changed) starts afresh: its watches end, as they do in the reference.
    slot?.closeCache();
    if (slot !== undefined) this.#slotOf.delete(slot.resource);
    const fresh = this.#createSlot(resource, prefix);
    this.#slots.set(prefix, fresh);
    this.#slotOf.set(resource, fresh);
    return fresh;
  }

  #createSlot(resource: Resource, prefix: string): Slot {
    const layout = createLayout(resource, prefix);
    const unstored: ObjectContext = { layout, memo: this.#memo, ...(this.options.namesUnreadable === true && { namedRoot: this.root }) };
    const codec = createStorageCodec(layout, this.options.format ?? plainFormat);
    const context: ObjectContext = { ...unstored, hot: this.hot, ...(this.store.recall !== undefined && { recall: createRecall(this.store, codec) }) };
    let cache: Cache<StoredRevision> | undefined;
    const slot: Slot = {
      resource, layout, codec, context, observer: this.options.observe?.(resource), listed: Infinity, unreadable: new Map(),
      decode: (kv) => {
        this.hot.arrive(kv);
        return decodeValue(context, codec, kv);
      },
      fromJson: (kv, isOwn) => new StoredRevision(unstored, kv, isOwn),
      fromWritten(kv, isOwn) {
        const known = slot.cached(kv.key);
        return known?.revision === kv.modRevision && !(known instanceof UnreadableObject) ? known : new StoredRevision(context, kv, isOwn);
      },
      get cache() {
        return (cache ??= startCache());
      },
      cached: (key) => cache?.get(key)?.value,
      closeCache: () => cache?.close(),
    };
    const startCache = (): Cache<StoredRevision> => {
      const started = this.#createCache(prefix, slot);
      // A cache that does not begin is reported to its readers.
      started.ready().then(() => (slot.listed = started.revision)).catch(() => undefined);
      return started;
    };
    if (this.options.cacheOnlyReads !== true) cache = startCache();
    return slot;
  }

  #createCache(prefix: string, { decode, unreadable, observer }: Pick<Slot, 'decode' | 'unreadable' | 'observer'>): Cache<StoredRevision> {
    const decodeCached = (kv: StoredValue): StoredRevision => {
      const object = decode(kv);
      if (object instanceof UnreadableObject) unreadable.set(kv.key, object);
      return object;
    };
    const { store, clock, historyMs, report } = this.options;
    const compactChunk = store.recall === undefined ? packLoose : restChunk;
    const cache = createCache<StoredRevision>({
      store, clock, prefix, decode: decodeCached, compactChunk, supersede: (version) => version.supersede(), sizeOf: ({ size }) => size + KEPT_BYTES,
      columnsOf: readFields, observer,
      ...(historyMs !== undefined && { historyMs }), ...(report !== undefined && { report }),
    });
    if (this.#closed) cache.close();
    return cache;
  }

  #viewContext(resource: Resource): ObjectContext {
    let context = this.#views.get(resource);
    if (context === undefined) {
      context = { layout: createLayout(resource, resourcePrefix(this.root, resource)), memo: this.#memo };
      this.#views.set(resource, context);
    }
    return context;
  }

  async #awaitReady(cache: Cache<StoredRevision>): Promise<void> {
    const filled = await isDoneWithin(this.clock, FRESHNESS_LIMIT_MS, cache.ready()).catch(() => false);
    if (!filled) throw initializing();
  }
}

/** Throws when the client is gone or the request's time is up. */
export function checkSignal(signal: { readonly aborted: boolean } | undefined): void {
  if (signal?.aborted === true) throw timeoutError('request did not complete within the allotted timeout');
}
