// Validation of claims of volumes, wherever they stand: as objects, as templates of others.
import {
  type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkQualifiedName, forbiddenField, invalidValue, notSupported, required,
  validateAnnotations,
} from '../../apimachinery/index.ts';
import { readPath, toList, toObject, toText } from '../columns/common.ts';
import {
  type Errors, type Field, at, checkGivenOneOf, checkImmutable, checkLabels, checkRequired, checkSelector, checkText, isEmptyText, isGiven, isSame,
} from './check.ts';
import { checkPositive, checkWhole, compareAt, entriesOf, roundUpToWhole } from './quantities.ts';
import { diffStructs, shapeValue } from './struct-diff.ts';

const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] });

const singleMode = 'ReadWriteOncePod';
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', singleMode];
/** How a volume can be used. */
export const volumeModes = ['Block', 'Filesystem'];

/** Validates in which ways a volume is reached. */
export function checkModes(spec: Field, missing?: string): Errors {
  const place = at(spec, 'accessModes');
  const modes = toList(place.value).map(toText);
  const errors: FieldError[] = modes.length === 0 ? [required(place.path, missing)] : [];
  errors.push(...modes.filter((mode) => !accessModes.includes(mode)).map((mode) => notSupported(place.path, mode, accessModes)));
  const others = modes.some((mode) => mode !== singleMode && accessModes.includes(mode));
  return modes.includes(singleMode) && others ? [...errors, forbiddenField(place.path, 'may not use ReadWriteOncePod with other access modes')] : errors;
}

function checkStorageRequest(spec: Field): Errors {
  const place = { path: `${spec.path}.resources[storage]`, value: readPath(spec.value, 'resources', 'requests', 'storage') };
  if (!isGiven(place)) return [required(place.path)];
  const problems = checkPositive(place);
  return problems.length > 0 ? problems : checkWhole(place);
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
    ...Object.keys(others).map((name) => forbiddenField(at(metadata, name).path, 'cannot be set')),
  ];
}

/** Validates the template of a claim. */
export function validateClaimTemplate(template: Field): Errors {
  return [...checkTemplateMetadata(at(template, 'metadata')), ...validateClaimSpec(at(template, 'spec'))];
}

/** Validates persistentvolumeclaims. */
export function validateClaim(claim: KubeObject): Errors {
  return validateClaimSpec(specOf(claim));
}

const resizeStatuses = [
  'ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress', 'NodeResizeInfeasible', 'NodeResizePending',
];

/** The name of something that can grow: storage, unless it is somebody's own. */
function checkGrowing(path: string, name: string): Errors {
  const problems = checkText({ path, value: name }, checkQualifiedName);
  const isOwn = name.includes('/') && !name.includes('kubernetes.io/');
  return problems.length > 0 || isOwn || name === 'storage' ? problems : [notSupported(path, name, ['storage'])];
}

function checkAmount(entry: Field): Errors {
  const amount = roundUpToWhole(entry);
  return amount < 0n ? [invalidValue(entry.path, amount, 'must be a valid resource quantity')] : [];
}

/** Validates what the status path of persistentvolumeclaims writes. */
export function validateClaimStatus(claim: KubeObject): Errors {
  const status: Field = { path: 'status', value: claim['status'] };
  const [statuses, allocated] = [at(status, 'allocatedResourceStatuses'), at(status, 'allocatedResources')];
  return [
    ...entriesOf(at(status, 'capacity')).flatMap(checkAmount),
    ...entriesOf(statuses).flatMap(({ name, value }) => [
      ...checkGrowing(statuses.path, name), ...(resizeStatuses.includes(toText(value)) ? [] : [notSupported(statuses.path, name, resizeStatuses)]),
    ]),
    ...entriesOf(allocated).flatMap((entry) => {
      const problems = checkGrowing(allocated.path, entry.name);
      return problems.length > 0 ? problems : checkAmount(entry);
    }),
  ];
}

const claimShape = {
  AccessModes: 'accessModes', Selector: 'selector', Resources: ['resources', { Limits: 'limits', Requests: 'requests' }], VolumeName: 'volumeName',
  StorageClassName: 'storageClassName', VolumeMode: 'volumeMode', DataSource: 'dataSource', DataSourceRef: 'dataSourceRef',
  VolumeAttributesClassName: 'volumeAttributesClassName',
} as const;
const claimTexts = new Set(['volumeName']);
const sealedClaim = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** The new spec with what may change put back. */
function maskClaim(claim: KubeObject, old: KubeObject): Record<string, unknown> {
  const spec: Record<string, unknown> = { ...toObject(claim['spec']) };
  const before = toObject(old['spec']);
  if (toText(before['volumeName']) === '') spec['volumeName'] = before['volumeName'];
  if (before['storageClassName'] === undefined && !isBound(old)) spec['storageClassName'] = undefined;
  if (isBound(claim)) {
    spec['volumeAttributesClassName'] = before['volumeAttributesClassName'];
    const resources = toObject(spec['resources']);
    const storage = readPath(before, 'resources', 'requests', 'storage');
    if (resources['requests'] !== undefined) spec['resources'] = { ...resources, requests: { ...toObject(resources['requests']), storage } };
  }
  return spec;
}

const isBound = (claim: KubeObject): boolean => readPath(claim, 'status', 'phase') === 'Bound';

/** Validates updates of persistentvolumeclaims: only a bound one can ask for more, or for other attributes. */
export function validateClaimUpdate(claim: KubeObject, old: KubeObject): Errors {
  const masked = maskClaim(claim, old);
  const [before, after] = [shapeValue(old['spec'], claimShape, claimTexts), shapeValue(masked, claimShape, claimTexts)];
  const errors: FieldError[] = [...validateClaim(claim)];
  if (!isSame(before, after)) errors.push(forbiddenField('spec', `${sealedClaim}\n${diffStructs(before, after)}`));
  const size = (object: KubeObject): Field => at(specOf(object), 'resources', 'requests', 'storage');
  const capacity: Field = { path: '', value: readPath(old, 'status', 'capacity', 'storage') };
  if (compareAt(size(claim), size(old)) < 0 && compareAt(size(claim), capacity) <= 0) {
    errors.push(forbiddenField(size(claim).path, 'field can not be less than status.capacity'));
  }
  return [...errors, ...checkImmutable({ ...at(specOf(claim), 'volumeMode'), path: 'volumeMode' }, at(specOf(old), 'volumeMode'))];
}
