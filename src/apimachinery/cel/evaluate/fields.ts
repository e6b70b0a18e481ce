// Fields, keys and indexes: the part of a value that each of them reads.
import { CelDouble, CelError, CelList, CelMap, CelOptional, CelUint, Failure, type Value, typeOf } from '../values/values.ts';

/** A field of an object, the entry of a map, the element of a list. */
export function qualify(value: Value, key: Value): Value {
  if (value instanceof CelOptional) return value.value === undefined ? value : qualify(value.value, key);
  if (value instanceof CelMap) return present(value.find(key), 'no such key', key);
  if (value instanceof CelList) return present(elementAt(value, key), 'index out of bounds', key);
  // As in cel-go, null and scalars behind a dynamic type have no keys at all.
  return value instanceof Failure ? value : new CelError(`no such key: ${showKey(key)}`);
}

const present = (found: Value | undefined, problem: string, key: Value): Value => (found === undefined ? new CelError(`${problem}: ${showKey(key)}`) : found);

/** The same where it is there; undefined otherwise. */
export function qualifyIfPresent(value: Value, key: Value): Value | undefined {
  if (value instanceof CelOptional) return value.value === undefined ? undefined : qualifyIfPresent(value.value, key);
  if (value instanceof CelMap) return typeof key === 'string' && !hasKey(value, key) ? undefined : value.find(key);
  if (value instanceof CelList) return elementAt(value, key);
  return value instanceof Failure ? value : undefined;
}

/** The element of a list, which takes whole numbers of all types. */
function elementAt(list: CelList, index: Value): Value | undefined {
  const at = typeof index === 'number' || typeof index === 'bigint' ? Number(index) : index instanceof CelUint || index instanceof CelDouble
    ? Number(index.value) : undefined;
  if (at === undefined) return new CelError(`unsupported index type '${typeOf(index).name}' in list`);
  if (!Number.isInteger(at)) return new CelError(`unsupported index value ${showKey(index)} in list`);
  return at >= 0 && at < list.size ? list.get(at) : undefined;
}

const showKey = (key: Value): string => (key instanceof CelUint || key instanceof CelDouble ? String(key.value) : String(key));

/** Objects of a schema do not have the fields that are null. */
function hasKey(map: CelMap, field: string): boolean {
  return 'hasField' in map ? (map as unknown as { hasField(name: string): boolean }).hasField(field) : map.find(field) !== undefined;
}

/** `has(value.field)`. */
export function hasField(value: Value, field: string): Value {
  if (value instanceof Failure) return value;
  if (value instanceof CelMap) return hasKey(value, field);
  if (value instanceof CelOptional) return value.value === undefined ? false : hasField(value.value, field);
  return value instanceof CelList ? new CelError("unsupported index type 'string' in list") : false;
}
