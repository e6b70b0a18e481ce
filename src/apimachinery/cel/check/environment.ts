// What an expression may name: variables, functions with their overloads, types with fields, macros. Environments are immutable; a
// library adds to one, `extendEnvironment` declares variables and types on top of it.
import type { Macro } from '../parse/macros.ts';
import { standardMacros } from '../parse/macros.ts';
import { type CelType, namedTypes } from '../values/types.ts';
import { type Meter, unmetered } from '../values/meter.ts';
import type { Value } from '../values/values.ts';

/** What a function does; a Failure as result is an error of the evaluation. Arguments have the types that the overload declares. */
export type Implementation = (...args: never) => Value;

/** A function that counts its work: it takes the meter of the evaluation before its arguments. */
export interface MeteredImplementation {
  readonly metered: (meter: Meter, ...args: never) => Value;
}

/** Marks a function that counts its work. */
export const metered = (implementation: MeteredImplementation['metered']): MeteredImplementation => ({ metered: implementation });

/** One signature of a function. The target of a member function is its first parameter. */
export interface Overload {
  readonly id: string;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly member: boolean;
  readonly call: (...args: Value[]) => Value;
  /** The same call counting its work; `call` counts none. */
  readonly metered?: (meter: Meter, ...args: Value[]) => Value;
}

/** A function and its signatures. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

/** Types with fields. */
export interface StructProvider {
  /** The type of a field; undefined when the type has none of that name. */
  fieldType(type: string, field: string): CelType | undefined;
  has(type: string): boolean;
  /** Builds a value; undefined when values of the type cannot be built by expressions. */
  build?(type: string, fields: ReadonlyMap<string, Value>): Value;
}

/** Functions, macros and constants that belong together. */
export interface Library {
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly (readonly [key: string, macro: Macro])[];
  readonly types?: ReadonlyMap<string, CelType>;
}

/** What an expression may name, and how it is read. */
export interface Environment {
  readonly container: string;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly macros: ReadonlyMap<string, Macro>;
  readonly variables: ReadonlyMap<string, CelType>;
  /** Types that expressions can name. */
  readonly types: ReadonlyMap<string, CelType>;
  readonly structs: readonly StructProvider[];
  readonly optionalSyntax: boolean;
  readonly escapedNames: boolean;
  /** Elements of a literal must have one type; literals of timestamps, durations and patterns are validated. */
  readonly strictLiterals: boolean;
}

interface EnvironmentOptions {
  readonly container?: string;
  readonly libraries?: readonly Library[];
  readonly variables?: ReadonlyMap<string, CelType>;
  readonly structs?: readonly StructProvider[];
  readonly optionalSyntax?: boolean;
  readonly escapedNames?: boolean;
  readonly strictLiterals?: boolean;
}

/** An environment of the given libraries. */
export function createEnvironment(options: EnvironmentOptions): Environment {
  const functions = new Map<string, FunctionDeclaration>();
  const macros = new Map(standardMacros);
  const types = new Map(namedTypes);
  for (const library of options.libraries ?? []) {
    for (const declared of library.functions ?? []) mergeFunction(functions, declared);
    for (const [key, macro] of library.macros ?? []) macros.set(key, macro);
    for (const [name, type] of library.types ?? []) types.set(name, type);
  }
  return {
    container: options.container ?? '', functions, macros, types, variables: options.variables ?? new Map(), structs: options.structs ?? [],
    optionalSyntax: options.optionalSyntax ?? false, escapedNames: options.escapedNames ?? false, strictLiterals: options.strictLiterals ?? false,
  };
}

function mergeFunction(functions: Map<string, FunctionDeclaration>, declared: FunctionDeclaration): void {
  const known = functions.get(declared.name);
  functions.set(declared.name, known === undefined ? declared : { name: declared.name, overloads: [...known.overloads, ...declared.overloads] });
}

interface MoreOfEnvironment {
  readonly variables?: ReadonlyMap<string, CelType>;
  readonly structs?: readonly StructProvider[];
  readonly container?: string;
  /** Functions of other names than those that are known. */
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: Library['macros'];
}

/** The same environment with more variables, types, functions, macros, or another container. */
export function extendEnvironment(base: Environment, more: MoreOfEnvironment): Environment {
  return {
    ...base,
    container: more.container ?? base.container,
    variables: more.variables === undefined ? base.variables : new Map([...base.variables, ...more.variables]),
    structs: more.structs === undefined ? base.structs : [...base.structs, ...more.structs],
    functions: more.functions === undefined ? base.functions : new Map([...base.functions, ...more.functions.map((one) => [one.name, one] as const)]),
    macros: more.macros === undefined ? base.macros : new Map([...base.macros, ...more.macros]),
  };
}

/** The names that a name may stand for, from the innermost container outwards. */
export function candidateNames(container: string, name: string): string[] {
  if (name.startsWith('.')) return [name.slice(1)];
  const names: string[] = [];
  for (let prefix = container; prefix !== ''; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.')))) names.push(`${prefix}.${name}`);
  names.push(name);
  return names;
}

/** The function that a name stands for. */
export function findFunction(env: Environment, name: string): FunctionDeclaration | undefined {
  for (const candidate of candidateNames(env.container, name)) {
    const found = env.functions.get(candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Declares a function: `declare('size', overload(…), …)`. */
export function declare(name: string, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads };
}

type Returns = readonly [result: CelType, call: Implementation | MeteredImplementation];

function signature(id: string, params: readonly CelType[], how: { returns: Returns; member: boolean }): Overload {
  const { returns: [result, call], member } = how;
  if (typeof call === 'function') return { id, params, result, member, call: call as unknown as Overload['call'] };
  const counted = call.metered as NonNullable<Overload['metered']>;
  return { id, params, result, member, call: (...args) => counted(unmetered, ...args), metered: counted };
}

/** A signature without a target. */
export function overload(id: string, params: readonly CelType[], returns: Returns): Overload {
  return signature(id, params, { returns, member: false });
}

/** A signature whose first parameter is the target. */
export function method(id: string, params: readonly CelType[], returns: Returns): Overload {
  return signature(id, params, { returns, member: true });
}
