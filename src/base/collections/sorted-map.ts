// A persistent sorted map: a B+tree whose versions share what did not change. Entries carry their own key; keys are in UTF-8 byte order.
// A change copies one path: one leaf (at most 96 entries) and a branch per level (at most 32 children). Leaf arrays never change
// once a version is finished, so whatever is computed from a leaf may be kept for as long as the array lives.
import { invariant } from '../invariant.ts';
import { type KeyBounds, compareKeys, needsByteOrder } from './key-order.ts';
import { BRANCH_MAX, LEAF_FILL, LEAF_MAX, type Keyed, type Node, buildTree, makeBranch, makeLeaf, mergeAround, ownNode, splitNode } from './tree-node.ts';

export type { Keyed } from './tree-node.ts';

/** A run of entries: positions `from` ≤ i < `to` of an immutable array that is shared (===) by all versions holding it. */
export interface Chunk<E> {
  readonly chunk: readonly E[];
  readonly from: number;
  readonly to: number;
}

/** Position of the first entry whose key is not before `key`. */
function lowerBound<E extends Keyed>(items: readonly E[], key: string, exact: boolean = needsByteOrder(key)): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = (items[middle] as E).key;
    if (exact ? compareKeys(at, key) < 0 : at < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Position of the child that holds `key` if any does: the last whose first key is not after it. */
function findChild<E extends Keyed>(children: readonly Node<E>[], key: string, exact: boolean = needsByteOrder(key)): number {
  let low = 1;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const first = (children[middle] as Node<E>).first;
    if (exact ? compareKeys(first, key) <= 0 : first <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function findEntry<E extends Keyed>(root: Node<E>, key: string): E | undefined {
  const exact = needsByteOrder(key);
  let node = root;
  while (node.children !== undefined) node = node.children[findChild(node.children, key, exact)] as Node<E>;
  const entry = node.items[lowerBound(node.items, key, exact)];
  return entry?.key === key ? entry : undefined;
}

/** Number of entries before `key`. */
function rankOf<E extends Keyed>(root: Node<E>, key: string): number {
  let rank = 0;
  let node = root;
  while (node.children !== undefined) {
    const index = findChild(node.children, key);
    for (let i = 0; i < index; i++) rank += (node.children[i] as Node<E>).size;
    node = node.children[index] as Node<E>;
  }
  return rank + lowerBound(node.items, key);
}

/** The children of a branch that are still to be walked through. Only the outermost nodes are searched: all of the others is inside the bounds. */
interface Level<E extends Keyed> {
  readonly children: readonly Node<E>[];
  readonly first: number;
  readonly last: number;
  readonly start: string | undefined;
  readonly end: string | undefined;
  index: number;
}

/**
 * Walks through the leaves inside bounds. Generators within generators, one for each node, doubled the time of a list whose label selects none of
 * 100,000 objects.
 */
class ChunkWalk<E extends Keyed> implements IterableIterator<Chunk<E>> {
  readonly #levels: Level<E>[];

  constructor(root: Node<E>, { start, end }: KeyBounds) {
    this.#levels = [{ children: [root], first: 0, last: 0, start, end, index: 0 }];
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Chunk<E>, undefined> {
    const levels = this.#levels;
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const { index, first, last } = level;
      if (index > last) {
        levels.pop();
        continue;
      }
      level.index = index + 1;
      const value = this.#enter(level.children[index] as Node<E>, index === first ? level.start : undefined, index === last ? level.end : undefined);
      if (value !== undefined) return { done: false, value };
    }
    return { done: true, value: undefined };
  }

  /** Answers the chunk of a leaf, where it has one; a branch is walked through next. */
  #enter({ children, items }: Node<E>, start: string | undefined, end: string | undefined): Chunk<E> | undefined {
    if (children === undefined) {
      const from = start === undefined ? 0 : lowerBound(items, start);
      const to = end === undefined ? items.length : lowerBound(items, end);
      return from < to ? { chunk: items, from, to } : undefined;
    }
    const first = start === undefined ? 0 : findChild(children, start);
    const last = end === undefined ? children.length - 1 : findChild(children, end);
    this.#levels.push({ children, first, last, start, end, index: first });
    return undefined;
  }
}

let lastOwner = 0;

/** A batch of changes that copies each node at most once. It starts from one version and gives another; neither sees the other's changes. */
export class SortedMapEdit<E extends Keyed> {
  #root: Node<E>;
  #owner = ++lastOwner;
  /** Right half of the node that the last insertion had to split. */
  #overflow: Node<E> | undefined;

  constructor(root: Node<E>) {
    this.#root = root;
  }

  get(key: string): E | undefined {
    return findEntry(this.#root, key);
  }

  /** Adds the entry, or replaces the one with the same key. */
  set(entry: E): void {
    const left = this.#insert(this.#root, entry);
    const right = this.#overflow;
    this.#overflow = undefined;
    this.#root = right === undefined ? left : makeBranch([left, right], this.#owner);
  }

  /** Removes the entry with this key; false when there is none. */
  delete(key: string): boolean {
    if (findEntry(this.#root, key) === undefined) return false;
    let root = this.#remove(this.#root, key);
    while (root.children !== undefined && root.children.length <= 1) root = root.children[0] ?? makeLeaf<E>([], this.#owner);
    this.#root = root;
    return true;
  }

  /** The version with all changes so far. Later changes of this edit go to a version of their own. */
  finish(): SortedMap<E> {
    this.#owner = ++lastOwner;
    return new SortedMap(this.#root);
  }

  #insert(node: Node<E>, entry: E): Node<E> {
    return node.children === undefined ? this.#insertIntoLeaf(node, entry) : this.#insertIntoBranch(node, entry);
  }

  #insertIntoLeaf(node: Node<E>, entry: E): Node<E> {
    const index = lowerBound(node.items, entry.key);
    const leaf = ownNode(node, this.#owner);
    if (leaf.items[index]?.key === entry.key) {
      leaf.items[index] = entry;
      return leaf;
    }
    leaf.items.splice(index, 0, entry);
    leaf.size = leaf.items.length;
    leaf.first = (leaf.items[0] as E).key;
    if (leaf.size > LEAF_MAX) this.#overflow = splitNode(leaf, index, this.#owner);
    return leaf;
  }

  #insertIntoBranch(node: Node<E>, entry: E): Node<E> {
    const branch = ownNode(node, this.#owner);
    const children = branch.children as Node<E>[];
    const index = findChild(children, entry.key);
    const before = (children[index] as Node<E>).size;
    const child = this.#insert(children[index] as Node<E>, entry);
    const right = this.#overflow;
    this.#overflow = undefined;
    children[index] = child;
    branch.size += child.size + (right?.size ?? 0) - before;
    branch.first = (children[0] as Node<E>).first;
    if (right === undefined) return branch;
    children.splice(index + 1, 0, right);
    if (children.length > BRANCH_MAX) this.#overflow = splitNode(branch, index + 1, this.#owner);
    return branch;
  }

  #remove(node: Node<E>, key: string): Node<E> {
    const owned = ownNode(node, this.#owner);
    owned.size--;
    if (owned.children === undefined) {
      owned.items.splice(lowerBound(owned.items, key), 1);
      owned.first = owned.items[0]?.key ?? '';
      return owned;
    }
    const index = findChild(owned.children, key);
    const child = this.#remove(owned.children[index] as Node<E>, key);
    owned.children[index] = child;
    if (child.size === 0) owned.children.splice(index, 1);
    else mergeAround(owned.children, index, this.#owner);
    owned.first = owned.children[0]?.first ?? '';
    return owned;
  }
}

/** One immutable version of the map. `set` and `delete` answer a new version in logarithmic time. */
export class SortedMap<E extends Keyed> {
  readonly #root: Node<E>;

  /** Use `createSortedMap`. */
  constructor(root: Node<E>) {
    this.#root = root;
  }

  get size(): number {
    return this.#root.size;
  }

  get(key: string): E | undefined {
    return findEntry(this.#root, key);
  }

  /** This map with the entry added, or put in place of the one with the same key. */
  set(entry: E): SortedMap<E> {
    const edit = this.edit();
    edit.set(entry);
    return edit.finish();
  }

  /** This map without the entry of that key; the same map when there is none. */
  delete(key: string): SortedMap<E> {
    const edit = this.edit();
    return edit.delete(key) ? edit.finish() : this;
  }

  /** Begins a batch of changes on top of this version, which itself stays as it is. */
  edit(): SortedMapEdit<E> {
    return new SortedMapEdit(this.#root);
  }

  /** Number of entries inside `bounds`, in logarithmic time. */
  count(bounds: KeyBounds): number {
    return Math.max(0, rankOf(this.#root, bounds.end) - rankOf(this.#root, bounds.start));
  }

  /** The entries inside `bounds` in key order, as runs of shared arrays; lazy, so that stopping early is cheap. */
  chunks(bounds: KeyBounds): Iterable<Chunk<E>> {
    return new ChunkWalk(this.#root, bounds);
  }

  /** The entries inside `bounds` in key order; lazy. */
  *entries(bounds: KeyBounds): Generator<E> {
    for (const { chunk, from, to } of new ChunkWalk(this.#root, bounds)) {
      for (let i = from; i < to; i++) yield chunk[i] as E;
    }
  }

  /** All entries in key order; lazy. */
  *[Symbol.iterator](): Generator<E> {
    const pending = [this.#root];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      yield* node.items;
      if (node.children !== undefined) pending.push(...node.children.toReversed());
    }
  }
}

/** Makes a map of entries that come a few at a time; what is computed from a leaf can begin before the rest has come. */
export class SortedMapBuilder<E extends Keyed> {
  readonly #leaves: Node<E>[] = [];
  #items: E[] = [];
  #last: string | undefined;

  /** Adds entries, in key order and after all before; answers the chunks of the map that are complete with them. */
  add(entries: readonly E[]): readonly (readonly E[])[] {
    const from = this.#leaves.length;
    for (const entry of entries) {
      invariant(this.#last === undefined || compareKeys(this.#last, entry.key) < 0, 'entries of a sorted map come in key order');
      this.#last = entry.key;
      if (this.#items.push(entry) === LEAF_FILL) this.#cut();
    }
    return this.#leaves.slice(from).map(({ items }) => items);
  }

  /** The map of all that was added. */
  finish(): SortedMap<E> {
    if (this.#items.length > 0 || this.#leaves.length === 0) this.#cut();
    return new SortedMap(buildTree(this.#leaves));
  }

  #cut(): void {
    this.#leaves.push(makeLeaf(this.#items, 0));
    this.#items = [];
  }
}

/** A map of `entries`, which must be in key order, each key once. Takes linear time. */
export function createSortedMap<E extends Keyed>(entries: readonly E[] = []): SortedMap<E> {
  const builder = new SortedMapBuilder<E>();
  builder.add(entries);
  return builder.finish();
}
