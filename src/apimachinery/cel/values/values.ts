// Values at run time. Whole numbers are JS numbers while they are exact and bigints beyond; doubles and unsigned numbers have classes of
// their own, so that dynamic code can distinguish them. Failures are values, which && || and ?: can absorb.
import {
  CelType, anyOptionalType, boolType, bytesType, doubleType, durationType, dynListType, dynMapType, intType, metaType, nullType,
  stringType, timestampType, uintType,
} from './types.ts';
import { runeCount } from './runes.ts';

/** Everything that an expression can be worth. */
export type Value =
  | null | boolean | number | bigint | string | Uint8Array | CelDouble | CelUint | CelTimestamp | CelDuration | CelList | CelMap | CelOptional
  | CelOpaque | CelType | Failure;

/** The largest int. */
export const MAX_INT64 = 2n ** 63n - 1n;
/** The smallest int. */
export const MIN_INT64 = -(2n ** 63n);
/** The largest uint. */
export const MAX_UINT64 = 2n ** 64n - 1n;

/** An integer in its smallest representation. */
export function narrowInt(value: bigint): number | bigint {
  return value <= 9007199254740991n && value >= -9007199254740991n ? Number(value) : value;
}

/** A double; whole numbers are JS numbers, so it has a class of its own. */
export class CelDouble {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A uint. */
export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** An instant, with the offset of the zone it was written in, which only printing shows. */
export class CelTimestamp {
  readonly seconds: number;
  readonly nanos: number;
  readonly offsetSeconds: number;

  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetSeconds = offsetSeconds;
  }
}

/** A span in nanoseconds, of 64 bits. */
export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A list of any representation. */
export abstract class CelList {
  abstract readonly size: number;
  abstract get(index: number): Value;

  /** Concatenation; lists that are sets or maps of a schema merge instead. */
  concat(other: CelList): CelList {
    const items = this.toArray();
    for (let i = 0; i < other.size; i++) items.push(other.get(i));
    return new ArrayList(items);
  }

  toArray(): Value[] {
    const items: Value[] = [];
    for (let i = 0; i < this.size; i++) items.push(this.get(i));
    return items;
  }
}

/** A list of values that are there already. */
export class ArrayList extends CelList {
  readonly items: Value[];

  constructor(items: Value[]) {
    super();
    this.items = items;
  }

  get size(): number {
    return this.items.length;
  }

  get(index: number): Value {
    return this.items[index]!;
  }

  override toArray(): Value[] {
    return [...this.items];
  }
}

/** A map, or an object with fields, of any representation. */
export abstract class CelMap {
  abstract readonly size: number;
  abstract find(key: Value): Value | undefined;
  abstract keys(): readonly Value[];

  /** Type at run time; objects of a schema have their own. */
  get type(): CelType {
    return dynMapType;
  }
}

/** What a map is asked by. */
export type MapKey = string | number | boolean | bigint;

/** What a key is filed under: numbers of all types that are equal are one key. Undefined for what cannot be a key. */
export function mapKeyOf(key: Value): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' || typeof key === 'bigint') return key;
  if (key instanceof CelUint) return narrowInt(key.value);
  if (!(key instanceof CelDouble) || Number.isNaN(key.value)) return undefined;
  return Number.isInteger(key.value) ? narrowInt(BigInt(key.value)) : key.value;
}

/** A map of values that are there already. */
export class EntryMap extends CelMap {
  readonly entries: Map<MapKey, readonly [Value, Value]>;
  #keys: readonly Value[] = [];

  constructor(entries: Map<MapKey, readonly [Value, Value]>) {
    super();
    this.entries = entries;
  }

  get size(): number {
    return this.entries.size;
  }

  find(key: Value): Value | undefined {
    const filed = mapKeyOf(key);
    return filed === undefined ? undefined : this.entries.get(filed)?.[1];
  }

  /** Listed once for each size: a map only grows. */
  keys(): readonly Value[] {
    if (this.#keys.length !== this.entries.size) this.#keys = Array.from(this.entries.values(), (entry) => entry[0]);
    return this.#keys;
  }
}

/** A value that may be absent. */
export class CelOptional {
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** The optional without a value. */
export const noneOptional = new CelOptional(undefined);

/** A value of a library: its type says which. */
export abstract class CelOpaque {
  abstract readonly type: CelType;

  /** Equality with a value of the same type. */
  abstract equals(other: CelOpaque): boolean;
}

/** What stops an evaluation unless && || or ?: absorb it. */
export abstract class Failure {}

/** A failure that an expression meets by itself, and that logic may absorb. */
export class CelError extends Failure {
  readonly message: string;

  constructor(message: string) {
    super();
    this.message = message;
  }
}

/** No signature fits the arguments. */
export const noSuchOverload = new CelError('no such overload');
/** A result that is no int. */
export const integerOverflow = new CelError('integer overflow');

/** The type of a value at run time. */
export function typeOf(value: Value): CelType {
  switch (typeof value) {
    case 'boolean': return boolType;
    case 'number': case 'bigint': return intType;
    case 'string': return stringType;
    default: return value === null ? nullType : typeOfObject(value);
  }
}

function typeOfObject(value: Exclude<Value, null | boolean | number | bigint | string>): CelType {
  if (value instanceof CelList) return dynListType;
  if (value instanceof CelMap || value instanceof CelOpaque) return value.type;
  if (value instanceof CelDouble) return doubleType;
  if (value instanceof CelUint) return uintType;
  if (value instanceof CelTimestamp) return timestampType;
  if (value instanceof CelDuration) return durationType;
  if (value instanceof CelOptional) return anyOptionalType;
  if (value instanceof Uint8Array) return bytesType;
  return value instanceof CelType ? metaType : nullType;
}

/** Size as costs and `size()` count it; 1 for what has none. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return runeCount(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}
