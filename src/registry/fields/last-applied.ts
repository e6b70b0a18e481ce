// The record that client-side apply keeps in an annotation: which conflicts of kubectl's server-side apply it explains, and its upkeep
// while an object has it. Mirrors upstream's lastAppliedManager and lastAppliedUpdater.
import {
  ApplyConflictError, type KubeObject, type Schema, TypedValueError, compareObjects, toFieldSet, typedProblem, validateAnnotations, withoutOwners,
} from '../../apimachinery/index.ts';
import { isJsonObject } from '../../base/index.ts';
import { stringifyJson } from '../../codec/index.ts';
import { sortJson } from '../values.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** The manager whose server-side applies take over what its client-side applies did. */
export const KUBECTL_MANAGER = 'kubectl';

/** What an apply of kubectl's meets: the object as it is, in the version of the request, and the schema of that. */
interface Met {
  readonly current: KubeObject | undefined;
  readonly schema: Schema;
  readonly apiVersion: string;
}

/**
 * The rest of a conflict without the fields that the record states and the object still has; undefined when nothing is left. A record in another version
 * explains nothing, and neither does one that does not fit the schema.
 */
export function unexplainedConflict(error: ApplyConflictError, { current, schema, apiVersion }: Met): ApplyConflictError | undefined {
  const recorded = readRecord(current);
  if (recorded === undefined || current === undefined || recorded['apiVersion'] !== apiVersion || recorded['kind'] !== current.kind) return error;
  if ([recorded, withoutOwners(current)].some((object) => typedProblem(schema, object) !== undefined)) return error;
  try {
    const { added, modified, removed } = compareObjects(schema, recorded, current);
    const explained = toFieldSet(schema, recorded).difference(modified).difference(added).difference(removed);
    const conflicts = [...error.conflicts].map(([identity, { manager, set }]) => [identity, { manager, set: set.difference(explained) }] as const);
    const left = conflicts.filter(([, { set }]) => !set.isEmpty);
    return left.length === 0 ? undefined : new ApplyConflictError(new Map(left));
  } catch (problem) {
    if (problem instanceof TypedValueError) return error;
    throw problem;
  }
}

function readRecord(object: KubeObject | undefined): Readonly<Record<string, unknown>> | undefined {
  const text = object?.metadata.annotations?.[ANNOTATION];
  if (!text) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A configuration, which may have no metadata. */
type Configuration = Omit<KubeObject, 'metadata'> & Partial<Pick<KubeObject, 'metadata'>>;

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c', '>': '\\u003e', '&': '\\u0026', '\u2028': '\\u2028', '\u2029': '\\u2029',
};

/** The object with its record, if it has one, made that of `applied`; without it when annotations would be too big. */
export function keepRecord(object: KubeObject, applied: Configuration): KubeObject {
  const annotations = object.metadata.annotations;
  if (!annotations?.[ANNOTATION]) return object;
  const record = stringifyJson(sortJson(withoutRecord(applied))).replace(/[<>&\u2028\u2029]/g, (c) => escapes[c] as string);
  const others = withoutNulls(annotations);
  const kept = { ...others, [ANNOTATION]: `${record}\n` };
  const fits = validateAnnotations(kept, 'metadata.annotations').length === 0;
  delete others[ANNOTATION];
  return { ...object, metadata: { ...object.metadata, annotations: fits ? kept : others } };
}

/** A null stands for the empty text among annotations. */
const withoutNulls = (annotations: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, text ?? '']));

function withoutRecord(applied: Configuration): Configuration {
  if (applied.metadata?.annotations === undefined) return applied;
  const { annotations, ...metadata } = applied.metadata;
  if (annotations === null) return { ...applied, metadata };
  const { [ANNOTATION]: _, ...others } = withoutNulls(annotations);
  return { ...applied, metadata: { ...metadata, annotations: others } };
}
