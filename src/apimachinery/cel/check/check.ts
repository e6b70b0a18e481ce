// The type checker: resolves names and overloads, infers the type of every node, and reports what does not fit in cel-go's words.
import { isResumable, remember } from '../../../base/index.ts';
import { type CallExpr, type Expr, type FieldEntry, type FoldExpr, type ListExpr, type MapExpr, type ParsedExpr, type SelectExpr, type StructExpr,
  qualifiedName } from '../parse/ast.ts';
import { type Environment, type FunctionDeclaration, type Overload, candidateNames, findFunction } from './environment.ts';
import { CelSyntaxError, type Issue } from '../parse/source.ts';
import {
  type CelType, boolType, bytesType, doubleType, dynType, errorType, formatType, intType, isDyn, isDynOrError, isOptional, listOf, mapOf, nullType, optionalOf,
  paramType, sameType, stringType, structType, typeOfType, uintType,
} from '../values/types.ts';
import { Substitutions, mostGeneral } from './unify.ts';
import { CelDouble, CelUint } from '../values/values.ts';
import { validateLiterals } from './validate-literals.ts';

/** What a node stands for, where it is not its own structure. */
export type Reference =
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'type'; readonly value: CelType }
  | { readonly type: 'function'; readonly declaration: FunctionDeclaration; readonly overloads: readonly Overload[]; readonly global: boolean }
  | { readonly type: 'message'; readonly name: string };

/** An expression whose types are known. */
export interface CheckedExpr extends ParsedExpr {
  readonly types: ReadonlyMap<number, CelType>;
  readonly references: ReadonlyMap<number, Reference>;
  readonly resultType: CelType;
}

/** Checks a parsed text; throws CelSyntaxError. */
export function checkExpression(parsed: ParsedExpr, env: Environment): CheckedExpr {
  const checker = remember(() => new Checker(parsed, env));
  checker.begin();
  checker.check(parsed.root);
  const types = checker.finish();
  if (checker.issues.length === 0 && env.strictLiterals) validateLiterals(parsed.root, types, (expr, message) => checker.report(expr, message));
  if (checker.issues.length > 0) throw new CelSyntaxError(checker.issues, parsed.text);
  return { ...parsed, types, references: checker.references, resultType: types.get(parsed.root.id)! };
}

/** Types that are completed in one part. */
const FINISHED_AT_ONCE = 1000;

class Checker {
  readonly issues: Issue[] = [];
  readonly references = new Map<number, Reference>();
  readonly #parsed: ParsedExpr;
  readonly #env: Environment;
  readonly #types = new Map<number, CelType>();
  readonly #substitutions = new Substitutions();
  readonly #scopes: Map<string, CelType>[] = [];
  #variables = 0;

  constructor(parsed: ParsedExpr, env: Environment) {
    this.#parsed = parsed;
    this.#env = env;
  }

  finish(): Map<number, CelType> {
    const types = remember(() => [...this.#types]);
    for (let at = 0; at < types.length; at += FINISHED_AT_ONCE) {
      const some = types.slice(at, at + FINISHED_AT_ONCE);
      remember(() => {
        for (const [id, type] of some) this.#types.set(id, this.#substitutions.apply(type, true));
      }, some.length);
    }
    return this.#types;
  }

  report(place: { id: number }, message: string): void {
    this.issues.push({ offset: this.#parsed.offsets.get(place.id) ?? 0, message });
  }

  /** A check that was broken off begins again outside of all scopes. */
  begin(): void {
    this.#scopes.length = 0;
  }

  check(expr: Expr): CelType {
    return isResumable() ? remember(() => this.#check(expr)) : this.#check(expr);
  }

  #check(expr: Expr): CelType {
    const type = this.#infer(expr);
    this.#types.set(expr.id, type);
    return type;
  }

  #infer(expr: Expr): CelType {
    switch (expr.type) {
      case 'literal': return typeOfLiteral(expr.value);
      case 'ident': return this.#ident(expr, expr.name) ?? this.#undeclared(expr, expr.name);
      case 'select': return this.#select(expr);
      case 'call': return this.#call(expr);
      case 'list': return this.#list(expr);
      case 'map': return this.#map(expr);
      case 'struct': return this.#struct(expr);
      default: return this.#fold(expr);
    }
  }

  #undeclared(place: { id: number }, name: string): CelType {
    this.report(place, `undeclared reference to '${name}' (in container '${this.#env.container}')`);
    return errorType;
  }

  #newVariable(): CelType {
    return paramType(`_var${this.#variables++}`);
  }

  #ident(expr: Expr, name: string): CelType | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const local = this.#scopes[i]!.get(name);
      if (local !== undefined) return this.#refer(expr, { type: 'variable', name }, local);
    }
    for (const candidate of candidateNames(this.#env.container, name)) {
      const declared = this.#env.variables.get(candidate);
      if (declared !== undefined) return this.#refer(expr, { type: 'variable', name: candidate }, declared);
      const named = this.#env.types.get(candidate) ?? (this.#env.structs.some((provider) => provider.has(candidate)) ? structType(candidate) : undefined);
      if (named !== undefined) return this.#refer(expr, { type: 'type', value: named }, typeOfType(named));
    }
    return undefined;
  }

  #refer(expr: Expr, reference: Reference, type: CelType): CelType {
    this.references.set(expr.id, reference);
    return type;
  }

  #isLocal(expr: Expr): boolean {
    let root = expr;
    while (root.type === 'select') root = root.operand;
    const name = root.type === 'ident' ? root.name : '';
    return this.#scopes.some((scope) => scope.has(name));
  }

  #select(expr: SelectExpr): CelType {
    if (!expr.testOnly && !this.#isLocal(expr)) {
      const name = qualifiedName(expr);
      const found = name === undefined ? undefined : this.#ident(expr, name);
      if (found !== undefined) return found;
    }
    this.check(expr.operand);
    const field = this.#fieldOf(expr, { operand: expr.operand, field: expr.field, optional: false });
    return expr.testOnly ? boolType : field;
  }

  #fieldOf(place: { id: number }, access: { operand: Expr; field: string; optional: boolean }): CelType {
    const operand = this.#substitutions.apply(this.#types.get(access.operand.id)!, false);
    const wrapped = isOptional(operand);
    const target = wrapped ? operand.params[0] ?? dynType : operand;
    const result = this.#plainField(place, target, access.field);
    return (wrapped || access.optional) && !isOptional(result) ? optionalOf(result) : result;
  }

  #plainField(place: { id: number }, target: CelType, field: string): CelType {
    if (target.kind === 'map') return target.params[1] ?? dynType;
    if (target.kind === 'struct') return this.#structField(place, target.name, field);
    if (target.kind === 'param') {
      this.#substitutions.assign(dynType, target);
      return dynType;
    }
    if (!isDynOrError(target)) this.report(place, `type '${formatType(target)}' does not support field selection`);
    return dynType;
  }

  #structField(place: { id: number }, type: string, field: string): CelType {
    const provider = this.#env.structs.find((candidate) => candidate.has(type));
    const found = provider?.fieldType(type, field);
    if (found === undefined) this.report(place, provider === undefined ? `unexpected failed resolution of '${type}'` : `undefined field '${field}'`);
    return found ?? errorType;
  }

  #call(expr: CallExpr): CelType {
    if (expr.name === '_?._') return this.#optionalSelect(expr);
    if (expr.name === '_&&_' || expr.name === '_||_') {
      for (const arg of expr.args) this.#assert(arg, boolType);
      return boolType;
    }
    for (const arg of expr.args) this.check(arg);
    if (expr.target === undefined) return this.#globalCall(expr, expr.name);
    const prefix = this.#isLocal(expr.target) ? undefined : qualifiedName(expr.target);
    const qualified = prefix === undefined ? undefined : findFunction(this.#env, `${prefix}.${expr.name}`);
    if (qualified !== undefined) return this.#resolve(expr, qualified, { args: expr.args, member: false });
    this.check(expr.target);
    const declared = findFunction(this.#env, expr.name);
    if (declared === undefined) return this.#undeclared(expr, expr.name);
    return this.#resolve(expr, declared, { args: [expr.target, ...expr.args], member: true });
  }

  #globalCall(expr: CallExpr, name: string): CelType {
    const declared = findFunction(this.#env, name);
    return declared === undefined ? this.#undeclared(expr, name) : this.#resolve(expr, declared, { args: expr.args, member: false });
  }

  #optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args as [Expr, Expr];
    this.check(operand);
    this.check(field);
    const declared = this.#env.functions.get('_?._');
    if (declared !== undefined) this.references.set(expr.id, { type: 'function', declaration: declared, overloads: declared.overloads, global: true });
    return this.#fieldOf(expr, { operand, field: String((field as { value?: unknown }).value), optional: true });
  }

  #resolve(expr: CallExpr, declaration: FunctionDeclaration, call: { args: readonly Expr[]; member: boolean }): CelType {
    const given = call.args.map((arg) => this.#types.get(arg.id)!);
    const overloads: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declaration.overloads) {
      if (overload.member !== call.member || overload.params.length !== given.length) continue;
      const fresh = this.#freshen(overload);
      if (!this.#substitutions.assignAll(given, fresh.params)) continue;
      overloads.push(overload);
      const returned = this.#substitutions.apply(fresh.result, false);
      if (result === undefined) result = returned;
      else if (!isDyn(result) && !sameType(returned, result)) result = dynType;
    }
    this.references.set(expr.id, { type: 'function', declaration, overloads, global: !call.member });
    return result ?? this.#noOverload(expr, declaration.name, { given, member: call.member });
  }

  #noOverload(expr: Expr, name: string, call: { given: readonly CelType[]; member: boolean }): CelType {
    const shown = call.given.map((type) => formatType(this.#substitutions.apply(type, true)));
    const signature = call.member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    this.report(expr, `found no matching overload for '${name}' applied to '${signature}'`);
    return errorType;
  }

  /** The signature with type variables of its own. */
  #freshen(overload: Overload): { params: readonly CelType[]; result: CelType } {
    const names = new Set<string>();
    for (const param of overload.params) collectParams(param, names);
    collectParams(overload.result, names);
    if (names.size === 0) return overload;
    const renamed = new Substitutions();
    for (const name of names) renamed.assign(this.#newVariable(), paramType(name));
    return { params: overload.params.map((param) => renamed.apply(param, false)), result: renamed.apply(overload.result, false) };
  }

  #list(expr: ListExpr): CelType {
    let joined: CelType | undefined;
    const optional = new Set(expr.optional);
    expr.elements.forEach((element, i) => {
      joined = remember(() => {
        const type = this.check(element);
        return this.#join(joined, optional.has(i) ? this.#unwrap(element, type) : type);
      });
    });
    return listOf(joined ?? this.#newVariable());
  }

  /** The inner type of what must be an optional. */
  #unwrap(place: Expr, given: CelType): CelType {
    const type = this.#substitutions.apply(given, false);
    if (isOptional(type)) return type.params[0] ?? dynType;
    if (!isDynOrError(type)) this.#mismatch(place, optionalOf(type), type);
    return type;
  }

  #mismatch(place: { id: number }, expected: CelType, found: CelType): void {
    const shown = [expected, found].map((type) => formatType(this.#substitutions.apply(type, false)));
    this.report(place, `expected type '${shown[0]}' but found '${shown[1]}'`);
  }

  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.#substitutions.assign(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  #map(expr: MapExpr): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      [key, value] = remember(() => {
        const given = [this.check(entry.key), this.check(entry.value)] as const;
        return [this.#join(key, given[0]), this.#join(value, entry.optional ? this.#unwrap(entry.value, given[1]) : given[1])] as const;
      });
    }
    return mapOf(key ?? this.#newVariable(), value ?? this.#newVariable());
  }

  #struct(expr: StructExpr): CelType {
    const type = remember(() => this.#messageType(expr));
    if (type === undefined) return errorType;
    for (const entry of expr.fields) remember(() => this.#entry(type, entry));
    return type;
  }

  #entry(type: CelType, entry: FieldEntry): void {
    const given = this.check(entry.value);
    const expected = this.#structField(entry, type.name, entry.field);
    const found = entry.optional ? this.#unwrap(entry.value, given) : given;
    if (expected.kind === 'error' || this.#substitutions.assign(expected, found)) return;
    this.report(entry, `expected type of field '${entry.field}' is '${formatType(expected)}' but provided type is '${formatType(found)}'`);
  }

  #messageType(expr: StructExpr): CelType | undefined {
    for (const candidate of candidateNames(this.#env.container, expr.name)) {
      if (this.#env.structs.some((provider) => provider.has(candidate))) {
        this.references.set(expr.id, { type: 'message', name: candidate });
        return structType(candidate);
      }
      const variable = this.#env.variables.get(candidate);
      if (variable !== undefined) return this.#notMessage(expr, `'${formatType(variable)}' is not a type`);
      const named = this.#env.types.get(candidate);
      if (named !== undefined) return this.#notMessage(expr, `'${candidate}' is not a message type`);
    }
    this.#undeclared(expr, expr.name);
    return undefined;
  }

  #notMessage(expr: StructExpr, message: string): undefined {
    this.report(expr, message);
    return undefined;
  }

  #fold(expr: FoldExpr): CelType {
    this.check(expr.range);
    const accumulated = this.check(expr.init);
    const [range, [first, second]] = remember(() => {
      const type = this.#substitutions.apply(this.#types.get(expr.range.id)!, false);
      return [type, this.#rangeTypes(expr, type)] as const;
    });
    this.#scopes.push(new Map([[expr.accumulator, accumulated]]));
    const declared = new Map([[expr.variable, expr.variable2 === undefined ? singleOf(range, first, second) : first]]);
    if (expr.variable2 !== undefined) declared.set(expr.variable2, second);
    this.#scopes.push(declared);
    this.#assert(expr.condition, boolType);
    this.#assert(expr.step, accumulated);
    this.#scopes.pop();
    const result = this.check(expr.result);
    this.#scopes.pop();
    return this.#substitutions.apply(result, false);
  }

  /** Types of index or key, and of value. */
  #rangeTypes(expr: FoldExpr, range: CelType): [CelType, CelType] {
    if (range.kind === 'list') return [intType, range.params[0] ?? dynType];
    if (range.kind === 'map') return [range.params[0] ?? dynType, range.params[1] ?? dynType];
    // A message of any type is no list, although all else may be done with it.
    if ((isDynOrError(range) && range.kind !== 'any') || range.kind === 'param') {
      this.#substitutions.assign(dynType, range);
      return [dynType, dynType];
    }
    this.report(expr.range, `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`);
    return [errorType, errorType];
  }

  #assert(expr: Expr, type: CelType): void {
    remember(() => {
      const found = this.check(expr);
      if (!this.#substitutions.assign(type, found)) this.#mismatch(expr, type, found);
    });
  }
}

/** With one variable, lists give their elements and maps their keys. */
const singleOf = (range: CelType, first: CelType, second: CelType): CelType => (range.kind === 'map' ? first : second);

function collectParams(type: CelType, names: Set<string>): void {
  if (type.kind === 'param') names.add(type.name);
  for (const param of type.params) collectParams(param, names);
}

function typeOfLiteral(value: unknown): CelType {
  switch (typeof value) {
    case 'boolean': return boolType;
    case 'number': case 'bigint': return intType;
    case 'string': return stringType;
    default:
      if (value instanceof CelDouble) return doubleType;
      if (value instanceof CelUint) return uintType;
      return value === null ? nullType : bytesType;
  }
}
