// Validation of the source of a PersistentVolume: one rule per kind of source, in the order of the reference.
import { byteLength, checkDnsLabel, checkDnsSubdomain, forbiddenField, invalidValue, required } from '../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkRequired, checkText, isEmptyText, isGiven } from '../../common/validation/check.ts';
import { checkDriverName } from '../../common/validation/driver-names.ts';
import { readPath, toNumber, toText } from '../../common/values.ts';
import { checkNoBacksteps } from '../pods/validation/references.ts';
import {
  type CheckSource, LONG_INITIATOR, all, checkAzureDisk, checkFibreChannel, checkFlexOptions, checkFlocker, checkHostPath, checkInitiator, checkNfs,
  checkPartition, checkPersistentDisk, checkQuobyte, checkStorageOs, need,
} from './sources.ts';

/** A reference to a secret with a namespace; both parts are required. */
const checkSecret: CheckSource = (source) => {
  const secret = at(source, 'secretRef');
  return isGiven(secret) ? ['name', 'namespace'].flatMap((part) => checkRequired(at(secret, part))) : [];
};

const checkCsi: CheckSource = (source) => {
  const named = ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'];
  return [
    ...checkDriverName(at(source, 'driver')), ...checkRequired(at(source, 'volumeHandle')),
    ...named.map((member) => at(source, member)).filter(isGiven).flatMap((secret) => {
      const [name, namespace] = [at(secret, 'name'), at(secret, 'namespace')];
      return [
        ...(isEmptyText(name) ? [required(name.path)] : checkText(name, checkDnsSubdomain)),
        ...(isEmptyText(namespace) ? [required(namespace.path)] : checkText(namespace, checkDnsLabel)),
      ];
    }),
  ];
};

const checkIscsi: CheckSource = (source, { volumeName }) => {
  const [portal, name, initiator, lun] = ['targetPortal', 'iqn', 'initiatorName', 'lun'].map((member) => at(source, member)) as [Field, Field, Field, Field];
  const needsSecret = ['chapAuthDiscovery', 'chapAuthSession'].some((member) => readPath(source.value, member) === true);
  const secret = at(source, 'secretRef');
  const isLong = isGiven(initiator) && byteLength(`${volumeName}:${toText(portal.value)}`) > 64;
  const number = toNumber(lun.value ?? 0);
  return [
    ...checkRequired(portal), ...(isLong ? [invalidValue(`${source.path}.targetportal`, toText(portal.value), LONG_INITIATOR)] : []),
    ...(isEmptyText(name) ? [required(name.path)] : checkInitiator(name, name.path, 'must be valid format')),
    ...(number < 0 || number > 255 ? [invalidValue(lun.path, number, 'must be between 0 and 255, inclusive')] : []),
    ...(needsSecret && !isGiven(secret) ? [required(secret.path)] : []),
    ...(isGiven(secret) ? checkRequired(at(secret, 'name')) : []),
    ...(isGiven(initiator) ? checkInitiator(initiator, `${source.path}.initiatorname`, 'must be valid format') : []),
  ];
};

const checkAzureFile: CheckSource = (source) => {
  const namespace = at(source, 'secretNamespace');
  return [...['secretName', 'shareName'].flatMap((name) => checkRequired(at(source, name))), ...(isGiven(namespace) ? checkRequired(namespace) : [])];
};

const checkGlusterfs: CheckSource = (source) => {
  const namespace = at(source, 'endpointsNamespace');
  const text = 'if the endpointnamespace is set, it must be a valid namespace name';
  const wrong = (): Errors => (isEmptyText(namespace) ? [invalidValue(namespace.path, '', text)] : checkText(namespace, checkDnsLabel));
  return [...['endpoints', 'path'].flatMap((name) => checkRequired(at(source, name))), ...(isGiven(namespace) ? wrong() : [])];
};

const checkLocal: CheckSource = (source) => [...checkRequired(at(source, 'path')), ...checkNoBacksteps(at(source, 'path'))];

const checks: Readonly<Record<string, CheckSource>> = {
  hostPath: checkHostPath, gcePersistentDisk: checkPersistentDisk, awsElasticBlockStore: all(need('volumeID'), checkPartition), glusterfs: checkGlusterfs,
  flocker: checkFlocker, nfs: checkNfs, rbd: need('monitors', 'image'), quobyte: checkQuobyte, cephfs: need('monitors'), iscsi: checkIscsi,
  cinder: all(need('volumeID'), checkSecret), fc: checkFibreChannel, flexVolume: all(need('driver'), checkFlexOptions), azureFile: checkAzureFile,
  vsphereVolume: need('volumePath'), photonPersistentDisk: need('pdID'), portworxVolume: need('volumeID'), azureDisk: checkAzureDisk,
  scaleIO: need('gateway', 'system', 'volumeName'), local: checkLocal, storageos: all(checkStorageOs, checkSecretNamespace), csi: checkCsi,
};

function checkSecretNamespace(source: Field): Errors {
  const secret = at(source, 'secretRef');
  return isGiven(secret) ? checkRequired(at(secret, 'namespace')) : [];
}

/** Kinds of sources, in the order in which the reference looks for them. */
export const persistentKinds = Object.keys(checks);

/** A persistent volume has one source; the reference does not count flex volumes that come after another. */
export function checkPersistentSource(spec: Field, volumeName: string): Errors {
  const given = persistentKinds.map((kind) => ({ kind, source: at(spec, kind) })).filter(({ source }) => isGiven(source));
  if (given.length === 0) return [required(spec.path, 'must specify a volume type')];
  const affinity = at(spec, 'nodeAffinity');
  return given.flatMap(({ kind, source }, index): Errors => {
    const isExtra = index > 0 && kind !== 'flexVolume';
    if (isExtra) return [forbiddenField(kind === 'cephfs' ? `${spec.path}.cephFS` : source.path, 'may not specify more than 1 volume type')];
    const errors = checks[kind]!(source, { volumeName, isPod: false });
    return kind === 'local' && !isGiven(affinity) ? [...errors, required(affinity.path, 'Local volume requires node affinity')] : errors;
  });
}
