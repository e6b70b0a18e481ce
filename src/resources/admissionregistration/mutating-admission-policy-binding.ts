// admissionregistration.k8s.io MutatingAdmissionPolicyBinding, the same in all versions.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Errors } from '../common/validation/check.ts';
import type { KindSpec } from '../kind-spec.ts';
import { applyPolicyBindingDefaults, bindingSpecOf, checkBinding, policyBindingColumns } from './bindings.ts';
import { checkMutableResources } from './rules.ts';

/** Validates mutatingadmissionpolicybindings. */
function validateMutatingBinding(binding: KubeObject): Errors {
  return checkBinding(bindingSpecOf(binding), checkMutableResources);
}

/** The spec of MutatingAdmissionPolicyBinding. */
export const mutatingAdmissionPolicyBindingKind: KindSpec = {
  kind: 'MutatingAdmissionPolicyBinding', plural: 'mutatingadmissionpolicybindings', categories: ['api-extensions'], cluster: true,
  versions: ['v1', 'v1beta1', 'v1alpha1'], upstreamStorageVersion: 'v1beta1',
  unconditionalUpdate: false, tracksGeneration: true,
  metadataChecks: ['lenient-object', 'kind'],
  columns: policyBindingColumns,
  applyDefaults: applyPolicyBindingDefaults,
  validation: { object: (binding) => validateMutatingBinding(binding) },
};
