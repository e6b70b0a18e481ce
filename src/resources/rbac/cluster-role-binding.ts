// rbac.authorization.k8s.io/v1 ClusterRoleBinding.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Errors } from '../common/validation/check.ts';
import type { KindSpec } from '../kind-spec.ts';
import { applyRoleBindingDefaults, checkBinding, checkRoleRef, roleBindingColumns } from './bindings.ts';
import { formerBindings } from './former-versions.ts';
import { checkGeneratedName } from './rules.ts';

/** Validates clusterrolebindings. */
function validateClusterRoleBinding(binding: KubeObject): Errors {
  return checkBinding(binding, ['ClusterRole']);
}

/** The spec of ClusterRoleBinding. */
export const clusterRoleBindingKind: KindSpec = {
  kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', cluster: true,
  formerVersions: formerBindings('ClusterRoleBinding'),
  nameRule: 'path-segment',
  strategy: { validateName: checkGeneratedName },
  createOnUpdate: true,
  metadataChecks: ['object', 'new', 'update', 'kind'],
  columns: roleBindingColumns,
  applyDefaults: applyRoleBindingDefaults,
  validation: { object: validateClusterRoleBinding, update: checkRoleRef },
};
