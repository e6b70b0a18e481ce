// storage.k8s.io/v1 VolumeAttributesClass.
import { type KubeObject, equalJson, forbiddenField, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, textColumn } from '../common/columns/columns.ts';
import { defaultableNameColumn } from '../common/columns/default-class.ts';
import { sameAs } from '../common/former-versions.ts';
import { type Errors, memberOf } from '../common/validation/check.ts';
import { toObject } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkParameters, checkProvisioner } from './provisioner.ts';

/** Columns of volumeattributesclasses. */
const attributesClassColumns: readonly Column[] = [
  defaultableNameColumn('volumeattributesclass.alpha.kubernetes.io/is-default-class'),
  textColumn('DriverName', 'driverName'),
  ageColumn,
];

/** Validates volumeattributesclasses. */
function validateAttributesClass(attributes: KubeObject): Errors {
  const parameters = memberOf(attributes, 'parameters');
  const isEmpty = Object.keys(toObject(parameters.value)).length === 0;
  return [
    ...checkProvisioner(memberOf(attributes, 'driverName')), ...checkParameters(parameters),
    ...(isEmpty ? [required(parameters.path, 'must contain at least one key/value pair')] : []),
  ];
}

/** Validates updates of volumeattributesclasses: driver and parameters never change. */
function validateAttributesClassUpdate(attributes: KubeObject, old: KubeObject): Errors {
  return ['driverName', 'parameters'].filter((name) => !equalJson(attributes[name] ?? null, old[name] ?? null))
    .map((name) => forbiddenField(name, `updates to ${name} are forbidden.`));
}

/** The spec of VolumeAttributesClass. */
export const volumeAttributesClassKind: KindSpec = {
  kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', shortNames: ['vac'], cluster: true,
  formerVersions: sameAs('storage.k8s.io/v1alpha1'),
  versions: ['v1', 'v1beta1'],
  returnsDeleted: true,
  metadataChecks: ['update', 'kind', 'object'],
  columns: attributesClassColumns,
  validation: {
    object: validateAttributesClass,
    update: (object, old) => [...validateAttributesClassUpdate(object, old), ...validateAttributesClass(object)],
  },
};
