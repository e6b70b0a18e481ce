// Definitions in upstream's internal form, which is what its validation speaks of: what all versions have in common stands in spec itself
// (`spec.validation`, `spec.subresources` …), what differs stays with the versions. Errors carry the paths of that form.
import { type OpenAPIV3Schema, equalJson } from '../../apimachinery/index.ts';
import type { ColumnSpec } from '../columns.ts';
import type { DefinitionSpec, DefinitionVersion } from '../types.ts';

/** The parts of a version that may be shared. */
export interface SharedParts {
  readonly schema?: OpenAPIV3Schema;
  /** The version has a schema that says nothing, `{}`. */
  readonly isBlank?: boolean;
  readonly subresources?: DefinitionVersion['subresources'];
  readonly columns?: readonly ColumnSpec[];
  readonly selectableFields?: DefinitionVersion['selectableFields'];
}

/** A definition with what is shared apart from what is not. */
export interface InternalForm {
  readonly shared: SharedParts;
  /** In the order of spec.versions; only what is not shared. */
  readonly own: readonly SharedParts[];
}

function partsOf(version: DefinitionVersion): SharedParts {
  const { subresources, additionalPrinterColumns, selectableFields } = version;
  const schema = version.schema?.openAPIV3Schema;
  return {
    ...(schema && { schema }), ...(version.schema && !schema && { isBlank: true }), ...(subresources && { subresources }),
    ...(additionalPrinterColumns?.length && { columns: additionalPrinterColumns }),
    ...(selectableFields?.length && { selectableFields }),
  };
}

/** Splits a spec. */
export function toInternalForm(spec: DefinitionSpec): InternalForm {
  const parts = (spec.versions ?? []).map(partsOf);
  const [first] = parts;
  if (first === undefined) return { shared: {}, own: [] };
  const common = (['schema', 'isBlank', 'subresources', 'columns', 'selectableFields'] as const)
    .filter((key) => parts.every((each) => equalJson(each[key], first[key])));
  const pick = (from: SharedParts, wanted: (key: keyof SharedParts) => boolean): SharedParts =>
    Object.fromEntries(Object.entries(from).filter(([key]) => wanted(key as keyof SharedParts)));
  const isCommon = (key: keyof SharedParts): boolean => common.includes(key);
  return { shared: pick(first, isCommon), own: parts.map((each) => pick(each, (key) => !isCommon(key))) };
}
