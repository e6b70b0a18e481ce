// The validation of a definition's rules: their fields, that they compile, and what they may cost, each rule and all together.
import { type Steps, createStride, resumableSteps } from '../../../base/index.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../field-error.ts';
import type { OpenAPIV3Schema } from '../../schema/structural.ts';
import type { FieldError } from '../../status.ts';
import { UNBOUNDED } from '../cost/ranges.ts';
import { declares } from '../schema/declared.ts';
import { resolveFieldPath } from './rule-paths.ts';
import { type CompiledRule, type ValidationRule, createRuleCompiler, declareSelf, rulesOf } from './rules.ts';

/** Most that one rule may be estimated to cost. */
const RULE_COST_LIMIT = 10_000_000;
/** Most that all rules of a schema may be estimated to cost. */
const SCHEMA_COST_LIMIT = 100_000_000;
const MOST_EXPENSIVE_COUNT = 4;
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];


interface RuleCheckOptions {
  /** Path of the schema, for errors. */
  readonly path: string;
  /** Whether a node, or one below it, has errors of its own: its expressions are not compiled. */
  readonly isFlawed?: (schema: OpenAPIV3Schema) => boolean;
}

/** Nodes without rules are cheap: only some of them end a step. */
const isDue = createStride(50);

/** The problems of the expressions of a schema's rules, one rule a step or several; fields of rules are validated by checkRuleFields. */
export function* checkRules(schema: OpenAPIV3Schema, options: RuleCheckOptions): Steps<readonly FieldError[]> {
  const check = new RuleCheck(options.isFlawed ?? (() => false));
  yield* check.visit(schema, { path: options.path, root: true, cardinality: 1, uncorrelated: undefined });
  if (check.total > SCHEMA_COST_LIMIT) check.reportTotal(options.path);
  return check.errors;
}

/** The problems of the fields of a node's own rules. The paths in them are not looked at where the schema cannot be made structural. */
export function checkRuleFields(schema: OpenAPIV3Schema, at: string, withPaths: boolean): readonly FieldError[] {
  return rulesOf(schema).flatMap((rule, i) => checkFields(rule, withPaths ? schema : undefined, `${at}.x-kubernetes-validations[${i}]`));
}

interface RuleLocation {
  readonly path: string;
  readonly root: boolean;
  /** How often the node can stand in an object; undefined when nothing bounds it. */
  readonly cardinality: number | undefined;
  /** The outermost list above whose elements cannot be matched with old ones. */
  readonly uncorrelated: string | undefined;
  /** A node above has rules: the types of those below it follow from its own. */
  readonly isBelowRules?: boolean;
  /** One of these has no type, so that those below it have none. */
  readonly isUntyped?: boolean;
  /** The schema whose type elements have below rules, where it is not theirs: what holds them may be of another type, or of one without elements. */
  readonly declaredAs?: OpenAPIV3Schema | 'none';
}

class RuleCheck {
  readonly errors: FieldError[] = [];
  readonly #isFlawed: (schema: OpenAPIV3Schema) => boolean;
  #expensive: { path: string; cost: number }[] = [];
  total = 0;

  constructor(isFlawed: (schema: OpenAPIV3Schema) => boolean) {
    this.#isFlawed = isFlawed;
  }

  *visit(schema: OpenAPIV3Schema, place: RuleLocation): Steps<void> {
    if (isDue()) yield;
    const isBelowRules = place.isBelowRules === true || rulesOf(schema).length > 0;
    const typed = place.declaredAs ?? schema;
    const isUntyped = isBelowRules && (place.isUntyped === true || (typed !== 'none' && !declares(typed)));
    const child = { ...childPlace(schema, place), isBelowRules, isUntyped, declaredAs: undefined };
    const { additionalProperties: values, items, properties } = schema;
    const element = isBelowRules && !isUntyped ? { declaredAs: elementOf(typed) } : {};
    if (typeof values === 'object' && values !== null) {
      yield* this.visit(values, { ...child, path: `${place.path}.additionalProperties`, root: isEmbedded(values), ...element });
    }
    for (const name of Object.keys(properties ?? {}).sort()) {
      const property = properties![name]!;
      yield* this.visit(property, { ...child, path: `${place.path}.properties[${name}]`, root: isEmbedded(property) });
    }
    if (typeof items === 'object' && items !== null) {
      const uncorrelated = place.uncorrelated ?? (schema['x-kubernetes-list-type'] === 'map' ? undefined : place.path);
      yield* this.visit(items, { ...child, path: `${place.path}.items`, root: isEmbedded(items), uncorrelated, ...element });
    }
    yield* this.#own(schema, place);
  }

  *#own(schema: OpenAPIV3Schema, place: RuleLocation): Steps<void> {
    const rules = rulesOf(schema);
    if (rules.length === 0 || this.#isFlawed(schema)) return;
    const field = `${place.path}.x-kubernetes-validations`;
    const { declaredAs = schema } = place;
    if (declaredAs === 'none') {
      this.errors.push({ reason: 'InternalError', field, message: 'Internal error: failed to convert to declType for CEL validation rules' });
      return;
    }
    const declared = place.isUntyped === true ? undefined : declareSelf(declaredAs, declaredAs === schema ? place.root : isEmbedded(declaredAs));
    if (declared === undefined) {
      const message = 'Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
      this.errors.push({ reason: 'InternalError', field, message });
      return;
    }
    const compile = createRuleCompiler(declared);
    for (const [i, rule] of rules.entries()) {
      this.#validate(yield* resumableSteps(() => compile(rule)), place, rulePath(place, i));
      yield;
    }
  }

  #validate(compiled: CompiledRule, place: RuleLocation, path: string): void {
    const { rule } = compiled;
    this.#observe(`${path}.rule`, 'estimated rule cost', multiplyCost(compiled.maxCost, place.cardinality ?? compiled.maxCardinality));
    if (compiled.error !== undefined) this.errors.push(invalidValue(`${path}.rule`, shownRule(rule), compiled.error));
    if (compiled.messageError !== undefined) this.errors.push(invalidValue(`${path}.messageExpression`, shownRule(rule), compiled.messageError));
    else if (compiled.messageProgram !== undefined) this.#observe(`${path}.messageExpression`, 'estimated messageExpression cost', compiled.messageMaxCost);
    if (compiled.usesOldSelf && place.uncorrelated !== undefined) {
      this.errors.push(invalidValue(`${path}.rule`, rule.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`));
    } else if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined) {
      this.errors.push(invalidValue(`${path}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'));
    }
  }

  #observe(path: string, name: string, cost: number): void {
    if (cost > RULE_COST_LIMIT) this.errors.push(forbiddenField(path, describeCost(name, cost, RULE_COST_LIMIT)));
    this.total = Math.min(UNBOUNDED, this.total + cost);
    if (cost < SCHEMA_COST_LIMIT / 100) return;
    this.#expensive.push({ path, cost });
    this.#expensive = this.#expensive.sort((a, b) => b.cost - a.cost).slice(0, MOST_EXPENSIVE_COUNT);
  }

  reportTotal(path: string): void {
    for (const expensive of this.#expensive) {
      this.errors.push(forbiddenField(expensive.path, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'));
    }
    const detail = describeCost('x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema', this.total, SCHEMA_COST_LIMIT);
    this.errors.push(forbiddenField(path, detail));
  }
}

const isEmbedded = (schema: OpenAPIV3Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

/** The schema whose type the elements of a value have; `none` where the value's type has no elements. */
function elementOf(schema: OpenAPIV3Schema | 'none'): OpenAPIV3Schema | 'none' {
  if (schema === 'none' || schema['x-kubernetes-int-or-string'] === true) return 'none';
  const { type, items, additionalProperties: values } = schema;
  if (type === 'array') return items ?? 'none';
  return type === 'object' && typeof values === 'object' && values !== null ? values : 'none';
}

const rulePath = (place: RuleLocation, index: number): string => `${place.path}.x-kubernetes-validations[${index}]`;
const multiplyCost = (cost: number, times: number): number => Math.min(UNBOUNDED, cost * times);

function childPlace(schema: OpenAPIV3Schema, place: RuleLocation): RuleLocation {
  if (place.cardinality === undefined) return place;
  const elements = maxElements(schema);
  return { ...place, cardinality: elements === undefined ? undefined : multiplyCost(place.cardinality, elements) };
}

/** By how much a schema multiplies its children; undefined when nothing bounds it. */
function maxElements(schema: OpenAPIV3Schema): number | undefined {
  const isMap = schema.type === 'object' && schema.additionalProperties !== undefined;
  if (!isMap && schema.type !== 'array') return 1;
  const bound = schema[isMap ? 'maxProperties' : 'maxItems'];
  return typeof bound === 'number' ? Math.max(0, bound) : undefined;
}

/** The rule as Go's encoder writes its internal type. */
function shownRule(rule: ValidationRule): unknown {
  return {
    Rule: rule.rule ?? '', Message: rule.message ?? '', MessageExpression: rule.messageExpression ?? '', Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '', OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

function describeCost(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const advice = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${name} exceeds budget by factor of ${shown} (${advice})`;
}

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

function checkFields(rule: ValidationRule, schema: OpenAPIV3Schema | undefined, path: string): FieldError[] {
  const errors = checkTexts(rule, path);
  if (rule.messageExpression !== undefined && rule.messageExpression !== '' && rule.messageExpression.trim() === '') {
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) errors.push(notSupported(`${path}.reason`, rule.reason, reasons));
  const { fieldPath } = rule;
  if (fieldPath === undefined || fieldPath === '') return errors;
  if (fieldPath.trim() === '') errors.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  if (hasLineBreak(fieldPath)) errors.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'));
  if (schema !== undefined && resolveFieldPath(fieldPath, schema) === undefined) {
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return errors;
}

function checkTexts(rule: ValidationRule, path: string): FieldError[] {
  const text = (rule.rule ?? '').trim();
  const message = rule.message ?? '';
  if (text === '') return [required(`${path}.rule`, 'rule is not specified')];
  if (message !== '' && message.trim() === '') return [invalidValue(`${path}.message`, message, 'must be non-empty if specified')];
  if (hasLineBreak(message.trim())) return [invalidValue(`${path}.message`, message, 'must not contain line breaks')];
  if (hasLineBreak(text) && message.trim() === '') return [required(`${path}.message`, 'message must be specified if rule contains line breaks')];
  return [];
}
