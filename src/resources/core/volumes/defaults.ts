// Defaults of volumes in pods, and of PersistentVolumes and claims.
import type { JsonObject, KubeObject } from '../../../apimachinery/index.ts';
import { type Defaults, ensureStruct, readPointer, readStructs, roundResources, setAbsent, setZero } from '../../common/defaults.ts';
import { choosePullPolicy } from '../pods/defaults/images.ts';

const fileMode: Defaults = { defaultMode: 0o644 };

/** Pointer fields of volume sources. */
const absentInSource: Readonly<Record<string, Defaults>> = {
  secret: fileMode,
  configMap: fileMode,
  downwardAPI: fileMode,
  projected: fileMode,
  hostPath: { type: '' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
};

/** Plain fields of volume sources. */
const zeroInSource: Readonly<Record<string, Defaults>> = {
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

/** Defaults that volumes of pods and persistent volumes share. */
function applySourceDefaults(volume: JsonObject): void {
  for (const [name, defaults] of Object.entries(absentInSource)) {
    const source = readPointer(volume, name);
    if (source !== undefined) setAbsent(source, defaults);
  }
  for (const [name, defaults] of Object.entries(zeroInSource)) {
    const source = readPointer(volume, name);
    if (source !== undefined) setZero(source, defaults);
  }
}

function applyDownwardDefaults(source: JsonObject | undefined): void {
  for (const item of readStructs(source, 'items')) {
    const reference = readPointer(item, 'fieldRef');
    if (reference !== undefined) setZero(reference, { apiVersion: 'v1' });
  }
}

/** Defaults of one volume of a pod; a volume without source is an empty directory. */
export function applyVolumeDefaults(volume: JsonObject): void {
  const hasSource = Object.entries(volume).some(([name, value]) => name !== 'name' && value !== undefined && value !== null);
  if (!hasSource) volume['emptyDir'] = {};
  applySourceDefaults(volume);
  applyDownwardDefaults(readPointer(volume, 'downwardAPI'));
  for (const source of readStructs(readPointer(volume, 'projected'), 'sources')) {
    const token = readPointer(source, 'serviceAccountToken');
    if (token !== undefined) setAbsent(token, { expirationSeconds: 3600 });
    applyDownwardDefaults(readPointer(source, 'downwardAPI'));
  }
  const image = readPointer(volume, 'image');
  if (image !== undefined) setZero(image, { pullPolicy: choosePullPolicy(image['reference']) });
}

/** Defaults of the spec of a claim, in claims and in ephemeral volumes. */
export function applyClaimSpecDefaults(spec: JsonObject): void {
  setAbsent(spec, { volumeMode: 'Filesystem' });
  roundResources(readPointer(spec, 'resources'), 'limits', 'requests');
}

/** Defaults of persistentvolumeclaims, and of the claim templates of statefulsets. */
export function applyClaimDefaults(claim: Record<string, unknown>): void {
  applyClaimSpecDefaults(ensureStruct(claim, 'spec'));
  const status = ensureStruct(claim, 'status');
  setZero(status, { phase: 'Pending' });
  roundResources(status, 'capacity', 'allocatedResources');
}

/** Defaults of persistentvolumes. */
export function applyVolumeObjectDefaults(volume: KubeObject): void {
  const spec = ensureStruct(volume, 'spec');
  applySourceDefaults(spec);
  setZero(spec, { persistentVolumeReclaimPolicy: 'Retain' });
  setAbsent(spec, { volumeMode: 'Filesystem' });
  roundResources(spec, 'capacity');
  setZero(ensureStruct(volume, 'status'), { phase: 'Pending' });
}
