// Validation of persistent volumes: where the data is, how much fits, who reaches it.
import { type KubeObject, checkDnsSubdomain, forbiddenField, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import { readPath, toObject, toObjects, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkImmutable, checkOneOf, checkText, isEmptyText, isGiven, isSame } from './check.ts';
import { checkModes, volumeModes } from './claims.ts';
import { checkPersistentSource, persistentKinds } from './persistent-sources.ts';
import { showPodPart } from './pod-parts.ts';
import { checkNodeSelector } from './pod-scheduling.ts';
import { checkPositive, entriesOf } from './quantities.ts';
import { diffStructs } from './struct-diff.ts';

const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] });

function checkCapacity(capacity: Field): Errors {
  const entries = entriesOf(capacity);
  const isStorageOnly = entries.length === 1 && entries[0]?.name === 'storage';
  return [
    ...(entries.length === 0 ? [required(capacity.path)] : []), ...(isStorageOnly ? [] : [notSupported(capacity.path, toObject(capacity.value), ['storage'])]),
    ...entries.flatMap(checkPositive),
  ];
}

/** Which nodes reach a volume. */
function checkNodes(affinity: Field): Errors {
  const wanted = at(affinity, 'required');
  if (!isGiven(affinity)) return [];
  return isGiven(wanted) ? checkNodeSelector(wanted) : [required(wanted.path, 'must specify required node constraints')];
}

function checkAttributes(spec: Field): Errors {
  const name = at(spec, 'volumeAttributesClassName');
  if (!isGiven(name)) return [];
  const driver = at(spec, 'csi');
  return [
    ...(isEmptyText(name) ? [required(name.path, 'an empty string is disallowed')] : checkText(name, checkDnsSubdomain)),
    ...(isGiven(driver) ? [] : [required(driver.path, 'has to be specified when using volumeAttributesClassName')]),
  ];
}

/** Validates persistentvolumes. */
export function validateVolume(volume: KubeObject): Errors {
  const spec = specOf(volume);
  const [policy, mode, className] = [at(spec, 'persistentVolumeReclaimPolicy'), at(spec, 'volumeMode'), at(spec, 'storageClassName')];
  const isRoot = /^\/(?:\.?\/)*\.?$/.test(toText(readPath(spec.value, 'hostPath', 'path'))) && policy.value === 'Recycle';
  return [
    ...checkModes(spec), ...checkCapacity(at(spec, 'capacity')), ...(isEmptyText(policy) ? [] : checkOneOf(policy, ['Delete', 'Recycle', 'Retain'])),
    ...checkNodes(at(spec, 'nodeAffinity')), ...checkPersistentSource(spec, volume.metadata.name ?? ''),
    ...(isRoot ? [forbiddenField(policy.path, "may not be 'recycle' for a hostPath mount of '/'")] : []),
    ...(isEmptyText(className) ? [] : checkText(className, checkDnsSubdomain)), ...checkGivenOneOf(mode, volumeModes),
    ...checkAttributes(spec),
  ];
}

/** Validates updates of persistentvolumes: where the data is cannot change. */
export function validateVolumeUpdate(volume: KubeObject, old: KubeObject): Errors {
  const pick = (object: KubeObject): unknown => Object.fromEntries(persistentKinds.map((name) => [name, readPath(object, 'spec', name) ?? null]));
  const text = 'spec.persistentvolumesource is immutable after creation';
  const moved = !isSame(pick(volume), pick(old));
  const diff = moved ? diffStructs(shapeSource(old), shapeSource(volume)) : '';
  return [
    ...validateVolume(volume), ...(moved ? [forbiddenField('spec.persistentvolumesource', `${text}\n${diff}`)] : []),
    ...checkImmutable({ ...at(specOf(volume), 'volumeMode'), path: 'volumeMode' }, at(specOf(old), 'volumeMode')), ...checkSameNodes(volume, old),
    ...checkSameAttributes(volume, old),
  ];
}

/** Once there are nodes they stay; the reference leaves the spec out of the path. */
function checkSameNodes(volume: KubeObject, old: KubeObject): Errors {
  const [now, before] = [readPath(volume, 'spec', 'nodeAffinity'), readPath(old, 'spec', 'nodeAffinity')];
  if (before === undefined || isSame(now, before)) return [];
  const terms = toObjects(readPath(now, 'required', 'nodeSelectorTerms')).map((term) => showPodPart('NodeSelectorTerm', term));
  const shown = now === undefined ? null : { Required: readPath(now, 'required') === undefined ? null : { NodeSelectorTerms: terms } };
  return [invalidValue('nodeAffinity', shown, 'field is immutable, except for updating from beta label to GA')];
}

function checkSameAttributes(volume: KubeObject, old: KubeObject): Errors {
  const name = 'volumeAttributesClassName';
  const isLost = readPath(old, 'spec', name) !== undefined && readPath(volume, 'spec', name) === undefined;
  return isLost ? [forbiddenField(`spec.${name}`, 'update from non-nil value to nil is forbidden')] : [];
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
