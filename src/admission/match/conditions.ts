// Match conditions of webhooks and policies: expressions that must all hold for something to be asked at all. One that is false wins over others
// that fail; failures follow the failure policy. All conditions share one budget. Mirrors upstream's matchconditions.Matcher.
import {
  type CompiledExpression, MATCH_CONDITIONS_COST_BUDGET, PolicyEvaluation, type PolicyInput,
  compilePolicyExpression, policyEnvironment,
} from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
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

/** What expressions about a request are evaluated on; `authorizer` is another's to add. */
export function describeInput(attributes: AdmissionAttributes, { form, object, oldObject }: FormedObjects): PolicyInput {
  const { resource: { group, plural }, subresource, name } = attributes;
  return {
    object: object ?? null, oldObject: oldObject ?? null, request: describeRequest(attributes, form), namespaceObject: null,
    requestResource: { group, resource: plural, subresource, namespace: namespaceOf(attributes), name },
  };
}

/** Evaluates conditions. */
export function evaluateConditions(conditions: CompiledConditions, input: PolicyInput): ConditionOutcome {
  const evaluation = new PolicyEvaluation(input, MATCH_CONDITIONS_COST_BUDGET);
  const errors: string[] = [];
  let isFalse = false;
  for (const condition of conditions) {
    const result = evaluation.evaluate(condition);
    if (result.type === 'out-of-budget') return { type: 'failed', errors: [result.message] };
    if (result.type === 'error') errors.push(result.message);
    else isFalse ||= result.value === false;
  }
  return isFalse ? { type: 'mismatch' } : errors.length > 0 ? { type: 'failed', errors } : { type: 'match' };
}

/** Several errors as the reference shows them together: each once, in brackets unless it is the only one. */
export function joinErrors(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(', ')}]`;
}
