// Calls of functions: the overload is known, or is chosen by the types of the values. Failed arguments fail the call.
import type { CallExpr, Expr } from '../parse/ast.ts';
import { type BuiltSize, type CallCost, builtSizeOf, callCostOf } from './call-cost.ts';
import type { Reference } from '../check/check.ts';
import type { Overload } from '../check/environment.ts';
import { type NodeCompiler, isAttribute } from './attributes.ts';
import type { Step } from './frame.ts';
import { type Guard, guardOf } from '../values/guards.ts';
import { ArrayList, CelError, CelList, CelMap, CelOptional, EntryMap, Failure, type Value, mapKeyOf, noSuchOverload } from '../values/values.ts';

interface Candidate {
  readonly guards: readonly (Guard | undefined)[];
  readonly call: Overload['call'];
}

type FunctionReference = Extract<Reference, { type: 'function' }>;

/** Compiles a call of a function. */
export function compileCall(compiler: NodeCompiler, expr: CallExpr, found: FunctionReference): Step {
  const args: readonly Expr[] = found.global || expr.target === undefined ? expr.args : [expr.target, ...expr.args];
  const overloads = found.overloads.filter((overload) => overload.params.length === args.length && overload.member !== found.global);
  const growing = growingStep(compiler, { name: found.declaration.name, args });
  if (growing !== undefined) return growing;
  const cost = callCostOf(found.declaration.name, overloads.length === 1 ? overloads[0]!.id : undefined);
  const extra = (expr.name === '_[_]' || expr.name === '_[?_]') && !isAttribute(args[0]!) ? 1 : 0;
  const candidates = overloads.map((overload): Candidate => ({ guards: guardsOf(overload), call: overload.call }));
  const steps = args.map((arg) => compiler.compile(arg));
  if (constantMembership(found.declaration.name, args)) return binaryCall(steps, candidates, { cost: () => 0, built: undefined, extra });
  const lazy = expr.target === undefined ? undefined : optionalChoice(expr.name, steps);
  if (lazy !== undefined) return lazy;
  const built = builtSizeOf(found.declaration.name);
  if (steps.length === 1 && built === undefined) return unaryCall(steps[0]!, candidates, cost);
  if (steps.length === 2) return binaryCall(steps, candidates, { cost, built, extra });
  return anyCall(steps, candidates, { cost, built });
}

/** Lists take whole numbers of any type as index. */
function guardsOf(overload: Overload): (Guard | undefined)[] {
  const guards = overload.params.map(guardOf);
  return overload.id === 'index_list' ? [guards[0], undefined] : guards;
}

/** Membership of a literal list is a lookup, which costs nothing but its argument. */
function constantMembership(name: string, args: readonly Expr[]): boolean {
  const list = args[1];
  return name === '@in' && list?.type === 'list' && list.elements.length > 0 && list.elements.every((element) => element.type === 'literal');
}

/** `or` and `orValue` of an optional: the alternative is evaluated only when it is needed. */
function optionalChoice(name: string, steps: readonly Step[]): Step | undefined {
  const [first, other] = steps;
  if ((name !== 'or' && name !== 'orValue') || first === undefined || other === undefined) return undefined;
  return (frame) => {
    const value = first(frame);
    if (value instanceof Failure) return value;
    if (!(value instanceof CelOptional)) return noSuchOverload;
    if (value.value === undefined) return other(frame);
    return name === 'or' ? value : value.value;
  };
}

function unaryCall(arg: Step, candidates: readonly Candidate[], cost: CallCost | undefined): Step {
  return (frame) => {
    const value = arg(frame);
    if (value instanceof Failure) return value;
    for (const { guards, call } of candidates) {
      const guard = guards[0];
      if (guard !== undefined && !guard(value)) continue;
      const result = call(value);
      frame.charge(cost === undefined ? 1 : cost([value], result));
      return result;
    }
    return noSuchOverload;
  };
}

interface CallCosts {
  readonly cost: CallCost | undefined;
  readonly built: BuiltSize | undefined;
}

function binaryCall(steps: readonly Step[], candidates: readonly Candidate[], costs: CallCosts & { readonly extra: number }): Step {
  const [left, right] = steps as [Step, Step];
  const { cost, built, extra } = costs;
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (x instanceof Failure) return x;
    if (y instanceof Failure) return y;
    for (const { guards, call } of candidates) {
      const [first, second] = guards;
      if ((first !== undefined && !first(x)) || (second !== undefined && !second(y))) continue;
      if (built !== undefined) frame.build(built([x, y]));
      const result = call(x, y);
      frame.charge((cost === undefined ? 1 : cost([x, y], result)) + extra);
      return result;
    }
    return noSuchOverload;
  };
}

function anyCall(steps: readonly Step[], candidates: readonly Candidate[], { cost, built }: CallCosts): Step {
  return (frame) => {
    const args: Value[] = [];
    for (const step of steps) {
      const value = step(frame);
      if (value instanceof Failure) return value;
      args.push(value);
    }
    const found = candidates.find(({ guards }) => guards.every((guard, i) => guard === undefined || guard(args[i]!)));
    if (found === undefined) return noSuchOverload;
    if (built !== undefined) frame.build(built(args));
    const result = found.call(...args);
    frame.charge(cost === undefined ? 1 : cost(args, result));
    return result;
  };
}

/**
 * The step of a fold that collects: its list or map is seen by nobody else, so it grows in place. Copying it at every element would be
 * quadratic in time, for a linear cost.
 */
function growingStep(compiler: NodeCompiler, call: { name: string; args: readonly Expr[] }): Step | undefined {
  const [first, ...rest] = call.args;
  if (first === undefined || compiler.localOf(first)?.growing !== true) return undefined;
  const accumulator = compiler.compile(first);
  const steps = rest.map((arg) => compiler.compile(arg));
  if (call.name === '_+_') return appendStep(accumulator, steps[0]!);
  return call.name === 'cel.@mapInsert' ? insertStep(accumulator, steps) : undefined;
}

function appendStep(accumulator: Step, added: Step): Step {
  return (frame) => {
    const list = accumulator(frame);
    const more = added(frame);
    if (list instanceof Failure) return list;
    if (more instanceof Failure) return more;
    if (!(list instanceof ArrayList) || !(more instanceof CelList)) return noSuchOverload;
    frame.build(more.size);
    for (let i = 0; i < more.size; i++) list.items.push(more.get(i));
    frame.charge(1);
    return list;
  };
}

function insertStep(accumulator: Step, steps: readonly Step[]): Step {
  return (frame) => {
    const map = accumulator(frame);
    const values = steps.map((step) => step(frame));
    const failure = [map, ...values].find((value) => value instanceof Failure);
    if (failure !== undefined) return failure;
    if (!(map instanceof EntryMap)) return noSuchOverload;
    frame.charge(1);
    return values.length === 2 ? insertEntry(map, values[0]!, values[1]!) : insertAll(map, values[0]!);
  };
}

function insertEntry(map: EntryMap, key: Value, value: Value): Value {
  const id = mapKeyOf(key);
  if (id === undefined) return new CelError('unsupported key type');
  if (map.entries.has(id)) return new CelError(`insert failed: key ${String(id)} already exists`);
  map.entries.set(id, [key, value]);
  return map;
}

function insertAll(map: EntryMap, entries: Value): Value {
  if (!(entries instanceof CelMap)) return noSuchOverload;
  for (const key of entries.keys()) {
    const outcome = insertEntry(map, key, entries.find(key)!);
    if (outcome instanceof Failure) return outcome;
  }
  return map;
}
