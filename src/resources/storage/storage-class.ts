// storage.k8s.io/v1 StorageClass.
import { type FieldError, type JsonObject, type KubeObject, checkQualifiedName, duplicate, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, textColumn, textOr } from '../common/columns/columns.ts';
import { defaultableNameColumn } from '../common/columns/default-class.ts';
import { setAbsent } from '../common/defaults.ts';
import { sameAs } from '../common/former-versions.ts';
import { type Errors, type Field, at, checkOneOf, checkSameMembers, checkText, each, isEmptyText, memberOf } from '../common/validation/check.ts';
import { readPath, toList, toObjects, toText } from '../common/values.ts';
import { warnOfLabel } from '../common/warnings/labels.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkParameters, checkProvisioner } from './provisioner.ts';

/** Columns of storageclasses. */
const storageClassColumns: readonly Column[] = [
  defaultableNameColumn('storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'),
  textColumn('Provisioner', 'provisioner'),
  column('ReclaimPolicy', (object) => textOr(object['reclaimPolicy'], 'Delete')),
  column('VolumeBindingMode', (object) => textOr(object['volumeBindingMode'], 'Immediate')),
  column('AllowVolumeExpansion', (object) => object['allowVolumeExpansion'] === true),
  ageColumn,
];

/** Defaults of storageclasses. */
function applyStorageClassDefaults(storageClass: KubeObject): void {
  setAbsent(storageClass as JsonObject, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
}

/** Validates storageclasses. */
function validateStorageClass(storageClass: KubeObject): Errors {
  const [provisioner, policy] = [memberOf(storageClass, 'provisioner'), memberOf(storageClass, 'reclaimPolicy')];
  return [
    ...checkProvisioner(provisioner), ...checkParameters(memberOf(storageClass, 'parameters')),
    ...(isEmptyText(policy) ? [] : checkOneOf(policy, ['Delete', 'Retain'])),
    ...checkOneOf(memberOf(storageClass, 'volumeBindingMode'), ['Immediate', 'WaitForFirstConsumer']),
    ...checkTopologies(memberOf(storageClass, 'allowedTopologies')),
  ];
}

function checkTopology(term: Field): Errors {
  const keys = new Set<string>();
  return each(at(term, 'matchLabelExpressions')).flatMap((expression) => {
    const [key, values] = [at(expression, 'key'), at(expression, 'values')];
    const seen = new Set<string>();
    const errors: FieldError[] = toList(values.value).length === 0 ? [required(values.path)] : [];
    for (const { path, value } of each(values)) {
      if (seen.has(toText(value))) errors.push(duplicate(path, value));
      seen.add(toText(value));
    }
    errors.push(...checkText(key, checkQualifiedName));
    if (keys.has(toText(key.value))) errors.push(duplicate(key.path, toText(key.value)));
    keys.add(toText(key.value));
    return errors;
  });
}

/** The key of a term, independent of order: equal terms are duplicates. */
function identify(term: Field): string {
  const expressions = toObjects(readPath(term.value, 'matchLabelExpressions'));
  const wanted = new Map(expressions.map((expression) => [toText(expression['key']), [...new Set(toList(expression['values']).map(toText))].sort()]));
  return JSON.stringify([...wanted].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The reference compares each term with as many empty ones as there are terms, and with those before it. */
function checkTopologies(list: Field): Errors {
  const terms = each(list);
  const known = terms.map(() => '[]');
  return terms.flatMap((term) => {
    const id = identify(term);
    const repeated = known.filter((other) => other === id).map(() => duplicate(at(term, 'matchLabelExpressions').path, ''));
    known.push(id);
    return [...checkTopology(term), ...repeated];
  });
}

/** Warns of topologies that select nodes by old labels. */
function warnOfTopologies(root: Field): readonly string[] {
  return each(at(root, 'allowedTopologies')).flatMap((topology) => {
    return each(at(topology, 'matchLabelExpressions')).flatMap((expression) => warnOfLabel(at(expression, 'key'), false));
  });
}

const immutableMembers = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];

/** The spec of StorageClass. */
export const storageClassKind: KindSpec = {
  kind: 'StorageClass', plural: 'storageclasses', shortNames: ['sc'], cluster: true,
  formerVersions: sameAs('storage.k8s.io/v1beta1'),
  returnsDeleted: true,
  metadataChecks: ['object', 'new', 'update', 'kind'],
  columns: storageClassColumns,
  applyDefaults: applyStorageClassDefaults,
  validation: {
    object: validateStorageClass,
    update: (object, old) => checkSameMembers(object, old, immutableMembers),
  },
  warnings: warnWith(warnOfTopologies),
};
