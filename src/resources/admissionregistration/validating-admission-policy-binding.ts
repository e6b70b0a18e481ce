// admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding.
import { type FieldError, type KubeObject, duplicate, invalidValue, required } from '../../apimachinery/index.ts';
import { sameAs } from '../common/former-versions.ts';
import { type Errors, type Field, at, checkOneOf, each } from '../common/validation/check.ts';
import { toList, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { applyPolicyBindingDefaults, bindingSpecOf, checkBinding, policyBindingColumns } from './bindings.ts';
import { checkMatchResources } from './rules.ts';

const actions = ['Audit', 'Deny', 'Warn'];

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

/** Validates validatingadmissionpolicybindings. */
function validateValidatingBinding(binding: KubeObject): Errors {
  const spec = bindingSpecOf(binding);
  return [...checkBinding(spec, checkMatchResources), ...checkActions(at(spec, 'validationActions'))];
}

function convertAlpha(binding: KubeObject): KubeObject {
  applyPolicyBindingDefaults(binding, 'v1alpha1');
  return binding;
}

/** The spec of ValidatingAdmissionPolicyBinding. */
export const validatingAdmissionPolicyBindingKind: KindSpec = {
  kind: 'ValidatingAdmissionPolicyBinding', plural: 'validatingadmissionpolicybindings', categories: ['api-extensions'], cluster: true,
  formerVersions: {
    ...sameAs('admissionregistration.k8s.io/v1beta1'),
    'admissionregistration.k8s.io/v1alpha1': { convert: convertAlpha },
  },
  unconditionalUpdate: false, tracksGeneration: true,
  metadataChecks: ['lenient-object', 'kind'],
  columns: policyBindingColumns,
  applyDefaults: applyPolicyBindingDefaults,
  validation: { object: (binding) => validateValidatingBinding(binding) },
};
