// storage.k8s.io/v1 CSINode.
import { type FieldError, type KubeObject, checkQualifiedName, duplicate, equalJson, invalidValue, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { sameAs } from '../common/former-versions.ts';
import { type Errors, type Field, at, checkNotNegative, checkText, each, isEmptyText, specOf } from '../common/validation/check.ts';
import { checkDriverName } from '../common/validation/driver-names.ts';
import { readPath, toList, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Columns of csinodes. */
const csiNodeColumns: readonly Column[] = withNameAndAge(
  column('Drivers', (object) => toList(readPath(object, 'spec', 'drivers')).length, 'integer'),
);
const MAX_NODE_ID_LENGTH = 256;

/** Topology keys are unique labels; the error shows the driver, as in the reference. */
function checkTopologyKeys(driver: Field): Errors {
  const known = new Set<string>();
  return each(at(driver, 'topologyKeys')).flatMap(({ value }): Errors => {
    const key = toText(value);
    const errors: FieldError[] = key === '' ? [required(driver.path)] : [];
    if (known.has(key)) errors.push(duplicate(driver.path, key));
    known.add(key);
    return [...errors, ...checkText({ path: driver.path, value: key }, checkQualifiedName)];
  });
}

/** Validates csinodes. */
function validateCsiNode(node: KubeObject): Errors {
  const names = new Set<string>();
  return each(at(specOf(node), 'drivers')).flatMap((driver): Errors => {
    const name = at(driver, 'name');
    const id = at(driver, 'nodeID');
    const isKnown = names.has(toText(name.value));
    names.add(toText(name.value));
    return [
      ...checkDriverName(name),
      ...(isEmptyText(id) ? [required(id.path)] : []),
      ...(toText(id.value).length > MAX_NODE_ID_LENGTH ? [invalidValue(id.path, id.value, `must be ${MAX_NODE_ID_LENGTH} characters or less`)] : []),
      ...checkNotNegative(at(driver, 'allocatable', 'count')), ...(isKnown ? [duplicate(name.path, name.value)] : []),
      ...checkTopologyKeys(driver),
    ];
  });
}

/** Validates updates of csinodes: nothing of a driver changes but its allocatable count. */
function validateCsiNodeUpdate(node: KubeObject, old: KubeObject): Errors {
  const show = (driver: Field): unknown =>
    ({ Name: at(driver, 'name').value, NodeID: at(driver, 'nodeID').value, TopologyKeys: at(driver, 'topologyKeys').value ?? null, Allocatable: null });
  const known = new Map(each(at(specOf(old), 'drivers')).map((driver) => [at(driver, 'name').value, show(driver)]));
  const changed = each(at(specOf(node), 'drivers')).filter((driver) => {
    const before = known.get(at(driver, 'name').value);
    return before !== undefined && !equalJson(before, show(driver));
  });
  return [...validateCsiNode(node), ...changed.map((driver) => invalidValue('spec.drivers', show(driver), 'field is immutable'))];
}

/** The spec of CSINode. */
export const csiNodeKind: KindSpec = {
  kind: 'CSINode', plural: 'csinodes', cluster: true,
  formerVersions: sameAs('storage.k8s.io/v1beta1'),
  unconditionalUpdate: false, returnsDeleted: true,
  metadataChecks: ['object', 'kind'],
  columns: csiNodeColumns,
  validation: { object: validateCsiNode, update: validateCsiNodeUpdate },
};
