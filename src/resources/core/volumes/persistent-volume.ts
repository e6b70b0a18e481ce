// core/v1 PersistentVolume. The server keeps the time of the last phase change.
import { isJsonObject } from '../../../base/index.ts';
import {
  type KubeObject, checkDnsSubdomain, equalJson, forbiddenField, invalidValue, notSupported, required,
} from '../../../apimachinery/index.ts';
import { formatTime } from '../../../registry/index.ts';
import { ensureStruct, readPointer } from '../../common/defaults.ts';
import { prepareWithStatus } from '../../common/status.ts';
import { status } from '../../common/subresources.ts';
import {
  type Errors, type Field, at, checkGivenOneOf, checkImmutable, checkOneOf, checkText, each, isEmptyText, isGiven, specOf,
} from '../../common/validation/check.ts';
import { checkAmount, checkPositive, entriesOf } from '../../common/validation/quantities.ts';
import { diffStructs } from '../../common/validation/struct-diff.ts';
import { readPath, toList, toObject, toObjects, toText } from '../../common/values.ts';
import { warnOfExpressions } from '../../common/warnings/labels.ts';
import { annotation, warnWith } from '../../common/warnings/warnings.ts';
import type { KindSpec } from '../../kind-spec.ts';
import { showPodPart } from '../pods/validation/parts.ts';
import { checkNodeSelector } from '../pods/validation/scheduling.ts';
import { checkModes, volumeModes } from './claim-spec.ts';
import { volumeColumns } from './columns.ts';
import { applyVolumeObjectDefaults } from './defaults.ts';
import { checkPersistentSource, persistentKinds } from './persistent-sources.ts';
import { OLD_CLASS, OLD_CLASS_WARNING, warnOfOldVolumes } from './warnings.ts';

function checkCapacity(capacity: Field): Errors {
  const entries = entriesOf(capacity);
  const isStorageOnly = entries.length === 1 && entries[0]?.name === 'storage';
  return [
    ...(entries.length === 0 ? [required(capacity.path)] : []), ...(isStorageOnly ? [] : [notSupported(capacity.path, capacity.value ?? null, ['storage'])]),
    ...entries.flatMap((entry) => [...checkAmount(entry), ...checkPositive(entry)]),
  ];
}

/** Validates the node affinity of a volume. */
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

/** Whether a path leads to the root, once its dots are followed. */
function isRootPath(path: string): boolean {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return path.startsWith('/') && parts.length === 0;
}

/** A volume whose reclaiming empties the root of a node. */
function checkRecycledRoot(spec: Field): Errors {
  const policy = at(spec, 'persistentVolumeReclaimPolicy');
  const isRoot = isRootPath(toText(readPath(spec.value, 'hostPath', 'path'))) && policy.value === 'Recycle';
  return isRoot ? [forbiddenField(policy.path, "may not be 'recycle' for a hostPath mount of '/'")] : [];
}

const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';

/** Sources that the annotation with mount options is for. */
const mountedKinds = [
  'gcePersistentDisk', 'awsElasticBlockStore', 'glusterfs', 'nfs', 'rbd', 'quobyte', 'iscsi', 'cinder', 'cephfs', 'azureFile', 'vsphereVolume', 'azureDisk',
  'photonPersistentDisk',
];

function checkMountOptions(volume: KubeObject): Errors {
  const isMounted = mountedKinds.some((name) => isGiven(at(specOf(volume), name)));
  if (isMounted || volume.metadata.annotations?.[MOUNT_OPTIONS] === undefined) return [];
  return [forbiddenField(`metadata.annotations.${MOUNT_OPTIONS}`, 'may not specify mount options for this volume type')];
}

/** Validates persistentvolumes. */
function validateVolume(volume: KubeObject): Errors {
  const spec = specOf(volume);
  const [policy, mode, className] = [at(spec, 'persistentVolumeReclaimPolicy'), at(spec, 'volumeMode'), at(spec, 'storageClassName')];
  return [
    ...checkModes(spec), ...checkCapacity(at(spec, 'capacity')), ...(isEmptyText(policy) ? [] : checkOneOf(policy, ['Delete', 'Recycle', 'Retain'])),
    ...checkNodes(at(spec, 'nodeAffinity')), ...checkPersistentSource(spec, volume.metadata.name ?? ''), ...checkRecycledRoot(spec),
    ...(isEmptyText(className) ? [] : checkText(className, checkDnsSubdomain)), ...checkGivenOneOf(mode, volumeModes),
    ...checkAttributes(spec), ...checkMountOptions(volume),
  ];
}

/** Validates the spec of a volume that stands in another object: the source of a CSI driver, without what volumes of their own have. */
export function validateInlineVolume(spec: Field): Errors {
  const refuse = (name: string, text = 'may not be specified'): Errors => [forbiddenField(at(spec, name).path, `${text} in the context of inline volumes`)];
  const [policy, mode] = [at(spec, 'persistentVolumeReclaimPolicy'), at(spec, 'volumeMode')];
  return [
    ...(isGiven(at(spec, 'claimRef')) ? refuse('claimRef') : []), ...(entriesOf(at(spec, 'capacity')).length > 0 ? refuse('capacity') : []),
    ...(isGiven(at(spec, 'csi')) ? [] : [required(at(spec, 'csi').path, 'has to be specified in the context of inline volumes')]),
    ...checkModes(spec), ...(isEmptyText(policy) || policy.value === 'Retain' ? [] : refuse('persistentVolumeReclaimPolicy', 'may only be Retain')),
    ...(isGiven(at(spec, 'nodeAffinity')) ? refuse('nodeAffinity') : []), ...checkPersistentSource(spec, ''), ...checkRecycledRoot(spec),
    ...(isEmptyText(at(spec, 'storageClassName')) ? [] : refuse('storageClassName')),
    ...(isGiven(mode) && mode.value !== 'Filesystem' ? refuse('volumeMode', 'may not specify volumeMode other than Filesystem') : []),
  ];
}

const EXPAND_SECRET = 'controllerExpandSecretRef';

/** Validates updates of persistentvolumes: the source never changes. */
function validateVolumeUpdate(volume: KubeObject, old: KubeObject): Errors {
  const compared = withoutNewExpandSecret(volume, old);
  const pick = (object: KubeObject): unknown => Object.fromEntries(persistentKinds.map((name) => [name, readPath(object, 'spec', name) ?? null]));
  const text = 'spec.persistentvolumesource is immutable after creation';
  const moved = !equalJson(pick(compared), pick(old));
  const diff = moved ? diffStructs(showSource(old), showSource(compared)) : '';
  return [
    ...validateVolume(volume), ...(moved ? [forbiddenField('spec.persistentvolumesource', `${text}\n${diff}`)] : []),
    ...checkImmutable({ ...at(specOf(volume), 'volumeMode'), path: 'volumeMode' }, at(specOf(old), 'volumeMode')), ...checkSameNodes(volume, old),
    ...checkSameAttributes(volume, old),
  ];
}

const successors: ReadonlyMap<unknown, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
]);

/** The stored affinity, with each old label whose place in the new one has the label that follows it. */
function renameLabels(before: unknown, now: unknown): unknown {
  if (Array.isArray(before)) return before.map((item, index) => renameLabels(item, toList(now)[index]));
  if (!isJsonObject(before)) return before;
  const key = readPath(now, 'key');
  const renamed = key !== undefined && successors.get(before['key']) === key ? { key } : {};
  const members = Object.entries(before).map(([name, value]) => [name, renameLabels(value, readPath(now, name))]);
  return { ...Object.fromEntries(members), ...renamed };
}

/** The gate of volumes that may move to other nodes. */
const MOVES_GATE = 'MutablePVNodeAffinity';

/** Node affinity is immutable once set, but for old labels that become those that follow them; the path omits spec, as in the reference. */
function checkSameNodes(volume: KubeObject, old: KubeObject): Errors {
  const [now, before] = [readPath(volume, 'spec', 'nodeAffinity'), readPath(old, 'spec', 'nodeAffinity')];
  if (before === undefined || equalJson(now, renameLabels(before, now))) return [];
  const terms = toObjects(readPath(now, 'required', 'nodeSelectorTerms')).map((term) => showPodPart('NodeSelectorTerm', term));
  const shown = now === undefined ? null : { Required: readPath(now, 'required') === undefined ? null : { NodeSelectorTerms: terms } };
  return [{ ...invalidValue('nodeAffinity', shown, 'field is immutable, except for updating from beta label to GA'), when: `!${MOVES_GATE}` }];
}

function checkSameAttributes(volume: KubeObject, old: KubeObject): Errors {
  const name = 'volumeAttributesClassName';
  const isLost = readPath(old, 'spec', name) !== undefined && readPath(volume, 'spec', name) === undefined;
  return isLost ? [forbiddenField(`spec.${name}`, 'update from non-nil value to nil is forbidden')] : [];
}

const showSource = (volume: KubeObject): unknown => showPodPart('PersistentVolumeSource', volume['spec']);

/** The volume without the secret for expansion, the one part of a source that may be given later. */
function withoutNewExpandSecret(volume: KubeObject, old: KubeObject): KubeObject {
  const [now, before] = [readPath(volume, 'spec', 'csi'), readPath(old, 'spec', 'csi')];
  if (now === undefined || before === undefined || readPath(before, EXPAND_SECRET) !== undefined) return volume;
  const { [EXPAND_SECRET]: _, ...csi } = toObject(now);
  return { ...volume, spec: { ...toObject(volume['spec']), csi } };
}

/** Warns of old annotations, the reclaim policy Recycle, old node labels and deprecated sources. */
function warnOfVolume(root: Field): readonly string[] {
  const spec = at(root, 'spec');
  const recycled = 'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
  const terms = each(at(spec, 'nodeAffinity', 'required', 'nodeSelectorTerms'));
  return [
    ...(annotation(root, OLD_CLASS) === undefined ? [] : [OLD_CLASS_WARNING]),
    ...(annotation(root, MOUNT_OPTIONS) === undefined ? [] : [`metadata.annotations[${MOUNT_OPTIONS}]: deprecated since v1.31; use "mountOptions" attribute instead`]),
    ...(at(spec, 'persistentVolumeReclaimPolicy').value === 'Recycle' ? [`spec.persistentVolumeReclaimPolicy: ${recycled}`] : []),
    ...terms.flatMap((term) => warnOfExpressions(at(term, 'matchExpressions'))),
    ...warnOfOldVolumes(spec),
  ];
}

/** The spec of PersistentVolume. */
export const persistentVolumeKind: KindSpec = {
  kind: 'PersistentVolume', plural: 'persistentvolumes', shortNames: ['pv'], cluster: true,
  returnsDeleted: true,
  subresources: [status],
  metadataChecks: ['object', 'new', 'object', 'kind'],
  statusMetadataChecks: ['update', 'kind'],
  ruleGates: [MOVES_GATE],
  columns: volumeColumns,
  applyDefaults: applyVolumeObjectDefaults,
  strategy: prepareWithStatus({
    prepareForCreate(volume, { nowMs }) {
      volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: formatTime(nowMs) };
    },
    prepareForStatus(volume, old, { nowMs }) {
      const status = ensureStruct(volume, 'status');
      const before = readPointer(old, 'status');
      const sameTime = status['lastPhaseTransitionTime'] === undefined || status['lastPhaseTransitionTime'] === before?.['lastPhaseTransitionTime'];
      const isSame = status['phase'] === before?.['phase'];
      if (!isSame && sameTime) status['lastPhaseTransitionTime'] = formatTime(nowMs);
      const known = before?.['lastPhaseTransitionTime'];
      if (isSame && known !== undefined) status['lastPhaseTransitionTime'] ??= known;
    },
  }),
  validation: { object: validateVolume, update: validateVolumeUpdate },
  warnings: warnWith(warnOfVolume),
};
