// The order in which Go's encoder writes an object: fields as in their struct, keys of maps by bytes. Decoding yields it; defaults and the steps
// before a write add fields at the end.
import { compareKeys, sortKeys } from '../../base/index.ts';
import { operationOf, planOf } from './plan.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

/**
 * A value with the fields of every struct in the order of the struct, without those that are undefined, and the keys of every map by bytes. Parts
 * that are so already are shared; what the value shares with `before`, in the same place, is so, and a struct with the same members becomes that.
 */
export function inFieldOrder<T>(schema: Schema, value: T, before?: unknown): T {
  return order(schema, value, before) as T;
}

function order(schema: Schema, value: unknown, before: unknown): unknown {
  if (typeof value !== 'object' || value === null || value === before) return value;
  switch (operationOf(schema)) {
    case 'object': return Array.isArray(value) ? value : orderStruct(schema, value as Json, before);
    case 'map': return Array.isArray(value) ? value : orderMap(schema.items, value as Json);
    case 'array': return Array.isArray(value) ? orderItems(schema.items, value, before) : value;
    default: return value;
  }
}

function orderItems(items: Schema | undefined, list: readonly unknown[], before: unknown): readonly unknown[] {
  if (items === undefined || typeof list[0] !== 'object') return list;
  const known: readonly unknown[] = Array.isArray(before) ? before : [];
  let ordered: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = order(items, list[i], known[i]);
    if (item !== list[i]) (ordered ??= [...list])[i] = item;
  }
  return ordered ?? list;
}

function orderStruct(schema: Schema, object: Json, before: unknown): Json {
  const { fields, index } = planOf(schema);
  const known = typeof before === 'object' ? before as Json | null : null;
  let last = -1;
  let isInOrder = true;
  let isSame = known !== null;
  let count = 0;
  let changed: Json | undefined;
  for (const name in object) {
    const at = index.get(name);
    if (at === undefined) {
      isSame = false;
      continue;
    }
    if (at < last) isInOrder = false;
    last = at;
    const value = object[name];
    if (value === undefined) isInOrder = false;
    else count += 1;
    const old = known?.[name];
    const ordered = typeof value === 'object' && value !== null ? order((fields[at] as { readonly schema: Schema }).schema, value, old) : value;
    if (ordered !== old) isSame = false;
    if (ordered !== value) (changed ??= { ...object })[name] = ordered;
  }
  if (isSame && known !== null && countMembers(known) === count) return known;
  const values = changed ?? object;
  if (isInOrder) return values;
  const result: Json = {};
  for (const { name } of fields) if (values[name] !== undefined) result[name] = values[name];
  for (const name in values) if (values[name] !== undefined && !index.has(name)) result[name] = values[name];
  return result;
}

function countMembers(object: Json): number {
  let count = 0;
  for (const name in object) if (object[name] !== undefined) count += 1;
  return count;
}

function orderMap(items: Schema | undefined, map: Json): Json {
  let last: string | undefined;
  let isInOrder = true;
  let changed: Json | undefined;
  for (const key of Object.keys(map)) {
    if (last !== undefined && compareKeys(last, key) > 0) isInOrder = false;
    last = key;
    const value = map[key];
    const ordered = items === undefined ? value : order(items, value, undefined);
    if (ordered !== value && key !== '__proto__') (changed ??= { ...map })[key] = ordered;
  }
  const values = changed ?? map;
  return isInOrder ? values : Object.fromEntries(sortKeys(Object.keys(values)).map((key) => [key, values[key]]));
}
