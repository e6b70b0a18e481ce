// Equality and order across types: numbers compare by value whatever their type, other types only with their own.
import { compareKeys } from '../../../base/index.ts';
import { type Meter, TEXT_WORK, VISIT_WORK, unmetered } from './meter.ts';
import { CelType, sameType } from './types.ts';
import {
  CelDouble, CelDuration, CelError, CelList, CelMap, CelOpaque, CelOptional, CelTimestamp, CelUint, EntryMap, type Value,
} from './values.ts';

/** True when two values are equal; values of unrelated types are not. Lists and maps are compared element by element, each counted as work. */
export function equalValues(a: Value, b: Value, meter: Meter = unmetered): boolean {
  if (a === b && !(a instanceof CelList) && !(a instanceof CelMap)) return true;
  if (typeof a === 'string') return false;
  if (typeof a !== 'object' || a === null) return typeof a === 'number' || typeof a === 'bigint' ? compareNumbers(a, b) === 0 : false;
  if (a instanceof CelDouble || a instanceof CelUint) return compareNumbers(a, b) === 0;
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b, meter);
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b, meter);
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b, meter);
  if (a instanceof CelOptional) return b instanceof CelOptional && equalOptionals(a, b, meter);
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name;
  return a instanceof CelOpaque && b instanceof CelOpaque && sameType(a.type, b.type) && a.equals(b);
}

/** A list with an equality of its own: sets and maps of a schema. */
interface UnorderedList {
  equalsUnordered(other: CelList, meter: Meter): boolean;
}

/** An object with an equality of its own: fields that its schema does not know count. */
interface WithFields {
  equalsFields(other: CelMap, meter: Meter): boolean;
}

function equalLists(a: CelList, b: CelList, meter: Meter): boolean {
  if (a.size !== b.size) return false;
  if ('equalsUnordered' in a) return (a as unknown as UnorderedList).equalsUnordered(b, meter);
  for (let i = 0; i < a.size; i++) {
    meter.work(VISIT_WORK);
    if (!equalParts(a.get(i), b.get(i), meter)) return false;
  }
  return true;
}

/** Thrown where a part of a list or map has no value: what compares them gives its failure. */
export class UnfitPart extends Error {
  readonly failure: CelError;

  constructor(failure: CelError) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Whether parts of two values are equal. A part without a value fails; as the second, beside one that is no list and no map, it is not equal. */
export function equalParts(a: Value, b: Value, meter: Meter): boolean {
  if (a instanceof CelError) throw new UnfitPart(a);
  if (b instanceof CelError && (a instanceof CelList || a instanceof CelMap)) throw new UnfitPart(b);
  return equalValues(a, b, meter);
}

/** Whether two values are equal, or the failure that a part of them is. */
export function compareParts(a: Value, b: Value, meter: Meter): boolean | CelError {
  try {
    return equalValues(a, b, meter);
  } catch (error) {
    if (error instanceof UnfitPart) return error.failure;
    throw error;
  }
}

function equalMaps(a: CelMap, b: CelMap, meter: Meter): boolean {
  if ('equalsFields' in a) return (a as unknown as WithFields).equalsFields(b, meter);
  if (a.size !== b.size) return false;
  return a.keys().every((key) => {
    meter.work(VISIT_WORK);
    const other = b.find(key);
    return other !== undefined && equalParts(a.find(key)!, other, meter);
  });
}

function equalBytes(a: Uint8Array, b: Uint8Array, meter: Meter): boolean {
  if (a.length !== b.length) return false;
  meter.work(a.length * TEXT_WORK);
  return compareBytes(a, b) === 0;
}

function equalOptionals(a: CelOptional, b: CelOptional, meter: Meter): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equalValues(a.value, b.value, meter);
}

/** Order of two values: negative, zero, positive, NaN for doubles that have none; undefined when their types have no common order. */
export function compareValues(a: Value, b: Value): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string') return typeof b === 'string' ? compareKeys(a, b) : undefined;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp ? a.seconds - b.seconds || a.nanos - b.nanos : undefined;
  if (a instanceof CelDuration) return b instanceof CelDuration ? Number(a.nanos - b.nanos) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined;
  return compareNumbers(a, b);
}

function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof CelDouble || value instanceof CelUint ? value.value : undefined;
}

function compareNumbers(a: Value, b: Value): number | undefined {
  const left = numberOf(a);
  const right = numberOf(b);
  if (left === undefined || right === undefined) return undefined;
  if (Number.isNaN(left) || Number.isNaN(right)) return NaN;
  if (a instanceof CelDouble || b instanceof CelDouble) return compareDoubles(Number(left), Number(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Integers are compared with doubles as doubles, losing what a double cannot hold. */
const compareDoubles = (left: number, right: number): number => (left < right ? -1 : left > right ? 1 : 0);

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** Index of the first element that equals a value; -1 when there is none. Each comparison is counted as work. */
export function indexOfValue(list: CelList, value: Value, meter: Meter = unmetered): number {
  for (let i = 0; i < list.size; i++) {
    meter.work(VISIT_WORK);
    if (equalValues(list.get(i), value, meter)) return i;
  }
  return -1;
}

/** Whether a list has an element equal to a value. */
export const containsValue = (list: CelList, value: Value, meter: Meter = unmetered): boolean => indexOfValue(list, value, meter) >= 0;

/** A map with string keys. */
export function mapFrom(entries: Iterable<readonly [string, Value]>): CelMap {
  return new EntryMap(new Map(Array.from(entries, ([key, value]) => [key, [key, value] as const])));
}
