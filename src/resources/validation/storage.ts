// Validation of volumes, claims, and what storage drivers say of themselves.
import {
  type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkQualifiedName, duplicate, forbiddenField, invalidValue, notSupported, required,
  tooLong, validateAnnotations,
} from '../../apimachinery/index.ts';
import { readPath, toList, toObject, toText } from '../columns/common.ts';
import {
  type Errors, type Place, at, checkImmutable, checkLabels, checkNotNegative, checkOneOf, checkRequired, checkSelector, checkText, each, isEmptyText, isGiven,
  isSame,
} from './check.ts';
import { checkPositive, checkWhole, compareAt, entriesOf } from './quantities.ts';
import { diffStructs, shapeValue } from './struct-diff.ts';

const specOf = (object: KubeObject): Place => ({ path: 'spec', value: object['spec'] });

const singleMode = 'ReadWriteOncePod';
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', singleMode];
const volumeModes = ['Block', 'Filesystem'];

function checkModes(spec: Place, missing?: string): Errors {
  const place = at(spec, 'accessModes');
  const modes = toList(place.value).map(toText);
  const errors: FieldError[] = modes.length === 0 ? [required(place.path, missing)] : [];
  errors.push(...modes.filter((mode) => !accessModes.includes(mode)).map((mode) => notSupported(place.path, mode, accessModes)));
  const others = modes.some((mode) => mode !== singleMode && accessModes.includes(mode));
  return modes.includes(singleMode) && others ? [...errors, forbiddenField(place.path, 'may not use ReadWriteOncePod with other access modes')] : errors;
}

/** Members of a volume's spec that name its source, in the order in which the reference looks for them. */
const sources = [
  'hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'glusterfs', 'flexVolume', 'nfs', 'rbd', 'quobyte', 'cephfs', 'iscsi', 'cinder', 'fc', 'flocker',
  'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk', 'scaleIO', 'local', 'storageos', 'csi',
];

function checkHostPath(source: Place): Errors {
  const path = at(source, 'path');
  if (isEmptyText(path)) return [required(path.path)];
  return toText(path.value).split('/').includes('..') ? [invalidValue(path.path, path.value, "must not contain '..'")] : [];
}

function checkSource(spec: Place): Errors {
  const given = sources.map((name) => [name, at(spec, name)] as const).filter(([, source]) => isGiven(source));
  if (given.length === 0) return [required(spec.path, 'must specify a volume type')];
  return given.flatMap(([name, source], index): Errors => {
    if (index > 0) return [forbiddenField(source.path, 'may not specify more than 1 volume type')];
    if (name === 'hostPath') return checkHostPath(source);
    if (name === 'nfs') return ['server', 'path'].flatMap((member) => checkRequired(at(source, member)));
    if (name === 'csi') return ['driver', 'volumeHandle'].flatMap((member) => checkRequired(at(source, member)));
    if (name !== 'local') return [];
    const affinity = at(spec, 'nodeAffinity');
    return [...checkRequired(at(source, 'path')), ...(isGiven(affinity) ? [] : [required(affinity.path, 'Local volume requires node affinity')])];
  });
}

function checkCapacity(capacity: Place): Errors {
  const entries = entriesOf(capacity);
  const isStorageOnly = entries.length === 1 && entries[0]?.name === 'storage';
  return [
    ...(entries.length === 0 ? [required(capacity.path)] : []), ...(isStorageOnly ? [] : [notSupported(capacity.path, toObject(capacity.value), ['storage'])]),
    ...entries.flatMap(checkPositive),
  ];
}

/** Validates persistentvolumes. */
export function validateVolume(volume: KubeObject): Errors {
  const spec = specOf(volume);
  const policy = at(spec, 'persistentVolumeReclaimPolicy');
  const mode = at(spec, 'volumeMode');
  const className = at(spec, 'storageClassName');
  const isRoot = readPath(spec.value, 'hostPath', 'path') === '/' && policy.value === 'Recycle';
  return [
    ...checkModes(spec), ...checkCapacity(at(spec, 'capacity')), ...checkSource(spec),
    ...(isEmptyText(policy) ? [] : checkOneOf(policy, ['Delete', 'Recycle', 'Retain'])),
    ...(isRoot ? [forbiddenField(policy.path, "may not be 'recycle' for a hostPath mount of '/'")] : []),
    ...(isEmptyText(className) ? [] : checkText(className, checkDnsSubdomain)), ...(isGiven(mode) ? checkOneOf(mode, volumeModes) : []),
  ];
}

/** Validates updates of persistentvolumes: where the data is cannot change. */
export function validateVolumeUpdate(volume: KubeObject, old: KubeObject): Errors {
  const pick = (object: KubeObject): unknown => Object.fromEntries(sources.map((name) => [name, readPath(object, 'spec', name) ?? null]));
  const text = 'spec.persistentvolumesource is immutable after creation';
  const moved = !isSame(pick(volume), pick(old));
  const diff = moved ? diffStructs(shapeSource(old), shapeSource(volume)) : '';
  return [
    ...validateVolume(volume), ...(moved ? [forbiddenField('spec.persistentvolumesource', `${text}\n${diff}`)] : []),
    ...checkImmutable({ ...at(specOf(volume), 'volumeMode'), path: 'volumeMode' }, at(specOf(old), 'volumeMode')),
  ];
}

/** The sources as the reference's struct names them. */
const sourceNames: readonly (readonly [string, string])[] = [
  ['GCEPersistentDisk', 'gcePersistentDisk'], ['AWSElasticBlockStore', 'awsElasticBlockStore'], ['HostPath', 'hostPath'], ['Glusterfs', 'glusterfs'],
  ['NFS', 'nfs'], ['RBD', 'rbd'], ['Quobyte', 'quobyte'], ['ISCSI', 'iscsi'], ['FlexVolume', 'flexVolume'], ['Cinder', 'cinder'], ['CephFS', 'cephfs'],
  ['FC', 'fc'], ['Flocker', 'flocker'], ['AzureFile', 'azureFile'], ['VsphereVolume', 'vsphereVolume'], ['AzureDisk', 'azureDisk'],
  ['PhotonPersistentDisk', 'photonPersistentDisk'], ['PortworxVolume', 'portworxVolume'], ['ScaleIO', 'scaleIO'], ['Local', 'local'],
  ['StorageOS', 'storageos'], ['CSI', 'csi'],
];

const capitalize = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

function shapeSource(volume: KubeObject): unknown {
  return Object.fromEntries(sourceNames.map(([shown, name]) => {
    const source = readPath(volume, 'spec', name);
    return [shown, source === undefined ? null : Object.fromEntries(Object.entries(toObject(source)).map(([key, value]) => [capitalize(key), value]))];
  }));
}

function checkStorageRequest(spec: Place): Errors {
  const place = { path: `${spec.path}.resources[storage]`, value: readPath(spec.value, 'resources', 'requests', 'storage') };
  if (!isGiven(place)) return [required(place.path)];
  const problems = checkPositive(place);
  return problems.length > 0 ? problems : checkWhole(place);
}

function checkDataSource(source: Place): Errors {
  const kind = at(source, 'kind');
  const [group, namespace] = [at(source, 'apiGroup'), at(source, 'namespace')];
  const isForeign = isEmptyText(group) && kind.value !== 'PersistentVolumeClaim';
  return [
    ...checkRequired(at(source, 'name')), ...checkRequired(kind),
    ...(isForeign ? [invalidValue(source.path, toText(kind.value), "must be 'PersistentVolumeClaim' when referencing the default apiGroup")] : []),
    ...(isEmptyText(group) ? [] : checkText(group, checkDnsSubdomain)), ...(isEmptyText(namespace) ? [] : checkText(namespace, checkDnsLabel)),
  ];
}

function checkDataSources(spec: Place): Errors {
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
export function validateClaimSpec(spec: Place): Errors {
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
    ...(isGiven(mode) ? checkOneOf(mode, volumeModes) : []), ...checkDataSources(spec),
    ...(isEmptyText(attributes) ? [] : checkText(attributes, checkDnsSubdomain)),
  ];
}

/** Validates the template of a claim, which has labels and annotations and no other metadata. */
export function validateClaimTemplate(template: Place): Errors {
  const metadata = at(template, 'metadata');
  const { annotations, labels, ...others } = toObject(metadata.value);
  return [
    ...validateAnnotations(toObject(annotations) as Record<string, string>, `${metadata.path}.annotations`),
    ...checkLabels({ path: `${metadata.path}.labels`, value: labels }),
    ...Object.keys(others).map((name) => forbiddenField(at(metadata, name).path, 'cannot be set')), ...validateClaimSpec(at(template, 'spec')),
  ];
}

/** Validates persistentvolumeclaims. */
export function validateClaim(claim: KubeObject): Errors {
  return validateClaimSpec(specOf(claim));
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
  const size = (object: KubeObject): Place => at(specOf(object), 'resources', 'requests', 'storage');
  const capacity: Place = { path: '', value: readPath(old, 'status', 'capacity', 'storage') };
  if (compareAt(size(claim), size(old)) < 0 && compareAt(size(claim), capacity) <= 0) {
    errors.push(forbiddenField(size(claim).path, 'field can not be less than status.capacity'));
  }
  return [...errors, ...checkImmutable({ ...at(specOf(claim), 'volumeMode'), path: 'volumeMode' }, at(specOf(old), 'volumeMode'))];
}

/** Validates csidrivers. */
export function validateCsiDriver(driver: KubeObject): Errors {
  const spec = specOf(driver);
  const policy = at(spec, 'fsGroupPolicy');
  return [
    ...(isGiven(policy) ? checkOneOf(policy, ['File', 'None', 'ReadWriteOnceWithFSType']) : []),
    ...each(at(spec, 'volumeLifecycleModes')).flatMap(({ value }) =>
      checkOneOf({ path: `${spec.path}.volumeLifecycleModes`, value }, ['Persistent', 'Ephemeral'], true)),
  ];
}

/** Validates updates of csidrivers. */
export function validateCsiDriverUpdate(driver: KubeObject, old: KubeObject): Errors {
  const [spec, before] = [specOf(driver), specOf(old)];
  return [
    ...validateCsiDriver(driver), ...checkImmutable({ path: 'spec.attachedRequired', value: at(spec, 'attachRequired').value }, at(before, 'attachRequired')),
    ...checkImmutable(at(spec, 'volumeLifecycleModes'), at(before, 'volumeLifecycleModes')),
  ];
}

const maxNodeIdLength = 256;

/** Validates csinodes. */
export function validateCsiNode(node: KubeObject): Errors {
  const names = new Set<string>();
  return each(at(specOf(node), 'drivers')).flatMap((driver): Errors => {
    const name = at(driver, 'name');
    const id = at(driver, 'nodeID');
    const isKnown = names.has(toText(name.value));
    names.add(toText(name.value));
    return [
      ...(isEmptyText(name) ? [required(name.path)] : checkText({ ...name, value: toText(name.value).toLowerCase() }, checkDnsSubdomain)),
      ...(isEmptyText(id) ? [required(id.path)] : []),
      ...(toText(id.value).length > maxNodeIdLength ? [invalidValue(id.path, id.value, `must be ${maxNodeIdLength} characters or less`)] : []),
      ...checkNotNegative(at(driver, 'allocatable', 'count')), ...(isKnown ? [duplicate(name.path, name.value)] : []),
      ...each(at(driver, 'topologyKeys')).flatMap(({ value }) => checkText({ path: driver.path, value }, checkQualifiedName)),
    ];
  });
}

/** Validates updates of csinodes: a driver stays what it is, but for what can be allocated. */
export function validateCsiNodeUpdate(node: KubeObject, old: KubeObject): Errors {
  const show = (driver: Place): unknown =>
    ({ Name: at(driver, 'name').value, NodeID: at(driver, 'nodeID').value, TopologyKeys: at(driver, 'topologyKeys').value ?? null, Allocatable: null });
  const known = new Map(each(at(specOf(old), 'drivers')).map((driver) => [at(driver, 'name').value, show(driver)]));
  const changed = each(at(specOf(node), 'drivers')).filter((driver) => {
    const before = known.get(at(driver, 'name').value);
    return before !== undefined && !isSame(before, show(driver));
  });
  return [...validateCsiNode(node), ...changed.map((driver) => invalidValue('spec.drivers', show(driver), 'field is immutable'))];
}

/** Validates volumeattachments. */
export function validateAttachment(attachment: KubeObject): Errors {
  const spec = specOf(attachment);
  const source = at(spec, 'source');
  const [inline, named] = [at(source, 'inlineVolumeSpec'), at(source, 'persistentVolumeName')];
  const text = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  const attacher = at(spec, 'attacher');
  const errors: FieldError[] = isEmptyText(attacher) ? [required(attacher.path)]
    : [...checkText({ ...attacher, value: toText(attacher.value).toLowerCase() }, checkDnsSubdomain)];
  if (!isGiven(inline) && !isGiven(named)) errors.push(required(source.path, text));
  else if (isGiven(inline) && isGiven(named)) errors.push(forbiddenField(source.path, text));
  else if (isGiven(named) && isEmptyText(named)) errors.push(required(named.path, 'must specify non empty persistentVolumeName'));
  errors.push(...checkText(at(spec, 'nodeName'), checkDnsSubdomain));
  return isGiven(named) ? [...errors, ...checkText(named, checkDnsSubdomain)] : errors;
}

/** Validates updates of volumeattachments. */
export function validateAttachmentUpdate(attachment: KubeObject, old: KubeObject): Errors {
  const shape = {
    Attacher: 'attacher', Source: ['source', { PersistentVolumeName: 'persistentVolumeName', InlineVolumeSpec: 'inlineVolumeSpec' }], NodeName: 'nodeName',
  } as const;
  const changed = !isSame(attachment['spec'], old['spec']);
  return [...validateAttachment(attachment), ...(changed ? [invalidValue('spec', shapeValue(attachment['spec'], shape), 'field is immutable')] : [])];
}

const maxParametersBytes = 256 * 1024;
const maxParameters = 512;

/** Validates volumeattributesclasses. */
export function validateAttributesClass(attributes: KubeObject): Errors {
  const driver: Place = { path: 'driverName', value: attributes['driverName'] };
  const parameters = Object.entries(toObject(attributes['parameters']));
  const errors: FieldError[] = isEmptyText(driver) ? [required(driver.path)] : [...checkText(driver, checkDnsSubdomain)];
  if (parameters.length > maxParameters) return [...errors, tooLong('parameters', maxParameters)];
  errors.push(...parameters.filter(([name]) => name === '').map(([name]) => invalidValue('parameters', name, 'field can not be empty.')));
  const bytes = parameters.reduce((sum, [name, value]) => sum + name.length + toText(value).length, 0);
  if (bytes > maxParametersBytes) errors.push(tooLong('parameters', maxParametersBytes));
  return parameters.length === 0 ? [...errors, required('parameters', 'must contain at least one key/value pair')] : errors;
}

/** Validates updates of volumeattributesclasses: what it means never changes. */
export function validateAttributesClassUpdate(attributes: KubeObject, old: KubeObject): Errors {
  return ['driverName', 'parameters'].filter((name) => !isSame(attributes[name] ?? null, old[name] ?? null))
    .map((name) => forbiddenField(name, `updates to ${name} are forbidden.`));
}
