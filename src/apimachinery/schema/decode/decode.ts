// Untyped JSON to the object that Go's decoder would build and its encoder would write: fields in the struct's order, zero values of what
// has no omitempty, nulls gone, times, quantities and base64 canonical, unknown fields dropped and reported. Mirrors sigs.k8s.io/json: the first
// wrong type is reported at the end, an error of a type that decodes itself (times, quantities) at once, and so wins over earlier ones.
import { compareKeys, sortKeys } from '../../../base/index.ts';
import { canonicalizeQuantity } from '../../quantity.ts';
import { canonicalizeBase64 } from './base64.ts';
import { DecodeError, type Mismatch, describeJson, formatGoType, formatStrictError, kindOfGoType } from './error.ts';
import { type Operation, type Plan, type PlannedField, operationOf, planOf } from '../plan.ts';
import type { Schema } from '../schema.ts';
import { sortDeep } from './prune.ts';
import { canonicalizeMicroTime, canonicalizeTime, noteZeroTimes } from './time.ts';

interface DecodeOptions {
  /** Where the object is, for the paths of strict errors: `metadata` makes `unknown field "metadata.nick"`. */
  readonly at?: string;
  /** Paths of duplicate keys, as the JSON codec found them: reported in their place among the unknown fields, unless they are inside of raw data. */
  readonly duplicates?: readonly string[];
  /** Numbers that were not written as integers, as the JSON codec found them: typed integers refuse them. */
  readonly oddNumbers?: readonly { readonly path: string; readonly literal: string }[];
  /**
   * An empty list of a field without omitempty stays `[]`. Else it becomes null, as everything does that the reference stores, which it
   * does in protobuf, where an empty list and none are the same.
   */
  readonly keepEmptyLists?: boolean;
  /** Members are read in the order of the struct and the first problem is thrown, as upstream's converter of untyped objects does. */
  readonly inFieldOrder?: boolean;
  /** Values are read as by upstream's converter of untyped objects: whole numbers lose upper bits, unknown fields are all reported, by names as they are. */
  readonly untyped?: boolean;
  /** The decoded object that the input was made from: what the input shares with it, in the same place, is decoded already and stays as it is. */
  readonly before?: unknown;
}

export interface Decoded {
  /** Shares raw parts (RawExtension, FieldsV1, JSON) with the input, what the input shares with `before`, and nothing else. */
  readonly object: Record<string, unknown>;
  /** `unknown field "spec.foo"` and `duplicate field "spec.foo"`, in the order of the input, each once, at most 100. */
  readonly strictErrors: readonly string[];
  /** The place of the first unknown field among the members of its object, which is all that errors about CBOR say of it. */
  readonly firstUnknownIndex?: number | undefined;
}

type Json = Record<string, unknown>;

/** A value, and what is in its place in the object that the input was made from. */
interface Part {
  readonly value: unknown;
  readonly before: unknown;
}

const MAX_STRICT_ERRORS = 100;
const none: readonly unknown[] = Object.freeze([]);
const empty: Json = Object.freeze({});
/** One byte of a list of bytes, as errors name it. */
const byteSchema: Schema = { type: 'integer', goType: 'uint8' };
const MAX_INT64 = 2n ** 63n;

/** Decodes `json` as an object of `schema`; throws DecodeError with Go's text when a value does not fit. */
export function decodeObject(schema: Schema, json: unknown, options: DecodeOptions = {}): Decoded {
  const decoder = new Decoder(options);
  const object = decoder.decodeRoot(schema, json);
  return { object, strictErrors: decoder.strictErrors, firstUnknownIndex: decoder.firstUnknownIndex };
}

/** Sets an own property whatever its name: assigning `__proto__` would change the prototype. */
export function setOwn(object: Json, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** Stands for a time that no pointer leads to, set to Go's zero time. */
const zeroTime = Symbol('zero time');

/** Whether a field of a time was set: where nothing was read of it, it is Go's zero time. */
const isSetTime = ({ operation }: PlannedField, input: unknown): boolean => (operation === 'time' || operation === 'micro-time') && typeof input === 'string';

class Decoder {
  readonly strictErrors: string[] = [];
  readonly #strict = new Set<string>();
  firstUnknownIndex: number | undefined;
  readonly #options: DecodeOptions;
  readonly #duplicates: ReadonlySet<string> | undefined;
  readonly #oddNumbers: ReadonlyMap<string, string> | undefined;
  /** The way to the value at hand: field names, map keys and indices; `#plans` has the struct's plan beside each field name. */
  readonly #path: (string | number)[] = [];
  readonly #plans: (Plan | undefined)[] = [];
  #firstMismatch: DecodeError | undefined;

  constructor(options: DecodeOptions) {
    this.#options = options;
    if (options.duplicates?.length) this.#duplicates = new Set(options.duplicates);
    if (options.oddNumbers?.length) this.#oddNumbers = new Map(options.oddNumbers.map((odd) => [odd.path, odd.literal]));
  }

  decodeRoot(schema: Schema, json: unknown): Json {
    if (json !== null && (typeof json !== 'object' || Array.isArray(json))) throw this.#mismatch(describeJson(json), formatGoType(schema));
    const object = this.#readStruct(planOf(schema), (json ?? empty) as Json, this.#options.before);
    if (this.#firstMismatch) throw this.#firstMismatch;
    return object;
  }

  /** Values are read in the order of the input, which is that of the errors, and written in the order of the struct. */
  #readStruct(plan: Plan, input: Json, before?: unknown): Json {
    const known = typeof before === 'object' ? before as Json | null : null;
    const fields = plan.fields;
    const values: unknown[] = [];
    values.length = fields.length;
    let place = -1;
    const source = this.#options.inFieldOrder === true ? inOrderOf(plan, input) : input;
    for (const key in source) {
      place++;
      const index = plan.index.get(key);
      if (index === undefined) {
        this.firstUnknownIndex ??= place;
        this.#reportKey('unknown', key);
        continue;
      }
      const value = input[key];
      const old = known?.[key];
      values[index] = typeof value === 'object' && value !== null && value === old ? value : this.#readField(plan, fields[index]!, { value, before: old });
    }
    const object: Json = {};
    let zeroTimes: string[] | undefined;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const value = values[i];
      if (value === zeroTime) (zeroTimes ??= []).push(field.name);
      if (value !== undefined && value !== zeroTime) object[field.name] = value;
      else if (field.isWritten) object[field.name] = this.#zeroOfField(field);
    }
    if (zeroTimes !== undefined) noteZeroTimes(object, zeroTimes);
    return object;
  }

  /** The value to write, undefined for none. */
  #readField(plan: Plan, field: PlannedField, { value: input, before }: Part): unknown {
    this.#path.push(field.name);
    this.#plans.push(plan);
    const value = isNothing(input) ? undefined : this.#readPart(field, input, before);
    if (this.#duplicates !== undefined) this.#reportDuplicate();
    this.#path.pop();
    this.#plans.pop();
    // The object's own time of deletion is left to what asks whether there is one.
    const isOwnDeletion = field.name === 'deletionTimestamp' && this.#path.length === 1;
    // A pointer to the zero time is set, and written as null.
    if (value === undefined && !isOwnDeletion && isSetTime(field, input)) return field.pointer ? null : zeroTime;
    if (value === undefined || (field.omitsEmpty && isEmpty(value, field.operation))) return undefined;
    const isPlainList = field.operation === 'array' && field.isWritten && !field.pointer;
    if (isPlainList && (value as unknown[]).length === 0 && this.#options.keepEmptyLists !== true) return null;
    return value;
  }

  /** A value of which parts may be known. */
  #readPart({ operation, schema }: Pick<PlannedField, 'operation' | 'schema'>, input: unknown, before: unknown): unknown {
    if (typeof before !== 'object' || typeof input !== 'object') return this.#readValue(operation, schema, input);
    if (operation === 'object' && !Array.isArray(input)) return this.#readStruct(planOf(schema), input as Json, before);
    return operation === 'array' && Array.isArray(input) ? this.#readArray(schema, input, before) : this.#readValue(operation, schema, input);
  }

  #readValue(operation: Operation, schema: Schema, input: unknown): unknown {
    switch (operation) {
      case 'string':
        return typeof input === 'string' ? input : this.#report(input, schema);
      case 'object':
        return typeof input === 'object' && !Array.isArray(input) ? this.#readStruct(planOf(schema), input as Json) : this.#report(input, schema);
      case 'array':
        return Array.isArray(input) ? this.#readArray(schema, input) : this.#report(input, schema);
      case 'map':
        return typeof input === 'object' && !Array.isArray(input) ? this.#readMap(schema, input as Json) : this.#report(input, schema);
      case 'integer':
        return this.#readInteger(schema, input);
      case 'boolean':
        return typeof input === 'boolean' ? input : this.#report(input, schema);
      case 'number':
        return typeof input === 'number' || typeof input === 'bigint' ? Number(input) : this.#report(input, schema);
      case 'any':
        // Values in schemas are read and written again as plain JSON.
        return schema.format === 'json' ? sortDeep(input) : input;
      default:
        return this.#readSpecial(operation, schema, input);
    }
  }

  #readSpecial(operation: Operation, schema: Schema, input: unknown): unknown {
    switch (operation) {
      case 'byte':
        return this.#readBytes(schema, input);
      case 'time':
        return canonicalizeTime(this.#expectString(input));
      case 'micro-time':
        return canonicalizeMicroTime(this.#expectString(input));
      case 'quantity':
        return this.#readQuantity(input);
      case 'int-or-string':
        return this.#readIntOrString(input);
      default:
        return this.#readSchemaAlternative(operation, schema, input);
    }
  }

  #readArray(schema: Schema, input: readonly unknown[], before?: unknown): unknown[] {
    const known: readonly unknown[] = Array.isArray(before) ? before : none;
    const items = schema.items!;
    const part = { operation: operationOf(items), schema: items };
    const array: unknown[] = [];
    const at = this.#path.length;
    this.#path.push(0);
    this.#plans.push(undefined);
    for (let i = 0; i < input.length; i++) {
      this.#path[at] = i;
      const item = input[i];
      if (typeof item === 'object' && item !== null && item === known[i]) {
        array.push(item);
        continue;
      }
      const value = isNothing(item) ? undefined : this.#readPart(part, item, known[i]);
      array.push(value === undefined ? this.#zeroOf(part.operation, items) : value);
    }
    this.#path.pop();
    this.#plans.pop();
    return array;
  }

  /** Keys are written in byte order, as Go's encoder does. */
  #readMap(schema: Schema, input: Json): Json {
    const items = schema.items!;
    const operation = operationOf(items);
    const at = this.#path.length;
    this.#path.push('');
    this.#plans.push(undefined);
    const map: Json = {};
    let last: string | undefined;
    let isSorted = true;
    for (const key in input) {
      this.#path[at] = key;
      const value = isNothing(input[key]) ? undefined : this.#readValue(operation, items, input[key]);
      setOwn(map, key, value === undefined ? this.#zeroOf(operation, items) : value);
      if (this.#duplicates !== undefined) this.#reportDuplicate();
      if (last !== undefined && isSorted && compareKeys(last, key) > 0) isSorted = false;
      last = key;
    }
    this.#path.pop();
    this.#plans.pop();
    return isSorted ? map : inOrder(map);
  }

  #readInteger(schema: Schema, input: unknown): unknown {
    if (typeof input !== 'number' && typeof input !== 'bigint') return this.#report(input, schema);
    const literal = this.#oddNumbers?.get(this.#formatPath());
    if (literal === undefined && fitsInteger(input, schema.format === 'int32')) return input;
    const wrapped = this.#options.untyped === true ? wrapInteger(input, schema.format === 'int32') : undefined;
    if (wrapped !== undefined) return wrapped;
    return this.#reportFound(`number ${literal ?? input}`, schema);
  }

  #readBytes(schema: Schema, input: unknown): unknown {
    // Go reads a list into bytes one by one.
    if (Array.isArray(input)) return Buffer.from(input.map((item) => this.#readByte(item))).toString('base64');
    if (typeof input !== 'string') return this.#report(input, schema);
    try {
      return canonicalizeBase64(input);
    } catch (error) {
      this.#firstMismatch ??= error as DecodeError;
      return undefined;
    }
  }

  /** One item of a list that is read into bytes; null leaves a zero. */
  #readByte(input: unknown): number {
    if (typeof input === 'number' && Number.isInteger(input) && input >= 0 && input <= 255) return input;
    if (input !== null) this.#reportFound(typeof input === 'number' ? `number ${input}` : describeJson(input), byteSchema);
    return 0;
  }

  #readQuantity(input: unknown): string {
    const text = typeof input === 'object' ? JSON.stringify(input) : String(input);
    try {
      return canonicalizeQuantity(text.trim());
    } catch (error) {
      throw new DecodeError((error as Error).message);
    }
  }

  #readIntOrString(input: unknown): unknown {
    if (typeof input === 'string') return input;
    if (typeof input !== 'number' && typeof input !== 'bigint') throw this.#mismatch(describeJson(input), 'int32');
    const literal = this.#oddNumbers?.get(this.#formatPath());
    if (literal === undefined && fitsInteger(input, true)) return input;
    throw this.#mismatch(`number ${literal ?? input}`, 'int32');
  }

  /** The places of a JSON schema that take a schema or something else; they decode by themselves and so report no unknown fields. */
  #readSchemaAlternative(operation: Operation, schema: Schema, input: unknown): unknown {
    if (typeof input === 'object' && !Array.isArray(input)) return this.#readAlone(schema.items!, input);
    if (operation === 'schema-or-bool') {
      if (typeof input !== 'boolean') throw new DecodeError('boolean or JSON schema expected');
      return input;
    }
    if (!Array.isArray(input)) return undefined;
    return operation === 'schema-or-array' ? input.map((item) => this.#readAlone(schema.items!, item)) : input.map((item) => this.#expectString(item));
  }

  #readAlone(schema: Schema, input: unknown): Json {
    try {
      return new Decoder({ keepEmptyLists: this.#options.keepEmptyLists === true }).decodeRoot(schema, input);
    } catch (error) {
      const mismatch = (error as DecodeError).mismatch;
      throw mismatch ? this.#mismatch(mismatch.found, mismatch.wanted, { within: mismatch.at ?? '' }) : error;
    }
  }

  #expectString(input: unknown): string {
    if (typeof input !== 'string') throw this.#mismatch(describeJson(input), 'string');
    return input;
  }

  /** What Go's encoder writes for a field without omitempty that was not set. */
  #zeroOfField(field: PlannedField): unknown {
    if (field.pointer || field.operation === 'byte') return null;
    return this.#zeroOf(field.operation, field.schema);
  }

  #zeroOf(operation: Operation, schema: Schema): unknown {
    switch (operation) {
      case 'string':
      case 'byte':
        return '';
      case 'integer':
      case 'number':
      case 'int-or-string':
        return 0;
      case 'boolean':
        return false;
      case 'quantity':
        return '0';
      case 'object':
        return this.#readStruct(planOf(schema), empty);
      default:
        return null;
    }
  }

  #report(input: unknown, schema: Schema): undefined {
    const isNumber = typeof input === 'number' || typeof input === 'bigint';
    const isFraction = typeof input === 'number' && (!Number.isInteger(input) || Math.abs(input) >= 2 ** 63);
    return this.#reportFound(describeJson(input), schema, { isFraction, isNegative: isNumber && input < 0 });
  }

  #reportFound(found: string, schema: Schema, number: Pick<Mismatch, 'isFraction' | 'isNegative'> = {}): undefined {
    this.#firstMismatch ??= this.#mismatch(found, formatGoType(schema), { kind: kindOfGoType(schema), ...number });
    if (this.#options.inFieldOrder === true) throw this.#firstMismatch;
    return undefined;
  }

  #mismatch(found: string, wanted: string, { within = '', ...more }: Omit<Mismatch, 'found' | 'wanted'> & { readonly within?: string } = {}): DecodeError {
    const fields = this.#plans.flatMap((plan, i) => (plan === undefined ? [] : [plan.fields[plan.index.get(this.#path[i] as string)!]!.shownName]));
    const at = [...fields, ...(within === '' ? [] : [within])].join('.');
    const place = fields.length > 0 ? `Go struct field ${this.#plans.findLast((plan) => plan !== undefined)!.structName}.${at}` : 'Go value';
    return new DecodeError(`json: cannot unmarshal ${found} into ${place} of type ${wanted}`, { found, wanted, at, ...more });
  }

  #reportKey(problem: 'unknown' | 'duplicate', key: string): void {
    this.#path.push(key);
    this.#reportStrict(problem);
    this.#path.pop();
  }

  #reportDuplicate(): void {
    if (this.#duplicates!.has(this.#formatPath())) this.#reportStrict('duplicate');
  }

  #reportStrict(problem: 'unknown' | 'duplicate'): void {
    if (this.strictErrors.length >= MAX_STRICT_ERRORS && this.#options.untyped !== true) return;
    const path = this.#options.at === undefined ? this.#formatPath() : `${this.#options.at}.${this.#formatPath()}`;
    const message = this.#options.untyped === true ? `${problem} field "${path}"` : formatStrictError(problem, path);
    if (!this.#strict.has(message)) this.strictErrors.push(message);
    this.#strict.add(message);
  }

  #formatPath(): string {
    let path = '';
    for (const part of this.#path) {
      if (typeof part === 'number') path += `[${part}]`;
      else path += path === '' ? part : `.${part}`;
    }
    return path;
  }
}

/** An object with its members in the order of their struct; those that it does not know come last. */
const inOrderOf = (plan: Plan, input: Json): Json => {
  const last = plan.fields.length;
  return Object.fromEntries(Object.entries(input).sort(([a], [b]) => (plan.index.get(a) ?? last) - (plan.index.get(b) ?? last)));
};

/** A null of JSON, or a property that our own code left undefined. */
function isNothing(input: unknown): boolean {
  return input === null || input === undefined;
}

function fitsInteger(value: number | bigint, isInt32: boolean): boolean {
  if (typeof value === 'bigint') return !isInt32 && value >= -MAX_INT64 && value < MAX_INT64;
  return isInt32 ? (value | 0) === value : Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

/** A whole number in the bits of its type, as upstream's converter of untyped objects leaves it there; undefined for a fraction. */
function wrapInteger(value: number | bigint, isInt32: boolean): number | bigint | undefined {
  if (typeof value === 'number' && !Number.isInteger(value)) return undefined;
  const whole = BigInt(value);
  // Beyond 64 bits it is a float, whose conversion gives the least integer.
  const inBits = whole >= -MAX_INT64 && whole < MAX_INT64 ? whole : -MAX_INT64;
  return isInt32 ? Number(BigInt.asIntN(32, inBits)) : inBits;
}

/** Go's notion of empty for omitempty: structs never are. */
function isEmpty(value: unknown, operation: Operation): boolean {
  switch (operation) {
    case 'array':
      return (value as unknown[]).length === 0;
    case 'map':
      for (const _ in value as Json) return false;
      return true;
    case 'object':
      return false;
    default:
      return value === '' || value === 0 || value === false;
  }
}

function inOrder(map: Json): Json {
  const sorted: Json = {};
  for (const key of sortKeys(Object.keys(map))) setOwn(sorted, key, map[key]);
  return sorted;
}
