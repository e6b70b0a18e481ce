// Columns of volumes, claims, storage classes and the CSI kinds.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import {
  type Cell, ageColumn, column, nameColumn, readPath, textColumn, textOr, toList, toObjects, toText, wideColumn, withNameAndAge,
} from './common.ts';

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

/** The annotation of old releases wins over the field. */
function formatStorageClass(object: KubeObject): string {
  return object.metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? toText(readPath(object, 'spec', 'storageClassName'));
}

function formatClaim(object: KubeObject): string {
  const claim = readPath(object, 'spec', 'claimRef');
  return claim === undefined ? '' : `${toText(readPath(claim, 'namespace'))}/${toText(readPath(claim, 'name'))}`;
}

/** Text of a pointer field; `<unset>` only when it is absent. */
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

/** What a claim got is known once it is bound. */
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

/** The name, marked when one of the annotations makes this class the default. */
function defaultableNameColumn(...annotations: readonly string[]): Column {
  return {
    ...nameColumn,
    cell: (object) => {
      const name = object.metadata?.name ?? '';
      return annotations.some((annotation) => object.metadata?.annotations?.[annotation] === 'true') ? `${name} (default)` : name;
    },
  };
}

/** Columns of storageclasses. */
export const storageClassColumns: readonly Column[] = [
  defaultableNameColumn('storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'),
  textColumn('Provisioner', 'provisioner'),
  column('ReclaimPolicy', (object) => textOr(object['reclaimPolicy'], 'Delete')),
  column('VolumeBindingMode', (object) => textOr(object['volumeBindingMode'], 'Immediate')),
  column('AllowVolumeExpansion', (object) => object['allowVolumeExpansion'] === true),
  ageColumn,
];

/** Columns of volumeattributesclasses. */
export const attributesClassColumns: readonly Column[] = [
  defaultableNameColumn('volumeattributesclass.alpha.kubernetes.io/is-default-class'),
  textColumn('DriverName', 'driverName'),
  ageColumn,
];

/** Columns of volumeattachments; upstream marks the attacher as a name too. */
export const volumeAttachmentColumns: readonly Column[] = withNameAndAge(
  { ...textColumn('Attacher', 'spec', 'attacher'), format: 'name' },
  textColumn('PV', 'spec', 'source', 'persistentVolumeName'),
  textColumn('Node', 'spec', 'nodeName'),
  column('Attached', (object) => readPath(object, 'status', 'attached') === true, 'boolean'),
);

/** Columns of csinodes. */
export const csiNodeColumns: readonly Column[] = withNameAndAge(
  column('Drivers', (object) => toList(readPath(object, 'spec', 'drivers')).length, 'integer'),
);

function flagColumn(name: string, field: string, otherwise: boolean): Column {
  const cell = (object: KubeObject): Cell => (readPath(object, 'spec', field) ?? otherwise) === true;
  return column(name, cell, 'boolean');
}

function formatAudiences(object: KubeObject): string {
  const requests = readPath(object, 'spec', 'tokenRequests');
  return requests === undefined || requests === null ? '<unset>' : toObjects(requests).map((request) => toText(request['audience'])).join(',');
}

/** Columns of csidrivers. */
export const csiDriverColumns: readonly Column[] = withNameAndAge(
  flagColumn('AttachRequired', 'attachRequired', true),
  flagColumn('PodInfoOnMount', 'podInfoOnMount', false),
  flagColumn('StorageCapacity', 'storageCapacity', false),
  column('TokenRequests', formatAudiences),
  flagColumn('RequiresRepublish', 'requiresRepublish', false),
  column('Modes', (object) => toList(readPath(object, 'spec', 'volumeLifecycleModes')).map(toText).join(',') || '<none>'),
);
