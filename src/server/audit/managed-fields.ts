// Bodies without managedFields, for policies with omitManagedFields: of the object itself, of the items of a list, of the objects in a table.
import { isJsonObject } from '../../base/index.ts';

interface Shown {
  readonly metadata?: { readonly managedFields?: unknown } | null;
  readonly items?: unknown;
  readonly rows?: unknown;
  readonly object?: unknown;
}

/** Answers a copy without them; what has none is answered as it is. */
export function removeManagedFields(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { items, rows } = value as Shown;
  return {
    ...removeOwn(value), ...(Array.isArray(items) && { items: items.map(removeOwn) }),
    ...(Array.isArray(rows) && { rows: rows.map((row: Shown) => ({ ...row, ...(row.object !== undefined && { object: removeOwn(row.object) }) })) }),
  };
}

function removeOwn(value: unknown): object {
  const object = value as Shown;
  if (!object.metadata || object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
