// Selections: fields of objects and entries of maps, through optionals too.
import { CelError, CelList, CelMap, CelOptional, Failure, type Value, noSuchOverload, noneOptional } from '../values/values.ts';

/** A field of an object, or the entry of a map. */
export function selectField(value: Value, field: string): Value {
  if (value instanceof CelMap) {
    const found = value.find(field);
    return found === undefined ? new CelError(`no such key: ${field}`) : found;
  }
  if (value instanceof CelOptional) return value.value === undefined ? value : selectOptional(value.value, field);
  // As in cel-go, null and scalars behind a dynamic type have no keys at all.
  return value instanceof CelList || value instanceof Failure ? noSuchOverload : new CelError(`no such key: ${field}`);
}

/** `value.?field`: none where the field is absent. */
export function selectOptional(value: Value, field: string): Value {
  if (value instanceof CelOptional) return value.value === undefined ? value : selectOptional(value.value, field);
  if (!(value instanceof CelMap)) return noSuchOverload;
  const found = hasKey(value, field) ? value.find(field) : undefined;
  if (found instanceof Failure || found instanceof CelOptional) return found;
  return found === undefined ? noneOptional : new CelOptional(found);
}

/** Objects of a schema do not have the fields that are null. */
function hasKey(map: CelMap, field: string): boolean {
  return 'hasField' in map ? (map as unknown as { hasField(name: string): boolean }).hasField(field) : map.find(field) !== undefined;
}

/** `has(value.field)`. */
export function hasField(value: Value, field: string): Value {
  if (value instanceof Failure) return value;
  if (value instanceof CelMap) return hasKey(value, field);
  if (value instanceof CelOptional) return value.value === undefined ? false : hasField(value.value, field);
  return value instanceof CelList ? noSuchOverload : false;
}
