// Lists: Kubernetes' sum, min, max, isSorted and indexOf, cel-go's slice, sort, flatten, distinct, range and reverse, and sets.
import { compareKeys } from '../../../base/index.ts';
import { compareValues, containsValue, equalValues, indexOfValue } from '../values/compare.ts';
import { type FunctionDeclaration, type Library, type Overload, declare, method, metered, overload } from '../check/environment.ts';
import { type Meter, VISIT_WORK } from '../values/meter.ts';
import { ExprBuilder, type Macro, MacroError, macroKey, standardMacros } from '../parse/macros.ts';
import { addInts, makeUint } from '../values/numbers.ts';
import { addDuration, makeDuration } from '../values/time.ts';
import {
  type CelType, boolType, bytesType, doubleType, durationType, dynType, intType, listOf, paramType, stringType, timestampType, uintType,
} from '../values/types.ts';
import {
  ArrayList, CelDouble, CelDuration, CelError, CelList, CelTimestamp, CelUint, Failure, type MapKey, type Value, mapKeyOf, noSuchOverload, typeOf,
} from '../values/values.ts';

const t = paramType('T');
const listT = listOf(t);
const comparable: readonly CelType[] = [intType, uintType, doubleType, boolType, durationType, timestampType, stringType, bytesType];
const summable: readonly (readonly [CelType, Value])[] = [
  [intType, 0], [uintType, new CelUint(0n)], [doubleType, new CelDouble(0)], [durationType, new CelDuration(0n)],
];

function eachComparable(make: (type: CelType) => Overload): Overload[] {
  return comparable.map(make);
}

function isSorted(list: CelList): Value {
  for (let i = 1; i < list.size; i++) {
    const order = compareValues(list.get(i - 1), list.get(i));
    if (order === undefined) return noSuchOverload;
    if (order > 0) return false;
  }
  return true;
}

function extreme(name: string, wanted: -1 | 1): (list: CelList) => Value {
  return (list) => {
    if (list.size === 0) return new CelError(`${name} called on empty list`);
    let best = list.get(0);
    for (let i = 1; i < list.size; i++) {
      const order = compareValues(list.get(i), best);
      if (order === undefined) return noSuchOverload;
      if (order * wanted > 0) best = list.get(i);
    }
    return best;
  };
}

function add(a: Value, b: Value): Value {
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value + b.value);
  if (a instanceof CelUint && b instanceof CelUint) return makeUint(a.value + b.value);
  if (a instanceof CelDuration && b instanceof CelDuration) return makeDuration(a.nanos + b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelDuration) return addDuration(a, b.nanos);
  return typeof a === 'object' || typeof b === 'object' ? noSuchOverload : addInts(a as number, b as number);
}

function sum(zero: Value): (list: CelList) => Value {
  return (list) => {
    let total = zero;
    for (let i = 0; i < list.size; i++) {
      total = add(total, list.get(i));
      if (total instanceof Failure) return total;
    }
    return total;
  };
}

const indexOf = metered((meter, list: CelList, value: Value) => indexOfValue(list, value, meter));

const lastIndexOf = metered((meter, list: CelList, value: Value) => {
  for (let i = list.size - 1; i >= 0; i--) {
    meter.work(VISIT_WORK);
    if (equalValues(list.get(i), value, meter)) return i;
  }
  return -1;
});

/** Kubernetes' list functions, of all versions. */
export const kubernetesListsLibrary: Library = {
  functions: [
    declare('isSorted', ...eachComparable((type) => method(`list_${type.name}_is_sorted_bool`, [listOf(type)], [boolType, isSorted]))),
    declare('sum', ...summable.map(([type, zero]) => method(`list_${type.name}_sum_${type.name}`, [listOf(type)], [type, sum(zero)]))),
    declare('max', ...eachComparable((type) => method(`list_${type.name}_max_${type.name}`, [listOf(type)], [type, extreme('max', 1)]))),
    declare('min', ...eachComparable((type) => method(`list_${type.name}_min_${type.name}`, [listOf(type)], [type, extreme('min', -1)]))),
    declare('indexOf', method('list_a_index_of_int', [listT, t], [intType, indexOf])),
    declare('lastIndexOf', method('list_a_last_index_of_int', [listT, t], [intType, lastIndexOf])),
  ],
};

function slice(list: CelList, start: number, end: number): Value {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return new CelError(`${call}, negative indexes not supported`);
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`);
  if (list.size < end) return new CelError(`${call}, list is length ${list.size}`);
  const items: Value[] = [];
  for (let i = start; i < end; i++) items.push(list.get(i));
  return new ArrayList(items);
}

const flatten = metered((meter, list: CelList, depth = 1): Value => {
  if (depth < 0) return new CelError('level must be non-negative');
  const items: Value[] = [];
  flattenInto(items, { list, depth, meter });
  return new ArrayList(items);
});

function flattenInto(items: Value[], from: { list: CelList; depth: number; meter: Meter }): void {
  const { list, depth, meter } = from;
  for (let i = 0; i < list.size; i++) {
    const item = list.get(i);
    meter.work(VISIT_WORK);
    if (item instanceof CelList && depth > 0) flattenInto(items, { list: item, depth: depth - 1, meter });
    else items.push(item);
  }
}

function sortBy(list: CelList, keys: CelList): Value {
  if (list.size !== keys.size) return new CelError(`@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`);
  if (list.size === 0) return list;
  const pairs = list.toArray().map((item, i) => ({ item, key: keys.get(i) }));
  const type = typeOf(pairs[0]!.key);
  if (compareValues(pairs[0]!.key, pairs[0]!.key) === undefined) return new CelError('list elements must be comparable');
  if (pairs.some(({ key }) => typeOf(key) !== type)) return new CelError('list elements must have the same type');
  pairs.sort((a, b) => (typeof a.key === 'string' ? compareKeys(a.key, b.key as string) : compareValues(a.key, b.key)!));
  return new ArrayList(pairs.map(({ item }) => item));
}

/** Plain values are looked up; others are compared with all that are kept. */
const distinct = metered((meter, list: CelList): Value => {
  const seen = new Set<MapKey>();
  const others: Value[] = [];
  const kept = list.toArray().filter((item) => {
    const key = mapKeyOf(item);
    if (key !== undefined) return seen.has(key) ? false : (seen.add(key), true);
    return containsValue(new ArrayList(others), item, meter) ? false : (others.push(item), true);
  });
  return new ArrayList(kept);
});

const MAX_RANGE = 1_000_000;

function range(count: number | bigint): Value {
  if (count > MAX_RANGE) return new CelError(`range is limited to ${MAX_RANGE} elements`);
  return new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_, i) => i));
}

const mapMacro = new Map(standardMacros).get(macroKey('map', 2, true))!;
const NOT_SORTED = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression';
const SORT_INPUT = '@__sortBy_input__';

/** list.sortBy(v, key): the list in the order of the keys. */
const sortByMacro: Macro = (helper, { id, target, args }) => {
  if (target!.type === 'map' || target!.type === 'struct' || target!.type === 'literal') throw new MacroError(target!.id, NOT_SORTED);
  const build = new ExprBuilder(helper, { id });
  const keys = mapMacro(helper, { id, name: 'map', target: build.ident(SORT_INPUT), args })!;
  return build.bind(SORT_INPUT, target!, build.memberCall(build.ident(SORT_INPUT), '@sortByAssociatedKeys', keys));
};

const sorting: readonly FunctionDeclaration[] = [
  declare('sort', ...eachComparable((type) => method(`list_${type.name}_sort`, [listOf(type)], [listOf(type), (list: CelList) => sortBy(list, list)]))),
  declare('@sortByAssociatedKeys', ...eachComparable((type) => method(`list_${type.name}_sortByAssociatedKeys`, [listT, listOf(type)], [listT, sortBy]))),
];

/** cel-go's list extension, version 3. */
export const listsLibrary: Library = {
  macros: [[macroKey('sortBy', 2, true), sortByMacro]],
  functions: [
    declare('slice', method('list_slice', [listT, intType, intType], [listT, slice])),
    declare('flatten', method('list_flatten', [listOf(listT)], [listT, flatten]), method('list_flatten_int', [listOf(dynType), intType], [listOf(dynType),
      flatten])),
    declare('lists.range', overload('lists_range', [intType], [listOf(intType), range])),
    declare('reverse', method('list_reverse', [listT], [listT, (list: CelList) => new ArrayList(list.toArray().reverse())])),
    declare('distinct', method('list_distinct', [listT], [listT, distinct])),
    ...sorting,
  ],
};

function containsAll(meter: Meter, list: CelList, part: CelList): boolean {
  for (let i = 0; i < part.size; i++) if (!containsValue(list, part.get(i), meter)) return false;
  return true;
}

function intersects(meter: Meter, a: CelList, b: CelList): boolean {
  for (let i = 0; i < a.size; i++) if (containsValue(b, a.get(i), meter)) return true;
  return false;
}

const equivalent = (meter: Meter, a: CelList, b: CelList): boolean => containsAll(meter, a, b) && containsAll(meter, b, a);

/** Lists as sets. */
export const setsLibrary: Library = {
  functions: [
    declare('sets.contains', overload('list_sets_contains_list', [listT, listT], [boolType, metered(containsAll)])),
    declare('sets.equivalent', overload('list_sets_equivalent_list', [listT, listT], [boolType, metered(equivalent)])),
    declare('sets.intersects', overload('list_sets_intersects_list', [listT, listT], [boolType, metered(intersects)])),
  ],
};
