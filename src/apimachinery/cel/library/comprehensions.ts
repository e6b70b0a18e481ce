// Two-variable macros, and the function that their maps are collected with.
import { type Library, declare, overload } from '../check/environment.ts';
import { twoVariableMacros } from '../parse/macros.ts';
import { mapOf, paramType } from '../values/types.ts';
import { type CelMap, EntryMap, type MapKey, type Value, CelError, mapKeyOf } from '../values/values.ts';

const k = paramType('K');
const v = paramType('V');
const mapKV = mapOf(k, v);

function insert(map: CelMap, added: readonly (readonly [Value, Value])[]): Value {
  const entries = new Map<MapKey, readonly [Value, Value]>();
  for (const [key, value] of [...map.keys().map((key) => [key, map.find(key)!] as const), ...added]) {
    const id = mapKeyOf(key);
    if (id === undefined || entries.has(id)) return new CelError(`insert failed: key ${String(id)} already exists`);
    entries.set(id, [key, value]);
  }
  return new EntryMap(entries);
}

/** transformList, transformMap, and all, exists and existsOne with two variables. */
export const comprehensionsLibrary: Library = {
  macros: twoVariableMacros,
  functions: [declare('cel.@mapInsert',
    overload('@mapInsert_map_map', [mapKV, mapKV], [mapKV, (map: CelMap, more: CelMap) => insert(map, more.keys().map((key) => [key,
      more.find(key)!] as const))]),
    overload('@mapInsert_map_key_value', [mapKV, k, v], [mapKV, (map: CelMap, key: Value, value: Value) => insert(map, [[key, value]])]))],
};
