// The mutations of a policy, one at a time: an expression makes an apply configuration, which is merged as apply merges, or a JSON patch. A mutation
// that fails is a MutationError, which the failure policy may pass over; a result that is no object of the kind is a StatusError, which it may not.
import {
  type CompiledExpression, type JsonObject, type JsonValue, JsonPatchError, JsonPatchTestError, type KubeObject, type SchemaSet, decodeJsonPatch,
  findAtomics, mergeValues, typedProblem,
} from '../../apimachinery/index.ts';
import type { Steps } from '../../base/index.ts';
import type { ResourceForm } from '../match/resource-forms.ts';
import { defaultForm, readDocument, schemaOf } from '../webhooks/patch.ts';
import type { CompileExpression, PolicySpec } from './policy.ts';

/** The spec of a MutatingAdmissionPolicy. */
export interface MutatingSpec extends PolicySpec {
  readonly mutations?: readonly {
    readonly patchType: string; readonly applyConfiguration?: { readonly expression: string }; readonly jsonPatch?: { readonly expression: string };
  }[] | null;
  readonly reinvocationPolicy?: string;
}

/** A mutation, compiled. */
export interface Mutation {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
  readonly expression: CompiledExpression | string;
}

/** What a mutating policy has beside what all policies have. */
export interface MutatingProgram {
  readonly mutations: readonly Mutation[];
  /** reinvocationPolicy IfNeeded. */
  readonly isReinvocable: boolean;
}

/** A mutation that could not be made. */
export class MutationError extends Error {
  override readonly name = 'MutationError';
}

/** Compiles mutations. */
export function* compileMutations({ mutations, reinvocationPolicy }: MutatingSpec, compile: CompileExpression): Steps<MutatingProgram> {
  const compiled: Mutation[] = [];
  for (const { patchType, applyConfiguration: configuration, jsonPatch } of mutations ?? []) {
    compiled.push(patchType === 'JSONPatch'
      ? { type: 'JSONPatch', expression: yield* compile(jsonPatch?.expression ?? '', 'patch', { hasPatches: true }) }
      : { type: 'ApplyConfiguration', expression: yield* compile(configuration?.expression ?? '', 'configuration', { hasPatches: true }) });
    yield;
  }
  return { isReinvocable: reinvocationPolicy === 'IfNeeded', mutations: compiled };
}

interface Target {
  readonly form: ResourceForm;
  readonly schemas: SchemaSet;
}

function applyConfiguration(object: KubeObject, made: JsonObject, target: Target): KubeObject {
  const { kind, apiVersion } = object;
  const patch = { ...made, ...(apiVersion !== undefined && { apiVersion }), ...(kind !== undefined && { kind }) };
  const schema = schemaOf(target.form, target.schemas);
  const fail = (what: string): MutationError => new MutationError(`error applying patch: ${what}`);
  const problem = typedProblem(schema, patch);
  if (problem !== undefined) throw fail(`failed to convert patch object to typed object: ${problem}`);
  const atomics = findAtomics(schema, patch);
  if (atomics.length > 0) throw fail(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`);
  const unfit = typedProblem(schema, object);
  if (unfit !== undefined) throw fail(`failed to convert original object to typed object: ${unfit}`);
  return readDocument(mergeValues(schema, object, patch) as JsonValue, target);
}

/** Operations as the library reads them: texts that are absent are empty, an empty `from` is absent. */
function readOperations(made: readonly Readonly<Record<string, JsonValue>>[]): JsonValue {
  return made.map((operation) => {
    const { op = '', path = '', from } = operation;
    const value = Object.hasOwn(operation, 'value') ? { value: operation['value'] as JsonValue } : {};
    return { op, path, ...(from !== undefined && from !== '' && { from }), ...value };
  });
}

function applyJsonPatch(object: KubeObject, made: Parameters<typeof readOperations>[0], target: Target): KubeObject {
  let document: JsonValue;
  try {
    document = decodeJsonPatch(readOperations(made)).apply(object as unknown as JsonValue);
  } catch (error) {
    if (error instanceof JsonPatchTestError) return object;
    throw error instanceof JsonPatchError ? new MutationError(`JSON Patch: ${error.message}`) : error;
  }
  return readDocument(document, { ...target, strict: true });
}

/**
 * What a mutation makes of an object, defaulted; `made`: the JSON that its expression made. The object given stays as it is, and is returned where a
 * `test` operation fails.
 */
export function mutateObject({ type }: Mutation, object: KubeObject, { made, ...target }: Target & { readonly made: unknown }): KubeObject {
  const mutated = type === 'JSONPatch' ? applyJsonPatch(object, made as Parameters<typeof applyJsonPatch>[1], target)
    : applyConfiguration(object, made as JsonObject, target);
  return mutated === object ? object : defaultForm(mutated, target.form);
}
