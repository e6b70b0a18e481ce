// scheduling.k8s.io/v1 PriorityClass: its generation is 1 and stays so.
import { type FieldError, type JsonObject, type KubeObject, equalJson, forbiddenField, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, integerColumn, nameColumn, textColumn } from '../common/columns/columns.ts';
import { setAbsent } from '../common/defaults.ts';
import { sameAs } from '../common/former-versions.ts';
import { type Errors, checkImmutable, checkOneOf, isEmptyText, memberOf } from '../common/validation/check.ts';
import { toNumber } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Columns of priorityclasses. */
const priorityClassColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Value', 'value'),
  column('Global-Default', (object) => object['globalDefault'] === true, 'boolean'),
  ageColumn,
  textColumn('PreemptionPolicy', 'preemptionPolicy'),
];

/** Defaults of priorityclasses. */
function applyPriorityClassDefaults(priorityClass: KubeObject): void {
  setAbsent(priorityClass as JsonObject, { preemptionPolicy: 'PreemptLowerPriority' });
}

const MAX_USER_PRIORITY = 1_000_000_000;
const systemPriorities: Readonly<Record<string, number>> = { 'system-cluster-critical': 2_000_000_000, 'system-node-critical': 2_000_001_000 };

/** Validates priorityclasses; names that begin with `system-` belong to the server. */
function validatePriorityClass(priorityClass: KubeObject): Errors {
  const name = priorityClass.metadata.name ?? '';
  const value = memberOf(priorityClass, 'value');
  const errors: FieldError[] = [];
  if (name.startsWith('system-')) {
    if (systemPriorities[name] !== value.value) {
      const text = "priority class names with 'system-' prefix are reserved for system use only. error: ";
      const known = Object.hasOwn(systemPriorities, name);
      const why = known ? `value of ${name} PriorityClass must be ${systemPriorities[name]}` : `${name} is not a known system priority class`;
      errors.push(forbiddenField('metadata.name', text + why));
    }
  } else if (toNumber(value.value) > MAX_USER_PRIORITY) {
    errors.push(forbiddenField('value', `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`));
  }
  const policy = memberOf(priorityClass, 'preemptionPolicy');
  return [...errors, ...(isEmptyText(policy) ? [required(policy.path)] : checkOneOf(policy, ['PreemptLowerPriority', 'Never'], true))];
}

/** Errors of an update that changes value or preemption policy. */
function checkSamePriority(priorityClass: KubeObject, old: KubeObject): Errors {
  const errors: FieldError[] = equalJson(priorityClass['value'] ?? 0, old['value'] ?? 0) ? [] : [forbiddenField('value', 'may not be changed in an update.')];
  return [...errors, ...checkImmutable(memberOf(priorityClass, 'preemptionPolicy'), memberOf(old, 'preemptionPolicy'))];
}

/** The spec of PriorityClass. */
export const priorityClassKind: KindSpec = {
  kind: 'PriorityClass', plural: 'priorityclasses', shortNames: ['pc'], cluster: true,
  formerVersions: sameAs('scheduling.k8s.io/v1beta1'),
  metadataChecks: ['update', 'kind'],
  columns: priorityClassColumns,
  applyDefaults: applyPriorityClassDefaults,
  strategy: {
    prepareForCreate(priorityClass) {
      priorityClass.metadata.generation = 1;
    },
    refuseDeletion: (name) => (Object.hasOwn(systemPriorities, name) ? 'this is a system priority class and cannot be deleted' : undefined),
  },
  validation: { object: validatePriorityClass, update: checkSamePriority },
};
