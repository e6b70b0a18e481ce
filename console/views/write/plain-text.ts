// Objects without what only the server writes: the part that people edit and compare.
import type { KubeObject } from '../object/kube-object.ts';

/** The object as people write it; `keepsStatus` where another view compares it whole. */
export function toPlain(object: KubeObject, { keepsStatus = false } = {}): object {
  const { managedFields: _managedFields, resourceVersion: _resourceVersion, uid: _uid, creationTimestamp: _creationTimestamp, generation: _generation,
    ...metadata } = object.metadata;
  const { status, ...rest } = object;
  return { ...rest, metadata, ...(keepsStatus && status !== undefined && { status }) };
}
