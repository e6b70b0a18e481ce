// Expressions of an AuthenticationConfiguration: over the claims of a token (`claims`), and over the user that comes of them (`user`). Mirrors the
// reference's environments: claims are a map of anything, a user has username, uid, groups and extra. Relies on the engine of patterns being loaded.
import {
  type CompiledExpression, type Environment, type OpenAPIV3Schema, type Value, CelList, Failure, anyType, compileExpression, declareType, declaredStructs,
  extendEnvironment, fromDeclared, fromJson, kubernetesEnvironment, mapOf, RUNTIME_COST_BUDGET, stringType,
} from '../../../apimachinery/index.ts';
import { invariant } from '../../../base/index.ts';
import type { User } from '../../user.ts';

/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>;

/** What reads a claim by name, as `claims.NAME` or `claims.?NAME`. */
interface ClaimReader {
  selects(claim: string): boolean;
}

/** A value made of claims; an Error when it cannot be made. */
export interface ClaimExpression extends ClaimReader {
  evaluate(claims: Claims): Value | Error;
}

/** A rule that must hold, and what is said when it does not. */
export interface ExpressionRule<Subject> {
  /** Why the rule does not hold; undefined when it does. */
  findProblem(subject: Subject): string | undefined;
}

const text: OpenAPIV3Schema = { type: 'string' };
const texts: OpenAPIV3Schema = { type: 'array', items: text };
const userType = declareType({
  type: 'object', properties: { username: text, uid: text, groups: texts, extra: { type: 'object', additionalProperties: texts } },
}, { root: false, name: 'kubernetes.UserInfo' });
invariant(userType !== undefined, 'the schema of a user declares a type');
const declaredUser = userType;

const claimsEnvironment = extendEnvironment(kubernetesEnvironment, { variables: new Map([['claims', mapOf(stringType, anyType)]]) });
const userEnvironment = extendEnvironment(kubernetesEnvironment, {
  variables: new Map([['user', declaredUser.type]]), structs: [declaredStructs(declaredUser)],
});

/** Compiles an expression over claims. Throws an Error that says what is wrong with it. */
export function compileClaimExpression(expression: string): ClaimExpression {
  const compiled = compileExpression(expression, claimsEnvironment);
  return { evaluate: (claims) => evaluate(compiled, 'claims', fromJson(claims)), selects: (claim) => compiled.selects('claims', claim) };
}

/** Compiles a rule over claims. Throws an Error that says what is wrong with it. */
export function compileClaimRule(expression: string, message: string): ExpressionRule<Claims> & ClaimReader {
  const compiled = compileCondition(expression, claimsEnvironment);
  return {
    findProblem: (claims) => explain(evaluate(compiled, 'claims', fromJson(claims)), { expression, message }),
    selects: (claim) => compiled.selects('claims', claim),
  };
}

/** Compiles a rule over the user. Throws an Error that says what is wrong with it. */
export function compileUserRule(expression: string, message: string): ExpressionRule<User> {
  const compiled = compileCondition(expression, userEnvironment);
  return {
    findProblem({ name, uid = '', groups, extra = {} }) {
      const seen = fromDeclared({ username: name, uid, groups, extra }, declaredUser);
      return explain(evaluate(compiled, 'user', seen), { expression, message });
    },
  };
}

function compileCondition(expression: string, environment: Environment): CompiledExpression {
  const compiled = compileExpression(expression, environment);
  if (compiled.resultType.kind !== 'bool') throw new Error('must evaluate to bool');
  return compiled;
}

function explain(found: Value | Error, { expression, message }: { readonly expression: string; readonly message: string }): string | undefined {
  if (found === true) return undefined;
  if (found instanceof Error) return `expression '${expression}' resulted in error: ${found.message}`;
  return message === '' ? `validation expression '${expression}' failed` : `validation expression '${expression}' failed: ${message}`;
}

function evaluate({ program }: CompiledExpression, variable: string, subject: Value): Value | Error {
  try {
    const { value } = program.evaluate((name) => (name === variable ? subject : undefined), RUNTIME_COST_BUDGET);
    return value instanceof Failure ? new Error(String((value as { message?: unknown }).message ?? 'no value')) : value;
  } catch (error) {
    return error as Error;
  }
}

/** A value as a text. */
export function toText(value: Value): string | Error {
  return typeof value === 'string' ? value : new Error('expected a string');
}

/** A value as texts: one or several; null and empty ones are left out. */
export function toTexts(value: Value): readonly string[] | Error {
  if (value === null) return [];
  const list = value instanceof CelList ? value.toArray() : [value];
  if (!list.every((one) => typeof one === 'string')) return new Error('expected a string or a list of strings');
  return list.filter((one) => one !== '');
}
