// rbac.authorization.k8s.io/v1 ClusterRole.
import { type KubeObject, invalidValue, required } from '../../apimachinery/index.ts';
import { type Errors, type Field, at, each, isGiven, memberOf } from '../common/validation/check.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { toList } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { formerRoles } from './former-versions.ts';
import { checkGeneratedName, checkRule } from './rules.ts';

/** The selectors by which a role aggregates the rules of others. */
function checkAggregation(aggregation: Field): Errors {
  if (!isGiven(aggregation)) return [];
  const selectors = at(aggregation, 'clusterRoleSelectors');
  const text = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  if (toList(selectors.value).length === 0) return [required(selectors.path, text)];
  return each(selectors).flatMap((selector): Errors => {
    const errors = checkSelector(selector);
    return errors.length === 0 ? [] : [...errors, invalidValue(selector.path, undefined, 'invalid label selector.')];
  });
}

/** Validates clusterroles. */
function validateClusterRole(role: KubeObject): Errors {
  return [...each(memberOf(role, 'rules')).flatMap((rule) => checkRule(rule, false)), ...checkAggregation(memberOf(role, 'aggregationRule'))];
}

/** The spec of ClusterRole. */
export const clusterRoleKind: KindSpec = {
  kind: 'ClusterRole', plural: 'clusterroles', cluster: true,
  formerVersions: formerRoles('ClusterRole'),
  nameRule: 'path-segment',
  strategy: { validateName: checkGeneratedName },
  createOnUpdate: true,
  validation: { object: validateClusterRole },
};
