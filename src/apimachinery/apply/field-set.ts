// A set of field paths, as managedFields stores it (FieldsV1): a tree whose edges are path elements.
//
//   { "f:data": { ".": {}, "f:k": {} } }   holds .data and .data.k
//
// A path element is kept in its written form: `f:name` (field), `k:{"name":"x"}` (item of a map list), `v:"x"` (item of a set), `i:3`.
import { BoundedCache, compareKeys, isJsonObject, needsByteOrder } from '../../base/index.ts';
import type { JsonObject } from '../object.ts';
import { formatGo } from '../patch/go-format.ts';

/** One step of a path in FieldsV1 form. */
export type PathElement = string;

interface Node {
  readonly member: boolean;
  readonly children: FieldSet | undefined;
}

/** The node of a path that ends: shared, because sets of many thousands consist of hardly anything else. */
const leaf: Node = Object.freeze({ member: true, children: undefined });
const nothing: JsonObject = Object.freeze({});

/** An immutable set of paths. All operations share what they do not change. */
export class FieldSet {
  readonly nodes: ReadonlyMap<PathElement, Node>;
  /** What encodeFieldSet made of this set. */
  encoded: JsonObject | undefined = undefined;
  constructor(nodes: ReadonlyMap<PathElement, Node>) {
    this.nodes = nodes;
  }

  get isEmpty(): boolean {
    return this.nodes.size === 0;
  }

  has(path: readonly PathElement[]): boolean {
    let set: FieldSet | undefined = this;
    for (let i = 0; i < path.length - 1; i++) set = set?.nodes.get(path[i] as PathElement)?.children;
    return set?.nodes.get(path.at(-1) as PathElement)?.member === true;
  }

  /** The part of the set below one element; undefined when there is none. */
  below(element: PathElement): FieldSet | undefined {
    return this.nodes.get(element)?.children;
  }

  holds(element: PathElement): boolean {
    return this.nodes.get(element)?.member === true;
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty || this === other) return other;
    if (other.isEmpty) return this;
    let nodes: Map<PathElement, Node> | undefined;
    for (const [element, theirs] of other.nodes) {
      const ours = this.nodes.get(element);
      const both = ours === undefined ? theirs : joinNodes(ours, theirs);
      if (both !== ours) (nodes ??= new Map(this.nodes)).set(element, both);
    }
    return nodes === undefined ? this : new FieldSet(nodes);
  }

  /** Paths in both. */
  intersection(other: FieldSet): FieldSet {
    return this.#combine(other, (ours, theirs) => theirs !== undefined && ours && theirs.member, (ours, theirs) => theirs && ours.intersection(theirs));
  }

  /** Paths in this set and not in the other; children of a removed path stay unless they are in the other themselves. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    return this.#combine(other, (ours, theirs) => ours && theirs?.member !== true, (ours, theirs) => (theirs ? ours.difference(theirs) : ours));
  }

  /** Like difference, but a path in the other set takes everything below it along. */
  differenceWithBelow(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    const nodes = new Map<PathElement, Node>();
    for (const [element, node] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs?.member) continue;
      putNode(nodes, element, { member: node.member, children: theirs?.children ? node.children?.differenceWithBelow(theirs.children) : node.children });
    }
    return new FieldSet(nodes);
  }

  #combine(other: FieldSet, keep: (ours: boolean, theirs: Node | undefined) => boolean,
    descend: (ours: FieldSet, theirs: FieldSet | undefined) => FieldSet | undefined): FieldSet {
    const nodes = new Map<PathElement, Node>();
    for (const [element, node] of this.nodes) {
      const theirs = other.nodes.get(element);
      putNode(nodes, element, { member: keep(node.member, theirs), children: node.children && descend(node.children, theirs?.children) });
    }
    return new FieldSet(nodes);
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.nodes.size !== other.nodes.size) return false;
    for (const [element, node] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined || theirs.member !== node.member) return false;
      if (!(node.children ?? emptySet).equals(theirs.children ?? emptySet)) return false;
    }
    return true;
  }

  /** All paths: those that end here, then those that go on, each in FieldsV1 order. */
  *paths(prefix: readonly PathElement[] = []): Iterable<PathElement[]> {
    const elements = sortElements(this.nodes.keys());
    for (const element of elements) if (this.holds(element)) yield [...prefix, element];
    for (const element of elements) yield* this.below(element)?.paths([...prefix, element]) ?? [];
  }
}

/** Both nodes as one; `ours` itself when theirs adds nothing. */
function joinNodes(ours: Node, theirs: Node): Node {
  const member = ours.member || theirs.member;
  const children = ours.children && theirs.children ? ours.children.union(theirs.children) : ours.children ?? theirs.children;
  return member === ours.member && children === ours.children ? ours : { member, children };
}

function putNode(nodes: Map<PathElement, Node>, element: PathElement, node: Node): void {
  const children = node.children?.isEmpty ? undefined : node.children;
  if (children !== undefined) nodes.set(element, { member: node.member, children });
  else if (node.member) nodes.set(element, leaf);
}

/** Holds the place of an element in the order of insertion until it is known whether a path leads through it. */
const placeholder: Node = Object.freeze({ member: false, children: undefined });

/** The set without paths. */
export const emptySet = new FieldSet(new Map());

/** Collects paths one by one, then becomes a FieldSet. Mirrors the walk that fills it: `enter` an element, add, leave. */
export class FieldSetBuilder {
  readonly #nodes = new Map<PathElement, Node>();
  readonly #below = new Map<PathElement, FieldSetBuilder>();

  add(element: PathElement): void {
    this.#nodes.set(element, leaf);
  }

  /** The builder of the paths below an element. */
  enter(element: PathElement): FieldSetBuilder {
    let below = this.#below.get(element);
    if (below === undefined) {
      this.#below.set(element, (below = new FieldSetBuilder()));
      if (!this.#nodes.has(element)) this.#nodes.set(element, placeholder);
    }
    return below;
  }

  /** The set; the builder is not used again. */
  build(): FieldSet {
    for (const [element, below] of this.#below) {
      const { member } = this.#nodes.get(element) as Node;
      const children = below.build();
      if (!children.isEmpty) this.#nodes.set(element, { member, children });
      else if (!member) this.#nodes.delete(element);
    }
    return this.#nodes.size === 0 ? emptySet : new FieldSet(this.#nodes);
  }
}

/** The set of the given paths. */
export function fieldSetOf(...paths: readonly (readonly PathElement[])[]): FieldSet {
  const root = new FieldSetBuilder();
  for (const path of paths) {
    let at = root;
    for (const element of path.slice(0, -1)) at = at.enter(element);
    at.add(path.at(-1) as PathElement);
  }
  return root.build();
}

const FIELD_KIND = 0x66;
const kindOrder = { f: 0, k: 1, v: 2, i: 3 } as Record<string, number>;

/** Orders elements as FieldsV1 writes them: fields by name, then keys, values, indices. */
function compareElements(a: PathElement, b: PathElement, valueOf: (element: PathElement) => unknown): number {
  const byKind = (kindOrder[a[0] as string] ?? 9) - (kindOrder[b[0] as string] ?? 9);
  if (byKind !== 0) return byKind;
  if (a[0] === 'f') return compareKeys(a, b);
  if (a[0] === 'i') return Number(a.slice(2)) - Number(b.slice(2));
  return compareJson(valueOf(a), valueOf(b));
}

const parseElement = (element: PathElement): unknown => JSON.parse(element.slice(2));
const typeRank = (value: unknown): number => ['boolean', 'number', 'string'].indexOf(typeof value);

function compareJson(a: unknown, b: unknown): number {
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    const [left, right] = [Object.entries(a), Object.entries(b)];
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      const [l, r] = [left[i] as [string, unknown], right[i] as [string, unknown]];
      const order = compareKeys(l[0], r[0]) || compareJson(l[1], r[1]);
      if (order !== 0) return order;
    }
    return left.length - right.length;
  }
  if (typeof a !== typeof b) return typeRank(a) - typeRank(b);
  if (typeof a === 'string') return compareKeys(a, b as string);
  return Number(a) - Number(b);
}

function sortByValues(list: PathElement[]): PathElement[] {
  // Each is parsed once: a sort compares an element of thirty ten times.
  const values = new Map<PathElement, unknown>();
  for (const element of list) if (element[0] === 'k' || element[0] === 'v') values.set(element, parseElement(element));
  return list.sort((a, b) => compareElements(a, b, (element) => values.get(element)));
}

/** Fields alone are sorted as texts, which takes a fifth of the time; texts beyond U+D7FF have another order there. */
function sortElements(elements: Iterable<PathElement>): PathElement[] {
  const list = [...elements];
  return list.every((element) => element.charCodeAt(0) === FIELD_KIND && !needsByteOrder(element)) ? list.sort() : sortByValues(list);
}

/** Writes a set as FieldsV1, elements in order. The same set gives the same object, which must not be changed. */
export function encodeFieldSet(set: FieldSet): JsonObject {
  const isNew = set.encoded === undefined;
  const fields = encodePart(set);
  if (isNew) knownSets.set(fields, set);
  return fields;
}

const encodePart = (set: FieldSet): JsonObject => (set.encoded ??= Object.freeze(writeFieldSet(set)));

/** Sets by their FieldsV1, which stay as they are: those of objects that are kept decoded are read without a look at their fields. */
const knownSets = new WeakMap<object, FieldSet>();

function writeFieldSet(set: FieldSet): JsonObject {
  const out: JsonObject = {};
  for (const element of sortElements(set.nodes.keys())) {
    const { member, children } = set.nodes.get(element) as Node;
    const inner = children ? encodePart(children) : nothing;
    out[element] = member && children ? { '.': {}, ...inner } : inner;
  }
  return out;
}

/** Reads FieldsV1; undefined when it is not. */
export function decodeFieldSet(fields: unknown): FieldSet | undefined {
  if (!isJsonObject(fields)) return undefined;
  const nodes = new Map<PathElement, Node>();
  for (const element of Object.keys(fields)) {
    if (element === '.') continue;
    const inner = (fields as Record<string, unknown>)[element];
    const children = isValidElement(element) ? decodeFieldSet(inner) : undefined;
    if (children === undefined) return undefined;
    putNode(nodes, element, { member: children.isEmpty || Object.hasOwn(inner as object, '.'), children });
  }
  return nodes.size === 0 ? emptySet : new FieldSet(nodes);
}

/** Sets that were read lately, by their text: most objects of a kind have the same owners of the same fields. */
const recentSets = new BoundedCache<string, FieldSet>({ limit: 1024 });
const LONGEST_TEXT = 2000;

/** Reads FieldsV1 as decodeFieldSet does; equal texts give the same set. */
export function readFieldSet(fields: unknown): FieldSet | undefined {
  if (typeof fields !== 'object' || fields === null) return undefined;
  const known = knownSets.get(fields);
  if (known !== undefined) return known;
  const set = readByText(fields);
  if (set !== undefined) knownSets.set(fields, set);
  return set;
}

function readByText(fields: object): FieldSet | undefined {
  const text = countNodes(fields, MAX_KEPT_NODES) > MAX_KEPT_NODES ? undefined : textOf(fields);
  if (text === undefined || text.length > LONGEST_TEXT) return decodeFieldSet(fields);
  const known = recentSets.get(text);
  if (known !== undefined) return known;
  const set = decodeFieldSet(fields);
  return set === undefined ? undefined : recentSets.set(text, set);
}

/** A set of more nodes has a text that is too long to be kept, and long to write. */
const MAX_KEPT_NODES = 300;

/** The number of keys at all levels; more than `limit` are not counted. */
function countNodes(fields: unknown, limit: number): number {
  if (typeof fields !== 'object' || fields === null) return 0;
  let count = 0;
  for (const key in fields) {
    count += 1 + countNodes((fields as Record<string, unknown>)[key], limit - count);
    if (count > limit) break;
  }
  return count;
}

/** undefined for what JSON.stringify cannot write: numbers beyond its own, for one. */
function textOf(fields: unknown): string | undefined {
  try {
    return JSON.stringify(fields);
  } catch {
    return undefined;
  }
}

function isValidElement(element: PathElement): boolean {
  if (element.startsWith('f:')) return true;
  if (!/^[kvi]:/.test(element)) return false;
  try {
    const value = parseElement(element);
    return element[0] !== 'k' || (typeof value === 'object' && value !== null);
  } catch {
    return false;
  }
}

/** The value of a key as the reference prints it: members of a map have nothing between them. */
function formatKey(value: unknown): string {
  if (typeof value === 'number') return formatGo(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(formatKey).join(',')}]`;
  return Object.entries(value).map(([name, inner]) => `${name}=${formatKey(inner)}`).join('');
}

/** A path for people: `.spec.containers[name="c"].args`, `.data.k`, `.list[="x"]`. */
export function formatPath(path: readonly PathElement[]): string {
  return path.map((element) => {
    const rest = element.slice(2);
    if (element[0] === 'f') return `.${rest}`;
    if (element[0] === 'i') return `[${rest}]`;
    if (element[0] === 'v') return `[=${rest}]`;
    return `[${Object.entries(parseElement(element) as object).map(([k, v]) => `${k}=${formatKey(v)}`).join(',')}]`;
  }).join('');
}
