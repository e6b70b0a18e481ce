// The user that the claims of an ID token describe: by claims with prefixes, or by expressions. What an issuer's rules say of claims and user is asked here
// too.
import type { User } from '../../user.ts';
import { type ClaimExpression, type Claims, type ExpressionRule, toText, toTexts } from './claim-expressions.ts';

/** A claim and what is put before its value. */
export interface ClaimMapping {
  readonly claim: string;
  readonly prefix: string;
}

/** How claims become a user. */
export interface UserMapping {
  readonly username: ClaimMapping | ClaimExpression;
  readonly groups?: ClaimMapping | ClaimExpression;
  /** Claim that becomes the uid, or an expression. */
  readonly uid?: string | ClaimExpression;
  readonly extra?: readonly { readonly key: string; readonly value: ClaimExpression }[];
  readonly claimRules?: readonly ExpressionRule<Claims>[];
  readonly userRules?: readonly ExpressionRule<User>[];
}

/** An own claim; undefined when there is none. */
export const readClaim = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined);

/** The user, or why there is none. */
export function mapUser(claims: Claims, mapping: UserMapping): User | string {
  const parts = [
    readUsername(claims, mapping.username), readMemberships(claims, mapping.groups), readUid(claims, mapping.uid), readExtra(claims, mapping.extra ?? []),
  ] as const;
  const failed = parts.find((part) => part instanceof Error);
  if (failed !== undefined) return failed.message;
  const [name, groups, uid, extra] = parts as [string, readonly string[], string, Readonly<Record<string, readonly string[]>>];
  const user: User = { name, groups, ...(uid !== '' && { uid }), ...(Object.keys(extra).length > 0 && { extra }) };
  const unfit = findProblem(claims, mapping.claimRules ?? []);
  if (unfit !== undefined) return `error evaluating claim validation rule: ${unfit}`;
  const unwanted = findProblem(user, mapping.userRules ?? []);
  return unwanted === undefined ? user : `error evaluating user info validation rule: ${unwanted}`;
}

function findProblem<Subject>(subject: Subject, rules: readonly ExpressionRule<Subject>[]): string | undefined {
  for (const rule of rules) {
    const problem = rule.findProblem(subject);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const isExpression = (mapping: ClaimMapping | ClaimExpression): mapping is ClaimExpression => 'evaluate' in mapping;

function compute<T>(claims: Claims, expression: ClaimExpression, read: { readonly what: string; convert(value: never): T | Error }): T | Error {
  const found = expression.evaluate(claims);
  const converted = found instanceof Error ? found : read.convert(found as never);
  return converted instanceof Error ? new Error(`error evaluating ${read.what} claim expression: ${converted.message}`) : converted;
}

function readUsername(claims: Claims, mapping: ClaimMapping | ClaimExpression): string | Error {
  if (isExpression(mapping)) {
    const name = compute(claims, mapping, { what: 'username', convert: toText });
    return name === '' ? new Error('empty username via CEL expression is not allowed') : name;
  }
  const name = readClaim(claims, mapping.claim);
  if (typeof name !== 'string') return new Error(`could not read the username claim ${mapping.claim}`);
  const verified = readClaim(claims, 'email_verified');
  if (mapping.claim === 'email' && verified !== undefined && verified !== true) return new Error('email not verified');
  return mapping.prefix + name;
}

function readMemberships(claims: Claims, mapping: ClaimMapping | ClaimExpression | undefined): readonly string[] | Error {
  if (mapping === undefined) return [];
  if (isExpression(mapping)) return compute(claims, mapping, { what: 'groups', convert: toTexts });
  const value = readClaim(claims, mapping.claim);
  if (value === undefined || value === null) return [];
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string')) return new Error(`could not read the groups claim ${mapping.claim}`);
  return list.map((group: string) => mapping.prefix + group);
}

function readUid(claims: Claims, mapping: string | ClaimExpression | undefined): string | Error {
  if (mapping === undefined) return '';
  if (typeof mapping !== 'string') return compute(claims, mapping, { what: 'uid', convert: toText });
  const uid = readClaim(claims, mapping);
  return typeof uid === 'string' ? uid : new Error(`could not read the uid claim ${mapping}`);
}

function readExtra(claims: Claims, mappings: NonNullable<UserMapping['extra']>): Readonly<Record<string, readonly string[]>> | Error {
  const extra = new Map<string, readonly string[]>();
  const credential = readClaim(claims, 'jti');
  if (typeof credential === 'string' && credential !== '') extra.set('authentication.kubernetes.io/credential-id', [`JTI=${credential}`]);
  for (const { key, value } of mappings) {
    const texts = compute(claims, value, { what: 'extra', convert: toTexts });
    if (texts instanceof Error) return texts;
    if (texts.length > 0) extra.set(key, texts);
  }
  return Object.fromEntries(extra);
}
