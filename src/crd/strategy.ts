// What makes custom kinds special, once for all of them: validation by the schema of the version. Mirrors the strategies of
// apiextensions-apiserver: the schema (ratcheting on update), scale, embedded resources, list types, and last the rules.
import {
  type FieldError, type KubeObject, type OpenAPIV3Schema, formatGo, goTypeOf, invalidValue,
  parseLabelSelector, validateEmbedded, validateListTypes, validateValue,
} from '../apimachinery/index.ts';
import { type Clock, limitTime, tooLong } from '../base/index.ts';
import type { PreparedWork, Strategy, StrategyContext } from '../registry/index.ts';
import type { ScalePaths } from './types.ts';
import { readField } from './json-path.ts';
import type { VersionSchemas } from './schemas.ts';

/** A write as the rules of a schema see it. */
interface RulesInput {
  readonly schema: OpenAPIV3Schema;
  readonly object: KubeObject;
  /** What an update replaces. */
  readonly old: KubeObject | undefined;
}

/** Evaluates x-kubernetes-validations; the seam for the expression language. */
export type CheckRules = (input: RulesInput) => { readonly errors: readonly FieldError[]; readonly warnings?: readonly string[] };

/** A write to be judged by the schema of its version. */
export interface WriteToValidate {
  readonly object: KubeObject;
  /** What an update replaces. */
  readonly old: KubeObject | undefined;
  readonly version: string;
  readonly subresource: string;
}

/** What is wrong with a write, and what rules said about values that they tolerate. */
export interface WriteVerdict {
  readonly errors: readonly FieldError[];
  readonly warnings: readonly string[];
}

/** What writes of a kind are judged by. */
export interface ValidationParts {
  readonly schemas: Pick<VersionSchemas, 'get'>;
  readonly scale: ScalePaths | undefined;
  readonly checkRules: CheckRules | undefined;
}

/** What the strategy of a kind is made from. */
export interface StrategyParts extends ValidationParts {
  readonly clock: Clock;
  /** Judges a write where nobody waits for it. */
  readonly validateInWorker: ((write: WriteToValidate) => Promise<WriteVerdict>) | undefined;
}

const maxInt32 = 2 ** 31 - 1;
/** Errors after which values may not have the types that rules were checked for. */
const blocking: ReadonlySet<string> = new Set(['FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany',
  'FieldValueTypeInvalid']);
const unchecked: FieldError = {
  reason: 'FieldValueInvalid', field: '<nil>',
  message: 'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** Judging that takes longer is given up, and done aside from the start. */
const turnMs = 15;

/** The strategy of a custom kind. */
export function createStrategy(parts: StrategyParts): Strategy {
  const { clock, validateInWorker } = parts;
  /** What was found ahead of the validation that asks. */
  const ahead = new WeakMap<KubeObject, WriteVerdict>();
  const told = new WeakMap<KubeObject, readonly string[]>();
  const judge = (object: KubeObject, old: KubeObject | undefined, { version, subresource }: StrategyContext): readonly FieldError[] => {
    const { errors, warnings } = ahead.get(object) ?? validateWrite({ object, old, version, subresource }, parts);
    // Once: who validates again may have changed it.
    ahead.delete(object);
    if (warnings.length > 0) told.set(object, warnings);
    return errors;
  };
  return {
    ...(validateInWorker !== undefined && {
      prepareValidation(object: KubeObject, { old, context: { version, subresource } }: PreparedWork) {
        const write = { object, old, version, subresource };
        const verdict = limitTime(clock, turnMs, () => validateWrite(write, parts));
        if (verdict === tooLong) return validateInWorker(write).then((found) => void ahead.set(object, found));
        ahead.set(object, verdict);
        return undefined;
      },
    }),
    validate: (object, context) => judge(object, undefined, context),
    validateUpdate: judge,
    warnings: (object) => told.get(object) ?? [],
  };
}

/** Judges a write by its schema, its rules and what its scale wants. */
export function validateWrite({ object, old, version, subresource }: WriteToValidate, { schemas, scale, checkRules }: ValidationParts): WriteVerdict {
  const schema = (schemas.get(version)?.source ?? {}) as OpenAPIV3Schema;
  const errors = old === undefined ? validateNew(schema, object, scale) : validateUpdate(schema, { object, old, subresource }, scale);
  return withRules(errors, { schema, object, old }, checkRules);
}

function validateNew(schema: OpenAPIV3Schema, object: KubeObject, scale: ScalePaths | undefined): FieldError[] {
  return [...validateValue(schema, object), ...validateScale(scale, object), ...validateEmbedded(schema, object), ...validateListTypes(schema, object)];
}

function validateUpdate(schema: OpenAPIV3Schema, { object, old, subresource }: { readonly object: KubeObject; readonly old: KubeObject;
  readonly subresource: string }, scale: ScalePaths | undefined): FieldError[] {
  const isStatus = subresource === 'status';
  const errors = isStatus ? validateStatus(schema, object, old) : validateValue(schema, object, { before: { value: old } });
  for (const error of isStatus ? validateScaleStatus(scale, object) : validateScale(scale, object)) errors.push(error);
  if (!isStatus) for (const error of validateEmbedded(schema, object)) errors.push(error);
  const lists = validateListTypes(schema, object);
  // Duplicates that were there before are nobody's fault.
  if (lists.length > 0 && validateListTypes(schema, old).length === 0) for (const error of lists) errors.push(error);
  return errors;
}

function validateStatus(schema: OpenAPIV3Schema, object: KubeObject, old: KubeObject): FieldError[] {
  const status = schema.properties?.['status'];
  if (status === undefined || object['status'] === undefined) return [];
  return validateValue(status, object['status'], { at: 'status', ...(old['status'] !== undefined && { before: { value: old['status'] } }) });
}

function validateScale(scale: ScalePaths | undefined, object: KubeObject): FieldError[] {
  if (scale === undefined) return [];
  return [...validateReplicas(scale.specReplicasPath, object), ...validateScaleStatus(scale, object)];
}

function validateScaleStatus(scale: ScalePaths | undefined, object: KubeObject): FieldError[] {
  if (scale === undefined) return [];
  const errors = validateReplicas(scale.statusReplicasPath, object);
  const path = scale.labelSelectorPath;
  const selector = path ? readField(object, path) : undefined;
  if (path && typeof selector === 'string' && selector !== '') {
    try {
      parseLabelSelector(selector);
    } catch (error) {
      errors.push(invalidValue(path, selector, (error as Error).message));
    }
  }
  return errors;
}

function validateReplicas(path: string, object: KubeObject): FieldError[] {
  const value = readField(object, path);
  if (value === undefined) return [];
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  if (!isInteger) {
    return [invalidValue(path, 0, `${path} accessor error: ${formatGo(value)} is of the type ${goTypeOf(value)}, expected int64`)];
  }
  if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
  return value > maxInt32 ? [invalidValue(path, value, `should be less than or equal to ${maxInt32}`)] : [];
}

function withRules(errors: FieldError[], input: RulesInput, checkRules: CheckRules | undefined): WriteVerdict {
  if (!hasRules(input.schema)) return { errors, warnings: [] };
  if (errors.some(({ reason }) => blocking.has(reason))) return { errors: [...errors, unchecked], warnings: [] };
  if (checkRules === undefined) return { errors, warnings: [] };
  const found = checkRules(input);
  return { errors: [...errors, ...found.errors], warnings: found.warnings ?? [] };
}

const withRulesKnown = new WeakMap<OpenAPIV3Schema, boolean>();

/** Whether a schema states rules anywhere. */
export function hasRules(schema: OpenAPIV3Schema): boolean {
  let known = withRulesKnown.get(schema);
  if (known === undefined) {
    known = (schema['x-kubernetes-validations'] as unknown[] | undefined)?.length ? true : childrenOf(schema).some(hasRules);
    withRulesKnown.set(schema, known);
  }
  return known;
}

function childrenOf({ properties, items, additionalProperties }: OpenAPIV3Schema): OpenAPIV3Schema[] {
  return [...Object.values(properties ?? {}), ...(items === undefined ? [] : [items]), ...(typeof additionalProperties === 'object'
    ? [additionalProperties] : [])];
}
