// Match conditions of webhooks and policies: expressions that must all hold for something to be asked at all. One that is false wins over others
// that fail; failures follow the failure policy. All conditions share one budget. Mirrors upstream's matchconditions.Matcher.
import {
  type AccessAttributes, type AccessDecision, type CompiledExpression, MATCH_CONDITIONS_COST_BUDGET, PolicyEvaluation, type PolicyInput,
  compilePolicyExpression, policyEnvironment,
} from '../../apimachinery/index.ts';
import { type MaybePromise, mapMaybe } from '../../base/index.ts';
import type { AdmissionAttributes, User } from '../../registry/index.ts';
import { describeRequest } from './admission-request.ts';
import type { FormedObjects } from './resource-forms.ts';
import { namespaceOf } from './rules.ts';

/** A condition as configurations state it. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** Conditions that are ready to be evaluated; the text stands for one that does not compile. */
export type CompiledConditions = readonly (CompiledExpression | string)[];

/** What an authorizer is asked, as the authorization of requests has it. */
export interface AccessQuestion extends Required<Omit<AccessAttributes, 'serviceAccount' | 'fieldSelector' | 'labelSelector'>>,
  Pick<AccessAttributes, 'fieldSelector' | 'labelSelector'> {
  readonly user: User;
  readonly isResource: boolean;
  readonly version: string;
}

/** Answers whether a user may do something. */
export type AskAccess = (question: AccessQuestion) => MaybePromise<{ readonly type: 'allow' | 'deny' | 'none'; readonly reason: string }>;

/** `failed`: none is false, and these could not be evaluated. */
export type ConditionOutcome = { readonly type: 'match' | 'mismatch' } | { readonly type: 'failed'; readonly errors: readonly string[] };

const environments = new Map<boolean, ReturnType<typeof policyEnvironment>>();

/** Made on first use: most servers have no conditions. */
function findEnvironment(hasParams: boolean): ReturnType<typeof policyEnvironment> {
  const made = environments.get(hasParams) ?? policyEnvironment({ hasParams, hasAuthorizer: true });
  environments.set(hasParams, made);
  return made;
}

/** Compiles conditions. */
export function compileConditions(conditions: readonly MatchCondition[], { hasParams = false }: { readonly hasParams?: boolean } = {}): CompiledConditions {
  return conditions.map(({ expression }) => compilePolicyExpression(expression, findEnvironment(hasParams), 'condition'));
}

const accountUser = ({ namespace, name }: { readonly namespace: string; readonly name: string }): User => ({
  name: `system:serviceaccount:${namespace}:${name}`, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

/** The question of an access that an expression checks, for the user of the request unless it names an account. */
function describeAccess({ serviceAccount, path, ...access }: AccessAttributes, requestUser: User): AccessQuestion {
  const { verb, group = '', resource = '', subresource = '', namespace = '', name = '', fieldSelector, labelSelector } = access;
  return {
    user: serviceAccount === undefined ? requestUser : accountUser(serviceAccount), verb, isResource: path === undefined, path: path ?? '',
    group, version: path === undefined ? '*' : '', resource, subresource, namespace, name,
    ...(fieldSelector !== undefined && { fieldSelector }), ...(labelSelector !== undefined && { labelSelector }),
  };
}

/** What expressions about a request are evaluated on. */
export function describeInput(attributes: AdmissionAttributes, { form, object, oldObject }: FormedObjects, askAccess: AskAccess): PolicyInput {
  const { resource: { group, plural }, subresource, name, context: { user } } = attributes;
  const authorize = (access: AccessAttributes): MaybePromise<AccessDecision> =>
    mapMaybe(askAccess(describeAccess(access, user)), ({ type, reason }) => ({ allowed: type === 'allow', reason }));
  return {
    object: object ?? null, oldObject: oldObject ?? null, request: describeRequest(attributes, form), namespaceObject: null, authorize,
    requestResource: { group, resource: plural, subresource, namespace: namespaceOf(attributes), name },
  };
}

/** Evaluates conditions; in this turn where the authorizer answers at once. */
export function evaluateConditions(conditions: CompiledConditions, input: PolicyInput): MaybePromise<ConditionOutcome> {
  const evaluation = new PolicyEvaluation(input, MATCH_CONDITIONS_COST_BUDGET);
  const errors: string[] = [];
  let isFalse = false;
  const visit = (index: number): MaybePromise<ConditionOutcome> => {
    const condition = conditions[index];
    if (condition === undefined) return isFalse ? { type: 'mismatch' } : errors.length > 0 ? { type: 'failed', errors } : { type: 'match' };
    return mapMaybe(evaluation.evaluate(condition), (result) => {
      if (result.type === 'out-of-budget') return { type: 'failed', errors: [result.message] };
      if (result.type === 'error') errors.push(result.message);
      else isFalse ||= result.value === false;
      return visit(index + 1);
    });
  };
  return visit(0);
}

/** Several errors as the reference shows them together: each once, in brackets unless it is the only one. */
export function joinErrors(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(', ')}]`;
}
