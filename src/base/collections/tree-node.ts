// The nodes of the sorted map's B+tree, and how they are copied, split, merged and built. Leaves all have the same depth.
// A node may be changed only by the edit that made it (`owner`); everybody else copies it first.

/** What the map holds: anything that carries its own key. */
export interface Keyed {
  readonly key: string;
}

/** A leaf (`items`) or a branch (`children`); one shape for both, which keeps property access fast. */
export interface Node<E extends Keyed> {
  items: E[];
  children: Node<E>[] | undefined;
  /** Smallest key below; '' for an empty leaf. */
  first: string;
  /** Entries below. */
  size: number;
  owner: number;
}

/** Entries in a leaf; large enough that work cached per leaf pays, small enough that copying one costs under a microsecond. */
export const LEAF_MAX = 96;
/** Entries in a leaf that is made whole: some can come in between before it is split. */
export const LEAF_FILL = LEAF_MAX * 0.75;
/** Children of a branch. */
export const BRANCH_MAX = 32;

const noItems: never[] = [];

/** A leaf of these entries, which it keeps. */
export function makeLeaf<E extends Keyed>(items: E[], owner: number): Node<E> {
  return { items, children: undefined, first: items[0]?.key ?? '', size: items.length, owner };
}

/** A branch of these children (at least one), which it keeps. */
export function makeBranch<E extends Keyed>(children: Node<E>[], owner: number): Node<E> {
  let size = 0;
  for (const child of children) size += child.size;
  return { items: noItems, children, first: children[0]?.first ?? '', size, owner };
}

/** The node itself when `owner` made it, else a copy that `owner` may change. */
export function ownNode<E extends Keyed>(node: Node<E>, owner: number): Node<E> {
  if (node.owner === owner) return node;
  const { children, first, size } = node;
  return { items: children === undefined ? node.items.slice() : noItems, children: children?.slice(), first, size, owner };
}

/**
 * Cuts an overfull, owned node and answers the right part. Appending leaves three quarters behind, so that keys written in
 * order fill leaves well; never less than a quarter moves to the right, so that keys written in reverse cannot make leaves of one entry.
 */
export function splitNode<E extends Keyed>(node: Node<E>, insertedAt: number, owner: number): Node<E> {
  const { children, items } = node;
  const length = children?.length ?? items.length;
  const cut = insertedAt === length - 1 ? Math.ceil(length * 0.75) : length >>> 1;
  const right = children === undefined ? makeLeaf(items.splice(cut), owner) : makeBranch(children.splice(cut), owner);
  node.size -= right.size;
  return right;
}

function widthOf<E extends Keyed>(node: Node<E>): number {
  return node.children?.length ?? node.items.length;
}

function joinNodes<E extends Keyed>(pair: readonly [Node<E>, Node<E>], owner: number): Node<E> {
  const [left, right] = pair;
  if (left.children === undefined) return makeLeaf([...left.items, ...right.items], owner);
  return makeBranch([...left.children, ...(right.children ?? [])], owner);
}

/** Joins the child at `index` with a neighbour when it has become small and both together stay below three quarters. */
export function mergeAround<E extends Keyed>(children: Node<E>[], index: number, owner: number): void {
  const child = children[index] as Node<E>;
  const max = child.children === undefined ? LEAF_MAX : BRANCH_MAX;
  if (widthOf(child) > max / 4) return;
  for (const left of [index - 1, index]) {
    const pair = [children[left], children[left + 1]] as const;
    if (pair[0] === undefined || pair[1] === undefined || widthOf(pair[0]) + widthOf(pair[1]) > max * 0.75) continue;
    children.splice(left, 2, joinNodes([pair[0], pair[1]], owner));
    return;
  }
}

/** Groups of nearly equal size, each at most three quarters of `max`. */
function cutEvenly<T>(all: readonly T[], max: number): T[][] {
  const groups = Math.max(1, Math.ceil(all.length / (max * 0.75)));
  return Array.from({ length: groups }, (_, i) => all.slice(Math.floor((i * all.length) / groups), Math.floor(((i + 1) * all.length) / groups)));
}

/** The tree above leaves that are in key order; at least one. */
export function buildTree<E extends Keyed>(leaves: readonly Node<E>[]): Node<E> {
  let level: readonly Node<E>[] = leaves;
  while (level.length > 1) level = cutEvenly(level, BRANCH_MAX).map((children) => makeBranch(children, 0));
  return level[0] as Node<E>;
}
