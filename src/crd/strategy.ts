// What makes custom kinds special, once for all of them: validation by the schema of the version. Mirrors the strategies of
// apiextensions-apiserver: the schema (ratcheting on update), scale, embedded resources, list types, and last the rules.
import {
  type FieldError, type KubeObject, type OpenAPIV3Schema, invalidValue, parseLabelSelector, validateEmbedded, validateListTypes, validateValue,
} from '../apimachinery/index.ts';
import type { Strategy, StrategyContext } from '../registry/index.ts';
import type { ScalePaths } from './definition.ts';
import { readField } from './json-path.ts';
import type { VersionSchemas } from './schemas.ts';

/** A write as the rules of a schema see it. */
interface RulesInput {
  readonly schema: OpenAPIV3Schema;
  readonly object: KubeObject;
  /** What an update replaces. */
  readonly old: KubeObject | undefined;
  readonly context: StrategyContext;
}

/** Evaluates x-kubernetes-validations; the seam for the expression language. */
export type CheckRules = (input: RulesInput) => { readonly errors: readonly FieldError[]; readonly warnings?: readonly string[] };

/** What the strategy of a kind is made from. */
interface StrategyParts {
  readonly schemas: VersionSchemas;
  readonly scale: ScalePaths | undefined;
  readonly checkRules: CheckRules | undefined;
}

const maxInt32 = 2 ** 31 - 1;
/** Errors after which values may not have the types that rules were checked for. */
const blocking: ReadonlySet<string> = new Set(['FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany',
  'FieldValueTypeInvalid']);
const unchecked: FieldError = {
  reason: 'FieldValueInvalid', field: '<nil>',
  message: 'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** The strategy of a custom kind. */
export function createStrategy(parts: StrategyParts): Strategy {
  const sourceOf = ({ version }: StrategyContext): OpenAPIV3Schema => (parts.schemas.get(version)?.source ?? {}) as OpenAPIV3Schema;
  /** What rules said about values that they tolerate, until it is asked for. */
  const told = new WeakMap<KubeObject, readonly string[]>();
  return {
    validate(object, context) {
      const schema = sourceOf(context);
      const errors = [...validateValue(schema, object), ...validateScale(parts.scale, object), ...validateEmbedded(schema, object),
        ...validateListTypes(schema, object)];
      return withRules(errors, { schema, object, old: undefined, context }, { checkRules: parts.checkRules, told });
    },
    validateUpdate(object, old, context) {
      const schema = sourceOf(context);
      const errors = context.subresource === 'status' ? validateStatus(schema, object, old) : validateValue(schema, object, { before: { value: old } });
      errors.push(...(context.subresource === 'status' ? validateScaleStatus(parts.scale, object) : validateScale(parts.scale, object)));
      if (context.subresource !== 'status') errors.push(...validateEmbedded(schema, object));
      const lists = validateListTypes(schema, object);
      // Duplicates that were there before are nobody's fault.
      if (lists.length > 0 && validateListTypes(schema, old).length === 0) errors.push(...lists);
      return withRules(errors, { schema, object, old, context }, { checkRules: parts.checkRules, told });
    },
    warnings: (object) => told.get(object) ?? [],
  };
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
  if (typeof value !== 'number' && typeof value !== 'bigint') return [];
  if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
  return value > maxInt32 ? [invalidValue(path, value, `should be less than or equal to ${maxInt32}`)] : [];
}

interface RulesParts {
  readonly checkRules: CheckRules | undefined;
  readonly told: WeakMap<KubeObject, readonly string[]>;
}

function withRules(errors: FieldError[], input: RulesInput, { checkRules, told }: RulesParts): readonly FieldError[] {
  if (!hasRules(input.schema)) return errors;
  if (errors.some(({ reason }) => blocking.has(reason))) return [...errors, unchecked];
  if (checkRules === undefined) return errors;
  const found = checkRules(input);
  if (found.warnings !== undefined) told.set(input.object, found.warnings);
  return [...errors, ...found.errors];
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
