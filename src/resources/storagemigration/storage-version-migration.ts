// storagemigration.k8s.io/v1beta1 StorageVersionMigration: which resource kube-controller-manager writes again; off by default.
import { type KubeObject, checkDns1035Label, checkDnsSubdomain, equalJson, invalidValue, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, nameColumn, readCondition } from '../common/columns/columns.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, isEmptyText, isFilled, specOf, statusOf } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { readPath, toObjects, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

const states: ReadonlySet<string> = new Set(['Running', 'Failed', 'Succeeded']);

function formatResource(object: KubeObject): string {
  const [resource, group] = ['resource', 'group'].map((name) => toText(readPath(object, 'spec', 'resource', name)));
  return group === '' ? resource as string : `${resource}.${group}`;
}

function formatState(object: KubeObject): string {
  const conditions = toObjects(readPath(object, 'status', 'conditions')).filter((each) => each['status'] === 'True' && states.has(toText(each['type'])));
  return toText(conditions.at(-1)?.['type'] ?? 'Unknown');
}

const migrationColumns: readonly Column[] = [{ ...nameColumn, format: '' }, column('Resource', formatResource), column('Status', formatState)];

/** All problems of a text as one error. */
function checkJoined({ path, value }: Field, check: (text: string) => readonly string[]): Errors {
  const problems = check(toText(value));
  return problems.length === 0 ? [] : [invalidValue(path, value, problems.join())];
}

function validateMigration(migration: KubeObject): Errors {
  const [resource, group] = ['resource', 'group'].map((name) => at(specOf(migration), 'resource', name)) as [Field, Field];
  return [
    ...(isEmptyText(resource) ? [required(resource.path, 'resource is required to be set')] : checkJoined(resource, checkDns1035Label)),
    ...(isFilled(group) ? checkJoined(group, checkDnsSubdomain) : []),
  ];
}

/** The reference shows the spec as a Go struct. */
function checkSameSpec(migration: KubeObject, old: KubeObject): Errors {
  const { path, value } = specOf(migration);
  const [group, resource] = ['group', 'resource'].map((name) => toText(readPath(value, 'resource', name)));
  return equalJson(value, specOf(old).value) ? [] : [invalidValue(path, { Resource: { group, resource } }, 'field is immutable')];
}

const isTrue = (migration: KubeObject, type: string): boolean => readCondition(migration, type)?.['status'] === 'True';

/** Problems of a resourceVersion: a number without leading zeros, as in the reference. */
function checkVersion({ path, value }: Field): Errors {
  const text = toText(value);
  if (text === '') return [];
  return /^[1-9]\d*$/.test(text) ? [] : [invalidValue(path, text, `resource version is not well formed: ${text}`)];
}

function validateMigrationStatus(migration: KubeObject, old: KubeObject): Errors {
  const root = statusOf(migration);
  const [version, conditions] = [at(root, 'resourceVersion'), at(root, 'conditions')];
  const before = toText(readPath(old, 'status', 'resourceVersion'));
  const wrong = (detail: string) => invalidValue(conditions.path, conditions.value ?? [], detail);
  return [
    ...checkVersion(version), ...checkConditions(conditions),
    ...(before !== '' && before !== toText(version.value) ? [invalidValue(version.path, toText(version.value), 'field is immutable')] : []),
    ...(isTrue(migration, 'Succeeded') && isTrue(migration, 'Failed') ? [wrong('Both success and failed conditions cannot be true at the same time')] : []),
    ...(isTrue(old, 'Succeeded') && !isTrue(migration, 'Succeeded') ? [wrong('Success condition cannot be set to false once it is true')] : []),
    ...(isTrue(old, 'Failed') && !isTrue(migration, 'Failed') ? [wrong('Failed condition cannot be set to false once it is true')] : []),
  ];
}

/** The spec of StorageVersionMigration. */
export const storageVersionMigrationKind: KindSpec = {
  kind: 'StorageVersionMigration', plural: 'storageversionmigrations', cluster: true, versions: ['v1beta1'], gate: 'StorageVersionMigrator',
  unconditionalUpdate: false,
  subresources: [status],
  resetFields: statusOnlyResets,
  columns: migrationColumns,
  strategy: keepUserMetadata,
  validation: {
    object: validateMigration, update: (migration, old) => [...validateMigration(migration), ...checkSameSpec(migration, old)],
    status: validateMigrationStatus,
  },
};
