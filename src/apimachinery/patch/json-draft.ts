// A JSON document under edit: a container is copied when it is first written to, everything else is shared with the original, which never changes.
// Arrays under edit are ChunkedLists, so an insert at the head of a long one costs one chunk.
import { ChunkedList, isJsonObject } from '../../base/index.ts';
import type { JsonValue } from '../object.ts';
import { ownValue, putKey } from '../apply/value.ts';
import { equalJson } from '../equal.ts';

type Dict = Record<string, unknown>;

/** What a pointer leads through: an object, an array, or one of those under edit. */
type Container = Dict | readonly unknown[] | ChunkedList<unknown>;

/** A pointer that leads nowhere, or a value that is too large; worded as the reference's library words it. */
export class DraftError extends Error {}

/** What a pointer leads through is no container. */
export class MissingContainerError extends DraftError {}

const isList = (value: unknown): value is readonly unknown[] | ChunkedList<unknown> => Array.isArray(value) || value instanceof ChunkedList;
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** One document, its edits, and in the end what came of them. */
export class JsonDraft {
  #root: unknown;
  /** Objects that were made here and that nothing else refers to. A container that holds one is here too. */
  readonly #owned = new Set<Dict>();
  /** Numbers of keys of objects that were compared; counting a wide one again and again would be quadratic. */
  readonly #widths = new Map<Dict, number>();

  /** Objects that a pointer led into, or that were compared: the reference's library parses those, and writes their keys sorted. */
  readonly #reached: WeakSet<object>;

  constructor(document: JsonValue, reached = new WeakSet<object>()) {
    this.#root = document;
    this.#reached = reached;
    if (isContainer(document)) reached.add(document);
  }

  /** The value at a path; undefined where an object has no such key. Throws DraftError. */
  read(path: readonly string[]): unknown {
    if (path.length === 0) return this.#root;
    const container = this.#locate(path, false);
    const key = path.at(-1) as string;
    return isList(container) ? getItem(container, indexOf(container, key)) : ownValue(container as Dict, key);
  }

  /** Notes that a pointer leads here; one that leads nowhere is found out later. */
  reach(path: readonly string[]): void {
    try {
      this.#locate(path, false);
    } catch (error) {
      if (!(error instanceof DraftError)) throw error;
    }
  }

  /** Inserts into arrays (`-` is the end), sets in objects. */
  add(path: readonly string[], value: unknown): void {
    const container = this.#locate(path, true);
    const key = path.at(-1) as string;
    if (container instanceof ChunkedList) container.insert(key === '-' ? container.length : readIndex(key, container.length + 1), value);
    else this.#put(container as Dict, key, value);
  }

  replace(path: readonly string[], value: unknown): void {
    const container = this.#locate(path, true);
    const key = path.at(-1) as string;
    if (container instanceof ChunkedList) container.set(findItem(container, key), value);
    else this.#put(container as Dict, key, value);
  }

  remove(path: readonly string[]): void {
    const container = this.#locate(path, true);
    const key = path.at(-1) as string;
    if (container instanceof ChunkedList) return container.remove(indexOf(container, key));
    const object = container as Dict;
    if (!Object.hasOwn(object, key)) throw new DraftError(`Unable to remove nonexistent key: ${key}: missing value`);
    delete object[key];
    const width = this.#widths.get(object);
    if (width !== undefined) this.#widths.set(object, width - 1);
  }

  /** Whether a value found here equals one from outside; the cost is that of the latter. */
  equals(found: unknown, value: unknown): boolean {
    if (isList(found)) {
      if (!Array.isArray(value) || found.length !== value.length) return false;
      const items = found instanceof ChunkedList ? found.toArray() : found;
      return value.every((item, i) => this.equals(items[i], item));
    }
    if (!isJsonObject(found)) return equalJson(found, value);
    this.#reached.add(found);
    if (!isJsonObject(value)) return false;
    const keys = Object.keys(value);
    return keys.length === this.#widthOf(found) && keys.every((key) => Object.hasOwn(found, key) && this.equals(found[key], value[key]));
  }

  /** A value found here as plain JSON that later edits copy instead of changing, so that two places may hold it. */
  share(found: unknown): unknown {
    if (found instanceof ChunkedList) return found.toArray().map((item) => (isContainer(item) ? this.share(item) : item));
    if (!isJsonObject(found) || !this.#owned.delete(found)) return found;
    for (const key of Object.keys(found)) {
      const child = found[key];
      if (isContainer(child)) putKey(found, key, this.share(child));
    }
    return found;
  }

  /** A shared value as the reference's library copies it: from its JSON, in which the keys of objects that a pointer led into are sorted. */
  copy(shared: unknown): unknown {
    if (Array.isArray(shared)) return shared.map((item) => this.copy(item));
    if (!isJsonObject(shared)) return shared;
    const keys = Object.keys(shared);
    const copied: Dict = {};
    for (const key of this.#reached.has(shared) ? keys.sort() : keys) putKey(copied, key, this.copy(shared[key]));
    return copied;
  }

  /** Replaces the whole document. */
  reset(document: JsonValue): void {
    this.#root = document;
    if (isContainer(document)) this.#reached.add(document);
  }

  /** The document after all edits. */
  finish(): JsonValue {
    return this.share(this.#root) as JsonValue;
  }

  #put(object: Dict, key: string, value: unknown): void {
    const width = this.#widths.get(object);
    if (width !== undefined && !Object.hasOwn(object, key)) this.#widths.set(object, width + 1);
    putKey(object, key, value);
  }

  #widthOf(object: Dict): number {
    let width = this.#widths.get(object);
    if (width === undefined) this.#widths.set(object, (width = Object.keys(object).length));
    return width;
  }

  /** The container that the last segment of a path belongs to, with all above it ready to be written to when `edits`. */
  #locate(path: readonly string[], edits: boolean): Container {
    if (edits) this.#root = this.#own(this.#root);
    let at = this.#root;
    for (let i = 0; i < path.length - 1; i++) {
      const key = path[i] as string;
      const index = isList(at) ? findContainer(at, key) : 0;
      let child = isList(at) ? getItem(at, index) : isJsonObject(at) ? ownValue(at, key) : undefined;
      if (edits && isContainer(child)) {
        const owned = this.#own(child);
        if (owned !== child && at instanceof ChunkedList) at.set(index, owned);
        else if (owned !== child) putKey(at as Dict, key, owned);
        child = owned;
      }
      at = child;
      if (isContainer(at)) this.#reached.add(at);
    }
    if (!isContainer(at)) throw new MissingContainerError('missing value');
    return at;
  }

  #own(value: unknown): unknown {
    if (Array.isArray(value)) return new ChunkedList(value);
    if (!isJsonObject(value) || value instanceof ChunkedList || this.#owned.has(value)) return value;
    const copy = { ...value };
    this.#owned.add(copy);
    if (this.#reached.has(value)) this.#reached.add(copy);
    const width = this.#widths.get(value);
    if (width !== undefined) this.#widths.set(copy, width);
    return copy;
  }
}

const getItem = (list: readonly unknown[] | ChunkedList<unknown>, index: number): unknown => (list instanceof ChunkedList ? list.get(index) : list[index]);

/** The index of a container on the way of a pointer. */
function findContainer(list: { readonly length: number }, segment: string): number {
  try {
    return indexOf(list, segment);
  } catch (error) {
    throw error instanceof DraftError ? new MissingContainerError('missing value') : error;
  }
}

/** The index of an item that a replacement needs; the reference says no more of one that is not there. */
function findItem(list: { readonly length: number }, segment: string): number {
  try {
    return indexOf(list, segment);
  } catch (error) {
    throw error instanceof DraftError ? new DraftError('missing value') : error;
  }
}

const indexOf = (list: { readonly length: number }, segment: string): number => readIndex(segment, list.length);

/** An index below `limit`; negative ones count back from it. */
function readIndex(segment: string, limit: number): number {
  if (!/^-?\d+$/.test(segment)) throw new DraftError(`strconv.Atoi: parsing ${JSON.stringify(segment)}: invalid syntax`);
  const index = Number(segment) < 0 ? Number(segment) + limit : Math.abs(Number(segment));
  if (index < 0 || index >= limit) throw new DraftError(`Unable to access invalid index: ${segment}: invalid index detected`);
  return index;
}
