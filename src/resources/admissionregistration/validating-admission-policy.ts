// admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy.
import {
  type Environment, type FieldError, type KubeObject, byteLength, checkQualifiedName, compilePolicyExpression, duplicate, invalidValue,
  policyEnvironment, required,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { sameAs } from '../common/former-versions.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkOneOf, checkRequired, checkText, each } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { readPath, toList, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import {
  applyAdmissionPolicyDefaults, checkMatch, checkParamKind, checkPolicyConditions, compileIn, composeVariables, policyColumns, policySpecOf,
} from './policies.ts';
import { checkExpressionText, checkMatchResources, failurePolicies } from './rules.ts';

/** Columns of validatingadmissionpolicies. */
const validatingPolicyColumns: readonly Column[] = policyColumns('Validations', 'validations');
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const MAX_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;

function checkMessage(message: Field): Errors {
  const text = toText(message.value);
  if (text === '') return [];
  if (text.trim() === '') return [invalidValue(message.path, text, 'must be non-empty if specified')];
  return /[\n\r]/.test(text.trim()) ? [invalidValue(message.path, text, 'must not contain line breaks')] : [];
}

interface Environments {
  readonly full: Environment;
  /** Message expressions have no authorizer. */
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
  if (byteLength(trimmed) > MAX_VALUE_EXPRESSION_BYTES) return [required(expression.path, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`)];
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
  if (list.length <= MAX_ANNOTATIONS) return errors;
  const shown = list.map(({ value }) => ({ Key: toText(readPath(value, 'key')), ValueExpression: toText(readPath(value, 'valueExpression')) }));
  return [invalidValue(annotations.path, shown, `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`), ...errors];
}

/** Validates validatingadmissionpolicies; match conditions that an update does not change are not compiled again. */
function validateValidatingPolicy(policy: KubeObject, old?: KubeObject): Errors {
  const spec = policySpecOf(policy);
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
function validateValidatingPolicyStatus(policy: KubeObject): Errors {
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

/** The spec of ValidatingAdmissionPolicy. */
export const validatingAdmissionPolicyKind: KindSpec = {
  kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies', categories: ['api-extensions'], cluster: true,
  formerVersions: sameAs('admissionregistration.k8s.io/v1beta1', 'admissionregistration.k8s.io/v1alpha1'),
  unconditionalUpdate: false, tracksGeneration: true,
  // The reference forgets to forbid it for this one status.
  subresources: [{ ...status, createsByApply: true }],
  metadataChecks: ['lenient-object', 'kind'],
  resetFields: statusOnlyResets,
  columns: validatingPolicyColumns,
  applyDefaults: applyAdmissionPolicyDefaults,
  strategy: keepUserMetadata,
  validation: {
    object: (object) => validateValidatingPolicy(object),
    update: validateValidatingPolicy,
    status: validateValidatingPolicyStatus,
    usesExpressions: true,
  },
};
