// additionalPrinterColumns as the columns of Tables. A definition without columns shows the age; the name is always there.
import type { KubeObject } from '../apimachinery/index.ts';
import { stringifyJson } from '../codec/index.ts';
import type { Column } from '../registry/index.ts';
import { MOST_LOOKS, findAll, parsePath } from './json-path.ts';

/** An entry of additionalPrinterColumns. */
export interface ColumnSpec {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

const NAME_DESCRIPTION =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an ' +
  'appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: ' +
  'https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
/** Enough for a path of plain fields, however many columns there are. */
const LEAST_LOOKS = 64;
const ageColumn: ColumnSpec = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const nameColumn: Column = {
  name: 'Name', type: 'string', format: 'name', description: NAME_DESCRIPTION, priority: 0, cell: (object) => object.metadata.name ?? '',
};

/** The columns of a version. */
export function createColumns(specs: readonly ColumnSpec[] | undefined, formatAge: (durationMs: number) => string): readonly Column[] {
  const shown = specs === undefined || specs.length === 0 ? [ageColumn] : specs;
  // The columns of a row share what one path may look at, so that a row is made in one turn however many columns there are.
  const looks = Math.max(LEAST_LOOKS, Math.floor(MOST_LOOKS / shown.length));
  const columns = shown.map((spec) => createColumn(spec, looks, formatAge));
  // Tables that change with time in their age only are kept.
  const ageAt = shown.findIndex(({ type, jsonPath }) => type === ageColumn.type && jsonPath === ageColumn.jsonPath);
  return [nameColumn, ...columns.map((column, i) => (i === ageAt ? { ...column, age: true as const } : column))];
}

function createColumn(spec: ColumnSpec, looks: number, formatAge: (durationMs: number) => string): Column {
  const { name, type, format, description, priority, jsonPath } = spec;
  let steps: ReturnType<typeof parsePath>;
  return {
    name, type: type as Column['type'], format: format ?? '', priority: priority ?? 0,
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    cell(object: KubeObject, nowMs: number) {
      steps ??= parsePath(jsonPath) ?? [];
      const found = steps.length === 0 ? [] : findAll(steps, object, looks);
      return found.length === 0 ? null : formatCell(type, found[0], (at) => formatAge(nowMs - at));
    },
  };
}

function formatCell(type: string, value: unknown, formatTime: (atMs: number) => string): ReturnType<Column['cell']> {
  if (type === 'string') return formatText(value);
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  if (type === 'integer') return typeof value === 'number' || typeof value === 'bigint' ? toInt64(Number(value)) : null;
  if (type === 'number') return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
  if (typeof value !== 'string') return null;
  if (value === '') return '<unknown>';
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? '<invalid>' : formatTime(at);
}

const BEYOND_INT64 = 2 ** 63;

/** Without its fraction; what has no place in 64 bits becomes the least of them, as on the processors that the reference runs on. */
function toInt64(value: number): number {
  return Math.abs(value) < BEYOND_INT64 ? Math.trunc(value) : -BEYOND_INT64;
}

function formatText(value: unknown): string {
  if (value === null || value === undefined) return '<no value>';
  return typeof value === 'object' ? stringifyJson(value as never) : String(value);
}
