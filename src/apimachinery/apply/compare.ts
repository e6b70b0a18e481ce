// From values to sets of paths: what an object says (toFieldSet), and how one object differs from another (compare).
import { isJsonObject } from '../../base/index.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, FieldSetBuilder, type PathElement } from './field-set.ts';
import { type GranularShape, type Shape, deducedSchema, elementOfItem, ownValue, shapeOf } from './value.ts';
import { equalJson } from '../equal.ts';

/** Where two objects differ. Leaves and, for added and removed, everything above them that came or went with them. */
export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

/** Adds every path that `value` states below `at`; `self` adds the value's own path. */
function collect(schema: Schema, value: unknown, at: { below: () => FieldSetBuilder; self: () => void }): void {
  const shape = shapeOf(schema, value);
  if (shape.type === 'leaf' || value === null) return at.self();
  if (shape.type === 'granular') {
    if (isJsonObject(value)) collectMap(shape, value, at.below);
  } else if (Array.isArray(value)) collectList(schema, value, at.below);
}

function isEmptyMap(value: Record<string, unknown>): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}

function collectMap(shape: GranularShape, value: Record<string, unknown>, below: () => FieldSetBuilder): void {
  for (const key of Object.keys(value)) {
    const child = value[key];
    if (child === undefined) continue;
    const element = `f:${key}`;
    const set = below();
    const schema = shape.child(key) ?? deducedSchema;
    // Scalars of maps are most of what a wide object holds; nothing is below them.
    if (child === null || (typeof child !== 'object' && shapeOf(schema, child).type === 'leaf')) {
      set.add(element);
      continue;
    }
    collect(schema, child, { below: () => set.enter(element), self: () => set.add(element) });
    if ((isJsonObject(child) && isEmptyMap(child)) || !shape.declares(key)) set.add(element);
  }
}

function collectList(list: Schema, items: readonly unknown[], below: () => FieldSetBuilder): void {
  const groups = groupItems(list, items);
  for (const [element, group] of groups) {
    const set = below();
    set.add(element);
    if (group.length > 1) continue;
    collect(list.items as Schema, group[0], { below: () => set.enter(element), self: () => set.add(element) });
  }
}

const groupItems = (list: Schema, items: readonly unknown[]): Map<PathElement, unknown[]> =>
  groupByElement(items.map((item) => elementOfItem(list, item)), items);

/** Items by element, in order of first appearance; more than one item means duplicates, which are owned as a whole. */
export function groupByElement(elements: readonly PathElement[], items: readonly unknown[]): Map<PathElement, unknown[]> {
  const groups = new Map<PathElement, unknown[]>();
  for (let index = 0; index < items.length; index += 1) {
    const element = elements[index] as PathElement;
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [items[index]]);
    else group.push(items[index]);
  }
  return groups;
}

/** Every path that the object states: what an applier of it owns. */
export function toFieldSet(schema: Schema, value: unknown): FieldSet {
  const root = new FieldSetBuilder();
  collect(schema, value, { below: () => root, self: () => {} });
  return root.build();
}

/** Lists inside of so many others are compared item by item at once: an object must not be read once for each of its levels. */
const SHORTCUT_DEPTH = 4;

class Comparer {
  readonly added = new FieldSetBuilder();
  readonly removed = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly #path: PathElement[] = [];
  #listDepth = 0;

  /** Compares two values at the path so far (empty for the root, which is never reported itself). */
  compare(schema: Schema, left: unknown, right: unknown): void {
    if (left === undefined && right === undefined) return;
    const leftShape = left === undefined ? undefined : shapeOf(schema, left);
    const rightShape = right === undefined ? undefined : shapeOf(schema, right);
    const shape = (leftShape ?? rightShape) as Shape;
    const differ = leftShape !== undefined && rightShape !== undefined && leftShape.type !== rightShape.type;
    if (differ && schema.format !== 'raw') return this.#compareShapes(left, right);
    if (shape.type === 'leaf' || differ || (isEmpty(left) && isEmpty(right))) return this.#reportLeaf(left, right);
    if (shape.type === 'granular') this.#compareMaps(shape, asMap(left), asMap(right));
    else this.#compareLists(schema, asList(left), asList(right));
    if (left === undefined) addPath(this.added, this.#path);
    else if (right === undefined) addPath(this.removed, this.#path);
  }

  /**
   * An untyped value that became a map, or was one: the members of the map came or left, beside the value itself, unless that was null. Raw values of
   * built-in kinds (`data` of a ControllerRevision, null where there is none yet) change as a whole.
   */
  #compareShapes(left: unknown, right: unknown): void {
    const isWhole = (left !== null && right !== null) || (isEmpty(left) && isEmpty(right));
    if (isWhole) this.#reportLeaf(left, right);
    this.#compareMaps(shapeOf(deducedSchema, {}) as GranularShape, asMap(left), asMap(right));
  }

  #reportLeaf(left: unknown, right: unknown): void {
    if (left === undefined) addPath(this.added, this.#path);
    else if (right === undefined) addPath(this.removed, this.#path);
    else if (!equalJson(left, right)) addPath(this.modified, this.#path);
  }

  #compareMaps(shape: GranularShape, left: Record<string, unknown>, right: Record<string, unknown>): void {
    for (const key in left) {
      if (!Object.hasOwn(left, key)) continue;
      const other = ownValue(right, key);
      if (left[key] === other) continue;
      this.#path.push(`f:${key}`);
      this.compare(shape.child(key) ?? deducedSchema, left[key], other);
      this.#path.pop();
    }
    for (const key in right) {
      if (!Object.hasOwn(right, key) || Object.hasOwn(left, key)) continue;
      this.#path.push(`f:${key}`);
      this.compare(shape.child(key) ?? deducedSchema, undefined, right[key]);
      this.#path.pop();
    }
  }

  /** Most updates leave most lists as they are: equal ones are recognised without their keys, in the outer lists at least. */
  #compareLists(list: Schema, left: readonly unknown[], right: readonly unknown[]): void {
    if (this.#listDepth < SHORTCUT_DEPTH && equalJson(left, right)) return;
    this.#listDepth += 1;
    const lefts = groupItems(list, left);
    const rights = groupItems(list, right);
    for (const [element, group] of lefts) this.#compareItems(list, element, { left: group, right: rights.get(element) });
    for (const [element, group] of rights) if (!lefts.has(element)) this.#compareItems(list, element, { left: undefined, right: group });
    this.#listDepth -= 1;
  }

  /** Doubles are owned as a whole: an item that gets a double loses its owners below, and gets them back when the double is removed. */
  #compareItems(list: Schema, element: PathElement, { left, right }: { readonly left: unknown[] | undefined; readonly right: unknown[] | undefined }): void {
    const items = list.items as Schema;
    const [hadDouble, hasDouble] = [(left?.length ?? 0) > 1, (right?.length ?? 0) > 1];
    this.#path.push(element);
    if (hadDouble && hasDouble) this.#reportLeaf(left, right);
    else this.compare(items, hadDouble ? undefined : left?.[0], hasDouble ? undefined : right?.[0]);
    if (hadDouble && !hasDouble) addPath(this.removed, this.#path);
    if (hasDouble && !hadDouble) addPath(this.added, this.#path);
    this.#path.pop();
  }
}

/** Two values that are both empty (or absent) are compared, and merged, as a whole, so that an empty list differs from none. */
export const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) ? value.length === 0 : isJsonObject(value) && isEmptyMap(value));
const asMap = (value: unknown): Record<string, unknown> => (isJsonObject(value) ? value : {});
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function addPath(builder: FieldSetBuilder, path: readonly PathElement[]): void {
  if (path.length === 0) return;
  let at = builder;
  for (let i = 0; i < path.length - 1; i++) at = at.enter(path[i] as PathElement);
  at.add(path.at(-1) as PathElement);
}

/** How `right` differs from `left`, path by path. */
export function compareObjects(schema: Schema, left: unknown, right: unknown): Comparison {
  const comparer = new Comparer();
  comparer.compare(schema, left, right);
  return { added: comparer.added.build(), removed: comparer.removed.build(), modified: comparer.modified.build() };
}
