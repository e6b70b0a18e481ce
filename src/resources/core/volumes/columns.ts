// Columns of PersistentVolumes and PersistentVolumeClaims.
import type { KubeObject } from '../../../apimachinery/index.ts';
import type { Column } from '../../../registry/index.ts';
import { ageColumn, column, nameColumn, textColumn, textOr, wideColumn } from '../../common/columns/columns.ts';
import { readPath, toList, toText } from '../../common/values.ts';

const shortAccessModes = new Map([
  ['ReadWriteOnce', 'RWO'], ['ReadOnlyMany', 'ROX'], ['ReadWriteMany', 'RWX'], ['ReadWriteOncePod', 'RWOP'],
]);

/** In a fixed order, each once, unknown ones left out. */
function formatAccessModes(modes: unknown): string {
  const present = new Set(toList(modes).map(toText));
  return [...shortAccessModes].filter(([mode]) => present.has(mode)).map(([, short]) => short).join(',');
}

function formatPhase(object: KubeObject): string {
  return object.metadata?.deletionTimestamp === undefined ? toText(readPath(object, 'status', 'phase')) : 'Terminating';
}

/** The class of a volume; the annotation of old releases has precedence over the field. */
function formatStorageClass(object: KubeObject): string {
  return object.metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? toText(readPath(object, 'spec', 'storageClassName'));
}

function formatClaim(object: KubeObject): string {
  const claim = readPath(object, 'spec', 'claimRef');
  return claim === undefined ? '' : `${toText(readPath(claim, 'namespace'))}/${toText(readPath(claim, 'name'))}`;
}

/** The text of a pointer field; `<unset>` when it is absent. */
function formatPointer(value: unknown): string {
  return value === undefined || value === null ? '<unset>' : toText(value);
}

const attributesClassColumn = column('VolumeAttributesClass', (object) => formatPointer(readPath(object, 'spec', 'volumeAttributesClassName')));
const volumeModeColumn = wideColumn('VolumeMode', (object) => formatPointer(readPath(object, 'spec', 'volumeMode')));

/** Columns of persistentvolumes. */
export const volumeColumns: readonly Column[] = [
  nameColumn,
  column('Capacity', (object) => textOr(readPath(object, 'spec', 'capacity', 'storage'), '0')),
  column('Access Modes', (object) => formatAccessModes(readPath(object, 'spec', 'accessModes'))),
  textColumn('Reclaim Policy', 'spec', 'persistentVolumeReclaimPolicy'),
  column('Status', formatPhase),
  column('Claim', formatClaim),
  column('StorageClass', formatStorageClass),
  attributesClassColumn,
  textColumn('Reason', 'status', 'reason'),
  ageColumn,
  volumeModeColumn,
];

/** Prints a cell for bound claims only. */
function whenBound(object: KubeObject, text: string): string {
  return toText(readPath(object, 'spec', 'volumeName')) === '' ? '' : text;
}

/** Columns of persistentvolumeclaims. */
export const claimColumns: readonly Column[] = [
  nameColumn,
  column('Status', formatPhase),
  textColumn('Volume', 'spec', 'volumeName'),
  column('Capacity', (object) => whenBound(object, textOr(readPath(object, 'status', 'capacity', 'storage'), '0'))),
  column('Access Modes', (object) => whenBound(object, formatAccessModes(readPath(object, 'status', 'accessModes')))),
  column('StorageClass', formatStorageClass),
  attributesClassColumn,
  ageColumn,
  volumeModeColumn,
];
