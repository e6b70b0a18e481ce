// DefaultStorageClass: claims without a class get the one marked as default. StorageObjectInUseProtection: volumes and claims carry a finalizer,
// so that they are not gone while a pod uses them.
import type { AdmissionPlugin } from '../../chain.ts';
import { type DefaultMark, findMarked } from '../../default-class.ts';
import type { RowReads } from '../../reads.ts';
import { writes } from '../../refusal.ts';

const CLAIMS = '/persistentvolumeclaims';
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const marks: DefaultMark = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** Makes DefaultStorageClass over reads of storageclasses. */
export function createDefaultStorageClass(classes: RowReads): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    handles: (attributes) => writes(attributes, CLAIMS),
    async mutate({ object }) {
      if (object === undefined || Object.hasOwn(object.metadata.annotations ?? {}, CLASS_ANNOTATION)) return;
      const spec = (object['spec'] ??= {}) as { storageClassName?: string };
      if (spec.storageClassName !== undefined) return;
      const name = findMarked(await classes.list(), marks);
      if (name !== undefined) spec.storageClassName = name;
    },
  };
}

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumes: 'kubernetes.io/pv-protection', persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  volumeattributesclasses: 'kubernetes.io/vac-protection',
};

const protectedKinds = ['/persistentvolumes', CLAIMS, 'storage.k8s.io/volumeattributesclasses'];

/** Makes StorageObjectInUseProtection. */
export function createStorageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: 'StorageObjectInUseProtection',
    handles: (attributes) => protectedKinds.some((kind) => writes(attributes, kind)),
    mutate({ object, resource }) {
      const finalizer = finalizers[resource.plural];
      if (object === undefined || finalizer === undefined) return;
      const present = object.metadata.finalizers ?? [];
      if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer];
    },
  };
}
