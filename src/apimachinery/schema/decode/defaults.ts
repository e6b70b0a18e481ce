// Defaults that the schema itself states: OpenAPI defaults of custom resources and the few declared ones of built-in kinds (protocol TCP).
// A null where the schema does not allow it counts as absent, so that the default wins or the field is removed.
// Defaults that upstream's Go code sets are not here.
import { compareKeys } from '../../../base/index.ts';
import { setOwn } from './decode.ts';
import type { Field, Schema } from '../schema.ts';

type Json = Record<string, unknown>;

const defaulted = new WeakMap<Schema, boolean>();

interface DefaultsOptions {
  /** Nulls without a default stay, for validation to refuse: what an apply states is not read leniently. */
  readonly keepNulls?: boolean;
  /** The object that an update replaces: what the two share, in the same place, has its defaults. */
  readonly before?: unknown;
}

/** A value, and what the object that an update replaces has in its place. */
interface Part<T = unknown> {
  readonly value: T;
  readonly before: unknown;
}

/** The object with defaults filled in, in the order that it is written in; parts without a change are shared with the input. */
export function applyDefaults(schema: Schema, object: Record<string, unknown>, { keepNulls = false, before }: DefaultsOptions = {}): Record<string, unknown> {
  return fill(schema, { value: object, before }, keepNulls) as Json;
}

function fill(schema: Schema, part: Part, keepNulls: boolean): unknown {
  const { value, before } = part;
  if (typeof value !== 'object' || value === null || value === before || !needsFilling(schema)) return value;
  if (Array.isArray(value)) return schema.items === undefined ? value : fillArray(schema.items, { value, before }, keepNulls);
  return schema.type === 'map' ? fillMap(schema, part as Part<Json>, keepNulls) : fillObject(schema, part as Part<Json>, keepNulls);
}

function fillArray(items: Schema, { value: array, before }: Part<readonly unknown[]>, keepNulls: boolean): readonly unknown[] {
  const known: readonly unknown[] = Array.isArray(before) ? before : [];
  let filled: unknown[] | undefined;
  for (let i = 0; i < array.length; i++) {
    const item = array[i];
    const value = item === null && !items.nullable ? (cloneDefault(items.default) ?? null) : item;
    const next = fill(items, { value, before: known[i] }, keepNulls);
    if (next !== item) (filled ??= [...array])[i] = next;
  }
  return filled ?? array;
}

function fillMap(schema: Schema, { value: map, before }: Part<Json>, keepNulls: boolean): Json {
  const items = schema.items!;
  const known = asObject(before);
  const filled: Json = {};
  let isChanged = false;
  for (const key of Object.keys(map)) {
    let value = map[key];
    if (value === null && !items.nullable) value = cloneDefault(items.default) ?? (keepNulls ? null : undefined);
    if (value !== undefined) value = fill(items, { value, before: known?.[key] }, keepNulls);
    isChanged ||= value !== map[key];
    if (value !== undefined) setOwn(filled, key, value);
  }
  return isChanged ? filled : map;
}

function fillObject(schema: Schema, { value: object, before: old }: Part<Json>, keepNulls: boolean): Json {
  const known = asObject(old);
  let changes: Map<string, unknown> | undefined;
  for (const field of filledFields(schema)) {
    const before = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
    let value = before;
    const isAbsent = value === undefined || (value === null && isUntyped(schema) && !field.schema.nullable);
    if (isAbsent) value = cloneDefault(field.default) ?? (keepNulls && value === null ? null : undefined);
    if (typeof value === 'object') value = fill(field.schema, { value, before: known?.[field.name] }, keepNulls);
    if (value !== before) (changes ??= new Map()).set(field.name, value);
  }
  return changes === undefined ? object : rebuild(schema, object, changes);
}

const filled = new WeakMap<Schema, readonly Field[]>();

/** The fields that a default or a null may change, or something below them: one of the 27 of a container. */
function filledFields(schema: Schema): readonly Field[] {
  let fields = filled.get(schema);
  if (fields === undefined) {
    const all = [...schema.fields?.values() ?? []];
    filled.set(schema, (fields = isUntyped(schema) ? all : all.filter((field) => field.default !== undefined || needsFilling(field.schema))));
  }
  return fields;
}

const asObject = (value: unknown): Json | null => (typeof value === 'object' ? value as Json | null : null);

/** Struct fields in the order of the struct, custom resources' in byte order. */
function rebuild(schema: Schema, object: Json, changes: ReadonlyMap<string, unknown>): Json {
  const keys = isUntyped(schema) ? [...new Set([...Object.keys(object), ...changes.keys()])].sort(compareKeys) : [...schema.fields!.keys()];
  const rebuilt: Json = {};
  for (const key of keys) {
    const value = changes.has(key) ? changes.get(key) : Object.hasOwn(object, key) ? object[key] : undefined;
    if (value !== undefined) setOwn(rebuilt, key, value);
  }
  return rebuilt;
}

/** Compiled from a CRD: there is no Go struct behind. */
function isUntyped(schema: Schema): boolean {
  return schema.source !== undefined;
}

function cloneDefault(value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? structuredClone(value) : value;
}

/** False when nothing below can change: no default anywhere, and no schema of a custom resource, whose nulls are dropped. */
function needsFilling(schema: Schema): boolean {
  let known = defaulted.get(schema);
  if (known === undefined) {
    known = reaches(schema, new Set());
    defaulted.set(schema, known);
  }
  return known;
}

function reaches(schema: Schema, seen: Set<Schema>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  if (isUntyped(schema) || schema.default !== undefined) return true;
  if (schema.items !== undefined && reaches(schema.items, seen)) return true;
  for (const field of schema.fields?.values() ?? []) {
    if (field.default !== undefined || reaches(field.schema, seen)) return true;
  }
  return false;
}
