// rbac.authorization.k8s.io/v1 RoleBinding.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Errors } from '../common/validation/check.ts';
import type { KindSpec } from '../kind-spec.ts';
import { applyRoleBindingDefaults, checkBinding, checkRoleRef, roleBindingColumns } from './bindings.ts';
import { formerBindings } from './former-versions.ts';
import { checkGeneratedName } from './rules.ts';

/** Validates rolebindings. */
function validateRoleBinding(binding: KubeObject): Errors {
  return checkBinding(binding, ['Role', 'ClusterRole']);
}

/** The spec of RoleBinding. */
export const roleBindingKind: KindSpec = {
  kind: 'RoleBinding', plural: 'rolebindings',
  formerVersions: formerBindings('RoleBinding'),
  nameRule: 'path-segment',
  strategy: { validateName: checkGeneratedName },
  createOnUpdate: true,
  metadataChecks: ['object', 'new', 'update', 'kind'],
  columns: roleBindingColumns,
  applyDefaults: applyRoleBindingDefaults,
  validation: { object: validateRoleBinding, update: checkRoleRef },
};
