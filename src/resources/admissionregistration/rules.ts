// Rules that select requests, and match conditions: shared by webhooks and admission policies.
import {
  type FieldError, type JsonObject, type PolicyScope, checkPathSegment, checkQualifiedName, compilePolicyExpression, duplicate, invalidValue,
  policyEnvironment, required, tooMany,
} from '../../apimachinery/index.ts';
import { readStructs, setAbsent } from '../common/defaults.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkOneOf, checkText, each, isGiven, textsOf } from '../common/validation/check.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { toText } from '../common/values.ts';

/** Defaults of the selectors and the match policy of a webhook or a policy. */
export function applyMatchDefaults(match: JsonObject): void {
  setAbsent(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });
  for (const field of ['rules', 'resourceRules', 'excludeResourceRules']) for (const rule of readStructs(match, field)) setAbsent(rule, { scope: '*' });
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const mutableOperations = operations.filter((operation) => operation !== 'DELETE');
const scopes = ['*', 'Cluster', 'Namespaced'];
const MAX_CONDITIONS = 64;

/** The failure policies. */
export const failurePolicies = ['Fail', 'Ignore'];

/** The match policies. */
export const matchPolicies = ['Equivalent', 'Exact'];

/** The reinvocation policies. */
export const reinvocationPolicies = ['IfNeeded', 'Never'];

/** A required list; a wildcard is its only entry. */
function checkWildcard(place: Field, what: string): Errors {
  const values = textsOf(place);
  if (values.length === 0) return [required(place.path)];
  return values.length > 1 && values.includes('*') ? [invalidValue(place.path, values, `if '*' is present, must not specify other ${what}`)] : [];
}

/** One `resource`, `resource/subresource` of a rule, against the wildcards before it. */
function checkResource(place: Field, seen: { readonly resources: Set<string>; readonly subresources: Set<string> }): Errors {
  const text = toText(place.value);
  if (text === '') return [required(place.path)];
  const slash = text.indexOf('/');
  if (slash < 0) return [];
  const resource = text.slice(0, slash);
  const sub = text.slice(slash + 1);
  const errors: FieldError[] = [];
  if (seen.resources.has(resource)) errors.push(invalidValue(place.path, text, `if '${resource}/*' is present, must not specify ${text}`));
  if (seen.subresources.has(sub)) errors.push(invalidValue(place.path, text, `if '*/${sub}' is present, must not specify ${text}`));
  if (sub === '*') seen.resources.add(resource);
  if (resource === '*') seen.subresources.add(sub);
  return errors;
}

function checkResources(place: Field): Errors {
  const values = textsOf(place);
  if (values.length === 0) return [required(place.path)];
  const seen = { resources: new Set<string>(), subresources: new Set<string>() };
  const errors = each(place).flatMap((resource) => checkResource(resource, seen));
  if (values.length > 1 && values.includes('*/*')) errors.push(invalidValue(place.path, values, "if '*/*' is present, must not specify other resources"));
  // Of the entries without a subresource the reference remembers the last one only.
  const last = values.filter((value) => value !== '' && !value.includes('/')).at(-1);
  if (values.includes('*') && last !== '*') {
    errors.push(invalidValue(place.path, values, "if '*' is present, must not specify other resources without subresources"));
  }
  return errors;
}

/** A rule of a webhook. */
export function checkRule(rule: Field): Errors {
  const versions = at(rule, 'apiVersions');
  return [
    ...checkWildcard(at(rule, 'operations'), 'operations'), ...each(at(rule, 'operations')).flatMap((operation) => checkOneOf(operation, operations)),
    ...checkWildcard(at(rule, 'apiGroups'), 'API groups'), ...checkWildcard(versions, 'API versions'),
    ...each(versions).filter(({ value }) => toText(value) === '').map(({ path }) => required(path)),
    ...checkResources(at(rule, 'resources')), ...checkGivenOneOf(at(rule, 'scope'), scopes),
  ];
}

function checkNamedRule(rule: Field): Errors {
  const seen = new Set<string>();
  const names = each(at(rule, 'resourceNames')).flatMap((place) => {
    const name = toText(place.value);
    const errors = [...checkText(place, checkPathSegment), ...(seen.has(name) ? [duplicate(place.path, name)] : [])];
    seen.add(name);
    return errors;
  });
  return [...names, ...checkRule(rule)];
}

/** Validates the match resources of a policy or a binding, after its defaults. */
export function checkMatchResources(match: Field): Errors {
  if (!isGiven(match)) return [];
  return [
    ...checkOneOf(at(match, 'matchPolicy'), matchPolicies), ...checkSelector(at(match, 'namespaceSelector')), ...checkSelector(at(match, 'objectSelector')),
    ...each(at(match, 'resourceRules')).flatMap(checkNamedRule), ...each(at(match, 'excludeResourceRules')).flatMap(checkNamedRule),
  ];
}

/** Validates the match resources of mutating policies, which cannot match DELETE or CONNECT. One error stands for all rules. */
export function checkMutableResources(match: Field): Errors {
  const rules = at(match, 'resourceRules');
  const named = each(rules).flatMap((rule) => each(at(rule, 'operations'))).map(({ value }) => ({ path: `${rules.path}.operations`, value }));
  return [...checkMatchResources(match), ...named.flatMap((operation) => checkOneOf(operation, mutableOperations))];
}

/** A required expression that compiles; `shown` is the value in its errors. */
export function checkExpressionText(place: Field, compile: (text: string) => unknown, shown: string): Errors {
  const problem = compile(shown);
  return typeof problem === 'string' ? [invalidValue(place.path, shown, problem)] : [];
}

/** Validates match conditions. */
export function checkMatchConditions(conditions: Field, hasParams: boolean): Errors {
  const list = each(conditions);
  if (list.length === 0) return [];
  const scope: PolicyScope = { hasParams, hasAuthorizer: true };
  const environment = policyEnvironment(scope);
  const seen = new Set<string>();
  return [
    ...(list.length > MAX_CONDITIONS ? [tooMany(conditions.path, list.length, MAX_CONDITIONS)] : []),
    ...list.flatMap((condition): Errors => {
      const expression = at(condition, 'expression');
      const text = toText(expression.value).trim();
      const name = at(condition, 'name');
      const key = toText(name.value);
      const errors = [
        ...(text === '' ? [required(expression.path)]
          : checkExpressionText(expression, (trimmed) => compilePolicyExpression(trimmed, environment, 'condition'), text)),
        ...(key === '' ? [required(name.path)] : checkText(name, checkQualifiedName)),
        ...(key !== '' && seen.has(key) ? [duplicate(name.path, key)] : []),
      ];
      seen.add(key);
      return errors;
    }),
  ];
}
