// core/v1 ConfigMap.
import { type FieldError, type KubeObject, byteLength, invalidValue, tooLong, validateObjectMeta } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import type { Errors } from '../common/validation/check.ts';
import { toObject, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { MAX_DATA_BYTES, checkKey, checkSealed, countEntries, decodedLength } from './config-data.ts';

/** Columns of configmaps. */
const configMapColumns: readonly Column[] = withNameAndAge(column('Data', countEntries('data', 'binaryData')));

/** Validates configmaps. */
function validateConfigMap(configMap: KubeObject): Errors {
  const data = toObject(configMap['data']);
  const binary = toObject(configMap['binaryData']);
  const errors: FieldError[] = [];
  let size = 0;
  for (const key of Object.keys(data).sort()) {
    errors.push(...checkKey('data', key));
    if (Object.hasOwn(binary, key)) errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    size += byteLength(toText(data[key]));
  }
  for (const key of Object.keys(binary).sort()) {
    errors.push(...checkKey('binaryData', key));
    size += decodedLength(toText(binary[key]));
  }
  return size > MAX_DATA_BYTES ? [...errors, tooLong('[]', MAX_DATA_BYTES)] : errors;
}

/** Validates updates of configmaps: what may not change, then metadata and data, as the reference does. */
function validateConfigMapUpdate(configMap: KubeObject, old: KubeObject): Errors {
  return [...checkSealed(configMap, old, ['data', 'binaryData']),
    ...validateObjectMeta(configMap.metadata, { namespaced: true, nameRule: 'dns-subdomain' }), ...validateConfigMap(configMap)];
}

/** The spec of ConfigMap. */
export const configMapKind: KindSpec = {
  kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'],
  metadataChecks: ['update', 'kind'],
  columns: configMapColumns,
  validation: { object: validateConfigMap, update: validateConfigMapUpdate },
};
