// Validation of volume sources: one rule per kind of source, in the order of the reference. Most kinds only have required members;
// the others have functions.
import { byteLength, checkDnsLabel, checkDnsSubdomain, forbiddenField, invalidValue, notSupportedText, required } from '../../../apimachinery/index.ts';
import {
  type Errors, type Field, at, checkGivenOneOf, checkLabelName, checkOneOf, checkRequired, checkText, each, isEmptyText, isGiven, isWrong,
} from '../../common/validation/check.ts';
import { checkDriverName } from '../../common/validation/driver-names.ts';
import { quantityAt } from '../../common/validation/quantities.ts';
import { readPath, toList, toNumber, toObject, toText } from '../../common/values.ts';
import { checkKeyToPath, checkLocalPath, checkMode, checkNoBacksteps } from '../pods/validation/references.ts';
import { validateClaimTemplate } from './claim-spec.ts';
import { checkDownwardFile, checkProjections } from './projections.ts';

/** The context of a source that checks may use. */
interface VolumeContext {
  readonly volumeName: string;
  /** The volume is in a template, which may omit members that the server sets. */
  readonly isPod: boolean;
  readonly podName?: string | undefined;
}

/** A rule for sources of one kind. */
export type CheckSource = (source: Field, context: VolumeContext) => Errors;

/** A rule that these members are required. */
export const need = (...names: readonly string[]): CheckSource => (source) => names.flatMap((name) => checkRequired(at(source, name)));

/** A rule that runs several rules in order. */
export const all = (...checks: readonly CheckSource[]): CheckSource => (source, context) => checks.flatMap((check) => check(source, context));

const checkSecretReference: CheckSource = (source) => {
  const secret = at(source, 'secretRef');
  return isGiven(secret) ? checkRequired(at(secret, 'name')) : [];
};

function checkRange(place: Field, most: number, least = 0): Errors {
  const number = toNumber(place.value ?? 0);
  return number < 0 || number > most ? [isWrong(place, `must be between ${least} and ${most}, inclusive`)] : [];
}

/** The number of a partition. */
export const checkPartition: CheckSource = (source) => checkRange(at(source, 'partition'), 255, 1);

/** The error of a persistent disk without name; its path differs from the field, as in the reference. */
export const checkPersistentDisk: CheckSource = ({ path, value }, context) =>
  all(need('pdName'), checkPartition)({ path: path.replace(/gcePersistentDisk$/, 'persistentDisk'), value }, context);

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];

/** A path on the host; also that of persistent volumes. */
export function checkHostPath(source: Field): Errors {
  const [path, type] = [at(source, 'path'), at(source, 'type')];
  if (isEmptyText(path)) return [required(path.path)];
  return [...checkNoBacksteps(path), ...checkGivenOneOf(type, hostPathTypes)];
}

function checkFiles(source: Field): Errors {
  return [...checkMode(at(source, 'defaultMode')), ...each(at(source, 'items')).flatMap(checkKeyToPath)];
}

/** A server that exports files. */
export function checkNfs(source: Field): Errors {
  const path = at(source, 'path');
  const isAbsolute = toText(path.value).startsWith('/');
  const relative = isAbsolute ? [] : [invalidValue(path.path, toText(path.value), 'must be an absolute path')];
  return [...checkRequired(at(source, 'server')), ...checkRequired(path), ...relative];
}

const initiatorForms: readonly (readonly [string, RegExp])[] = [
  ['iqn', /iqn\.[0-9]{4}-[0-9]{2}\.[a-z0-9.-]+:[^,;*&$|\s]+$/i], ['eui', /^eui.[a-z0-9]{16}$/i], ['naa', /^naa.[a-z0-9]{32}$/i],
];

/** The name of an iSCSI initiator or target. */
export function checkInitiator(place: Field, path = place.path, noForm = 'must be valid format starting with iqn, eui, or naa'): Errors {
  const text = toText(place.value);
  const form = initiatorForms.find(([prefix]) => text.startsWith(prefix));
  if (form === undefined) return [invalidValue(path, text, noForm)];
  return text.length <= 1024 && form[1].test(text) ? [] : [invalidValue(path, text, 'must be valid format')];
}

/** The problem of a volume name that is too long for an initiator. */
export const LONG_INITIATOR = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

const checkIscsi: CheckSource = (source, { volumeName }) => {
  const [portal, name, initiator] = [at(source, 'targetPortal'), at(source, 'iqn'), at(source, 'initiatorName')];
  const needsSecret = ['chapAuthDiscovery', 'chapAuthSession'].some((field) => readPath(source.value, field) === true);
  return [
    ...checkRequired(portal), ...(isEmptyText(name) ? [required(name.path)] : checkInitiator(name)), ...checkRange(at(source, 'lun'), 255),
    ...(needsSecret && !isGiven(at(source, 'secretRef')) ? [required(at(source, 'secretRef').path)] : []),
    ...(isGiven(initiator) ? checkInitiator(initiator, `${source.path}.initiatorname`) : []),
    ...checkInitiatorLength(source, volumeName),
  ];
};

/** The name of the volume and the portal are part of what an initiator is called. */
function checkInitiatorLength(source: Field, volumeName: string): Errors {
  const isLong = isGiven(at(source, 'initiatorName')) && byteLength(`${volumeName}:${toText(readPath(source.value, 'targetPortal'))}`) > 64;
  return isLong ? [invalidValue(source.path.replace(/iscsi$/, 'name'), volumeName, LONG_INITIATOR)] : [];
}

/** A fibre channel; also that of persistent volumes. */
export function checkFibreChannel(source: Field): Errors {
  const [names, lun] = [at(source, 'targetWWNs'), at(source, 'lun')];
  const [hasNames, hasIds] = [toList(names.value).length > 0, toList(readPath(source.value, 'wwids')).length > 0];
  if (!hasNames) return hasIds ? [] : [required(names.path, 'must specify either targetWWNs or wwids, but not both')];
  return [
    ...(hasIds ? [isWrong(names, 'targetWWNs and wwids can not be specified simultaneously')] : []),
    ...(isGiven(lun) ? checkRange(lun, 255) : [required(lun.path, 'lun is required if targetWWNs is specified')]),
  ];
}

const REGISTRY_FORM = 'must be a host:port pair or multiple pairs separated by commas';
const hostAndPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

/** Quobyte; also that of persistent volumes. */
export function checkQuobyte(source: Field): Errors {
  const [registry, tenant] = [at(source, 'registry'), at(source, 'tenant')];
  const text = toText(registry.value);
  const volume = checkRequired(at(source, 'volume'));
  if (text === '') return [required(registry.path, REGISTRY_FORM), ...volume];
  if (toText(tenant.value).length >= 65) return [required(tenant.path, 'must be a UUID and may not exceed a length of 64 characters'), ...volume];
  const wrong = text.split(',').filter((pair) => !hostAndPort.test(pair));
  return [...wrong.map(() => isWrong(registry, REGISTRY_FORM)), ...volume];
}

/** Flocker; also that of persistent volumes. */
export function checkFlocker(source: Field): Errors {
  const name = at(source, 'datasetName');
  const [hasName, hasId] = [!isEmptyText(name), toText(readPath(source.value, 'datasetUUID')) !== ''];
  return [
    ...(hasName || hasId ? [] : [required(source.path, 'one of datasetName and datasetUUID is required')]),
    ...(hasName && hasId ? [invalidValue(source.path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')] : []),
    ...(toText(name.value).includes('/') ? [isWrong(name, "must not contain '/'")] : []),
  ];
}

/** Options of a flex volume may not use names of Kubernetes. */
export function checkFlexOptions(source: Field): Errors {
  const options = at(source, 'options');
  return Object.keys(toObject(options.value)).sort().flatMap((key): Errors => {
    const namespace = `.${(key.includes('/') ? key.slice(0, key.indexOf('/')) : key).toLowerCase()}`;
    const isReserved = namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io');
    return isReserved ? [invalidValue(`${options.path}[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')] : [];
  });
}

const diskKinds = ['Dedicated', 'Managed', 'Shared'];
const MANAGED_DISK = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_DISK = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

/** An Azure disk; also that of persistent volumes. */
export function checkAzureDisk(source: Field): Errors {
  const [caching, kind, uri] = [at(source, 'cachingMode'), at(source, 'kind'), at(source, 'diskURI')];
  const isManaged = kind.value === 'Managed';
  const isFit = !isGiven(kind) || toText(uri.value).startsWith(isManaged ? '/subscriptions/' : 'https://');
  return [
    ...need('diskName', 'diskURI')(source, { volumeName: '', isPod: true }),
    ...checkGivenOneOf(caching, ['None', 'ReadOnly', 'ReadWrite']), ...checkGivenOneOf(kind, diskKinds),
    ...(isFit ? [] : [notSupportedText(uri.path, toText(uri.value), [isManaged ? MANAGED_DISK : BLOB_DISK])]),
  ];
}

/** StorageOS; also that of persistent volumes. */
export const checkStorageOs: CheckSource = (source) => {
  const namespace = at(source, 'volumeNamespace');
  return [
    ...checkLabelName(at(source, 'volumeName')), ...(isEmptyText(namespace) ? [] : checkText(namespace, checkDnsLabel)),
    ...checkSecretReference(source, { volumeName: '', isPod: true }),
  ];
};

const checkCsi: CheckSource = (source) => {
  const secret = at(source, 'nodePublishSecretRef');
  const name = at(secret, 'name');
  const problems = isEmptyText(name) ? [required(name.path)] : checkText({ path: `${source.path}.name`, value: name.value }, checkDnsSubdomain);
  return [...checkDriverName(at(source, 'driver')), ...(isGiven(secret) ? problems : [])];
};

const checkEphemeral: CheckSource = (source, { podName, volumeName }) => {
  const template = at(source, 'volumeClaimTemplate');
  const claim = `${podName}-${volumeName}`;
  const problems = podName && volumeName !== '' ? checkDnsSubdomain(claim) : [];
  return [
    ...(isGiven(template) ? validateClaimTemplate(template) : [required(template.path)]),
    ...problems.map((problem) => invalidValue(source.path.replace(/ephemeral$/, 'name'), volumeName, `PVC name ${JSON.stringify(claim)}: ${problem}`)),
  ];
};

const checkImage: CheckSource = (source, { isPod }) => [
  ...(isPod ? checkRequired(at(source, 'reference')) : []), ...checkOneOf(at(source, 'pullPolicy'), ['Always', 'IfNotPresent', 'Never']),
];

const checkEmptyDir: CheckSource = (source) => {
  const limit = at(source, 'sizeLimit');
  return quantityAt(limit).mantissa < 0n ? [forbiddenField(limit.path, 'SizeLimit field must be a valid resource quantity')] : [];
};

const checkDownward: CheckSource = (source) => [
  ...checkMode(at(source, 'defaultMode')),
  // The reference omits the index of the list.
  ...toList(readPath(source.value, 'items')).flatMap((file) => checkDownwardFile({ path: source.path, value: file })),
];

const checks: Readonly<Record<string, CheckSource>> = {
  emptyDir: checkEmptyDir, hostPath: checkHostPath, gitRepo: all(need('repository'), (source) => checkDirectory(at(source, 'directory'))),
  gcePersistentDisk: checkPersistentDisk, awsElasticBlockStore: all(need('volumeID'), checkPartition), secret: all(need('secretName'), checkFiles),
  nfs: checkNfs, iscsi: checkIscsi, glusterfs: need('endpoints', 'path'), flocker: checkFlocker, persistentVolumeClaim: need('claimName'),
  rbd: need('monitors', 'image'), cinder: all(need('volumeID'), checkSecretReference), cephfs: need('monitors'), quobyte: checkQuobyte,
  downwardAPI: checkDownward, fc: checkFibreChannel, flexVolume: all(need('driver'), checkFlexOptions), configMap: all(need('name'), checkFiles),
  azureFile: need('secretName', 'shareName'), vsphereVolume: need('volumePath'), photonPersistentDisk: need('pdID'), portworxVolume: need('volumeID'),
  azureDisk: checkAzureDisk, storageos: checkStorageOs,
  projected: (source) => [...checkMode(at(source, 'defaultMode')), ...checkProjections(source)],
  scaleIO: need('gateway', 'system', 'volumeName'), csi: checkCsi, ephemeral: checkEphemeral, image: checkImage,
};

const kinds = Object.entries(checks);

/** Sources whose name in errors differs from the field. */
const spellings: Readonly<Record<string, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' };

function checkDirectory(directory: Field): Errors {
  return isEmptyText(directory) ? [] : checkLocalPath(directory).filter(({ message }) => !message.endsWith("must not start with '..'"));
}

/** A volume has one source. */
export function checkVolumeSource(volume: Field, context: VolumeContext): Errors {
  const given = kinds.map(([kind, check]) => ({ kind, check, source: at(volume, kind) })).filter(({ source }) => isGiven(source));
  if (given.length === 0) return [required(volume.path, 'must specify a volume type')];
  return given.flatMap(({ kind, check, source }, index) => {
    if (index === 0) return check(source, context);
    return [
      forbiddenField(`${volume.path}.${spellings[kind] ?? kind}`, 'may not specify more than 1 volume type'),
      ...(kind === 'iscsi' ? checkInitiatorLength(source, context.volumeName) : []),
    ];
  });
}
