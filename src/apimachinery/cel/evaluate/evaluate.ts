// Programs: a tree compiled to closures over a frame. Every step adds its cost to the frame, which stops the evaluation at its limit.
// What a step costs and when an error is absorbed follow cel-go's interpreter with its optimizer on (constant literals cost nothing).
import { isResumable, remember } from '../../../base/index.ts';
import {
  type CallExpr, type Expr, type FoldExpr, type ListExpr, type MapExpr, type ParsedExpr, type SelectExpr, type StructExpr, isBinding, qualifiedName,
} from '../parse/ast.ts';
import type { CheckedExpr, Reference } from '../check/check.ts';
import { type Environment, candidateNames, findFunction } from '../check/environment.ts';
import { ArrayList, CelError, CelOptional, EntryMap, Failure, type MapKey, type Value } from '../values/values.ts';
import { UnfitPart } from '../values/compare.ts';
import { type Local, type NodeCompiler, charged, isAttribute, readLazySlot, readSlot, readVariable } from './attributes.ts';
import { compileCall } from './calls.ts';
import { indexed, optionalIndexed, optionalSelected, presence, selected } from './qualifiers.ts';
import { foldStep } from './fold.ts';
import { CostLimitExceeded } from '../values/meter.ts';
import { type Bindings, Frame, type Step } from './frame.ts';
import { constantCollection, isEmptyLiteral, newAccumulator, notOptional, putEntry } from './literals.ts';
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
  /** What the reference refuses to make the program for: a constant that does not convert, a constant pattern that is none. */
  readonly problem: string | undefined;
}

/** Compiles a tree. Without the checker's findings, names are resolved by the environment and overloads by the values. */
export function compileProgram(expr: CheckedExpr | ParsedExpr, env: Environment): Program {
  const compiler = remember(() => new Compiler(env, 'references' in expr ? expr.references : undefined));
  compiler.begin();
  const root = compiler.compile(expr.root);
  return { evaluate: (bindings, costLimit = Infinity) => run(root, new Frame(bindings, compiler.slots, costLimit)), problem: compiler.problem };
}

function run(root: Step, frame: Frame): Evaluation {
  try {
    return { value: root(frame), cost: frame.cost, work: frame.worked, exceeded: false };
  } catch (error) {
    if (error instanceof UnfitPart) return { value: error.failure, cost: frame.cost, work: frame.worked, exceeded: false };
    const exceeded = error instanceof CostLimitExceeded;
    if (!exceeded && !(error instanceof RangeError)) throw error;
    return { value: new CelError(exceeded ? error.message : 'evaluation is too deep'), cost: frame.cost, work: frame.worked, exceeded };
  }
}

const LIST_COST = 10;
const MAP_COST = 30;
const STRUCT_COST = 40;
/** The language's own conversions. */
const conversions: ReadonlySet<string> = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint']);

/** Compiles nodes; knows which names are slots. */
class Compiler implements NodeCompiler {
  readonly env: Environment;
  readonly #references: ReadonlyMap<number, Reference> | undefined;
  readonly #scopes: Local[] = [];
  readonly #constants = new Map<number, Value | undefined>();
  slots = 0;
  problem: string | undefined;

  constructor(env: Environment, references: ReadonlyMap<number, Reference> | undefined) {
    this.env = env;
    this.#references = references;
  }

  /** A compilation that was broken off begins again outside of all scopes. */
  begin(): void {
    this.#scopes.length = 0;
  }

  reject(problem: string): void {
    this.problem ??= problem;
  }

  compile(expr: Expr): Step {
    return this.#compile(expr, 1);
  }

  resolve(expr: Expr): Step {
    return this.#compile(expr, 0);
  }

  /** Compiles; an attribute costs `whole` beside what its selections and indexes do. */
  #compile(expr: Expr, whole: number): Step {
    return isResumable() ? remember(() => this.#compileNode(expr, whole)) : this.#compileNode(expr, whole);
  }

  #compileNode(expr: Expr, whole: number): Step {
    const constant = this.constantOf(expr);
    if (constant !== undefined) return () => constant;
    switch (expr.type) {
      case 'ident': return this.#ident(expr, expr.name, whole) ?? this.#missing(expr.name);
      case 'select': return this.#select(expr, whole);
      case 'call': return this.#call(expr, whole);
      case 'list': return this.#list(expr);
      case 'map': return this.#map(expr);
      case 'struct': return this.#struct(expr);
      case 'fold': return this.#fold(expr);
      default: return () => null;
    }
  }

  /** What a selection or an index reads from. */
  #operand(expr: Expr, whole: number): Step {
    return isAttribute(expr) ? this.#compile(expr, whole) : charged(this.compile(expr), whole);
  }

  constantOf(expr: Expr): Value | undefined {
    if (expr.type === 'literal') return expr.value;
    if (expr.type !== 'list' && expr.type !== 'map' && expr.type !== 'call') return this.#typeOf(expr);
    // The part itself looks for the known constant: a compilation that begins again asks for the same parts.
    return remember(() => {
      if (!this.#constants.has(expr.id)) {
        this.#constants.set(expr.id, expr.type === 'call' ? this.#convertConstant(expr) : constantCollection(expr, (part) => this.constantOf(part)));
      }
      return this.#constants.get(expr.id);
    });
  }

  #typeOf(expr: Expr): Value | undefined {
    const reference = this.#references?.get(expr.id);
    return reference?.type === 'type' ? reference.value : undefined;
  }

  /** Conversions of constants are made once, and are free; what does not convert is no program. */
  #convertConstant(expr: CallExpr): Value | undefined {
    const [arg, ...more] = expr.args;
    if (this.#references === undefined || arg === undefined || more.length > 0 || expr.target !== undefined || !conversions.has(expr.name)) return undefined;
    if (this.constantOf(arg) === undefined) return undefined;
    const found = this.#references.get(expr.id);
    if (found?.type !== 'function') return undefined;
    const value = compileCall(this, expr, found)(new Frame(() => undefined, 0, Infinity));
    if (value instanceof CelError) this.reject(value.message);
    return value;
  }

  localOf(expr: Expr): Local | undefined {
    return expr.type === 'ident' ? this.#scopes.findLast((scope) => scope.name === expr.name) : undefined;
  }

  #missing(name: string): Step {
    const error = new CelError(`no such attribute(s): ${name}`);
    return () => error;
  }

  #ident(expr: Expr, name: string, cost: number): Step | undefined {
    const local = this.#scopes.findLast((scope) => scope.name === name);
    if (local !== undefined) return local.fill === undefined ? readSlot(local.slot, cost) : readLazySlot(local.slot, local.fill, cost);
    const reference = this.#references?.get(expr.id) ?? this.#resolve(name);
    if (reference === undefined) return undefined;
    if (reference.type === 'type') return () => reference.value;
    return reference.type === 'variable' ? readVariable(reference.name, cost) : undefined;
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

  #select(expr: SelectExpr, whole: number): Step {
    const name = expr.testOnly || this.#isLocal(expr) ? undefined : qualifiedName(expr);
    const named = name === undefined ? undefined : this.#ident(expr, name, whole);
    if (named !== undefined) return named;
    const { field, operand } = expr;
    if (expr.testOnly) return presence(this.#operand(operand, 0), field);
    return selected(this.#operand(operand, whole), field);
  }

  #call(expr: CallExpr, whole: number): Step {
    const [x, y, z] = expr.args;
    switch (expr.name) {
      case '_&&_': return conjunction(this.compile(x!), this.compile(y!));
      case '_||_': return disjunction(this.compile(x!), this.compile(y!));
      case '_?_:_': return conditional(this.compile(x!), this.resolve(y!), this.resolve(z!));
      case '@not_strictly_false': return notStrictlyFalse(this.compile(x!));
      case '_?._': return optionalSelected(this.#operand(x!, whole), String((y as { value?: unknown }).value));
      case '_[_]': case '_[?_]': return this.#index(expr, whole);
      default: return this.#function(expr);
    }
  }

  #index(expr: CallExpr, whole: number): Step {
    const [operand, index] = expr.args as [Expr, Expr];
    const sides = { operand: this.#operand(operand, whole), index: this.resolve(index) };
    return expr.name === '_[?_]' ? optionalIndexed(sides) : indexed(sides);
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
        const failure = value instanceof Failure ? value : optional.has(i) && !(value instanceof CelOptional) ? notOptional(value) : undefined;
        if (failure !== undefined) {
          frame.charge(LIST_COST);
          return failure;
        }
        const item = optional.has(i) ? (value as CelOptional).value : value;
        if (item !== undefined) items.push(item);
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
        const key = entry.key(frame);
        const failure = key instanceof Failure ? key : putEntry(filed, { key, value: entry.value(frame), optional: entry.optional });
        if (failure === undefined) continue;
        frame.charge(MAP_COST);
        return failure;
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

  #declare(name: string, growing: boolean, fill?: Step): number {
    const slot = remember(() => this.slots++);
    this.#scopes.push({ name, slot, growing, ...(fill !== undefined && { fill }) });
    return slot;
  }

  /** The value of a binding is evaluated where it is first used, if it is. */
  #binding({ accumulator, init, result }: FoldExpr): Step {
    const slot = this.#declare(accumulator, false, this.compile(init));
    const body = this.compile(result);
    this.#scopes.pop();
    return (frame) => {
      delete frame.slots[slot];
      return body(frame);
    };
  }

  #fold(expr: FoldExpr): Step {
    if (isBinding(expr)) return this.#binding(expr);
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
