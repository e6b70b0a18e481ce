// Macros: calls that the parser replaces by other expressions. `all`, `exists`, `map` and the like become folds.
import type { Expr, FoldExpr } from './ast.ts';

/** What a macro may do to the tree. */
export interface MacroHelper {
  /** A new node id at the place of another node. */
  idAt(place: { id: number }): number;
}

/** The call that a macro replaces. */
interface MacroCall {
  readonly id: number;
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

/** Gives the expansion, or undefined to leave the call as it is. */
export type Macro = (helper: MacroHelper, call: MacroCall) => Expr | undefined;

/** A call that its macro does not accept. */
export class MacroError extends Error {
  /** The node that is wrong. */
  readonly id: number;

  constructor(id: number, message: string) {
    super(message);
    this.id = id;
  }
}

/** Accumulators of folds; no identifier can be spelled like it. */
const ACCUMULATOR_NAME = '@result';

/** How macros are filed: by name, number of arguments (-1: any) and whether they have a target. */
export function macroKey(name: string, args: number, member: boolean): string {
  return `${name}:${args}:${member}`;
}

/** Makes nodes at the place of the call that is being expanded. */
export class ExprBuilder {
  readonly #helper: MacroHelper;
  readonly #place: { id: number };

  constructor(helper: MacroHelper, place: { id: number }) {
    this.#helper = helper;
    this.#place = place;
  }

  id(): number {
    return this.#helper.idAt(this.#place);
  }

  ident(name: string): Expr {
    return { type: 'ident', id: this.id(), name };
  }

  accumulator(): Expr {
    return this.ident(ACCUMULATOR_NAME);
  }

  literal(value: boolean | number | string): Expr {
    return { type: 'literal', id: this.id(), value };
  }

  list(...elements: Expr[]): Expr {
    return { type: 'list', id: this.id(), elements, optional: [] };
  }

  map(): Expr {
    return { type: 'map', id: this.id(), entries: [] };
  }

  call(name: string, ...args: Expr[]): Expr {
    return { type: 'call', id: this.id(), name, target: undefined, args };
  }

  memberCall(target: Expr, name: string, ...args: Expr[]): Expr {
    return { type: 'call', id: this.id(), name, target, args };
  }

  fold(fold: Omit<FoldExpr, 'type' | 'id' | 'accumulator' | 'variable2'> & { accumulator?: string; variable2?: string }): Expr {
    return { ...fold, type: 'fold', id: this.id(), accumulator: fold.accumulator ?? ACCUMULATOR_NAME, variable2: fold.variable2 };
  }

  /** `value` under a name, visible in `body`. */
  bind(name: string, value: Expr, body: Expr): Expr {
    return this.fold({ range: this.list(), variable: '#unused', accumulator: name, init: value, condition: this.literal(false), step: this.ident(name),
      result: body });
  }
}

/** The name that an argument declares; throws MacroError when it is not a plain identifier. `problem` is the message that the macro has for that. */
export function variableOf(arg: Expr, problem: string): string {
  if (arg.type !== 'ident' || arg.name.startsWith('.')) throw new MacroError(arg.id, problem);
  if (arg.name === ACCUMULATOR_NAME || arg.name === '__result__') throw new MacroError(arg.id, 'iteration variable overwrites accumulator variable');
  return arg.name;
}

const has: Macro = (helper, { id, args }) => {
  const arg = args[0]!;
  if (arg.type !== 'select' || arg.testOnly) throw new MacroError(arg.id, 'invalid argument to has() macro');
  return { type: 'select', id: helper.idAt({ id }), operand: arg.operand, field: arg.field, testOnly: true };
};

const NOT_SIMPLE = 'argument must be a simple name';
const NOT_IDENTIFIER = 'argument is not an identifier';

/** The variables of a macro, which are its first arguments. */
function variables(args: readonly Expr[], two: boolean, problem = NOT_SIMPLE): { variable: string; variable2?: string } {
  const variable = variableOf(args[0]!, problem);
  if (!two) return { variable };
  const variable2 = variableOf(args[1]!, problem);
  if (variable2 === variable) throw new MacroError(args[1]!.id, `duplicate variable name: ${variable}`);
  return { variable, variable2 };
}

function quantifier(kind: 'all' | 'exists', two: boolean): Macro {
  return (helper, { id, target, args }) => {
    const build = new ExprBuilder(helper, { id });
    const declared = variables(args, two);
    const init = build.literal(kind === 'all');
    const open = kind === 'all' ? build.accumulator() : build.call('!_', build.accumulator());
    const condition = build.call('@not_strictly_false', open);
    const step = build.call(kind === 'all' ? '_&&_' : '_||_', build.accumulator(), args[two ? 2 : 1]!);
    return build.fold({ ...declared, range: target!, init, condition, step, result: build.accumulator() });
  };
}

function existsOne(two: boolean): Macro {
  return (helper, { id, target, args }) => {
    const build = new ExprBuilder(helper, { id });
    const declared = variables(args, two);
    const step = build.call('_?_:_', args[two ? 2 : 1]!, build.call('_+_', build.accumulator(), build.literal(1)), build.accumulator());
    const result = build.call('_==_', build.accumulator(), build.literal(1));
    return build.fold({ ...declared, range: target!, init: build.literal(0), condition: build.literal(true), step, result });
  };
}

/** map(v, f), map(v, p, f) and transformList(i, v, f), transformList(i, v, p, f). */
function mapping(two: boolean, filtered: boolean): Macro {
  return (helper, { id, target, args }) => {
    const build = new ExprBuilder(helper, { id });
    const declared = variables(args, two, two ? NOT_SIMPLE : NOT_IDENTIFIER);
    const first = two ? 2 : 1;
    const value = args[filtered ? first + 1 : first]!;
    const added = build.call('_+_', build.accumulator(), build.list(value));
    const step = filtered ? build.call('_?_:_', args[first]!, added, build.accumulator()) : added;
    return build.fold({ ...declared, range: target!, init: build.list(), condition: build.literal(true), step, result: build.accumulator() });
  };
}

const filter: Macro = (helper, { id, target, args }) => {
  const build = new ExprBuilder(helper, { id });
  const declared = variables(args, false, NOT_IDENTIFIER);
  const step = build.call('_?_:_', args[1]!, build.call('_+_', build.accumulator(), build.list(build.ident(declared.variable))), build.accumulator());
  return build.fold({ ...declared, range: target!, init: build.list(), condition: build.literal(true), step, result: build.accumulator() });
};

/** transformMap(k, v, [p,] f) and transformMapEntry(k, v, [p,] entry). */
function mapTransform(entry: boolean, filtered: boolean): Macro {
  return (helper, { id, target, args }) => {
    const build = new ExprBuilder(helper, { id });
    const declared = variables(args, true);
    const value = args[filtered ? 3 : 2]!;
    const inserted = entry ? build.call('cel.@mapInsert', build.accumulator(), value)
      : build.call('cel.@mapInsert', build.accumulator(), build.ident(declared.variable), value);
    const step = filtered ? build.call('_?_:_', args[2]!, inserted, build.accumulator()) : inserted;
    return build.fold({ ...declared, range: target!, init: build.map(), condition: build.literal(true), step, result: build.accumulator() });
  };
}

type MacroTable = readonly (readonly [key: string, macro: Macro])[];

/** The macros of the language itself. */
export const standardMacros: MacroTable = [
  [macroKey('has', 1, false), has],
  [macroKey('all', 2, true), quantifier('all', false)],
  [macroKey('exists', 2, true), quantifier('exists', false)],
  [macroKey('exists_one', 2, true), existsOne(false)],
  [macroKey('existsOne', 2, true), existsOne(false)],
  [macroKey('map', 2, true), mapping(false, false)],
  [macroKey('map', 3, true), mapping(false, true)],
  [macroKey('filter', 2, true), filter],
];

/** Macros with two variables: index or key, and value. */
export const twoVariableMacros: MacroTable = [
  [macroKey('all', 3, true), quantifier('all', true)],
  [macroKey('exists', 3, true), quantifier('exists', true)],
  [macroKey('existsOne', 3, true), existsOne(true)],
  [macroKey('exists_one', 3, true), existsOne(true)],
  [macroKey('transformList', 3, true), mapping(true, false)],
  [macroKey('transformList', 4, true), mapping(true, true)],
  [macroKey('transformMap', 3, true), mapTransform(false, false)],
  [macroKey('transformMap', 4, true), mapTransform(false, true)],
  [macroKey('transformMapEntry', 3, true), mapTransform(true, false)],
  [macroKey('transformMapEntry', 4, true), mapTransform(true, true)],
];

/** cel.bind(name, value, body): a name for a value. */
const bindName: Macro = (helper, { id, target, args }) => {
  if (target?.type !== 'ident' || target.name !== 'cel') return undefined;
  const [name, value, body] = args as [Expr, Expr, Expr];
  if (name.type !== 'ident') throw new MacroError(name.id, 'cel.bind() variable names must be simple identifiers');
  return new ExprBuilder(helper, { id }).bind(name.name, value, body);
};

/** The macro that names values. */
export const bindingMacros: MacroTable = [[macroKey('bind', 3, true), bindName]];
