// PersistentVolumeClaimResize: a claim grows only while it is bound, and only where its storage class permits that.
import { type KubeObject, compareQuantities, parseQuantity } from '../../../apimachinery/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { refuse, writes } from '../../refusal.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

const specOf = (claim: KubeObject | undefined): ClaimSpec => (claim?.['spec'] ?? {}) as ClaimSpec;
const sizeOf = (claim: KubeObject | undefined) => parseQuantity(String(specOf(claim).resources?.requests?.storage ?? '0'));
const classOf = (claim: KubeObject | undefined): string => claim?.metadata.annotations?.[CLASS_ANNOTATION] ?? specOf(claim).storageClassName ?? '';

/** Makes the plugin over reads of storageclasses. */
export function createClaimResize(classes: RowReads): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    handles: (attributes) => writes(attributes, '/persistentvolumeclaims', ['UPDATE']),
    async validate(attributes) {
      const { object, oldObject } = attributes;
      if (compareQuantities(sizeOf(object), sizeOf(oldObject)) <= 0) return;
      const { phase } = (oldObject?.['status'] ?? {}) as { readonly phase?: string };
      if (phase !== 'Bound') throw refuse(attributes, 'Only bound persistent volume claims can be expanded');
      const name = classOf(object);
      const found = name !== '' && name === classOf(oldObject) ? await classes.find(name) : undefined;
      if (found?.['allowVolumeExpansion'] === true) return;
      throw refuse(attributes, 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize');
    },
  };
}
