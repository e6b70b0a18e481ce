// Programs: a tree compiled to closures over a frame. Every step adds its cost to the frame, which stops the evaluation at its limit.
// What a step costs and when an error is absorbed follow cel-go's interpreter with its optimizer on (constant literals cost nothing).
import { type CallExpr, type Expr, type FoldExpr, type ListExpr, type MapExpr, type ParsedExpr, type SelectExpr, type StructExpr,
  qualifiedName } from './ast.ts';
import { compileCall } from './calls.ts';
import type { CheckedExpr, Reference } from './check.ts';
import { type Environment, candidateNames, findFunction } from './environment.ts';
import {
  ArrayList, CelError, CelList, CelMap, CelOptional, EntryMap, Failure, type MapKey, type Value, mapKeyOf, noSuchOverload, noneOptional, typeOf,
} from './values.ts';

/** Values of variables by name; undefined when there is none. */
type Bindings = (name: string) => Value | undefined;

/** Thrown when an evaluation reaches its cost limit. */
class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** The state of one evaluation. */
class Frame {
  readonly bindings: Bindings;
  readonly slots: Value[];
  readonly limit: number;
  cost = 0;
  #built = 0;

  constructor(bindings: Bindings, slots: number, limit: number) {
    this.bindings = bindings;
    this.slots = new Array<Value>(slots).fill(null);
    this.limit = limit;
  }

  charge(cost: number): void {
    if ((this.cost += cost) > this.limit) throw new CostLimitExceeded();
  }

  /** Asks to build something, before it is built. Costs of the reference do not tell of it, so it is counted apart, under the same limit. */
  build(units: number): void {
    if ((this.#built += units) > this.limit) throw new CostLimitExceeded();
  }
}

/** One compiled node. */
export type Step = (frame: Frame) => Value;

/** What came of an evaluation, and what it cost. */
export interface Evaluation {
  /** The result; a Failure when there is none. */
  readonly value: Value;
  readonly cost: number;
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
    return { value: root(frame), cost: frame.cost };
  } catch (error) {
    if (error instanceof CostLimitExceeded) return { value: new CelError(error.message), cost: frame.cost };
    if (error instanceof RangeError) return { value: new CelError('evaluation is too deep'), cost: frame.cost };
    throw error;
  }
}

const listCost = 10;
const mapCost = 30;
const structCost = 40;

/** Compiles nodes; knows which names are slots. */
export class Compiler {
  readonly env: Environment;
  readonly #references: ReadonlyMap<number, Reference> | undefined;
  readonly #scopes: { name: string; slot: number; growing: boolean }[] = [];
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

  /** The slot of a local name, and whether it holds a list or map that only its fold can see. */
  localOf(expr: Expr): { slot: number; growing: boolean } | undefined {
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
      frame.charge(listCost);
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
      frame.charge(mapCost);
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
      frame.charge(structCost);
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

function readSlot(slot: number): Step {
  return (frame) => {
    frame.charge(1);
    return frame.slots[slot]!;
  };
}

function readVariable(name: string): Step {
  const missing = new CelError(`no such attribute(s): ${name}`);
  return (frame) => {
    frame.charge(1);
    const value = frame.bindings(name);
    return value === undefined ? missing : value;
  };
}

/** Selections and indexes extend what cel-go calls an attribute; on anything else they start one, which costs one more. */
export function isAttribute(expr: Expr): boolean {
  return expr.type === 'ident' || expr.type === 'select' || (expr.type === 'call' && /^_(?:\[\??_\]|\?\._|\?_:_)$/.test(expr.name));
}

/** The value of a literal, or of a list or map of them. */
function constantOf(expr: Expr): Value | undefined {
  if (expr.type === 'literal') return expr.value;
  if (expr.type === 'list' && expr.optional.length === 0) {
    const items = expr.elements.map(constantOf);
    return items.includes(undefined) ? undefined : new ArrayList(items as Value[]);
  }
  if (expr.type !== 'map' || expr.entries.some((entry) => entry.optional)) return undefined;
  const filed = new Map<MapKey, readonly [Value, Value]>();
  for (const entry of expr.entries) {
    const key = constantOf(entry.key);
    const value = constantOf(entry.value);
    if (key === undefined || value === undefined || putEntry(filed, { key, value, optional: false }) !== undefined) return undefined;
  }
  return new EntryMap(filed);
}

function putEntry(filed: Map<MapKey, readonly [Value, Value]>, entry: { key: Value; value: Value; optional: boolean }): Failure | undefined {
  const { key, value } = entry;
  if (key instanceof Failure) return key;
  if (value instanceof Failure) return value;
  const id = typeof key === 'object' && !(key !== null && 'value' in key && typeof key.value === 'bigint') ? undefined : mapKeyOf(key);
  if (id === undefined) return new CelError(`unsupported key type: ${typeOf(key).name}`);
  if (entry.optional && !(value instanceof CelOptional)) return noSuchOverload;
  const inner = entry.optional ? (value as CelOptional).value : value;
  if (inner === undefined) return undefined;
  if (filed.has(id)) return new CelError(`Failed with repeated key: ${String(id)}`);
  filed.set(id, [key, inner]);
  return undefined;
}

const isEmptyLiteral = (expr: Expr): boolean => (expr.type === 'list' && expr.elements.length === 0) || (expr.type === 'map' && expr.entries.length === 0);
const newAccumulator = (type: string): Step => (type === 'list' ? () => new ArrayList([]) : () => new EntryMap(new Map()));

/** A field of an object, or the entry of a map. */
function selectField(value: Value, field: string): Value {
  if (value instanceof CelMap) return value.find(field) ?? new CelError(`no such key: ${field}`);
  if (value instanceof CelOptional) return value.value === undefined ? value : selectOptional(value.value, field);
  return noSuchOverload;
}

function selectOptional(value: Value, field: string): Value {
  if (value instanceof CelOptional) return value.value === undefined ? value : selectOptional(value.value, field);
  if (!(value instanceof CelMap)) return noSuchOverload;
  const found = hasKey(value, field) ? value.find(field) : undefined;
  if (found instanceof Failure || found instanceof CelOptional) return found;
  return found === undefined ? noneOptional : new CelOptional(found);
}

/** Objects of a schema do not have the fields that are null. */
function hasKey(map: CelMap, field: string): boolean {
  return 'hasField' in map ? (map as unknown as { hasField(name: string): boolean }).hasField(field) : map.find(field) !== undefined;
}

function hasField(value: Value, field: string): Value {
  if (value instanceof Failure) return value;
  if (value instanceof CelMap) return hasKey(value, field);
  if (value instanceof CelOptional) return value.value === undefined ? false : hasField(value.value, field);
  return noSuchOverload;
}

/** The failure that a logical operator gives when neither side decides. */
function undecided(left: Value, right: Value): Value {
  if (left instanceof Failure && !(left instanceof CelError)) return left;
  if (right instanceof Failure && !(right instanceof CelError)) return right;
  if (left instanceof Failure) return left;
  return right instanceof Failure && typeof left === 'boolean' ? right : noSuchOverload;
}

function conjunction(left: Step, right: Step): Step {
  return (frame) => {
    const x = left(frame);
    if (x === false) return false;
    const y = right(frame);
    if (y === false) return false;
    return x === true && y === true ? true : undecided(x, y);
  };
}

function disjunction(left: Step, right: Step): Step {
  return (frame) => {
    const x = left(frame);
    if (x === true) return true;
    const y = right(frame);
    if (y === true) return true;
    return x === false && y === false ? false : undecided(x, y);
  };
}

function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const decided = condition(frame);
    if (decided === true) return yes(frame);
    if (decided === false) return no(frame);
    return decided instanceof Failure ? decided : noSuchOverload;
  };
}

function notStrictlyFalse(operand: Step): Step {
  return (frame) => {
    const value = operand(frame);
    frame.charge(1);
    return value !== false;
  };
}

interface FoldParts {
  readonly range: Step;
  readonly init: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
  readonly accumulator: number;
  readonly variable: number;
  readonly variable2: number | undefined;
}

function foldStep(parts: FoldParts): Step {
  const { range, init, condition, step, result, accumulator, variable, variable2 } = parts;
  return (frame) => {
    const over = range(frame);
    if (over instanceof Failure) return over;
    const { slots } = frame;
    slots[accumulator] = init(frame);
    if (!(over instanceof CelList) && !(over instanceof CelMap)) return noSuchOverload;
    const keys = over instanceof CelMap ? over.keys() : undefined;
    const count = keys === undefined ? over.size : keys.length;
    for (let i = 0; i < count; i++) {
      const first = keys === undefined ? i : keys[i]!;
      slots[variable] = variable2 !== undefined || keys !== undefined ? first : (over as CelList).get(i);
      if (variable2 !== undefined) slots[variable2] = keys === undefined ? (over as CelList).get(i) : (over as CelMap).find(keys[i]!)!;
      if (condition(frame) === false) break;
      slots[accumulator] = step(frame);
    }
    return result(frame);
  };
}
