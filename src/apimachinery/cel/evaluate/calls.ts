// Calls of functions: the overload is known, or is chosen by the types of the values. Failed arguments fail the call.
import type { CallExpr, Expr } from '../parse/ast.ts';
import { type CallCost, callCostOf } from './call-cost.ts';
import { type CallWork, callWorkOf } from './call-work.ts';
import { mismatchOf } from './mismatch.ts';
import type { Reference } from '../check/check.ts';
import type { Overload } from '../check/environment.ts';
import type { NodeCompiler } from './attributes.ts';
import type { Frame, Step } from './frame.ts';
import { containsValue } from '../values/compare.ts';
import { patternProblem } from '../values/regex.ts';
import { type Guard, guardOf } from '../values/guards.ts';
import { ArrayList, CelDouble, CelError, CelList, CelMap, CelOptional, EntryMap, Failure, type Value, mapKeyOf, noSuchOverload } from '../values/values.ts';

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
  const candidates = overloads.map((overload): Candidate => ({ guards: overload.params.map(guardOf), call: overload.call, metered: overload.metered }));
  const steps = args.map((arg) => compiler.compile(arg));
  const isPatterned = name === 'find' || name === 'findAll' || name === 'matches';
  if (isPatterned) rejectPattern(compiler, args[1]!);
  const membership = constantMembership(compiler, found, args, steps);
  if (membership !== undefined) return membership;
  const lazy = expr.target === undefined ? undefined : optionalChoice(expr.name, steps);
  if (lazy !== undefined) return lazy;
  const charges: Charges = {
    ...callCostOf(name, overloads.length === 1 ? overloads[0]!.id : undefined), work: callWorkOf(name), name,
    failsFree: isPatterned && typeof compiler.constantOf(args[1]!) === 'string',
  };
  if (steps.length === 1) return unaryCall(steps[0]!, candidates, charges);
  return steps.length === 2 ? binaryCall(steps, candidates, charges) : anyCall(steps, candidates, charges);
}

/** Constant patterns are compiled with the program. */
function rejectPattern(compiler: NodeCompiler, arg: Expr): void {
  const pattern = compiler.constantOf(arg);
  const problem = typeof pattern === 'string' ? patternProblem(pattern) : undefined;
  if (problem !== undefined) compiler.reject(problem);
}

/** Membership of a constant list of plain values is one lookup, which costs nothing but its argument; nothing is a member of an empty one. */
function constantMembership(compiler: NodeCompiler, found: FunctionReference, args: readonly Expr[], steps: readonly Step[]): Step | undefined {
  const list = found.declaration.name === '@in' ? compiler.constantOf(args[1]!) : undefined;
  if (!(list instanceof CelList)) return undefined;
  if (list.size === 0) return () => false;
  const keys = new Set(list.toArray().map(mapKeyOf));
  const others = list.toArray().filter((item) => mapKeyOf(item) === undefined);
  if (!others.every((item) => item instanceof CelDouble)) return undefined;
  const [first] = steps as [Step];
  const rest = new ArrayList(others);
  return (frame) => {
    const value = first(frame);
    if (value instanceof Failure) return value;
    const key = mapKeyOf(value);
    return key === undefined ? containsValue(rest, value, frame) : keys.has(key);
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
  readonly name: string;
  /** A call that is compiled with its pattern costs nothing where its text failed. */
  readonly failsFree: boolean;
}

function unaryCall(arg: Step, candidates: readonly Candidate[], charges: Charges): Step {
  const { before, after, work } = charges;
  return (frame) => {
    const value = arg(frame);
    if (value instanceof Failure) return failed(frame, [value], charges);
    for (const { guards, call, metered } of candidates) {
      const guard = guards[0];
      if (guard !== undefined && !guard(value)) continue;
      if (work !== undefined) frame.work(work([value]));
      if (after === undefined) frame.charge(before === undefined ? 1 : before([value], frame));
      const result = metered === undefined ? call(value) : metered(frame, value);
      if (after !== undefined) frame.charge(after(result));
      return result;
    }
    return mismatch(frame, [value], charges);
  };
}

/** A call whose arguments failed costs what it would with values of size one; with more than two, one that failed before the last costs nothing. */
function failed(frame: Frame, args: readonly Value[], charges: Charges): Value {
  if (!charges.failsFree) chargeFailure(frame, args, charges);
  return args.find((arg) => arg instanceof Failure)!;
}

/** A cost by the result takes an error for a value of size one. */
function chargeFailure(frame: Frame, args: readonly Value[], { before, after }: Charges): void {
  frame.charge(after?.(noSuchOverload) ?? before?.(args, frame) ?? 1);
}

/** No signature fits the values. */
function mismatch(frame: Frame, args: readonly Value[], charges: Charges): Value {
  chargeFailure(frame, args, charges);
  return mismatchOf(charges.name, args);
}

function binaryCall(steps: readonly Step[], candidates: readonly Candidate[], charges: Charges): Step {
  const [left, right] = steps as [Step, Step];
  const { before, after, work } = charges;
  const isPlain = work === undefined && after === undefined && candidates.every(({ metered }) => metered === undefined);
  if (isPlain) return plainBinaryCall({ left, right }, candidates, charges);
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (x instanceof Failure || y instanceof Failure) return failed(frame, [x, y], charges);
    for (const { guards, call, metered } of candidates) {
      const [first, second] = guards;
      if ((first !== undefined && !first(x)) || (second !== undefined && !second(y))) continue;
      if (work !== undefined) frame.work(work([x, y]));
      if (after === undefined) frame.charge(before === undefined ? 1 : before([x, y], frame));
      const result = metered === undefined ? call(x, y) : metered(frame, x, y);
      if (after !== undefined) frame.charge(after(result));
      return result;
    }
    return mismatch(frame, [x, y], charges);
  };
}

/** A binary call without work or cost of its result, as operators are: measured 7 % faster for a comparison than with those checks. */
function plainBinaryCall(sides: { left: Step; right: Step }, candidates: readonly Candidate[], charges: Charges): Step {
  const { left, right } = sides;
  const { before } = charges;
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (x instanceof Failure || y instanceof Failure) return failed(frame, [x, y], charges);
    for (const { guards, call } of candidates) {
      const [first, second] = guards;
      if ((first !== undefined && !first(x)) || (second !== undefined && !second(y))) continue;
      frame.charge(before === undefined ? 1 : before([x, y], frame));
      return call(x, y);
    }
    return mismatch(frame, [x, y], charges);
  };
}

function anyCall(steps: readonly Step[], candidates: readonly Candidate[], charges: Charges): Step {
  const { before, after, work } = charges;
  return (frame) => {
    const args: Value[] = [];
    for (const step of steps) {
      const value = step(frame);
      args.push(value);
      if (value instanceof Failure) return args.length === steps.length ? failed(frame, args, charges) : value;
    }
    const found = candidates.find(({ guards }) => guards.every((guard, i) => guard === undefined || guard(args[i]!)));
    if (found === undefined) return mismatch(frame, args, charges);
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
    frame.charge(1);
    if (list instanceof Failure) return list;
    if (more instanceof Failure) return more;
    if (!(list instanceof ArrayList) || !(more instanceof CelList)) return noSuchOverload;
    frame.work(more.size);
    for (let i = 0; i < more.size; i++) list.items.push(more.get(i));
    return list;
  };
}

function insertStep(accumulator: Step, steps: readonly Step[]): Step {
  return (frame) => {
    const map = accumulator(frame);
    const values: Value[] = [];
    // Of more than two arguments those behind one that failed are not evaluated, and only the last may fail at a cost.
    for (const step of steps.length > 1 && map instanceof Failure ? [] : steps) {
      values.push(step(frame));
      if (values.at(-1) instanceof Failure) break;
    }
    if (values.length === steps.length) frame.charge(1);
    const failure = [map, ...values].find((value) => value instanceof Failure);
    if (failure !== undefined) return failure;
    if (!(map instanceof EntryMap)) return noSuchOverload;
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
