// Roles and bindings of rbac.authorization.k8s.io/v1alpha1, which is served no more, as v1 has them: protobuf has other numbers of the fields of rules,
// and subjects have a version in place of a group.
import { type JsonObject, type KubeObject, parseGroupVersion } from '../../apimachinery/index.ts';
import type { FormerVersion } from '../../registry/index.ts';
import { readStructs } from '../common/defaults.ts';
import { formerSchema, sameAs } from '../common/former-versions.ts';
import { toText } from '../common/values.ts';

const GROUP = 'rbac.authorization.k8s.io';
const groupOfKind: ReadonlyMap<unknown, string> = new Map([['ServiceAccount', ''], ['User', GROUP], ['Group', GROUP]]);

function convertSubject(subject: JsonObject): void {
  const group = groupOfKind.get(subject['kind']) ?? parseGroupVersion(toText(subject['apiVersion']))?.group ?? '';
  delete subject['apiVersion'];
  if (group !== '') subject['apiGroup'] = group;
  // The name `*` stood for all users that are authenticated.
  if (subject['kind'] === 'User' && subject['name'] === '*') Object.assign(subject, { kind: 'Group', name: 'system:authenticated' });
}

function convertBinding(binding: KubeObject): KubeObject {
  readStructs(binding, 'subjects').forEach(convertSubject);
  return binding;
}

const formerKind = (kind: string, convert?: FormerVersion['convert']): Readonly<Record<string, FormerVersion>> => ({
  ...sameAs(`${GROUP}/v1beta1`), [`${GROUP}/v1alpha1`]: { schema: formerSchema(`rbac.v1alpha1.${kind}`), ...(convert && { convert }) },
});

/** Former versions of a kind of bindings. */
export const formerBindings = (kind: 'ClusterRoleBinding' | 'RoleBinding'): Readonly<Record<string, FormerVersion>> => formerKind(kind, convertBinding);

/** Former versions of a kind of roles. */
export const formerRoles = (kind: 'ClusterRole' | 'Role'): Readonly<Record<string, FormerVersion>> => formerKind(kind);
