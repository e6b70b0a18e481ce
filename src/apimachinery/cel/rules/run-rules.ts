// Running the rules of a schema on an object: node by node from the root, each rule under the limit of a call and all under one budget.
// Rules over time see the old value where old and new can be matched: fields, map entries, elements of lists that are maps by key. On updates
// the failures of values that did not change are warnings.
import { isJsonObject, remember } from '../../../base/index.ts';
import { equalJson } from '../../equal.ts';
import { duplicate, forbiddenField, invalidValue, required } from '../../field-error.ts';
import { byteLength } from '../../names.ts';
import type { FieldError } from '../../status.ts';
import type { CompiledExpression } from '../compile.ts';
import type { Evaluation } from '../evaluate/evaluate.ts';
import { evaluateCall } from '../evaluate/per-call.ts';
import { fromDeclared } from '../schema/json-values.ts';
import { RUNTIME_COST_BUDGET } from '../limits.ts';
import type { CompiledRule, RuleNode, ValidationRule } from './rules.ts';
import { CelError, CelOptional, type Value, noneOptional } from '../values/values.ts';

/** What the rules say of an object. */
export interface RuleOutcome {
  readonly errors: readonly FieldError[];
  /** Failures that an update may keep: `path: message`. */
  readonly warnings: readonly string[];
  /** The cost that further rules may spend; negative when the budget ran out. */
  readonly remainingBudget: number;
}

/** What rules are evaluated on. */
export interface RuleInput {
  readonly value: unknown;
  /** The stored object, on updates. */
  readonly oldValue?: unknown;
  /** Rules that an unchanged value breaks are errors all the same. */
  readonly refusesUnchanged?: boolean;
  /** Path of the value; the root has none. */
  readonly path?: string;
  readonly budget?: number;
}

const MAX_MESSAGE_BYTES = 5 * 1024;

/** Runs the rules of a tree. */
export function runRules(tree: RuleNode | undefined, input: RuleInput): RuleOutcome {
  const run = new RuleRun(input.budget ?? RUNTIME_COST_BUDGET);
  const { value, oldValue, refusesUnchanged = false } = input;
  const correlation = oldValue === undefined || refusesUnchanged ? {} : { current: new Correlated(value, oldValue) };
  if (tree !== undefined) run.visit(tree, { path: input.path ?? '', value, old: oldValue, correlation });
  return { errors: run.errors, warnings: run.warnings, remainingBudget: run.budget };
}

/** A value and what it was; they are compared once, and only if that is asked. */
class Correlated {
  readonly value: unknown;
  readonly old: unknown;
  #equal: boolean | undefined;

  constructor(value: unknown, old: unknown) {
    this.value = value;
    this.old = old;
  }

  get unchanged(): boolean {
    return (this.#equal ??= equalJson(this.value, this.old));
  }
}

/** The value's own counterpart, else that of the nearest node above that has one. */
interface Correlation {
  readonly current?: Correlated;
  readonly parent?: Correlated;
}

interface Visit {
  readonly path: string;
  readonly value: unknown;
  readonly old: unknown;
  readonly correlation: Correlation;
}

type JsonMap = Readonly<Record<string, unknown>>;
const ownOf = (map: unknown, key: string): unknown => (isJsonObject(map) && Object.hasOwn(map, key) ? map[key] : undefined);

class RuleRun {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  budget: number;
  /** Work that costs do not show has a budget of the same size. */
  #work = RUNTIME_COST_BUDGET;

  constructor(budget: number) {
    this.budget = budget;
  }

  visit(node: RuleNode, at: Visit): void {
    if (at.value === null || at.value === undefined) return;
    this.#runOwn(node, at);
    for (const branch of node.allOf) {
      if (this.budget < 0) return;
      const { parent } = at.correlation;
      this.visit(branch, { ...at, correlation: parent === undefined ? {} : { parent } });
    }
    if (this.budget < 0) return;
    if (Array.isArray(at.value)) this.#visitList(node, at, at.value);
    else if (isJsonObject(at.value)) this.#visitMap(node, at, at.value);
  }

  #visitMap(node: RuleNode, at: Visit, map: JsonMap): void {
    if (node.values !== undefined) {
      for (const key of Object.keys(map).sort()) this.#visitChild(node.values, at, { path: `${at.path}[${key}]`, key });
    }
    for (const [key, child] of node.properties ?? []) {
      if (Object.hasOwn(map, key)) this.#visitChild(child, at, { path: at.path === '' ? key : `${at.path}.${key}`, key });
    }
  }

  #visitChild(node: RuleNode, at: Visit, child: { path: string; key: string }): void {
    if (this.budget < 0) return;
    const value = ownOf(at.value, child.key);
    const old = ownOf(at.old, child.key);
    this.visit(node, { path: child.path, value, old, correlation: correlateKey(at, child.key) });
  }

  #visitList(node: RuleNode, at: Visit, list: readonly unknown[]): void {
    if (node.items === undefined) return;
    const find = oldItems(node, at.old);
    const correlate = oldItems(node, at.correlation.current?.old);
    for (let i = 0; i < list.length && this.budget >= 0; i++) {
      const { current } = at.correlation;
      const before = current === undefined ? undefined : correlate(list[i]);
      const correlation = current === undefined ? at.correlation
        : { parent: current, ...(before === undefined ? {} : { current: new Correlated(list[i], before) }) };
      this.visit(node.items, { path: `${at.path}[${i}]`, value: list[i], old: find(list[i]), correlation });
    }
  }

  #runOwn(node: RuleNode, at: Visit): void {
    const { rules, declared, problem } = node;
    if (problem !== undefined) return this.#fail(node, at, problem);
    if (rules.length === 0 || declared === undefined) return;
    if (this.budget <= 0) return this.#exhausted(node, at);
    const self = fromDeclared(at.value, declared);
    const hasOld = at.old !== undefined && at.old !== null;
    const oldSelf = hasOld ? fromDeclared(at.old, declared) : undefined;
    const optional = oldSelf === undefined ? noneOptional : new CelOptional(oldSelf);
    for (const rule of rules) {
      if (this.budget < 0) return;
      if (rule.usesOldSelf && !hasOld && rule.rule.optionalOldSelf !== true) continue;
      const seen = rule.rule.optionalOldSelf === true ? optional : oldSelf;
      this.#runRule(rule, { node, at, self, oldSelf: seen, plainOldSelf: oldSelf });
    }
  }

  #exhausted(node: RuleNode, at: Visit): void {
    this.#fail(node, at, 'validation failed due to running out of cost budget, no further validation rules will be run');
    this.budget = -1;
  }

  /** An error of the rule itself, which names the type instead of the value. */
  #fail(node: RuleNode, at: Visit, detail: string): void {
    this.errors.push(invalidValue(shownPath(at.path), node.schema.type ?? '', detail));
  }

  #runRule(rule: CompiledRule, on: RunOn): void {
    if (rule.error !== undefined) return this.#fail(on.node, on.at, `rule compile error: ${rule.error}`);
    if (rule.program === undefined) return;
    const { value, cost, work } = evaluate(rule.program, on.self, on.oldSelf);
    this.#work -= work;
    if (cost > this.budget || this.#work < 0) return this.#exhausted(on.node, on.at);
    this.budget -= cost;
    if (value === true) return;
    if (value instanceof CelError) return this.#failed(rule, on, value.message);
    this.#broken(rule, on);
  }

  #failed(rule: CompiledRule, on: RunOn, problem: string): void {
    const shown = ruleText(rule.rule);
    if (problem.startsWith('no such overload')) {
      return this.#fail(on.node, on.at, `'${problem}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`);
    }
    if (!problem.startsWith('operation cancelled: actual cost limit exceeded')) return this.#fail(on.node, on.at, `${problem} evaluating rule: ${shown}`);
    this.#fail(on.node, on.at, `'${problem}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`);
    this.budget = -1;
  }

  #broken(rule: CompiledRule, on: RunOn): void {
    const path = rule.path === undefined ? on.at.path : on.at.path === '' ? rule.path : `${on.at.path}.${rule.path}`;
    const message = this.#messageOf(rule, on);
    const add = (error: FieldError): void => {
      if (!rule.usesOldSelf && isUnchanged(on.at.correlation)) this.warnings.push(`${error.field}: ${error.message}`);
      else this.errors.push(error);
    };
    if (message.fatal !== undefined) {
      add(invalidValue(shownPath(path), on.node.schema.type ?? '', message.fatal));
      this.budget = -1;
      return;
    }
    add(brokenRule(shownPath(path), { rule: rule.rule, value: on.at.value, detail: message.text ?? defaultMessage(rule.rule) }));
  }

  /** The text of messageExpression; none when it fails or is not fit for a message, `fatal` when it costs too much. */
  #messageOf(rule: CompiledRule, on: RunOn): { text?: string; fatal?: string } {
    if (rule.messageProgram === undefined) return {};
    const { value, cost } = evaluate(rule.messageProgram, on.self, on.plainOldSelf);
    if (cost > this.budget) return { fatal: 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run' };
    if (value instanceof CelError && value.message.startsWith('operation cancelled')) {
      const shown = JSON.stringify(rule.rule.messageExpression);
      return { fatal: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${shown}` };
    }
    this.budget -= cost;
    const text = typeof value === 'string' ? value.trim() : '';
    return text === '' || text.includes('\n') || byteLength(text) > MAX_MESSAGE_BYTES ? {} : { text };
  }
}

interface RunOn {
  readonly node: RuleNode;
  readonly at: Visit;
  readonly self: Value;
  readonly oldSelf: Value | undefined;
  readonly plainOldSelf: Value | undefined;
}

/** An evaluation takes longer than a part of a compilation. */
const EVALUATION_WEIGHT = 100;

function evaluate(program: CompiledExpression, self: Value, oldSelf: Value | undefined): Evaluation {
  return remember(() => evaluateCall(program.program, (name) => (name === 'self' ? self : name === 'oldSelf' ? oldSelf : undefined)), EVALUATION_WEIGHT);
}

const shownPath = (path: string): string => (path === '' ? '<nil>' : path);
const isUnchanged = ({ current, parent }: Correlation): boolean => (current ?? parent)?.unchanged ?? false;
const ruleText = (rule: ValidationRule): string => (rule.message === undefined || rule.message === '' ? rule.rule ?? '' : rule.message).trim();
const defaultMessage = (rule: ValidationRule): string =>
  (rule.message === undefined || rule.message === '' ? `failed rule: ${ruleText(rule)}` : rule.message.trim());

/** apiVersion and kind of the root change with every version, so they match nothing. */
function correlateKey({ correlation }: Visit, key: string): Correlation {
  const { current, parent } = correlation;
  if (current === undefined) return correlation;
  if (parent === undefined && (key === 'apiVersion' || key === 'kind')) return {};
  const old = ownOf(current.old, key);
  return { parent: current, ...(old === undefined ? {} : { current: new Correlated(ownOf(current.value, key), old) }) };
}

/** Finds the old element that has the keys of a new one; only lists that are maps have such. */
function oldItems(node: RuleNode, old: unknown): (item: unknown) => unknown {
  const keys = node.schema['x-kubernetes-list-map-keys'];
  if (node.schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(keys) || !Array.isArray(old)) return () => undefined;
  const keyOf = (item: unknown): string => JSON.stringify(keys.map((key) => String(ownOf(item, key as string))));
  const filed = new Map<string, unknown>();
  for (const item of old) if (!filed.has(keyOf(item))) filed.set(keyOf(item), item);
  return (item) => filed.get(keyOf(item));
}

/** The error of a rule that does not hold; objects and lists are not repeated in it. */
function brokenRule(field: string, broken: { rule: ValidationRule; value: unknown; detail: string }): FieldError {
  const { rule, value, detail } = broken;
  const omitted = typeof value === 'object';
  switch (rule.reason) {
    case 'FieldValueForbidden': return forbiddenField(field, detail);
    case 'FieldValueRequired': return required(field, detail);
    case 'FieldValueDuplicate': return omitted ? { reason: 'FieldValueDuplicate', field, message: 'Duplicate value' } : duplicate(field, value);
    default: return omitted ? { reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` } : invalidValue(field, value, detail);
  }
}
