// Readers of untyped objects. A stored object may hold anything, so every reader returns an empty value for a field of the wrong type.
import { isJsonObject } from '../../base/index.ts';
import type { JsonObject, JsonValue } from '../../apimachinery/index.ts';

/** The value of a cell. */
export type Cell = string | number | boolean | null;

/** Any value inside an object. */
type Value = JsonValue | undefined;

/** The value as an object; empty when it is anything else. */
export function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? (value as JsonObject) : {};
}

/** The value as a list; empty when it is anything else. */
export function toList(value: unknown): readonly JsonValue[] {
  return Array.isArray(value) ? (value as JsonValue[]) : [];
}

/** The list with every element read as an object. */
export function toObjects(value: unknown): readonly JsonObject[] {
  return toList(value).map(toObject);
}

/** The value as text; numbers (of int-or-string fields) are printed, anything else is ''. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : '';
}

/** A whole number of 64 bits as it came, zero when absent. */
export const toInteger = (value: unknown): number | bigint => (typeof value === 'bigint' ? value : toNumber(value));

/** The value as a number; 0 when it is anything else. */
export function toNumber(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : 0;
}

/** An own member of an object, or an element of a list; undefined when it is missing. */
export function ownMember(object: unknown, name: string | number): Value {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Record<string | number, Value>)[name];
}

/** The value at a path of own members; undefined when one of them is missing. */
export function readPath(object: unknown, ...path: readonly string[]): Value {
  let value: unknown = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value as Value;
}
