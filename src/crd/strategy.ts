// The strategy of custom kinds, one for all of them: validation by the schema of the version. Mirrors the strategies of
// apiextensions-apiserver: the schema (ratcheting on update), scale, embedded resources, list types, and last the rules.
import {
  type FieldError, type KubeObject, type OpenAPIV3Schema, invalidValue, loadPatternEngine, statesRules,
  validateEmbedded, validateListTypes, validateValue,
} from '../apimachinery/index.ts';
import { type Clock, limitTime, tooLong } from '../base/index.ts';
import { type Strategy, type StrategyContext, describeMisfit } from '../registry/index.ts';
import type { ScalePaths } from './types.ts';
import { readField } from './json-path.ts';
import type { VersionSchemas } from './schemas.ts';

/** A write as the rules of a schema see it. */
interface RulesInput {
  readonly schema: OpenAPIV3Schema;
  readonly object: KubeObject;
  /** The state that an update replaces. */
  readonly old: KubeObject | undefined;
}

/** Evaluates x-kubernetes-validations; the seam for the expression language. */
export type CheckRules = (input: RulesInput) => { readonly errors: readonly FieldError[]; readonly warnings?: readonly string[] };

/** A write to be validated by the schema of its version. */
export interface WriteToValidate {
  readonly object: KubeObject;
  /** The state that an update replaces. */
  readonly old: KubeObject | undefined;
  readonly version: string;
  readonly subresource: string;
  /** The name of the writer, behind which long validation waits its turn; absent where it does not wait. */
  readonly user?: string;
}

/** The problems of a write, and the warnings of rules about values that they tolerate. */
export interface ValidationResult {
  readonly errors: readonly FieldError[];
  readonly warnings: readonly string[];
}

/** The parts of a kind that its writes are validated by. */
export interface ValidationParts {
  readonly schemas: Pick<VersionSchemas, 'get'>;
  readonly scaleIn: (version: string) => ScalePaths | undefined;
  readonly checkRules: CheckRules | undefined;
}

/** The parts that the strategy of a kind is made from. */
export interface StrategyParts extends ValidationParts {
  readonly clock: Clock;
  /** Validates a write in another thread. */
  readonly validateInWorker: ((write: WriteToValidate) => Promise<ValidationResult>) | undefined;
}

const MAX_INT32 = 2 ** 31 - 1;
/** Errors after which values may not have the types that rules were checked for. */
const blocking: ReadonlySet<string> = new Set(['FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany',
  'FieldValueTypeInvalid']);
const unchecked: FieldError = {
  reason: 'FieldValueInvalid', field: '<nil>',
  message: 'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** A validation that takes longer is given up and done in the worker from the start. */
const TURN_MS = 15;

/** The strategy of a custom kind. */
export function createStrategy(parts: StrategyParts): Strategy {
  /** Results of validations that were done ahead of the one that asks. */
  const ahead = new WeakMap<KubeObject, ValidationResult>();
  const warned = new WeakMap<KubeObject, readonly string[]>();
  const validate = (object: KubeObject, old: KubeObject | undefined, { version, subresource }: StrategyContext): readonly FieldError[] => {
    const { errors, warnings } = ahead.get(object) ?? validateWrite({ object, old, version, subresource }, parts);
    // Used once: before another validation the object may change.
    ahead.delete(object);
    if (warnings.length > 0) warned.set(object, warnings);
    return errors;
  };
  const validateAhead = createAheadValidation(parts, (object, result) => void ahead.set(object, result));
  let hasPatterns = false;
  return {
    prepareValidation(object, { old, context: { version, subresource, user } }) {
      const write = { object, old, version, subresource, user: user.name };
      if (hasPatterns) return validateAhead(write);
      // The engine takes some megabytes: it is loaded by the first write, and not by a server that only serves reads.
      return loadPatternEngine().then(() => {
        hasPatterns = true;
        return validateAhead(write);
      });
    },
    validate: (object, context) => validate(object, undefined, context),
    validateUpdate: validate,
    warnings: (object) => warned.get(object) ?? [],
  };
}

/** Validates ahead what may take long; without a worker everything is validated when validation asks. */
function createAheadValidation(
  parts: StrategyParts, keep: (object: KubeObject, result: ValidationResult) => void,
): (write: WriteToValidate) => Promise<void> | undefined {
  const { clock, validateInWorker } = parts;
  if (validateInWorker === undefined) return () => undefined;
  return (write) => {
    const result = limitTime(clock, TURN_MS, () => validateWrite(write, parts));
    if (result === tooLong) return validateInWorker(write).then((found) => keep(write.object, found));
    keep(write.object, result);
    return undefined;
  };
}

/** Validates a write by its schema, its scale and its rules. */
export function validateWrite({ object, old, version, subresource }: WriteToValidate, { schemas, scaleIn, checkRules }: ValidationParts): ValidationResult {
  const schema = (schemas.get(version)?.source ?? {}) as OpenAPIV3Schema;
  const scale = scaleIn(version);
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
  const lists = validateListTypes(schema, object, old);
  // Duplicates that were stored before are tolerated.
  if (lists.length > 0 && validateListTypes(schema, old).length === 0) for (const error of lists) errors.push(error);
  return errors;
}

function validateStatus(schema: OpenAPIV3Schema, object: KubeObject, old: KubeObject): FieldError[] {
  const status = schema.properties?.['status'];
  if (status === undefined || object['status'] === undefined) return [];
  // A null that takes the place of nothing is no change.
  return validateValue(status, object['status'], { at: 'status', before: { value: old['status'] ?? null } });
}

function validateScale(scale: ScalePaths | undefined, object: KubeObject): FieldError[] {
  if (scale === undefined) return [];
  return [...validateReplicas(scale.specReplicasPath, object), ...validateScaleStatus(scale, object)];
}

function validateScaleStatus(scale: ScalePaths | undefined, object: KubeObject): FieldError[] {
  if (scale === undefined) return [];
  const errors = validateReplicas(scale.statusReplicasPath, object);
  const path = scale.labelSelectorPath;
  if (!path) return errors;
  const blocked = findNoMap(path, object);
  if (blocked !== undefined) return [...errors, invalidValue(path, '', blocked)];
  const selector = readField(object, path);
  if (selector === undefined || typeof selector === 'string') return errors;
  return [...errors, invalidValue(path, '', describeMisfit(namesOf(path), selector, 'string'))];
}

const namesOf = (path: string): string[] => path.replace(/^\./, '').split('.');

/** Where a path leads through a value that is no map: why it cannot be read, as upstream words it. */
function findNoMap(path: string, object: KubeObject): string | undefined {
  const names = namesOf(path);
  let value: unknown = object;
  for (const [index, name] of names.entries()) {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) {
      return describeMisfit(names.slice(0, index + 1), value, 'map[string]interface{}');
    }
    value = (value as Record<string, unknown>)[name];
  }
  return undefined;
}

function validateReplicas(path: string, object: KubeObject): FieldError[] {
  const blocked = findNoMap(path, object);
  if (blocked !== undefined) return [invalidValue(path, 0, blocked)];
  const value = readField(object, path);
  if (value === undefined) return [];
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  if (!isInteger) {
    return [invalidValue(path, 0, describeMisfit(namesOf(path), value, 'int64'))];
  }
  if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
  return value > MAX_INT32 ? [invalidValue(path, value, `should be less than or equal to ${MAX_INT32}`)] : [];
}

function withRules(errors: FieldError[], input: RulesInput, checkRules: CheckRules | undefined): ValidationResult {
  if (!statesRules(input.schema)) return { errors, warnings: [] };
  if (errors.some(({ reason }) => blocking.has(reason))) return { errors: [...errors, unchecked], warnings: [] };
  if (checkRules === undefined) return { errors, warnings: [] };
  const found = checkRules(input);
  return { errors: [...errors, ...found.errors], warnings: found.warnings ?? [] };
}
