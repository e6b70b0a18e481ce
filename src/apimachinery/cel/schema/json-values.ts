// JSON as values of expressions, wrapped as it is read: nothing is copied. With a schema, texts become times or bytes, numbers become ints
// or doubles, and lists that are sets or maps compare without order. Without one, whole numbers are ints.
import { equalValues } from '../values/compare.ts';
import type { DeclaredType } from './declared.ts';
import { parseDate, parseDuration, parseTimestamp } from '../values/time.ts';
import { CelDouble, CelError, CelList, CelMap, type Value, narrowInt } from '../values/values.ts';
import type { CelType } from '../values/types.ts';

type JsonMap = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is JsonMap => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value without schema: maps and lists are dynamic. */
export function fromJson(json: unknown): Value {
  switch (typeof json) {
    case 'string': case 'boolean': return json;
    case 'bigint': return narrowInt(json);
    case 'number': return Number.isInteger(json) ? wholeNumber(json) : new CelDouble(json);
    default:
      if (Array.isArray(json)) return new DynamicList(json);
      return isMap(json) ? new DynamicMap(json) : null;
  }
}

const wholeNumber = (value: number): Value => (Number.isSafeInteger(value) ? value : narrowInt(BigInt(value)));

class DynamicList extends CelList {
  readonly #items: readonly unknown[];

  constructor(items: readonly unknown[]) {
    super();
    this.#items = items;
  }

  get size(): number {
    return this.#items.length;
  }

  get(index: number): Value {
    return fromJson(this.#items[index]);
  }
}

class DynamicMap extends CelMap {
  readonly #json: JsonMap;

  constructor(json: JsonMap) {
    super();
    this.#json = json;
  }

  get size(): number {
    return Object.keys(this.#json).length;
  }

  find(key: Value): Value | undefined {
    return typeof key === 'string' && Object.hasOwn(this.#json, key) ? fromJson(this.#json[key]) : undefined;
  }

  keys(): readonly Value[] {
    return Object.keys(this.#json);
  }
}

/** A value of a declared type. What does not fit the type is an error, which schema validation keeps from happening. */
export function fromDeclared(json: unknown, declared: DeclaredType): Value {
  if (json === null || json === undefined) {
    return declared.schema.nullable === true ? null : new CelError('invalid data, got null for schema with nullable=false');
  }
  switch (declared.type.kind) {
    case 'string': case 'bool': return json as string | boolean;
    case 'int': return typeof json === 'number' ? wholeNumber(Math.trunc(json)) : narrowInt(BigInt(json as bigint));
    case 'double': return new CelDouble(Number(json));
    case 'list': return Array.isArray(json) ? listOfDeclared(json, declared) : wrong('array');
    case 'map': return isMap(json) ? new DeclaredMap(json, declared.element!) : wrong('map');
    case 'struct': return isMap(json) ? new DeclaredObject(json, declared) : wrong('map');
    case 'dyn': return typeof json === 'string' || typeof json === 'number' || typeof json === 'bigint' ? fromJson(json) : wrong('string or integer');
    default: return fromText(String(json), declared.schema.format);
  }
}

const wrong = (expected: string): CelError => new CelError(`invalid data, expected a ${expected} to match the schema`);

function fromText(text: string, format: string | undefined): Value {
  if (format === 'byte') return decodeBase64(text);
  const value = format === 'duration' ? parseDuration(text) : format === 'date' ? parseDate(text) : parseTimestamp(text);
  return value ?? new CelError(`Invalid ${format} formatted string ${JSON.stringify(text)}`);
}

function decodeBase64(text: string): Value {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new CelError(`Invalid byte formatted string ${JSON.stringify(text)}`);
  }
}

function listOfDeclared(items: readonly unknown[], declared: DeclaredType): CelList {
  const kind = declared.schema['x-kubernetes-list-type'];
  if (kind === 'set') return new KeyedList(items, declared.element!, undefined);
  const keys = declared.schema['x-kubernetes-list-map-keys'];
  return kind === 'map' && Array.isArray(keys) ? new KeyedList(items, declared.element!, keys as string[]) : new DeclaredList(items, declared.element!);
}

class DeclaredList extends CelList {
  readonly items: readonly unknown[];
  readonly element: DeclaredType;

  constructor(items: readonly unknown[], element: DeclaredType) {
    super();
    this.items = items;
    this.element = element;
  }

  get size(): number {
    return this.items.length;
  }

  get(index: number): Value {
    return fromDeclared(this.items[index], this.element);
  }
}

/** A set, or a map by some fields of its elements: order does not matter to equality, and addition merges. */
class KeyedList extends DeclaredList {
  readonly #keys: readonly string[] | undefined;

  constructor(items: readonly unknown[], element: DeclaredType, keys: readonly string[] | undefined) {
    super(items, element);
    this.#keys = keys;
  }

  #keyOf(item: unknown): string {
    const keys = this.#keys;
    return JSON.stringify(keys === undefined ? item : keys.map((key) => (isMap(item) ? item[key] : null)), (_,
      value) => (typeof value === 'bigint' ? String(value) : value));
  }

  equalsUnordered(other: CelList): boolean {
    if (!(other instanceof KeyedList)) return this.#equalsAny(other);
    const mine = new Map(this.items.map((item, i) => [this.#keyOf(item), i]));
    return other.items.every((item, i) => {
      const at = mine.get(this.#keyOf(item));
      return at !== undefined && (this.#keys === undefined || equalValues(this.get(at), other.get(i)));
    });
  }

  #equalsAny(other: CelList): boolean {
    const mine = this.toArray();
    return other.toArray().every((item) => mine.some((own) => equalValues(own, item)));
  }

  override concat(other: CelList): CelList {
    if (!(other instanceof KeyedList)) return super.concat(other);
    const merged = [...this.items];
    const places = new Map(merged.map((item, i) => [this.#keyOf(item), i]));
    for (const item of other.items) {
      const key = this.#keyOf(item);
      const at = places.get(key) ?? merged.length;
      places.set(key, at);
      merged[at] = item;
    }
    return new KeyedList(merged, this.element, this.#keys);
  }
}

class DeclaredMap extends CelMap {
  readonly #json: JsonMap;
  readonly #element: DeclaredType;

  constructor(json: JsonMap, element: DeclaredType) {
    super();
    this.#json = json;
    this.#element = element;
  }

  get size(): number {
    return Object.keys(this.#json).length;
  }

  find(key: Value): Value | undefined {
    return typeof key === 'string' && Object.hasOwn(this.#json, key) ? fromDeclared(this.#json[key], this.#element) : undefined;
  }

  keys(): readonly Value[] {
    return Object.keys(this.#json).sort();
  }
}

class DeclaredObject extends CelMap {
  readonly #json: JsonMap;
  readonly #declared: DeclaredType;

  constructor(json: JsonMap, declared: DeclaredType) {
    super();
    this.#json = json;
    this.#declared = declared;
  }

  override get type(): CelType {
    return this.#declared.type;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: Value): Value | undefined {
    const field = this.#declared.fields!.get(key as string);
    return field !== undefined && Object.hasOwn(this.#json, field.name) ? fromDeclared(this.#json[field.name], field.declared) : undefined;
  }

  /** A field that is null counts as not set. */
  hasField(name: string): boolean {
    const field = this.#declared.fields!.get(name);
    return field !== undefined && Object.hasOwn(this.#json, field.name) && this.#json[field.name] !== null;
  }

  keys(): readonly Value[] {
    return Array.from(this.#declared.fields!.keys()).filter((name) => this.find(name) !== undefined);
  }
}

