// Programs: a tree compiled to closures over a frame. Every step adds its cost to the frame, which stops the evaluation at its limit.
// What a step costs and when an error is absorbed follow cel-go's interpreter with its optimizer on (constant literals cost nothing).
import {
  type CallExpr, type Expr, type FoldExpr, type ListExpr, type MapExpr, type ParsedExpr, type SelectExpr, type StructExpr, qualifiedName,
} from '../parse/ast.ts';
import type { CheckedExpr, Reference } from '../check/check.ts';
import { type Environment, candidateNames, findFunction } from '../check/environment.ts';
import { ArrayList, CelError, CelOptional, EntryMap, Failure, type MapKey, type Value, noSuchOverload } from '../values/values.ts';
import { type Local, type NodeCompiler, isAttribute, readSlot, readVariable } from './attributes.ts';
import { compileCall } from './calls.ts';
import { hasField, selectField, selectOptional } from './fields.ts';
import { foldStep } from './fold.ts';
import { CostLimitExceeded } from '../values/meter.ts';
import { type Bindings, Frame, type Step } from './frame.ts';
import { constantOf, isEmptyLiteral, newAccumulator, putEntry } from './literals.ts';
import { conditional, conjunction, disjunction, notStrictlyFalse } from './operators.ts';

/** What came of an evaluation, and what it cost. */
export interface Evaluation {
  /** The result; a Failure when there is none. */
  readonly value: Value;
  /** In units of the reference. */
  readonly cost: number;
  /** Work that the cost does not show, in units of about the same time. */
  readonly work: number;
  /** True when the evaluation ended at its limit. */
  readonly exceeded: boolean;
}

/** A compiled expression. */
export interface Program {
  /** Evaluates under a cost limit; reaching it is a CelError with the text of CostLimitExceeded. */
  evaluate(bindings: Bindings, costLimit?: number): Evaluation;
}

/** Compiles a tree. Without the checker's findings, names are resolved by the environment and overloads by the values. */
export function compileProgram(expr: CheckedExpr | ParsedExpr, env: Environment): Program {
  const compiler = new Compiler(env, 'references' in expr ? expr.references : undefined);
  const root = compiler.compile(expr.root);
  return { evaluate: (bindings, costLimit = Infinity) => run(root, new Frame(bindings, compiler.slots, costLimit)) };
}

function run(root: Step, frame: Frame): Evaluation {
  try {
    return { value: root(frame), cost: frame.cost, work: frame.worked, exceeded: false };
  } catch (error) {
    const exceeded = error instanceof CostLimitExceeded;
    if (!exceeded && !(error instanceof RangeError)) throw error;
    return { value: new CelError(exceeded ? error.message : 'evaluation is too deep'), cost: frame.cost, work: frame.worked, exceeded };
  }
}

const LIST_COST = 10;
const MAP_COST = 30;
const STRUCT_COST = 40;

/** Compiles nodes; knows which names are slots. */
class Compiler implements NodeCompiler {
  readonly env: Environment;
  readonly #references: ReadonlyMap<number, Reference> | undefined;
  readonly #scopes: Local[] = [];
  slots = 0;

  constructor(env: Environment, references: ReadonlyMap<number, Reference> | undefined) {
    this.env = env;
    this.#references = references;
  }

  compile(expr: Expr): Step {
    const constant = constantOf(expr);
    if (constant !== undefined) return () => constant;
    switch (expr.type) {
      case 'ident': return this.#ident(expr, expr.name) ?? this.#missing(expr.name);
      case 'select': return this.#select(expr);
      case 'call': return this.#call(expr);
      case 'list': return this.#list(expr);
      case 'map': return this.#map(expr);
      case 'struct': return this.#struct(expr);
      case 'fold': return this.#fold(expr);
      default: return () => null;
    }
  }

  localOf(expr: Expr): Local | undefined {
    return expr.type === 'ident' ? this.#scopes.findLast((scope) => scope.name === expr.name) : undefined;
  }

  #missing(name: string): Step {
    const error = new CelError(`no such attribute(s): ${name}`);
    return () => error;
  }

  #ident(expr: Expr, name: string): Step | undefined {
    const local = this.#scopes.findLast((scope) => scope.name === name);
    if (local !== undefined) return readSlot(local.slot);
    const reference = this.#references?.get(expr.id) ?? this.#resolve(name);
    if (reference === undefined) return undefined;
    if (reference.type === 'type') return () => reference.value;
    return reference.type === 'variable' ? readVariable(reference.name) : undefined;
  }

  #resolve(name: string): Reference | undefined {
    if (this.#references !== undefined) return undefined;
    for (const candidate of candidateNames(this.env.container, name)) {
      if (this.env.variables.has(candidate)) return { type: 'variable', name: candidate };
      const type = this.env.types.get(candidate);
      if (type !== undefined) return { type: 'type', value: type };
    }
    return undefined;
  }

  #isLocal(expr: Expr): boolean {
    let root = expr;
    while (root.type === 'select') root = root.operand;
    return this.localOf(root) !== undefined;
  }

  #select(expr: SelectExpr): Step {
    const name = expr.testOnly || this.#isLocal(expr) ? undefined : qualifiedName(expr);
    const named = name === undefined ? undefined : this.#ident(expr, name);
    if (named !== undefined) return named;
    const operand = this.compile(expr.operand);
    const { field } = expr;
    if (expr.testOnly) return (frame) => hasField(operand(frame), field);
    const cost = isAttribute(expr.operand) ? 1 : 2;
    return (frame) => {
      const value = operand(frame);
      if (value instanceof Failure) return value;
      frame.charge(cost);
      return selectField(value, field);
    };
  }

  #call(expr: CallExpr): Step {
    const [x, y, z] = expr.args;
    switch (expr.name) {
      case '_&&_': return conjunction(this.compile(x!), this.compile(y!));
      case '_||_': return disjunction(this.compile(x!), this.compile(y!));
      case '_?_:_': return conditional(this.compile(x!), this.compile(y!), this.compile(z!));
      case '@not_strictly_false': return notStrictlyFalse(this.compile(x!));
      case '_?._': return this.#optionalSelect(expr);
      default: return this.#function(expr);
    }
  }

  #optionalSelect(expr: CallExpr): Step {
    const operand = this.compile(expr.args[0]!);
    const field = String((expr.args[1] as { value?: unknown }).value);
    return (frame) => {
      const value = operand(frame);
      if (value instanceof Failure) return value;
      frame.charge(1);
      return selectOptional(value, field);
    };
  }

  #function(expr: CallExpr): Step {
    const found = this.#references?.get(expr.id) ?? this.#findCall(expr);
    if (found?.type !== 'function') {
      const error = new CelError(`no such overload: ${expr.name}`);
      return () => error;
    }
    return compileCall(this, expr, found);
  }

  #findCall(expr: CallExpr): Reference | undefined {
    const prefix = expr.target === undefined || this.#isLocal(expr.target) ? undefined : qualifiedName(expr.target);
    const qualified = prefix === undefined ? undefined : findFunction(this.env, `${prefix}.${expr.name}`);
    const declaration = qualified ?? findFunction(this.env, expr.name);
    if (declaration === undefined) return undefined;
    const global = qualified !== undefined || expr.target === undefined;
    return { type: 'function', declaration, overloads: declaration.overloads, global };
  }

  #list(expr: ListExpr): Step {
    const steps = expr.elements.map((element) => this.compile(element));
    const optional = new Set(expr.optional);
    return (frame) => {
      const items: Value[] = [];
      for (let i = 0; i < steps.length; i++) {
        const value = steps[i]!(frame);
        if (value instanceof Failure) return value;
        if (!optional.has(i)) items.push(value);
        else if (!(value instanceof CelOptional)) return noSuchOverload;
        else if (value.value !== undefined) items.push(value.value);
      }
      frame.charge(LIST_COST);
      return new ArrayList(items);
    };
  }

  #map(expr: MapExpr): Step {
    const entries = expr.entries.map((entry) => ({ key: this.compile(entry.key), value: this.compile(entry.value), optional: entry.optional }));
    return (frame) => {
      const filed = new Map<MapKey, readonly [Value, Value]>();
      for (const entry of entries) {
        const failure = putEntry(filed, { key: entry.key(frame), value: entry.value(frame), optional: entry.optional });
        if (failure !== undefined) return failure;
      }
      frame.charge(MAP_COST);
      return new EntryMap(filed);
    };
  }

  #struct(expr: StructExpr): Step {
    const reference = this.#references?.get(expr.id);
    const names = reference?.type === 'message' ? [reference.name] : candidateNames(this.env.container, expr.name);
    const provider = this.env.structs.find((candidate) => names.some((name) => candidate.has(name)) && candidate.build !== undefined);
    const name = names.find((candidate) => provider?.has(candidate)) ?? expr.name;
    const fields = expr.fields.map((field) => ({ ...field, step: this.compile(field.value) }));
    return (frame) => {
      const given = new Map<string, Value>();
      for (const field of fields) {
        const value = field.step(frame);
        if (value instanceof Failure) return value;
        const shown = field.optional && value instanceof CelOptional ? value.value : value;
        if (shown !== undefined) given.set(field.field, shown);
      }
      frame.charge(STRUCT_COST);
      return provider?.build?.(name, given) ?? new CelError(`unknown type: ${name}`);
    };
  }

  #declare(name: string, growing: boolean): number {
    this.#scopes.push({ name, slot: this.slots, growing });
    return this.slots++;
  }

  #fold(expr: FoldExpr): Step {
    const range = this.compile(expr.range);
    const growing = expr.accumulator === '@result' && isEmptyLiteral(expr.init);
    const init = growing ? newAccumulator(expr.init.type) : this.compile(expr.init);
    const depth = this.#scopes.length;
    const accumulator = this.#declare(expr.accumulator, growing);
    const variable = this.#declare(expr.variable, false);
    const variable2 = expr.variable2 === undefined ? undefined : this.#declare(expr.variable2, false);
    const condition = this.compile(expr.condition);
    const step = this.compile(expr.step);
    this.#scopes.length = depth + 1;
    const result = this.compile(expr.result);
    this.#scopes.length = depth;
    return foldStep({ range, init, condition, step, result, accumulator, variable, variable2 });
  }
}
