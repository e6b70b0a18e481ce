// Validation of the bindings of admission policies: which policy, with which parameters, for which requests.
import {
  type FieldError, type KubeObject, checkDnsSubdomain, checkPathSegment, duplicate, forbiddenField, invalidValue, required,
} from '../../apimachinery/index.ts';
import { toList, toText } from '../columns/common.ts';
import { checkMatchResources, checkMutableResources } from './admission-rules.ts';
import { type Errors, type Field, at, checkOneOf, checkSelector, checkText, each, isGiven } from './check.ts';

const actions = ['Audit', 'Deny', 'Warn'];
const isExclusive = 'name and selector are mutually exclusive';

function checkParamRef(paramRef: Field): Errors {
  if (!isGiven(paramRef)) return [];
  const name = at(paramRef, 'name');
  const selector = at(paramRef, 'selector');
  const action = at(paramRef, 'parameterNotFoundAction');
  const isNamed = toText(name.value) !== '';
  const isBoth = isNamed && isGiven(selector);
  return [
    ...(isNamed ? checkText(name, checkPathSegment) : []), ...(isBoth ? [forbiddenField(name.path, isExclusive)] : []),
    ...(isGiven(selector) ? checkSelector(selector) : []), ...(isBoth ? [forbiddenField(selector.path, isExclusive)] : []),
    ...(isNamed || isGiven(selector) ? [] : [required(paramRef.path, 'one of name or selector must be specified')]),
    ...(toText(action.value) === '' ? [required(action.path)] : checkOneOf(action, ['Deny', 'Allow'], true)),
  ];
}

function checkActions(place: Field): Errors {
  const given = toList(place.value).map(toText);
  if (given.length === 0) return [required(place.path, 'at least one validation action is required')];
  const seen = new Set<unknown>();
  const errors = each(place).flatMap((action): FieldError[] => {
    const isRepeated = seen.has(action.value);
    seen.add(action.value);
    return [...checkOneOf(action, actions), ...(isRepeated ? [duplicate(action.path, action.value)] : [])];
  });
  if (!given.includes('Deny') || !given.includes('Warn')) return errors;
  const detail = 'must not contain both Deny and Warn '
    + '(repeating the same validation failure information in the API response and headers serves no purpose)';
  return [...errors, invalidValue(place.path, given, detail)];
}

function checkBinding(spec: Field, checkMatch: (match: Field) => Errors): Errors {
  const policy = at(spec, 'policyName');
  return [
    ...(toText(policy.value) === '' ? [required(policy.path)] : checkText(policy, checkDnsSubdomain)),
    ...checkParamRef(at(spec, 'paramRef')), ...checkMatch(at(spec, 'matchResources')),
  ];
}

const specOf = (binding: KubeObject): Field => ({ path: 'spec', value: binding['spec'] ?? {} });

/** Validates validatingadmissionpolicybindings. */
export function validateValidatingBinding(binding: KubeObject): Errors {
  const spec = specOf(binding);
  return [...checkBinding(spec, checkMatchResources), ...checkActions(at(spec, 'validationActions'))];
}

/** Validates mutatingadmissionpolicybindings. */
export function validateMutatingBinding(binding: KubeObject): Errors {
  return checkBinding(specOf(binding), checkMutableResources);
}
