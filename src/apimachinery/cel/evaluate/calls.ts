// Calls of functions: the overload is known, or is chosen by the types of the values. Failed arguments fail the call.
import type { CallExpr, Expr } from '../parse/ast.ts';
import { type CallCost, callCostOf } from './call-cost.ts';
import { type CallWork, callWorkOf } from './call-work.ts';
import type { Reference } from '../check/check.ts';
import type { Overload } from '../check/environment.ts';
import { type NodeCompiler, isAttribute } from './attributes.ts';
import type { Step } from './frame.ts';
import { containsValue } from '../values/compare.ts';
import { type Guard, guardOf } from '../values/guards.ts';
import { ArrayList, CelError, CelList, CelMap, CelOptional, EntryMap, Failure, type Value, mapKeyOf, noSuchOverload } from '../values/values.ts';

interface Candidate {
  readonly guards: readonly (Guard | undefined)[];
  readonly call: Overload['call'];
  readonly metered: Overload['metered'];
}

type FunctionReference = Extract<Reference, { type: 'function' }>;

/** Compiles a call of a function. */
export function compileCall(compiler: NodeCompiler, expr: CallExpr, found: FunctionReference): Step {
  const { name } = found.declaration;
  const args: readonly Expr[] = found.global || expr.target === undefined ? expr.args : [expr.target, ...expr.args];
  const growing = growingStep(compiler, { name, args });
  if (growing !== undefined) return growing;
  const overloads = found.overloads.filter((overload) => overload.params.length === args.length && overload.member !== found.global);
  const candidates = overloads.map((overload): Candidate => ({ guards: guardsOf(overload), call: overload.call, metered: overload.metered }));
  const steps = args.map((arg) => compiler.compile(arg));
  const membership = constantMembership(name, args, steps);
  if (membership !== undefined) return membership;
  const lazy = expr.target === undefined ? undefined : optionalChoice(expr.name, steps);
  if (lazy !== undefined) return lazy;
  const extra = (expr.name === '_[_]' || expr.name === '_[?_]') && !isAttribute(args[0]!) ? 1 : 0;
  const charges: Charges = { ...callCostOf(name, overloads.length === 1 ? overloads[0]!.id : undefined), work: callWorkOf(name), extra };
  if (steps.length === 1) return unaryCall(steps[0]!, candidates, charges);
  return steps.length === 2 ? binaryCall(steps, candidates, charges) : anyCall(steps, candidates, charges);
}

/** Lists take whole numbers of any type as index. */
function guardsOf(overload: Overload): (Guard | undefined)[] {
  const guards = overload.params.map(guardOf);
  return overload.id === 'index_list' ? [guards[0], undefined] : guards;
}

/** Membership of a list of literals is one lookup, which costs nothing but its argument. */
function constantMembership(name: string, args: readonly Expr[], steps: readonly Step[]): Step | undefined {
  const list = args[1];
  if (name !== '@in' || list?.type !== 'list' || list.elements.length === 0) return undefined;
  const literals = list.elements.flatMap((element) => (element.type === 'literal' ? [element.value] : []));
  if (literals.length < list.elements.length) return undefined;
  const keys = new Set(literals.map(mapKeyOf));
  const others = new ArrayList(literals.filter((literal) => mapKeyOf(literal) === undefined));
  const [first] = steps as [Step];
  return (frame) => {
    const value = first(frame);
    if (value instanceof Failure) return value;
    const key = mapKeyOf(value);
    return key === undefined ? containsValue(others, value, frame) : keys.has(key);
  };
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

/** What a call costs, and what it works. */
interface Charges extends CallCost {
  readonly work: CallWork | undefined;
  readonly extra: number;
}

function unaryCall(arg: Step, candidates: readonly Candidate[], charges: Charges): Step {
  const { before, after, work } = charges;
  return (frame) => {
    const value = arg(frame);
    if (value instanceof Failure) return value;
    for (const { guards, call, metered } of candidates) {
      const guard = guards[0];
      if (guard !== undefined && !guard(value)) continue;
      if (work !== undefined) frame.work(work([value]));
      if (after === undefined) frame.charge(before === undefined ? 1 : before([value], frame));
      const result = metered === undefined ? call(value) : metered(frame, value);
      if (after !== undefined) frame.charge(after(result));
      return result;
    }
    return noSuchOverload;
  };
}

function binaryCall(steps: readonly Step[], candidates: readonly Candidate[], charges: Charges): Step {
  const [left, right] = steps as [Step, Step];
  const { before, after, work, extra } = charges;
  const isPlain = work === undefined && after === undefined && candidates.every(({ metered }) => metered === undefined);
  if (isPlain) return plainBinaryCall({ left, right }, candidates, { before, extra });
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (x instanceof Failure) return x;
    if (y instanceof Failure) return y;
    for (const { guards, call, metered } of candidates) {
      const [first, second] = guards;
      if ((first !== undefined && !first(x)) || (second !== undefined && !second(y))) continue;
      if (work !== undefined) frame.work(work([x, y]));
      if (after === undefined) frame.charge((before === undefined ? 1 : before([x, y], frame)) + extra);
      const result = metered === undefined ? call(x, y) : metered(frame, x, y);
      if (after !== undefined) frame.charge(after(result));
      return result;
    }
    return noSuchOverload;
  };
}

/** A binary call without work or cost of its result, as operators are: measured 7 % faster for a comparison than with those checks. */
function plainBinaryCall(sides: { left: Step; right: Step }, candidates: readonly Candidate[], charges: { before: CallCost['before']; extra: number }): Step {
  const { left, right } = sides;
  const { before, extra } = charges;
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (x instanceof Failure) return x;
    if (y instanceof Failure) return y;
    for (const { guards, call } of candidates) {
      const [first, second] = guards;
      if ((first !== undefined && !first(x)) || (second !== undefined && !second(y))) continue;
      frame.charge((before === undefined ? 1 : before([x, y], frame)) + extra);
      return call(x, y);
    }
    return noSuchOverload;
  };
}

function anyCall(steps: readonly Step[], candidates: readonly Candidate[], { before, after, work }: Charges): Step {
  return (frame) => {
    const args: Value[] = [];
    for (const step of steps) {
      const value = step(frame);
      if (value instanceof Failure) return value;
      args.push(value);
    }
    const found = candidates.find(({ guards }) => guards.every((guard, i) => guard === undefined || guard(args[i]!)));
    if (found === undefined) return noSuchOverload;
    if (work !== undefined) frame.work(work(args));
    if (after === undefined) frame.charge(before === undefined ? 1 : before(args, frame));
    const result = found.metered === undefined ? found.call(...args) : found.metered(frame, ...args);
    if (after !== undefined) frame.charge(after(result));
    return result;
  };
}

/**
 * The step of a fold that collects: no other step sees its list or map, so it grows in place. Copying it at every element would be
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
    frame.work(more.size);
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
