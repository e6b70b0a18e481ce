// rbac.authorization.k8s.io/v1 Role.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Errors, each, memberOf } from '../common/validation/check.ts';
import type { KindSpec } from '../kind-spec.ts';
import { formerRoles } from './former-versions.ts';
import { checkGeneratedName, checkRule } from './rules.ts';

/** Validates roles. */
function validateRole(role: KubeObject): Errors {
  return each(memberOf(role, 'rules')).flatMap((rule) => checkRule(rule, true));
}

/** The spec of Role. */
export const roleKind: KindSpec = {
  kind: 'Role', plural: 'roles',
  formerVersions: formerRoles('Role'),
  nameRule: 'path-segment',
  strategy: { validateName: checkGeneratedName },
  createOnUpdate: true,
  validation: { object: validateRole },
};
