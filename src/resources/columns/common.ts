// Helpers that the columns of all kinds share: reading fields of untyped objects, ages, and joining names, as the reference prints them.
// Cells must survive anything that a stored object may hold, so every reader answers an empty value for a field of the wrong type.
import type { JsonObject, JsonValue, KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { formatAge } from './duration.ts';

/** What a cell may hold. */
export type Cell = string | number | boolean | null;
/** Anything of an object. */
type Value = JsonValue | undefined;

/** The object itself, or an empty one when the value is something else. */
export function toObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The list itself, or an empty one when the value is something else. */
export function toList(value: unknown): readonly JsonValue[] {
  return Array.isArray(value) ? (value as JsonValue[]) : [];
}

/** The list with every element read as an object. */
export function toObjects(value: unknown): readonly JsonObject[] {
  return toList(value).map(toObject);
}

/** The text, or an empty one. Numbers (of int-or-string fields) are printed. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : '';
}

/** The number, or 0. */
export function toNumber(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : 0;
}

/** The value at a path of own fields; undefined as soon as something is missing. */
export function readPath(object: unknown, ...path: readonly string[]): Value {
  let value: unknown = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value as Value;
}

/** A column that is always shown. */
export function column(name: string, cell: Column['cell'], type: Column['type'] = 'string'): Column {
  return { name, type, format: '', description: '', priority: 0, cell };
}

/** A column of the wide form. */
export function wideColumn(name: string, cell: Column['cell']): Column {
  return { ...column(name, cell), priority: 1 };
}

/** The column that names the object. */
export const nameColumn: Column = { ...column('Name', (object) => object.metadata?.name ?? ''), format: 'name' };

/** The column that tells how old the object is. */
export const ageColumn: Column = { ...column('Age', (object, nowMs) => formatAge(object.metadata?.creationTimestamp, nowMs)), age: true };

const zeroTime = '0001-01-01T00:00:00Z';

/** The columns of kinds for which the reference has no printer. */
export const defaultColumns: readonly Column[] = [
  nameColumn,
  column('Created At', (object) => object.metadata?.creationTimestamp ?? zeroTime, 'date'),
];

/** A column that prints one field as text. */
export function textColumn(name: string, ...path: readonly string[]): Column {
  return column(name, (object) => toText(readPath(object, ...path)));
}

/** A column that prints one field as a number. */
export function integerColumn(name: string, ...path: readonly string[]): Column {
  return column(name, (object) => toNumber(readPath(object, ...path)), 'integer');
}

/** `a=b,c=d` with sorted keys, or `<none>`: how label maps are printed. */
export function formatLabels(labels: unknown): string {
  const entries = Object.entries(toObject(labels)).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? '<none>' : entries.map(([key, value]) => `${key}=${toText(value)}`).join(',');
}

/** `first` when it holds something, else `otherwise`. */
export function textOr(value: unknown, otherwise: string): string {
  const text = toText(value);
  return text === '' ? otherwise : text;
}

/** The text of a field that may be absent, which is not the same as empty. */
export function textIfSet(value: unknown, otherwise: string): string {
  return value === undefined || value === null ? otherwise : toText(value);
}

const mostMembers = 3;

/** The first three texts, then how many more there are. */
export function formatMembers(members: readonly string[]): string {
  if (members.length === 0) return '<unset>';
  return members.length > mostMembers ? `${members.slice(0, mostMembers).join(',')} + ${members.length - mostMembers} more...` : members.join(',');
}

/** Copy of the columns in front, the age behind. */
export function withNameAndAge(...between: readonly Column[]): readonly Column[] {
  return [nameColumn, ...between, ageColumn];
}

/** Container names and images of a pod spec, as the wide columns print them. */
export function containerColumns(...path: readonly string[]): readonly Column[] {
  const containers = (object: KubeObject): readonly JsonObject[] => toObjects(readPath(object, ...path, 'containers'));
  return [
    wideColumn('Containers', (object) => containers(object).map((container) => toText(container['name'])).join(',')),
    wideColumn('Images', (object) => containers(object).map((container) => toText(container['image'])).join(',')),
  ];
}

/** The same columns for objects in another form. */
export function convertColumns(columns: readonly Column[], convert: (object: KubeObject) => KubeObject): readonly Column[] {
  return columns.map((original) => ({ ...original, cell: (object, nowMs) => original.cell(convert(object), nowMs) }));
}
