// admissionregistration.k8s.io MutatingAdmissionPolicy, the same in all versions.
import { type Environment, type FieldError, type KubeObject, invalidValue, policyEnvironment, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { type Errors, type Field, at, checkOneOf, each, isGiven } from '../common/validation/check.ts';
import { toList, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import {
  applyAdmissionPolicyDefaults, checkMatch, checkParamKind, checkPolicyConditions, compileIn, composeVariables, policyColumns, policySpecOf,
} from './policies.ts';
import { checkExpressionText, checkMutableResources, failurePolicies, reinvocationPolicies } from './rules.ts';

/** Columns of mutatingadmissionpolicies. */
const mutatingPolicyColumns: readonly Column[] = policyColumns('Mutations', 'mutations');
const patchTypes = ['ApplyConfiguration', 'JSONPatch'];

/** A mutation has the member that its patch type names and no other. */
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

/** Validates mutatingadmissionpolicies; match conditions that an update does not change are not compiled again. */
function validateMutatingPolicy(policy: KubeObject, old?: KubeObject): Errors {
  const spec = policySpecOf(policy);
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

/** The spec of MutatingAdmissionPolicy. */
export const mutatingAdmissionPolicyKind: KindSpec = {
  kind: 'MutatingAdmissionPolicy', plural: 'mutatingadmissionpolicies', categories: ['api-extensions'], cluster: true,
  versions: ['v1', 'v1beta1', 'v1alpha1'], upstreamStorageVersion: 'v1beta1',
  unconditionalUpdate: false, tracksGeneration: true,
  metadataChecks: ['lenient-object', 'kind'],
  columns: mutatingPolicyColumns,
  applyDefaults: applyAdmissionPolicyDefaults,
  validation: { object: (object) => validateMutatingPolicy(object), update: validateMutatingPolicy, usesExpressions: true },
};
