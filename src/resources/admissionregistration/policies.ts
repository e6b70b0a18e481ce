// The parts that validating and mutating admission policies share. Expressions are compiled in the environment that they run in: a variable sees
// those before it, all other expressions see all variables.
import {
  type Environment, type FieldError, type KubeObject, type PolicyScope, checkDns1035Label, checkDnsSubdomain, compilePolicyExpression, equalJson,
  invalidValue, policyEnvironment, required, typeOfVariable,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { ensureStruct, readPointer, setAbsent } from '../common/defaults.ts';
import { type Errors, type Field, at, checkRequired, each, isGiven } from '../common/validation/check.ts';
import { readPath, toList, toText } from '../common/values.ts';
import { applyMatchDefaults, checkExpressionText, checkMatchConditions } from './rules.ts';

function formatParamKind(object: KubeObject): string {
  const kind = readPath(object, 'spec', 'paramKind');
  return kind === undefined || kind === null ? '<unset>' : `${toText(readPath(kind, 'apiVersion'))}/${toText(readPath(kind, 'kind'))}`;
}

/** Columns of admission policies; `field` is the list that the first column counts. */
export function policyColumns(name: string, field: string): readonly Column[] {
  return withNameAndAge(
    column(name, (object) => toList(readPath(object, 'spec', field)).length, 'integer'),
    column('ParamKind', formatParamKind),
  );
}

/** Defaults of validatingadmissionpolicies and mutatingadmissionpolicies. */
export function applyAdmissionPolicyDefaults(policy: KubeObject): void {
  const spec = ensureStruct(policy, 'spec');
  setAbsent(spec, { failurePolicy: 'Fail' });
  const match = readPointer(spec, 'matchConstraints');
  if (match !== undefined) applyMatchDefaults(match);
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

const reserved = new Set((
  'true false null in as break const continue else for function if import let loop package namespace return var void while'
).split(' '));

type Kind = Parameters<typeof compilePolicyExpression>[2];

type Variables = NonNullable<PolicyScope['variables']>;

/** The spec of a policy. */
export const policySpecOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] ?? {} });

/** A check that compiles an expression in an environment. */
export const compileIn = (environment: Environment, kind: Kind) => (text: string) => compilePolicyExpression(text, environment, kind);

function checkApiVersion({ path, value }: Field): Errors {
  const text = toText(value);
  if (text === '') return [required(path)];
  const [first = '', second, ...more] = text === '/' ? [''] : text.split('/');
  if (more.length > 0) return [invalidValue(path, text, `unexpected GroupVersion string: ${text}`)];
  const group = second === undefined ? '' : first;
  const version = second ?? first;
  const problems = group === '' ? [] : checkDnsSubdomain(group);
  const errors = problems.length > 0 ? [invalidValue(path, group, problems.join(','))] : [];
  if (version === '') return [...errors, invalidValue(path, text, 'version must be specified')];
  const wrong = checkDns1035Label(version);
  return wrong.length > 0 ? [...errors, invalidValue(path, version, wrong.join(','))] : errors;
}

/** Validates paramKind. */
export function checkParamKind(paramKind: Field): Errors {
  if (!isGiven(paramKind)) return [];
  const kind = at(paramKind, 'kind');
  const name = toText(kind.value);
  const problems = name === '' ? [] : checkDns1035Label(name.toLowerCase());
  return [
    ...checkApiVersion(at(paramKind, 'apiVersion')), ...checkRequired(kind),
    ...(problems.length > 0 ? [invalidValue(kind.path, name, `may have mixed case, but should otherwise match: ${problems.join(',')}`)] : []),
  ];
}

/** Validates matchConstraints, which are required. */
export function checkMatch(match: Field, check: (match: Field) => Errors): Errors {
  if (!isGiven(match)) return [required(match.path)];
  const rules = at(match, 'resourceRules');
  return [...check(match), ...(toList(rules.value).length === 0 ? [required(rules.path)] : [])];
}

/** Validates variables, and adds the types of those that compile to the environment. */
function checkVariables(variables: Field, types: Map<string, ReturnType<typeof typeOfVariable>>, environment: Environment): Errors {
  return each(variables).flatMap((variable): Errors => {
    const name = at(variable, 'name');
    const text = toText(name.value);
    const errors: FieldError[] = [];
    if (text.trim() === '') errors.push(required(name.path, 'name is not specified'));
    else if (!identifier.test(text) || reserved.has(text)) errors.push(invalidValue(name.path, text, 'must be a valid CEL identifier'));
    const expression = at(variable, 'expression');
    const source = toText(expression.value);
    if (source.trim() === '') return [...errors, required(expression.path, 'expression is not specified')];
    const compiled = compilePolicyExpression(source, environment, 'variable');
    types.set(text, typeOfVariable(compiled));
    return [...errors, ...checkExpressionText(expression, () => compiled, source)];
  });
}

/** The environment after the variables; validating policies have `variables` only when they declare some. */
export function composeVariables(spec: Field, isComposed: boolean): { errors: Errors; variables: Variables | undefined; hasParams: boolean } {
  const hasParams = isGiven(at(spec, 'paramKind'));
  const types = new Map<string, ReturnType<typeof typeOfVariable>>();
  const variables = isComposed ? types : undefined;
  const environment = policyEnvironment({ hasParams, hasAuthorizer: true, ...(variables && { variables }) });
  return { errors: checkVariables(at(spec, 'variables'), types, environment), variables, hasParams };
}

/** Validates match conditions; those of the stored object are not compiled again. */
export function checkPolicyConditions(spec: Field, old: KubeObject | undefined): Errors {
  const isKnown = old !== undefined && ['paramKind', 'matchConditions'].every((name) => equalJson(readPath(old, 'spec', name), readPath(spec.value, name)));
  return isKnown ? [] : checkMatchConditions(at(spec, 'matchConditions'), isGiven(at(spec, 'paramKind')));
}
