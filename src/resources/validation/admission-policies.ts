// Validation of the policies of admission, those that validate and those that mutate. Expressions are compiled as they stand: variables see those
// before them, all others see all variables.
import {
  type Environment, type FieldError, type KubeObject, type PolicyScope, byteLength, checkDns1035Label, checkDnsSubdomain, checkQualifiedName,
  compilePolicyExpression, duplicate, invalidValue, policyEnvironment, required, typeOfVariable,
} from '../../apimachinery/index.ts';
import { readPath, toList, toText } from '../columns/common.ts';
import {
  checkExpressionText, checkMatchConditions, checkMatchResources, checkMutableResources, failurePolicies, reinvocationPolicies,
} from './admission-rules.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkOneOf, checkRequired, checkText, each, isGiven, isSame } from './check.ts';
import { checkConditions } from './conditions.ts';

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const patchTypes = ['ApplyConfiguration', 'JSONPatch'];
const maxAnnotations = 20;
const maxValueExpressionBytes = 5 * 1024;
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reserved = new Set((
  'true false null in as break const continue else for function if import let loop package namespace return var void while'
).split(' '));

type Kind = Parameters<typeof compilePolicyExpression>[2];
type Variables = NonNullable<PolicyScope['variables']>;

const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] ?? {} });
const compileIn = (environment: Environment, kind: Kind) => (text: string) => compilePolicyExpression(text, environment, kind);

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

function checkParamKind(paramKind: Field): Errors {
  if (!isGiven(paramKind)) return [];
  const kind = at(paramKind, 'kind');
  const name = toText(kind.value);
  const problems = name === '' ? [] : checkDns1035Label(name.toLowerCase());
  return [
    ...checkApiVersion(at(paramKind, 'apiVersion')), ...checkRequired(kind),
    ...(problems.length > 0 ? [invalidValue(kind.path, name, `may have mixed case, but should otherwise match: ${problems.join(',')}`)] : []),
  ];
}

function checkMatch(match: Field, check: (match: Field) => Errors): Errors {
  if (!isGiven(match)) return [required(match.path)];
  const rules = at(match, 'resourceRules');
  return [...check(match), ...(toList(rules.value).length === 0 ? [required(rules.path)] : [])];
}

/** Checks variables, and notes the types of those that expressions can name. */
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

function checkMessage(message: Field): Errors {
  const text = toText(message.value);
  if (text === '') return [];
  if (text.trim() === '') return [invalidValue(message.path, text, 'must be non-empty if specified')];
  return /[\n\r]/.test(text.trim()) ? [invalidValue(message.path, text, 'must not contain line breaks')] : [];
}

interface Environments {
  readonly full: Environment;
  /** Messages cannot ask the authorizer. */
  readonly message: Environment;
}

function checkValidation(validation: Field, { full, message }: Environments): Errors {
  const expression = at(validation, 'expression');
  const messageExpression = at(validation, 'messageExpression');
  const source = toText(expression.value);
  const messageSource = toText(messageExpression.value);
  const errors: FieldError[] = [];
  if (source.trim() === '') errors.push(required(expression.path, 'expression is not specified'));
  else errors.push(...checkExpressionText(expression, compileIn(full, 'condition'), source));
  if (messageSource.trim() !== '') errors.push(...checkExpressionText(messageExpression, compileIn(message, 'message'), messageSource));
  else if (messageSource !== '') errors.push(invalidValue(messageExpression.path, messageSource, 'must be non-empty if specified'));
  return [...errors, ...checkMessage(at(validation, 'message')), ...checkGivenOneOf(at(validation, 'reason'), reasons)];
}

function checkAnnotationValue(expression: Field, environment: Environment): Errors {
  const text = toText(expression.value);
  const trimmed = text.trim();
  if (trimmed === '') return [required(expression.path, 'valueExpression is not specified')];
  if (byteLength(trimmed) > maxValueExpressionBytes) return [required(expression.path, `must not exceed ${maxValueExpressionBytes} bytes in length`)];
  return checkExpressionText(expression, () => compilePolicyExpression(trimmed, environment, 'annotation'), text);
}

function checkAnnotations(policy: KubeObject, annotations: Field, environment: Environment): Errors {
  const list = each(annotations);
  const { name = '' } = policy.metadata;
  const seen = new Set<string>();
  const errors = list.flatMap((annotation): Errors => {
    const key = at(annotation, 'key');
    const text = toText(key.value);
    const isRepeated = seen.has(text);
    seen.add(text);
    return [
      ...(name === '' ? [invalidValue(key.path, text, 'requires metadata.name be non-empty')]
        : checkText({ path: key.path, value: `${name}/${text}` }, checkQualifiedName)),
      ...checkAnnotationValue(at(annotation, 'valueExpression'), environment), ...(isRepeated ? [duplicate(key.path, text)] : []),
    ];
  });
  if (list.length <= maxAnnotations) return errors;
  const shown = list.map(({ value }) => ({ Key: toText(readPath(value, 'key')), ValueExpression: toText(readPath(value, 'valueExpression')) }));
  return [invalidValue(annotations.path, shown, `must not have more than ${maxAnnotations} auditAnnotations`), ...errors];
}

/** Environments after the variables; policies that validate know `variables` only when they have some. */
function composeVariables(spec: Field, isComposed: boolean): { errors: Errors; variables: Variables | undefined; hasParams: boolean } {
  const hasParams = isGiven(at(spec, 'paramKind'));
  const types = new Map<string, ReturnType<typeof typeOfVariable>>();
  const variables = isComposed ? types : undefined;
  const environment = policyEnvironment({ hasParams, hasAuthorizer: true, ...(variables && { variables }) });
  return { errors: checkVariables(at(spec, 'variables'), types, environment), variables, hasParams };
}

function checkPolicyConditions(spec: Field, old: KubeObject | undefined): Errors {
  const isKnown = old !== undefined && ['paramKind', 'matchConditions'].every((name) => isSame(readPath(old, 'spec', name), readPath(spec.value, name)));
  return isKnown ? [] : checkMatchConditions(at(spec, 'matchConditions'), isGiven(at(spec, 'paramKind')));
}

/** Validates validatingadmissionpolicies; conditions that an update leaves alone stay as they are. */
export function validateValidatingPolicy(policy: KubeObject, old?: KubeObject): Errors {
  const spec = specOf(policy);
  const { errors, variables, hasParams } = composeVariables(spec, toList(readPath(spec.value, 'variables')).length > 0);
  const scope = { hasParams, ...(variables && { variables }) };
  const environments = { full: policyEnvironment({ ...scope, hasAuthorizer: true }), message: policyEnvironment({ ...scope, hasAuthorizer: false }) };
  const validations = at(spec, 'validations');
  const annotations = at(spec, 'auditAnnotations');
  const isEmpty = toList(validations.value).length + toList(annotations.value).length === 0;
  return [
    ...checkOneOf(at(spec, 'failurePolicy'), failurePolicies), ...checkParamKind(at(spec, 'paramKind')),
    ...checkMatch(at(spec, 'matchConstraints'), checkMatchResources), ...checkPolicyConditions(spec, old), ...errors,
    ...(isEmpty ? [validations, annotations].map(({ path }) => required(path, 'validations or auditAnnotations must contain at least one item')) : []),
    ...each(validations).flatMap((validation) => checkValidation(validation, environments)),
    ...checkAnnotations(policy, annotations, environments.full),
  ];
}

/** Validates what the status path of validatingadmissionpolicies writes. */
export function validateValidatingPolicyStatus(policy: KubeObject): Errors {
  const status: Field = { path: 'status', value: policy['status'] };
  const warnings = each(at(status, 'typeChecking', 'expressionWarnings'));
  return [
    ...warnings.flatMap((warning) => {
      const fieldRef = at(warning, 'fieldRef');
      return [...checkRequired(at(warning, 'warning')), ...(toText(fieldRef.value).trim() === '' ? [required(fieldRef.path)] : [])];
    }),
    ...checkConditions(at(status, 'conditions')),
  ];
}

/** What a mutation says, in the field that belongs to its type and in no other. */
function checkMutation(mutation: Field, environment: Environment): Errors {
  const type = at(mutation, 'patchType');
  const text = toText(type.value);
  if (text === '') return [required(type.path)];
  if (!patchTypes.includes(text)) return checkOneOf(type, patchTypes);
  const isPatch = text === 'JSONPatch';
  const wanted = at(mutation, isPatch ? 'jsonPatch' : 'applyConfiguration');
  const other = at(mutation, isPatch ? 'applyConfiguration' : 'jsonPatch');
  const expression = at(wanted, 'expression');
  const source = toText(expression.value).trim();
  const errors: FieldError[] = [];
  if (!isGiven(wanted)) errors.push(required(wanted.path, `must be specified when patchType is ${text}`));
  else if (source === '') errors.push(required(expression.path));
  else errors.push(...checkExpressionText(expression, compileIn(environment, isPatch ? 'patch' : 'configuration'), source));
  if (!isGiven(other)) return errors;
  return [...errors, invalidValue(other.path, `{${isPatch ? 'applyConfiguration' : 'jsonPatch'}}`, `must not be specified when patchType is ${text}`)];
}

/** Validates mutatingadmissionpolicies; conditions that an update leaves alone stay as they are. */
export function validateMutatingPolicy(policy: KubeObject, old?: KubeObject): Errors {
  const spec = specOf(policy);
  const { errors, variables, hasParams } = composeVariables(spec, true);
  const environment = policyEnvironment({ hasParams, hasAuthorizer: true, hasPatches: true, ...(variables && { variables }) });
  const mutations = at(spec, 'mutations');
  const reinvocation = at(spec, 'reinvocationPolicy');
  return [
    ...checkOneOf(at(spec, 'failurePolicy'), failurePolicies), ...checkParamKind(at(spec, 'paramKind')),
    ...checkMatch(at(spec, 'matchConstraints'), checkMutableResources), ...checkPolicyConditions(spec, old), ...errors,
    ...(toList(mutations.value).length === 0 ? [required(mutations.path, 'mutations must contain at least one item')] : []),
    ...each(mutations).flatMap((mutation) => checkMutation(mutation, environment)),
    ...(toText(reinvocation.value) === '' ? [required(reinvocation.path)] : checkOneOf(reinvocation, reinvocationPolicies)),
  ];
}
