// How a value takes part in apply: its shape by the schema, the identity of list items.
// Mirrors the typed values of structured-merge-diff; `undefined` is absence, null a value.
import { isJsonObject } from '../../base/index.ts';
import { escapeJson } from '../field-error.ts';
import type { Field, Schema } from '../schema/schema.ts';
import type { PathElement } from './field-set.ts';

/** How apply treats a value. `granular`: fields or keys one by one · `keyed`, `set`: items one by one · `leaf`: as a whole. */
export type Shape =
  | { readonly type: 'leaf' }
  | { readonly type: 'granular'; readonly child: (key: string) => Schema | undefined; readonly declares: (key: string) => boolean }
  | { readonly type: 'keyed' | 'set'; readonly item: Schema };

/** The shape of a value whose parts are owned one by one, by name. */
export type GranularShape = Extract<Shape, { type: 'granular' }>;

/** What an untyped value is: maps are granular, lists and scalars are leaves. */
export const deducedSchema: Schema = { type: 'any', format: 'json' };

const leaf: Shape = { type: 'leaf' };
const deducedMap: Shape = { type: 'granular', child: () => deducedSchema, declares: () => false };
const shapes = new WeakMap<Schema, Shape>();

/** The shape of a value of this schema; `value` matters only where the schema leaves the type open. */
export function shapeOf(schema: Schema, value: unknown): Shape {
  if (schema.type === 'any' || schema.format === 'raw' || schema.format === 'json') return isJsonObject(value) ? deducedMap : leaf;
  let shape = shapes.get(schema);
  if (shape === undefined) shapes.set(schema, (shape = computeShape(schema)));
  return shape;
}

/** The schema of keys that are no fields; undefined where there may be none. An object that says nothing about what is in it is free in form. */
export function fallbackOf({ type, fields, items, isOpen }: Schema): Schema | undefined {
  return items ?? (isOpen === true || (type === 'object' && (fields?.size ?? 0) === 0) ? deducedSchema : undefined);
}

function computeShape(schema: Schema): Shape {
  if (schema.type === 'array') return listShape(schema);
  if (schema.type !== 'object' && schema.type !== 'map') return leaf;
  if (schema.mapType === 'atomic' || schema.format !== undefined) return leaf;
  const { fields } = schema;
  const fallback = fallbackOf(schema);
  return { type: 'granular', child: (key) => fields?.get(key)?.schema ?? fallback, declares: (key) => fields?.has(key) === true };
}

function listShape(schema: Schema): Shape {
  if (schema.items === undefined) return leaf;
  if (schema.listType === 'map') return { type: 'keyed', item: schema.items };
  return schema.listType === 'set' ? { type: 'set', item: schema.items } : leaf;
}

/** True for JSON objects. */

/** Sets an own key, whatever its name. */
export function putKey(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** An own value of an object; undefined when absent. */
export const ownValue = (object: Record<string, unknown> | undefined, key: string): unknown =>
  (object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined);

/** A value that cannot be applied; the caller that knows the path puts it before the message. */
export class TypedValueError extends Error {
  override readonly name = 'TypedValueError';
}

/** The element that identifies an item of a set or of a map list. Throws TypedValueError when it has no key. */
export function elementOfItem(list: Schema, item: unknown): PathElement {
  if (list.listType === 'set') return elementOfValue(item);
  if (item === null || item === undefined) throw new TypedValueError('associative list with keys may not have a null element');
  if (!isJsonObject(item)) throw new TypedValueError('associative list with keys may not have non-map elements');
  let element = '';
  for (const { name, start, fallback } of keysOf(list)) {
    // A null is a key of its own.
    const given = ownValue(item, name);
    const value = given === undefined ? fallback : given;
    if (value !== undefined) element += `${element === '' ? 'k:{' : ','}${start}${toJson(value)}`;
  }
  if (element === '') {
    const keys = (list.listMapKeys ?? []).map((name) => JSON.stringify(name)).join(' ');
    throw new TypedValueError(`associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`);
  }
  return `${element}}`;
}

/** Go's zero value of a required field is a default in OpenAPI, and so of keys. */
const keyDefault = (field: Field | undefined): unknown => field?.publishedDefault ?? field?.default ?? field?.schema.default;

/** A key of the items of a list: its name, as JSON begins a member of that name, and its value in items without it. */
interface ListKey {
  readonly name: string;
  readonly start: string;
  readonly fallback: unknown;
}

const listKeys = new WeakMap<Schema, readonly ListKey[]>();

/** The keys of a list, sorted. */
function keysOf(list: Schema): readonly ListKey[] {
  let keys = listKeys.get(list);
  if (keys === undefined) {
    const describe = (name: string): ListKey => ({ name, start: `${JSON.stringify(name)}:`, fallback: keyDefault(list.items?.fields?.get(name)) });
    listKeys.set(list, (keys = [...new Set(list.listMapKeys ?? [])].sort().map(describe)));
  }
  return keys;
}

function elementOfValue(item: unknown): PathElement {
  if (item === null || item === undefined) throw new TypedValueError('associative list without keys has an element that\'s an explicit null');
  if (Array.isArray(item)) throw new TypedValueError('not supported: associative list with lists as elements');
  if (typeof item === 'object') throw new TypedValueError('associative list without keys has an element that\'s a map type');
  return `v:${toJson(item)}`;
}

/** As Go's encoder writes it. Numbers beyond those of JSON need a replacer, which makes all else several times slower. */
function toJson(value: unknown): string {
  if (typeof value === 'string') return escapeJson(JSON.stringify(value));
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? Number(inner) : inner)) ?? 'null';
}
