// storage.k8s.io/v1 VolumeAttributesClass.
import { type FieldError, type KubeObject, equalJson, forbiddenField, invalidValue, required, tooLong } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, textColumn } from '../common/columns/columns.ts';
import { type Errors, memberOf } from '../common/validation/check.ts';
import { toObject, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { defaultableNameColumn } from './columns.ts';
import { checkProvisioner } from './provisioner.ts';

/** Columns of volumeattributesclasses. */
const attributesClassColumns: readonly Column[] = [
  defaultableNameColumn('volumeattributesclass.alpha.kubernetes.io/is-default-class'),
  textColumn('DriverName', 'driverName'),
  ageColumn,
];
const MAX_PARAMETERS_BYTES = 256 * 1024;
const MAX_PARAMETERS = 512;

/** Validates volumeattributesclasses. */
function validateAttributesClass(attributes: KubeObject): Errors {
  const parameters = Object.entries(toObject(attributes['parameters']));
  const errors: FieldError[] = [...checkProvisioner(memberOf(attributes, 'driverName'))];
  if (parameters.length > MAX_PARAMETERS) return [...errors, tooLong('parameters', MAX_PARAMETERS)];
  errors.push(...parameters.filter(([name]) => name === '').map(([name]) => invalidValue('parameters', name, 'field can not be empty.')));
  const bytes = parameters.reduce((sum, [name, value]) => sum + name.length + toText(value).length, 0);
  if (bytes > MAX_PARAMETERS_BYTES) errors.push(tooLong('parameters', MAX_PARAMETERS_BYTES));
  return parameters.length === 0 ? [...errors, required('parameters', 'must contain at least one key/value pair')] : errors;
}

/** Validates updates of volumeattributesclasses: driver and parameters never change. */
function validateAttributesClassUpdate(attributes: KubeObject, old: KubeObject): Errors {
  return ['driverName', 'parameters'].filter((name) => !equalJson(attributes[name] ?? null, old[name] ?? null))
    .map((name) => forbiddenField(name, `updates to ${name} are forbidden.`));
}

/** The spec of VolumeAttributesClass. */
export const volumeAttributesClassKind: KindSpec = {
  kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', shortNames: ['vac'], cluster: true,
  versions: ['v1', 'v1beta1'],
  returnsDeleted: true,
  metadataChecks: ['update', 'kind', 'object'],
  columns: attributesClassColumns,
  validation: {
    object: validateAttributesClass,
    update: (object, old) => [...validateAttributesClassUpdate(object, old), ...validateAttributesClass(object)],
  },
};
