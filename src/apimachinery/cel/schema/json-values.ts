// JSON as values of expressions, wrapped as it is read: nothing is copied. With a schema, texts become times or bytes, numbers become ints
// or doubles, and lists that are sets or maps compare without order. Without one, whole numbers are ints.
import { isJsonObject } from '../../../base/index.ts';
import { containsValue, equalParts, equalValues } from '../values/compare.ts';
import { type Meter, VISIT_WORK, unmetered } from '../values/meter.ts';
import { type DeclaredType, fieldOf } from './declared.ts';
import { escapeName } from './escape.ts';
import { parseDate, parseDuration, parseTimestamp } from '../values/time.ts';
import { CelDouble, CelError, CelList, CelMap, type Value, narrowInt } from '../values/values.ts';
import type { CelType } from '../values/types.ts';

type JsonMap = Readonly<Record<string, unknown>>;


/** A value without schema: maps and lists are dynamic. */
export function fromJson(json: unknown): Value {
  switch (typeof json) {
    case 'string': case 'boolean': return json;
    case 'bigint': return narrowInt(json);
    case 'number': return Number.isInteger(json) ? wholeNumber(json) : new CelDouble(json);
    default:
      if (Array.isArray(json)) return new DynamicList(json);
      return isJsonObject(json) ? new DynamicMap(json) : null;
  }
}

const wholeNumber = (value: number): Value => (Number.isSafeInteger(value) ? value : narrowInt(BigInt(value)));

const isObject = (json: unknown): boolean => typeof json === 'object' && json !== null;

/** Wraps what objects hold once: an expression that reads one path many times sees one list or map, with its keys listed once. */
class Wrapped<K> {
  #values: Map<K, Value> | undefined;

  get(key: K, wrap: () => Value): Value {
    let found = this.#values?.get(key);
    if (found !== undefined) return found;
    found = wrap();
    (this.#values ??= new Map()).set(key, found);
    return found;
  }
}

class DynamicList extends CelList {
  readonly #items: readonly unknown[];
  readonly #wrapped = new Wrapped<number>();

  constructor(items: readonly unknown[]) {
    super();
    this.#items = items;
  }

  get size(): number {
    return this.#items.length;
  }

  get(index: number): Value {
    const item = this.#items[index];
    return isObject(item) ? this.#wrapped.get(index, () => fromJson(item)) : fromJson(item);
  }
}

class DynamicMap extends CelMap {
  readonly #json: JsonMap;
  readonly #wrapped = new Wrapped<string>();
  #keys: readonly string[] | undefined;

  constructor(json: JsonMap) {
    super();
    this.#json = json;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#json, key)) return undefined;
    const value = this.#json[key];
    return isObject(value) ? this.#wrapped.get(key, () => fromJson(value)) : fromJson(value);
  }

  keys(): readonly string[] {
    return (this.#keys ??= Object.keys(this.#json));
  }
}

/** A value of a declared type; an error for JSON that does not fit the type, which schema validation refuses before. */
export function fromDeclared(json: unknown, declared: DeclaredType): Value {
  if (json === null || json === undefined) {
    return declared.schema.nullable === true ? null : new CelError('invalid data, got null for schema with nullable=false');
  }
  switch (declared.type.kind) {
    case 'string': return typeof json === 'string' ? json : mistyped('string', json);
    case 'bool': return typeof json === 'boolean' ? json : mistyped('bool', json);
    case 'int': return isInt64(json) ? fromJson(json) : mistyped('int', json);
    case 'double': return typeof json === 'number' || typeof json === 'bigint' ? new CelDouble(Number(json)) : mistyped('float', json);
    case 'list': return Array.isArray(json) ? listOfDeclared(json, declared) : wrong('an array', 'array');
    case 'map': return isJsonObject(json) ? new DeclaredMap(json, declared.element!) : wrong('a map', 'object');
    case 'struct': return isJsonObject(json) ? new DeclaredObject(json, declared) : wrong('a map', 'object');
    case 'dyn': return typeof json === 'string' || isInt64(json) ? fromJson(json) : neitherTextNorInteger();
    default: return typeof json === 'string' ? fromText(json, declared.schema.format) : mistyped('string', json);
  }
}

const MAX_INT64 = 2n ** 63n;

/** Whether JSON is a whole number that an int holds; others are floats. */
function isInt64(json: unknown): json is number | bigint {
  if (typeof json === 'number' && !Number.isInteger(json)) return false;
  if (typeof json !== 'number' && typeof json !== 'bigint') return false;
  return Number.isSafeInteger(json) || (BigInt(json) >= -MAX_INT64 && BigInt(json) < MAX_INT64);
}

/** The name that Go prints of the type of JSON. */
function nameGoType(json: unknown): string {
  if (typeof json === 'object') return Array.isArray(json) ? '[]interface {}' : 'map[string]interface {}';
  return typeof json === 'boolean' ? 'bool' : typeof json === 'string' ? 'string' : isInt64(json) ? 'int64' : 'float64';
}

const mistyped = (expected: string, json: unknown): CelError => new CelError(`invalid data, expected ${expected}, got ${nameGoType(json)}`);
const neitherTextNorInteger = (): CelError => new CelError('invalid data, expected XIntOrString value to be either a string or integer');
const wrong = (expected: string, type: string): CelError => new CelError(`invalid data, expected ${expected} for the provided schema with type=${type}`);

function fromText(text: string, format: string | undefined): Value {
  if (format === 'byte') return decodeBase64(text);
  const value = format === 'duration' ? parseDuration(text) : format === 'date' ? parseDate(text) : parseTimestamp(text);
  return value ?? new CelError(`Invalid ${format} formatted string ${JSON.stringify(text)}`);
}

/** Bytes in the alphabet for URLs, which is the one that the reference reads them in here. */
function decodeBase64(text: string): Value {
  const plain = text.replace(/[\r\n]/g, '');
  const digits = /^[\w-]*/.exec(plain)![0].length;
  const padding = (4 - digits % 4) % 4;
  if (digits % 4 !== 1 && plain.slice(digits) === '='.repeat(padding)) {
    return Uint8Array.from(atob(plain.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0));
  }
  return new CelError(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${digits}`);
}

function listOfDeclared(items: readonly unknown[], declared: DeclaredType): CelList {
  const kind = declared.schema['x-kubernetes-list-type'];
  if (kind === 'set') return new KeyedList(items, declared.element!, undefined);
  const keys = declared.schema['x-kubernetes-list-map-keys'];
  return kind === 'map' && Array.isArray(keys) ? new KeyedList(items, declared.element!, keys as string[]) : new DeclaredList(items, declared.element!);
}

const containers: ReadonlySet<string> = new Set(['list', 'map', 'struct']);
const isContainer = ({ type }: DeclaredType): boolean => containers.has(type.kind);

class DeclaredList extends CelList {
  readonly items: readonly unknown[];
  readonly element: DeclaredType;
  readonly #wrapped: Wrapped<number> | undefined;

  constructor(items: readonly unknown[], element: DeclaredType) {
    super();
    this.items = items;
    this.element = element;
    this.#wrapped = isContainer(element) ? new Wrapped() : undefined;
  }

  get size(): number {
    return this.items.length;
  }

  get(index: number): Value {
    const item = this.items[index];
    return this.#wrapped === undefined ? fromDeclared(item, this.element) : this.#wrapped.get(index, () => fromDeclared(item, this.element));
  }
}

/** A set, or a map by some fields of its elements: order does not matter to equality, and addition merges. */
class KeyedList extends DeclaredList {
  readonly #fields: readonly string[] | undefined;
  #keys: readonly string[] | undefined;

  constructor(items: readonly unknown[], element: DeclaredType, fields: readonly string[] | undefined) {
    super(items, element);
    this.#fields = fields;
  }

  /** The key of each element, written once. */
  #listKeys(): readonly string[] {
    const fields = this.#fields;
    return (this.#keys ??= this.items.map((item) => writeKey(fields === undefined ? item : fields.map((field) => (isJsonObject(item) ? item[field] : null)))));
  }

  equalsUnordered(other: CelList, meter: Meter = unmetered): boolean {
    meter.work((this.size + other.size) * VISIT_WORK);
    if (!(other instanceof KeyedList)) return this.#equalsAny(other, meter);
    const mine = new Map(this.#listKeys().map((key, i) => [key, i]));
    return other.#listKeys().every((key, i) => {
      const at = mine.get(key);
      return at !== undefined && (this.#fields === undefined || equalValues(this.get(at), other.get(i), meter));
    });
  }

  #equalsAny(other: CelList, meter: Meter): boolean {
    for (let i = 0; i < other.size; i++) if (!containsValue(this, other.get(i), meter)) return false;
    return true;
  }

  override concat(other: CelList): CelList {
    const items = other instanceof KeyedList ? other.items : other.toArray().map(jsonOf);
    if (items.includes(undefined)) return super.concat(other);
    const added = new KeyedList(items, this.element, this.#fields);
    const merged = [...this.items];
    const keys = [...this.#listKeys()];
    const places = new Map(keys.map((key, i) => [key, i]));
    for (const [i, key] of added.#listKeys().entries()) {
      const at = places.get(key) ?? merged.length;
      places.set(key, at);
      merged[at] = items[i];
      keys[at] = key;
    }
    const list = new KeyedList(merged, this.element, this.#fields);
    list.#keys = keys;
    return list;
  }
}

/** What a value was read from; undefined for one that an expression has built. */
function jsonOf(value: Value): unknown {
  if (value instanceof DeclaredObject || value instanceof DeclaredMap) return value.json;
  if (value instanceof DeclaredList) return value.items;
  return typeof value === 'object' ? undefined : value;
}

const writeKey = (key: unknown): string => JSON.stringify(key, (_, value) => (typeof value === 'bigint' ? String(value) : value as unknown)) ?? 'null';

class DeclaredMap extends CelMap {
  readonly json: JsonMap;
  readonly #element: DeclaredType;
  readonly #wrapped: Wrapped<string> | undefined;
  #keys: readonly string[] | undefined;

  constructor(json: JsonMap, element: DeclaredType) {
    super();
    this.json = json;
    this.#element = element;
    this.#wrapped = isContainer(element) ? new Wrapped() : undefined;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.json, key)) return undefined;
    const value = this.json[key];
    return this.#wrapped === undefined ? fromDeclared(value, this.#element) : this.#wrapped.get(key, () => fromDeclared(value, this.#element));
  }

  keys(): readonly string[] {
    return (this.#keys ??= Object.keys(this.json).sort());
  }
}

/** A member of an object: its name, and the one that it has in expressions, which see only what has a type. */
interface Member {
  readonly name: string;
  readonly escaped: string | undefined;
  /** Whether the schema has a property of the name, with a type or without. */
  readonly isProperty: boolean;
}

/** An object with declared fields. One that is null counts as not set. */
class DeclaredObject extends CelMap {
  readonly json: JsonMap;
  readonly #declared: DeclaredType;
  readonly #wrapped = new Wrapped<string>();
  #keys: readonly string[] | undefined;
  #members: readonly Member[] | undefined;

  constructor(json: JsonMap, declared: DeclaredType) {
    super();
    this.json = json;
    this.#declared = declared;
  }

  override get type(): CelType {
    return this.#declared.type;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: Value): Value | undefined {
    const field = fieldOf(this.#declared.fields!, key as string);
    if (field === undefined || !Object.hasOwn(this.json, field.name)) return undefined;
    const value = this.json[field.name];
    if (value === null) return undefined;
    return isObject(value) ? this.#wrapped.get(field.name, () => fromDeclared(value, field.declared)) : fromDeclared(value, field.declared);
  }

  hasField(name: string): boolean {
    const field = fieldOf(this.#declared.fields!, name);
    return field !== undefined && Object.hasOwn(this.json, field.name) && this.json[field.name] !== null;
  }

  keys(): readonly string[] {
    return (this.#keys ??= Array.from(this.#declared.fields!.keys()).filter((name) => this.find(name) !== undefined));
  }

  /** Properties of the schema are equal as values, where null equals nothing. Other members are equal as JSON, or where `other` has none of the name. */
  equalsFields(other: CelMap, meter: Meter): boolean {
    if (!(other instanceof DeclaredObject)) return this.size === other.size && this.keys().every((key) => equalFound(this.find(key), other.find(key), meter));
    const members = this.#listMembers();
    return members.length === other.#listMembers().length && members.every(({ name, escaped, isProperty }) => {
      meter.work(VISIT_WORK);
      if (escaped !== undefined) return equalFound(this.find(escaped), other.find(escaped), meter);
      const [own, another] = [this.#findUntyped(name), other.#findUntyped(name)];
      return isProperty ? equalFound(own ?? undefined, another ?? undefined, meter) : another === undefined || equalFound(own, another, meter);
    });
  }

  /** A member that has no type; undefined where there is none. */
  #findUntyped(name: string): Value | undefined {
    if (!Object.hasOwn(this.json, name)) return undefined;
    const value = this.json[name];
    return isObject(value) ? this.#wrapped.get(name, () => fromJson(value)) : fromJson(value);
  }

  /** The members, listed once: objects are compared with many others. */
  #listMembers(): readonly Member[] {
    const { fields, schema: { properties = {} } } = this.#declared;
    return (this.#members ??= Object.keys(this.json).map((name) => {
      const isProperty = Object.hasOwn(properties, name);
      const escaped = isProperty ? escapeName(name) : undefined;
      return { name, isProperty, escaped: escaped !== undefined && fields!.has(escaped) ? escaped : undefined };
    }));
  }
}

const equalFound = (a: Value | undefined, b: Value | undefined, meter: Meter): boolean => a !== undefined && b !== undefined && equalParts(a, b, meter);
