// Columns and cell formats that many kinds share, as the printers of the reference write them.
import type { JsonObject, KubeObject } from '../../../apimachinery/index.ts';
import type { Column } from '../../../registry/index.ts';
import { readPath, toNumber, toObject, toObjects, toText } from '../values.ts';
import { formatAge } from './duration.ts';

/** The column that names the object. */
export const nameColumn: Column = { ...column('Name', (object) => object.metadata?.name ?? ''), format: 'name' };

/** The age column. */
export const ageColumn: Column = { ...column('Age', (object, nowMs) => formatAge(object.metadata?.creationTimestamp, nowMs)), age: true };

/** Columns of kinds that print name and age only. */
export const nameAndAgeColumns: readonly Column[] = withNameAndAge();

/** A column that is always shown. */
export function column(name: string, cell: Column['cell'], type: Column['type'] = 'string'): Column {
  return { name, type, format: '', description: '', priority: 0, cell };
}

/** A column of the wide form. */
export function wideColumn(name: string, cell: Column['cell']): Column {
  return { ...column(name, cell), priority: 1 };
}

const ZERO_TIME = '0001-01-01T00:00:00Z';

/** The columns of kinds for which the reference has no printer. */
export const defaultColumns: readonly Column[] = [
  nameColumn,
  column('Created At', (object) => object.metadata?.creationTimestamp ?? ZERO_TIME, 'date'),
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

/** The text, or `otherwise` when it is empty. */
export function textOr(value: unknown, otherwise: string): string {
  const text = toText(value);
  return text === '' ? otherwise : text;
}

/** The text of a field, or `otherwise` when the field is absent; an empty text stays empty. */
export function textIfSet(value: unknown, otherwise: string): string {
  return value === undefined || value === null ? otherwise : toText(value);
}

const MOST_MEMBERS = 3;

/** The first three texts, then the number of the others. */
export function formatMembers(members: readonly string[]): string {
  if (members.length === 0) return '<unset>';
  return members.length > MOST_MEMBERS ? `${members.slice(0, MOST_MEMBERS).join(',')} + ${members.length - MOST_MEMBERS} more...` : members.join(',');
}

/** The name column, these columns, the age column. */
export function withNameAndAge(...between: readonly Column[]): readonly Column[] {
  return [nameColumn, ...between, ageColumn];
}

/** The same columns over objects that are converted first. */
export function convertColumns(columns: readonly Column[], convert: (object: KubeObject) => KubeObject): readonly Column[] {
  return columns.map((original) => ({ ...original, cell: (object, nowMs) => original.cell(convert(object), nowMs) }));
}

/** The first condition of a type in the status of an object; undefined when it has none. */
export function readCondition(object: KubeObject, type: string): JsonObject | undefined {
  return toObjects(readPath(object, 'status', 'conditions')).find((condition) => condition['type'] === type);
}
