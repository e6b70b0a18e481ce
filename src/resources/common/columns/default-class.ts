// The name column of classes of which one can be the default.
import type { Column } from '../../../registry/index.ts';
import { nameColumn } from './columns.ts';

/** The name, marked when one of the annotations makes this class the default. */
export function defaultableNameColumn(...annotations: readonly string[]): Column {
  return {
    ...nameColumn,
    cell: (object) => {
      const name = object.metadata?.name ?? '';
      return annotations.some((annotation) => object.metadata?.annotations?.[annotation] === 'true') ? `${name} (default)` : name;
    },
  };
}
