// Rows whose versions a remote converter converts (custom kinds with a conversion webhook): objects are converted before they are returned, many
// in one question, and the answers are kept with the stored object. Rows without `convertRemotely` never come here.
import { type KubeObject, StatusError, internalError } from '../../apimachinery/index.ts';
import { invariant } from '../../base/index.ts';
import type { StoredObject, RegistryEvent, RegistryWatch, Target } from '../contract.ts';
import { convertForStorage } from '../objects/layout.ts';
import { StoredRevision } from '../objects/stored-object.ts';
import type { Resource } from '../resource.ts';

/** Objects in one question; bounds what the other side and its answer have to hold. */
const BATCH_OBJECTS = 200;
/** Stored bytes in one question, unless a single object is larger. */
const BATCH_BYTES = 2 * 1024 * 1024;
/** Events converted at a time by a watch. */
const BATCH_EVENTS = 200;

/** Questions under way, so that a thousand watchers of one event ask once. */
const pending = new WeakMap<StoredRevision, Map<string, Promise<void>>>();

function* batches(versions: readonly StoredRevision[]): Generator<StoredRevision[]> {
  let batch: StoredRevision[] = [];
  let bytes = 0;
  for (const version of versions) {
    if (batch.length > 0 && (batch.length === BATCH_OBJECTS || bytes + version.size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(version);
    bytes += version.size;
  }
  if (batch.length > 0) yield batch;
}

async function convertBatch(batch: readonly StoredRevision[], version: string): Promise<void> {
  const { convertRemotely } = (batch[0] as StoredRevision).resource;
  const converted = await (convertRemotely as NonNullable<Resource['convertRemotely']>)(batch.map((each) => each.source()), version);
  for (const [i, each] of batch.entries()) each.receive(version, converted[i] as KubeObject);
}

function track(batch: readonly StoredRevision[], version: string): Promise<void> {
  const work = convertBatch(batch, version).finally(() => {
    for (const each of batch) pending.get(each)?.delete(version);
  });
  for (const each of batch) {
    let questions = pending.get(each);
    if (questions === undefined) pending.set(each, (questions = new Map()));
    questions.set(version, work);
  }
  return work;
}

/** Resolves when `object(version)` of all of these can be read at once; rejects with the Status of a conversion that failed. */
export async function convertAhead(versions: Iterable<StoredObject>, version: string): Promise<void> {
  const missing: StoredRevision[] = [];
  const others = new Set<Promise<void>>();
  for (const each of versions) {
    if (!(each instanceof StoredRevision) || !each.lacks(version)) continue;
    const question = pending.get(each)?.get(version);
    if (question === undefined) missing.push(each);
    else others.add(question);
  }
  for (const batch of batches(missing)) await track(batch, version);
  await Promise.all(others);
}

/** The same for one object version, which it answers. */
export async function readyObject<T extends StoredObject>(object: T, ...versions: readonly string[]): Promise<T> {
  if (object.resource.convertRemotely !== undefined) for (const version of versions) await convertAhead([object], version);
  return object;
}

/** One object, converted for this reader: the reference's GET asks the converter each time, while lists and watches keep what it made. */
export async function convertForGet(object: StoredObject, version: string): Promise<StoredObject> {
  return object instanceof StoredRevision ? readyObject(object.unconverted(), version) : object;
}

/** An object of a request as its storing row wants it, converted by whatever converts the row. */
export function convertToStore(target: Target, storing: Resource, object: KubeObject): KubeObject | Promise<KubeObject> {
  const { convertRemotely, storageVersion } = storing;
  if (convertRemotely === undefined || target.version === storageVersion) return convertForStorage(target, storing, object);
  return convertRemotely([object], storageVersion).then(([converted]) => converted as KubeObject);
}

interface ConvertedWatchOptions {
  readonly version: string;
  /** Selects and changes events whose objects have been converted; absent: all pass. */
  readonly select?: (event: RegistryEvent) => RegistryEvent | undefined;
}

/**
 * A watch whose objects are converted before they can be taken.
 *
 *   idle ──(inner has events)──▶ converting ──▶ ready ──(all taken)──▶ idle          converting ──(refused)──▶ failed
 */
class ConvertedWatch implements RegistryWatch {
  readonly #inner: RegistryWatch;
  readonly #options: ConvertedWatchOptions;
  #ready: readonly RegistryEvent[] = [];
  #taken = 0;
  #converting = false;
  #failed: StatusError | undefined;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(inner: RegistryWatch, options: ConvertedWatchOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  get #idle(): boolean {
    return !this.#converting && this.#taken === this.#ready.length;
  }

  get revision(): number {
    return this.#idle && this.#failed === undefined ? this.#inner.revision : 0;
  }

  get end(): 'expired' | 'closed' | undefined {
    if (!this.#idle) return undefined;
    return this.#failed === undefined ? this.#inner.end : 'expired';
  }

  get error(): StatusError | undefined {
    return this.end === undefined ? undefined : (this.#failed ?? this.#inner.error);
  }

  take(limit: number): readonly RegistryEvent[] {
    const events = this.#ready.slice(this.#taken, this.#taken + limit);
    this.#taken += events.length;
    return events;
  }

  onReadable(wake: () => void): void {
    if (this.#taken < this.#ready.length || this.end !== undefined) return wake();
    this.#wake = wake;
    if (!this.#converting) this.#inner.onReadable(() => void this.#pull());
  }

  fork(): RegistryWatch {
    invariant(!this.#converting, 'a watch is forked between conversions');
    const twin = new ConvertedWatch(this.#inner.fork(), this.#options);
    twin.#ready = this.#ready.slice(this.#taken);
    twin.#failed = this.#failed;
    return twin;
  }

  close(): void {
    this.#closed = true;
    this.#wake = undefined;
    this.#inner.close();
  }

  async #pull(): Promise<void> {
    if (this.#converting || this.#closed || !this.#idle || this.#failed !== undefined) return;
    const events = this.#inner.take(BATCH_EVENTS);
    if (events.length === 0 && this.#inner.end === undefined) return this.#inner.onReadable(() => void this.#pull());
    this.#converting = true;
    try {
      const { version, select } = this.#options;
      await convertAhead(objectsOf(events), version);
      this.#ready = select === undefined ? events : events.map(select).filter((event) => event !== undefined);
      this.#taken = 0;
    } catch (error) {
      this.#failed = error instanceof StatusError ? error : internalError(error instanceof Error ? error.message : String(error));
    }
    this.#converting = false;
    // Where nothing of it was selected, there is nothing to be woken for yet.
    if (this.#idle && this.#failed === undefined && this.#inner.end === undefined) return this.#inner.onReadable(() => void this.#pull());
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

function* objectsOf(events: readonly RegistryEvent[]): Generator<StoredObject> {
  for (const event of events) {
    if (event.type === 'BOOKMARK') continue;
    yield event.object;
    if (event.previous !== undefined) yield event.previous;
  }
}

/** A watch of a row that needs remote conversions, with its objects in the version asked for. */
export function convertWatch(inner: RegistryWatch, options: ConvertedWatchOptions): RegistryWatch {
  return new ConvertedWatch(inner, options);
}
