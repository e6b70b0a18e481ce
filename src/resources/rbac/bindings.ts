// The parts that RoleBinding and ClusterRoleBinding share: columns, defaults of the API group, validation of role and subjects.
import { type FieldError, type JsonObject, type KubeObject, checkDnsSubdomain, checkPathSegment, equalJson, invalidValue } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../common/columns/columns.ts';
import { ensureStruct, readStructs, setZero } from '../common/defaults.ts';
import { type Errors, type Field, at, checkOneOf, checkRequired, checkText, each, memberOf } from '../common/validation/check.ts';
import { readPath, toObject, toObjects, toText } from '../common/values.ts';

function subjectsColumn(name: string, kind: string, format: (subject: JsonObject) => string): Column {
  return wideColumn(name, (object) => toObjects(object['subjects']).filter((subject) => subject['kind'] === kind).map(format).join(', '));
}

const subjectName = (subject: JsonObject): string => toText(subject['name']);

/** Columns of rolebindings and clusterrolebindings. */
export const roleBindingColumns: readonly Column[] = [
  nameColumn,
  column('Role', (object) => `${toText(readPath(object, 'roleRef', 'kind'))}/${toText(readPath(object, 'roleRef', 'name'))}`),
  ageColumn,
  subjectsColumn('Users', 'User', subjectName),
  subjectsColumn('Groups', 'Group', subjectName),
  subjectsColumn('ServiceAccounts', 'ServiceAccount', (subject) => `${toText(subject['namespace'])}/${toText(subject['name'])}`),
];
const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Defaults of rolebindings and clusterrolebindings. */
export function applyRoleBindingDefaults(binding: KubeObject): void {
  setZero(ensureStruct(binding, 'roleRef'), { apiGroup: RBAC_GROUP });
  for (const subject of readStructs(binding, 'subjects')) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') setZero(subject, { apiGroup: RBAC_GROUP });
  }
}

function checkSubject(subject: Field, namespaced: boolean): Errors {
  const kind = toText(readPath(subject.value, 'kind'));
  const errors: FieldError[] = [...checkRequired(at(subject, 'name'))];
  if (kind === 'ServiceAccount') {
    if (errors.length === 0) errors.push(...checkText(at(subject, 'name'), checkDnsSubdomain));
    if (toText(readPath(subject.value, 'apiGroup')) !== '') errors.push(...checkOneOf(at(subject, 'apiGroup'), ['']));
    if (!namespaced) errors.push(...checkRequired(at(subject, 'namespace')));
    return errors;
  }
  if (kind === 'User' || kind === 'Group') return [...errors, ...checkOneOf(at(subject, 'apiGroup'), [RBAC_GROUP])];
  return [...errors, ...checkOneOf(at(subject, 'kind'), ['ServiceAccount', 'User', 'Group'], true)];
}

/** Names of roles are segments of a path. */
function checkRoleName(reference: Field): Errors {
  const name = at(reference, 'name');
  return checkPathSegment(toText(name.value)).map((problem) => invalidValue(name.path, name.value, problem));
}

/** Validates role reference and subjects. */
export function checkBinding(binding: KubeObject, kinds: readonly string[]): Errors {
  const reference = memberOf(binding, 'roleRef');
  return [
    ...checkOneOf(at(reference, 'apiGroup'), [RBAC_GROUP]), ...checkOneOf(at(reference, 'kind'), kinds, true), ...checkRequired(at(reference, 'name')),
      ...checkRoleName(reference),
    ...each(memberOf(binding, 'subjects')).flatMap((subject) => checkSubject(subject, kinds.includes('Role'))),
  ];
}

/** Errors of an update that changes the role reference. */
export function checkRoleRef(binding: KubeObject, old: KubeObject): Errors {
  if (equalJson(binding['roleRef'], old['roleRef'])) return [];
  const { apiGroup = '', kind = '', name = '' } = toObject(binding['roleRef']);
  return [invalidValue('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')];
}
