// The plugins that need nothing but reads, in three groups around those that need more, so that all run in the reference's order.
import type { AdmissionPlugin } from '../chain.ts';
import type { ReadsOf } from '../reads.ts';
import { createDefaultIngressClass } from './default-ingress-class.ts';
import { createPodSecurity } from '../pod-security/pod-security.ts';
import { createLimitRanger } from './limit-ranger.ts';
import { createPriority } from './priority.ts';
import { createRuntimeClass } from './runtime-class.ts';
import { createDefaultStorageClass, createStorageObjectInUseProtection } from './storage.ts';
import { createDefaultTolerationSeconds, createTaintNodesByCondition } from './tolerations.ts';

/** What comes before ServiceAccount, between it and the certificate plugins, and after those. */
interface DefaultPlugins {
  readonly early: readonly AdmissionPlugin[];
  readonly middle: readonly AdmissionPlugin[];
  readonly late: readonly AdmissionPlugin[];
}

/** Makes them. */
export function createDefaultPlugins(readsOf: ReadsOf): DefaultPlugins {
  return {
    early: [createLimitRanger(readsOf('', 'limitranges'))],
    middle: [
      createTaintNodesByCondition(), createPodSecurity({ namespaces: readsOf('', 'namespaces'), pods: readsOf('', 'pods') }),
      createPriority(readsOf('scheduling.k8s.io', 'priorityclasses')), createDefaultTolerationSeconds(),
      createDefaultStorageClass(readsOf('storage.k8s.io', 'storageclasses')), createStorageObjectInUseProtection(),
      createRuntimeClass(readsOf('node.k8s.io', 'runtimeclasses')),
    ],
    late: [createDefaultIngressClass(readsOf('networking.k8s.io', 'ingressclasses'))],
  };
}
