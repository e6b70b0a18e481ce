// storage.k8s.io/v1 VolumeAttachment.
import { isJsonObject } from '../../base/index.ts';
import { type FieldError, type KubeObject, checkDnsSubdomain, equalJson, forbiddenField, invalidValue, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { readPointer } from '../common/defaults.ts';
import { sameAs } from '../common/former-versions.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, at, checkText, isEmptyText, isGiven, specOf } from '../common/validation/check.ts';
import { checkDriverName } from '../common/validation/driver-names.ts';
import { shapeValue } from '../common/validation/struct-diff.ts';
import { readPath } from '../common/values.ts';
import { validateInlineVolume } from '../core/volumes/persistent-volume.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Columns of volumeattachments; upstream marks the attacher as a name too. */
const volumeAttachmentColumns: readonly Column[] = withNameAndAge(
  { ...textColumn('Attacher', 'spec', 'attacher'), format: 'name' },
  textColumn('PV', 'spec', 'source', 'persistentVolumeName'),
  textColumn('Node', 'spec', 'nodeName'),
  column('Attached', (object) => readPath(object, 'status', 'attached') === true, 'boolean'),
);

/** An empty capacity of a volume inside an attachment, where it may be, is none. */
function dropEmptyCapacity(attachment: KubeObject): void {
  const volume = readPointer(readPointer(readPointer(attachment, 'spec'), 'source'), 'inlineVolumeSpec');
  if (volume !== undefined && isJsonObject(volume['capacity']) && Object.keys(volume['capacity']).length === 0) delete volume['capacity'];
}

/** Validates volumeattachments. */
function validateAttachment(attachment: KubeObject): Errors {
  const spec = specOf(attachment);
  const source = at(spec, 'source');
  const [inline, named] = [at(source, 'inlineVolumeSpec'), at(source, 'persistentVolumeName')];
  const text = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  const attacher = at(spec, 'attacher');
  const errors: FieldError[] = [...checkDriverName(attacher)];
  if (!isGiven(inline) && !isGiven(named)) errors.push(required(source.path, text));
  else if (isGiven(inline) && isGiven(named)) errors.push(forbiddenField(source.path, text));
  else if (isGiven(inline)) errors.push(...validateInlineVolume(inline));
  else if (isEmptyText(named)) errors.push(required(named.path, 'must specify non empty persistentVolumeName'));
  errors.push(...checkText(at(spec, 'nodeName'), checkDnsSubdomain));
  return isGiven(named) ? [...errors, ...checkText(named, checkDnsSubdomain)] : errors;
}

/** Validates updates of volumeattachments. */
function validateAttachmentUpdate(attachment: KubeObject, old: KubeObject): Errors {
  const shape = {
    Attacher: 'attacher', Source: ['source', { PersistentVolumeName: 'persistentVolumeName', InlineVolumeSpec: 'inlineVolumeSpec' }], NodeName: 'nodeName',
  } as const;
  const changed = !equalJson(attachment['spec'], old['spec']);
  return [...validateAttachment(attachment), ...(changed ? [invalidValue('spec', shapeValue(attachment['spec'], shape), 'field is immutable')] : [])];
}

/** The spec of VolumeAttachment. */
export const volumeAttachmentKind: KindSpec = {
  kind: 'VolumeAttachment', plural: 'volumeattachments', cluster: true,
  formerVersions: sameAs('storage.k8s.io/v1beta1', 'storage.k8s.io/v1alpha1'),
  unconditionalUpdate: false, returnsDeleted: true,
  subresources: [status],
  metadataChecks: ['object', 'kind'],
  statusMetadataChecks: ['object', 'kind'],
  resetFields: statusOnlyResets,
  columns: volumeAttachmentColumns,
  applyDefaults: dropEmptyCapacity,
  strategy: keepUserMetadata,
  validation: { object: validateAttachment, update: validateAttachmentUpdate },
};
