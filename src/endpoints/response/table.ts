// Tables: the rows and columns that kubectl prints. Columns are data of the resource; a row carries its object, its metadata or nothing.
import { badRequest, invalidValue, type KubeObject } from '../../apimachinery/index.ts';
import { type Column, type StoredObject, type Resource, type ResourceVersionRow, type TableRowCondition, versionIn } from '../../registry/index.ts';
import { partialObject } from './partial.ts';

type IncludeObject = 'None' | 'Metadata' | 'Object';

/** The resource, API versions and options of a table. */
export interface TableContext {
  readonly resource: Resource;
  /** The API version that the objects are shown in. */
  readonly served: string;
  /** v1 or v1beta1 of meta.k8s.io. */
  readonly tableVersion: string;
  readonly include: IncludeObject;
  readonly nowMs: number;
}

/** Reads `includeObject` of the query; throws the 400 of another value. */
export function parseIncludeObject(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  const { field, message } = invalidValue('includeObject', value, "must be 'Metadata', 'Object', 'None', or empty");
  throw badRequest(`Unable to convert to Table as requested: ${field}: ${message}`);
}

function versionOf({ resource, served }: TableContext): ResourceVersionRow | undefined {
  return versionIn(resource, served);
}

/** The columns of the context's kind. */
export const columnsOf = (context: TableContext): readonly Column[] => versionOf(context)?.columns ?? [];

/** columnDefinitions as they are written. */
export function columnDefinitions(context: TableContext): unknown[] {
  return columnsOf(context).filter(({ undeclared }) => undeclared !== true).map(({ name, type, format, description, priority }) => ({ name, type, format,
    description, priority }));
}

/** The annotation of the bookmark that ends the initial events of a watch. */
export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** The `object` of a row: the object, its metadata or null, as includeObject says. */
export function rowObject(object: KubeObject, { include, tableVersion, resource }: TableContext): unknown {
  // The reference keeps the metadata of every object with the annotation, bookmark or not.
  if (include === 'None' && object.metadata.annotations?.[INITIAL_EVENTS_END] !== 'true') return null;
  return include === 'Object' ? object : partialObject(object.metadata, tableVersion, resource);
}

/** The conditions of a row. */
export function rowConditions(object: KubeObject, context: TableContext): readonly TableRowCondition[] {
  return versionOf(context)?.rowConditions?.(object) ?? [];
}

/** One row. */
export function tableRow(object: KubeObject, context: TableContext): unknown {
  const conditions = rowConditions(object, context);
  const cells = columnsOf(context).map((column) => column.cell(object, context.nowMs) ?? null);
  return { cells, ...(conditions.length > 0 && { conditions }), object: rowObject(object, context) };
}

function makeTable(context: TableContext, metadata: Record<string, unknown>, rows: unknown[]): Record<string, unknown> {
  return { kind: 'Table', apiVersion: `meta.k8s.io/${context.tableVersion}`, metadata, columnDefinitions: columnDefinitions(context), rows };
}

/** A table of one object. */
export function tableOfObject(stored: StoredObject, context: TableContext): Record<string, unknown> {
  const object = stored.object(context.served);
  const { resourceVersion } = object.metadata;
  return makeTable(context, resourceVersion ? { resourceVersion } : {}, [tableRow(object, context)]);
}

/** The table of a watch event: only the first one of a stream has column definitions. */
export function tableOfEvent(rows: readonly unknown[], context: TableContext, event: { resourceVersion: string; first: boolean }): Record<string, unknown> {
  return {
    kind: 'Table', apiVersion: `meta.k8s.io/${context.tableVersion}`, metadata: { resourceVersion: event.resourceVersion },
    columnDefinitions: event.first ? columnDefinitions(context) : null, rows,
  };
}
