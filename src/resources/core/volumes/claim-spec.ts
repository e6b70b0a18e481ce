// Validation of the spec of volume claims, in objects and in the templates of other kinds.
import {
  type FieldError, checkDnsLabel, checkDnsSubdomain, forbiddenField, invalidValue, notSupported, required, validateAnnotations,
} from '../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkLabels, checkRequired, checkText, isEmptyText, isGiven } from '../../common/validation/check.ts';
import { checkPositive } from '../../common/validation/quantities.ts';
import { checkSelector } from '../../common/validation/selectors.ts';
import { readPath, toList, toObject, toText } from '../../common/values.ts';

const SINGLE_MODE = 'ReadWriteOncePod';
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', SINGLE_MODE];

/** The volume modes. */
export const volumeModes = ['Block', 'Filesystem'];

/** Validates access modes. */
export function checkModes(spec: Field, missing?: string): Errors {
  const place = at(spec, 'accessModes');
  const modes = toList(place.value).map(toText);
  const errors: FieldError[] = modes.length === 0 ? [required(place.path, missing)] : [];
  errors.push(...modes.filter((mode) => !accessModes.includes(mode)).map((mode) => notSupported(place.path, mode, accessModes)));
  const others = modes.some((mode) => mode !== SINGLE_MODE && accessModes.includes(mode));
  return modes.includes(SINGLE_MODE) && others ? [...errors, forbiddenField(place.path, 'may not use ReadWriteOncePod with other access modes')] : errors;
}

function checkStorageRequest(spec: Field): Errors {
  const place = { path: `${spec.path}.resources[storage]`, value: readPath(spec.value, 'resources', 'requests', 'storage') };
  if (!isGiven(place)) return [required(place.path)];
  // Fractions of a byte are accepted, with a warning.
  return checkPositive(place);
}

function checkDataSource(source: Field): Errors {
  const kind = at(source, 'kind');
  const [group, namespace] = [at(source, 'apiGroup'), at(source, 'namespace')];
  const isForeign = isEmptyText(group) && kind.value !== 'PersistentVolumeClaim';
  return [
    ...checkRequired(at(source, 'name')), ...checkRequired(kind),
    ...(isForeign ? [invalidValue(source.path, toText(kind.value), "must be 'PersistentVolumeClaim' when referencing the default apiGroup")] : []),
    ...(isEmptyText(group) ? [] : checkText(group, checkDnsSubdomain)), ...(isEmptyText(namespace) ? [] : checkText(namespace, checkDnsLabel)),
  ];
}

function checkDataSources(spec: Field): Errors {
  const source = at(spec, 'dataSource');
  const reference = at(spec, 'dataSourceRef');
  const errors: FieldError[] = [...(isGiven(source) ? checkDataSource(source) : []), ...(isGiven(reference) ? checkDataSource(reference) : [])];
  if (!isGiven(source) || !isGiven(reference)) return errors;
  // The reference prints the path where a value belongs, and it prints as an empty struct.
  const namespaced = !isEmptyText(at(reference, 'namespace'));
  if (namespaced) return [...errors, invalidValue(spec.path, {}, 'may not be specified when dataSourceRef.namespace is specified')];
  const isEqual = ['apiGroup', 'kind', 'name'].every((name) => toText(readPath(source.value, name)) === toText(readPath(reference.value, name)));
  return isEqual ? errors : [...errors, invalidValue(spec.path, {}, 'must match dataSourceRef')];
}

/** Validates the spec of a claim. */
export function validateClaimSpec(spec: Field): Errors {
  const selector = at(spec, 'selector');
  const className = at(spec, 'storageClassName');
  const attributes = at(spec, 'volumeAttributesClassName');
  const mode = at(spec, 'volumeMode');
  const [missing, ...wrong] = checkModes(spec, 'at least 1 access mode is required');
  const isMissing = missing?.reason === 'FieldValueRequired';
  return [
    ...(isMissing ? [missing] : []), ...(isGiven(selector) ? checkSelector(selector) : []),
    ...(isMissing || missing === undefined ? wrong : [missing, ...wrong]),
    ...checkStorageRequest(spec), ...(isEmptyText(className) ? [] : checkText(className, checkDnsSubdomain)),
    ...checkGivenOneOf(mode, volumeModes), ...checkDataSources(spec),
    ...(isEmptyText(attributes) ? [] : checkText(attributes, checkDnsSubdomain)),
  ];
}

/** Validates the metadata of a template of a claim: labels and annotations and nothing else. */
export function checkTemplateMetadata(metadata: Field): Errors {
  const { annotations, labels, ...others } = toObject(metadata.value);
  return [
    ...validateAnnotations(toObject(annotations) as Record<string, string>, `${metadata.path}.annotations`),
    ...checkLabels({ path: `${metadata.path}.labels`, value: labels }),
    ...Object.keys(others).map((name) => forbiddenField(at(metadata, name === 'uid' ? 'uID' : name).path, 'cannot be set')),
  ];
}

/** Validates the template of a claim. */
export function validateClaimTemplate(template: Field): Errors {
  return [...checkTemplateMetadata(at(template, 'metadata')), ...validateClaimSpec(at(template, 'spec'))];
}
