// From sets of paths to values: laying one object over another, and taking paths out of an object.
import { isJsonObject } from '../../base/index.ts';
import type { Schema } from '../schema/schema.ts';
import { groupByElement, isEmpty } from './compare.ts';
import { FieldSet, type PathElement } from './field-set.ts';
import { deducedSchema, elementOfItem, ownValue, putKey, shapeOf } from './value.ts';
import { equalJson } from '../equal.ts';

/**
 * `over` laid on `base`: granular maps and keyed lists are merged, where null adds nothing to what holds something; everything else in `over` wins, null
 * too. What says the same as in `base` is that of `base`, so that the steps of a write pass over it.
 */
export function mergeValues(schema: Schema, base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (base === undefined || base === null) return over;
  const shape = shapeOf(schema, over ?? base);
  if (over === null) return shape.type === 'leaf' || isEmpty(base) ? over : base;
  if (shape.type === 'granular' && isJsonObject(base) && isJsonObject(over)) return mergeMaps(shape.child, base, over);
  const mergesItems = shape.type === 'keyed' || shape.type === 'set';
  if (mergesItems && Array.isArray(base) && Array.isArray(over)) return mergeLists(schema, base, over);
  return typeof over === 'object' && equalJson(base, over) ? base : over;
}

function mergeMaps(child: (key: string) => Schema | undefined, base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  let isSame = true;
  for (const key of Object.keys(base)) {
    const merged = mergeValues(child(key) ?? deducedSchema, base[key], ownValue(over, key));
    if (merged !== base[key]) isSame = false;
    if (merged !== undefined) putKey(out, key, merged);
  }
  for (const key of Object.keys(over)) {
    if (Object.hasOwn(base, key) || over[key] === undefined) continue;
    putKey(out, key, over[key]);
    isSame = false;
  }
  return isSame ? base : out;
}

/**
 * Items of both, those of `over` in its order; items that only `base` has keep their place relative to the shared items.
 * Worked example: base [a, x, b, y], over [b, a, n] → [x?] … the walk emits base-only items as it meets them and shared ones in the order of `over`.
 */
function mergeLists(list: Schema, base: readonly unknown[], over: readonly unknown[]): readonly unknown[] {
  const item = list.items as Schema;
  const [baseElements, overElements] = [base.map((v) => elementOfItem(list, v)), over.map((v) => elementOfItem(list, v))];
  const [bases, overs] = [groupByElement(baseElements, base), groupByElement(overElements, over)];
  const shared = overElements.filter((e) => bases.has(e));
  const done = new Set<PathElement>();
  const out: unknown[] = [];
  const emitShared = (element: PathElement): void => {
    done.add(element);
    const mine = bases.get(element);
    out.push(mergeValues(item, mine?.length === 1 ? mine[0] : undefined, overs.get(element)?.[0]));
  };
  let nextShared = 0;
  for (let b = 0, o = 0; b < base.length || o < over.length;) {
    const element = baseElements[b];
    if (element !== undefined && o < over.length && element === overElements[o]) {
      emitShared(element);
      [b, o, nextShared] = [b + 1, o + 1, nextShared + 1];
      continue;
    }
    if (element !== undefined && o < over.length && overs.has(element) && shared[nextShared] !== undefined && shared[nextShared] !== element) {
      b++;
      continue;
    }
    if (element !== undefined && !overs.has(element)) {
      out.push(base[b++]);
      continue;
    }
    if (element !== undefined && done.has(element)) b++;
    if (o >= over.length) continue;
    const taken = overElements[o++] as PathElement;
    emitShared(taken);
    if (shared[nextShared] === taken) nextShared++;
  }
  return out.length === base.length && out.every((value, i) => value === base[i]) ? base : out;
}

/** The object without the paths of `remove` (and everything below them). A map or list that loses all it had becomes null. */
export function removeItems(schema: Schema, value: unknown, remove: FieldSet): unknown {
  if (remove.isEmpty) return value;
  const shape = shapeOf(schema, value);
  if (shape.type === 'leaf') return value;
  if (shape.type === 'granular') return isJsonObject(value) ? removeFromMap(shape.child, value, remove) : value;
  return Array.isArray(value) ? removeFromList(schema, value, remove) : value;
}

function removeFromMap(child: (key: string) => Schema | undefined, value: Record<string, unknown>, remove: FieldSet): unknown {
  const out: Record<string, unknown> = {};
  let kept = 0;
  for (const [key, inner] of Object.entries(value)) {
    const element = `f:${key}`;
    if (remove.holds(element)) continue;
    const below = remove.below(element);
    putKey(out, key, below ? removeItems(child(key) ?? deducedSchema, inner, below) : inner);
    kept++;
  }
  return kept > 0 || Object.keys(value).length === 0 ? out : null;
}

function removeFromList(list: Schema, items: readonly unknown[], remove: FieldSet): unknown {
  const out: unknown[] = [];
  for (const item of items) {
    const element = elementOfItem(list, item);
    if (remove.holds(element)) continue;
    const below = remove.below(element);
    out.push(below ? removeItems(list.items as Schema, item, below) : item);
  }
  return out.length > 0 || items.length === 0 ? out : null;
}

/** The set with every declared field on the way to a member made a member too, so that differences take whole branches along. */
export function withNamedFields(schema: Schema, set: FieldSet): FieldSet {
  const nodes = new Map<PathElement, { member: boolean; children: FieldSet | undefined }>();
  for (const [element, { member, children }] of set.nodes) {
    const inner = element[0] === 'f' ? schema.fields?.get(element.slice(2))?.schema ?? schema.items ?? deducedSchema : schema.items ?? deducedSchema;
    const named = element[0] === 'f' && schema.fields?.has(element.slice(2)) === true;
    nodes.set(element, { member: member || (named && children !== undefined), children: children && withNamedFields(inner, children) });
  }
  return new FieldSet(nodes);
}
