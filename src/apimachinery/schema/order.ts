// The order in which Go's encoder writes an object: fields as in their struct, keys of maps by bytes. Decoding yields it; defaults and the steps
// before a write add fields at the end.
import { compareKeys, sortKeys } from '../../base/index.ts';
import { operationOf, planOf } from './plan.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

/** A value with the fields of every struct in the order of the struct and the keys of every map by bytes; what is in order already is shared. */
export function inFieldOrder<T>(schema: Schema, value: T): T {
  return order(schema, value) as T;
}

function order(schema: Schema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  switch (operationOf(schema)) {
    case 'object': return Array.isArray(value) ? value : orderStruct(schema, value as Json);
    case 'map': return Array.isArray(value) ? value : orderMap(schema.items, value as Json);
    case 'array': return Array.isArray(value) ? orderItems(schema.items, value) : value;
    default: return value;
  }
}

function orderItems(items: Schema | undefined, list: readonly unknown[]): readonly unknown[] {
  if (items === undefined || typeof list[0] !== 'object') return list;
  let ordered: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = order(items, list[i]);
    if (item !== list[i]) (ordered ??= [...list])[i] = item;
  }
  return ordered ?? list;
}

function orderStruct(schema: Schema, object: Json): Json {
  const { fields, index } = planOf(schema);
  let last = -1;
  let isInOrder = true;
  let changed: Json | undefined;
  for (const name in object) {
    const at = index.get(name);
    if (at === undefined) continue;
    if (at < last) isInOrder = false;
    last = at;
    const value = object[name];
    if (typeof value !== 'object' || value === null) continue;
    const ordered = order((fields[at] as { readonly schema: Schema }).schema, value);
    if (ordered !== value) (changed ??= { ...object })[name] = ordered;
  }
  const values = changed ?? object;
  if (isInOrder) return values;
  const result: Json = {};
  for (const { name } of fields) if (values[name] !== undefined) result[name] = values[name];
  return { ...result, ...values };
}

function orderMap(items: Schema | undefined, map: Json): Json {
  let last: string | undefined;
  let isInOrder = true;
  let changed: Json | undefined;
  for (const key of Object.keys(map)) {
    if (last !== undefined && compareKeys(last, key) > 0) isInOrder = false;
    last = key;
    const value = map[key];
    const ordered = items === undefined ? value : order(items, value);
    if (ordered !== value && key !== '__proto__') (changed ??= { ...map })[key] = ordered;
  }
  const values = changed ?? map;
  return isInOrder ? values : Object.fromEntries(sortKeys(Object.keys(values)).map((key) => [key, values[key]]));
}
