// The plugins that need nothing but reads of objects.
import type { AdmissionPlugin } from '../chain.ts';
import { createPodSecurity } from '../pod-security/pod-security.ts';
import type { ReadsOf } from '../reads.ts';
import { createAlwaysAdmit, createAlwaysDeny } from './always.ts';
import { createNamespaceExists } from './namespaces/existence.ts';
import { createDefaultIngressClass } from './network/default-ingress-class.ts';
import { createExternalIpDenial } from './network/external-ips.ts';
import { createAlwaysPullImages } from './pods/always-pull-images.ts';
import { createLimitRanger } from './pods/limit-ranger.ts';
import { createPodNodeSelector, createTolerationRestriction } from './pods/namespace-rules.ts';
import { createAntiAffinityLimit, createExtendedResourceToleration, createPodTopologyLabels } from './pods/node-placement.ts';
import { createPriority } from './pods/priority.ts';
import { createPodResizeValidator } from './pods/resize-validator.ts';
import { createRuntimeClass } from './pods/runtime-class.ts';
import { createDefaultTolerationSeconds, createTaintNodesByCondition } from './pods/tolerations.ts';
import { createClaimResize } from './storage/claim-resize.ts';
import { createDefaultStorageClass, createStorageObjectInUseProtection } from './storage/storage.ts';

/** Makes them, in no order. */
export function createDefaultPlugins(readsOf: ReadsOf): readonly AdmissionPlugin[] {
  const [namespaces, nodes, storageClasses] = [readsOf('', 'namespaces'), readsOf('', 'nodes'), readsOf('storage.k8s.io', 'storageclasses')];
  return [
    createAlwaysAdmit(), createAlwaysDeny(), createNamespaceExists(namespaces),
    createLimitRanger(readsOf('', 'limitranges')), createTaintNodesByCondition(), createPodSecurity({ namespaces, pods: readsOf('', 'pods') }),
    createPriority(readsOf('scheduling.k8s.io', 'priorityclasses')), createDefaultTolerationSeconds(),
      createRuntimeClass(readsOf('node.k8s.io', 'runtimeclasses')),
    createAlwaysPullImages(), createPodNodeSelector(namespaces), createTolerationRestriction(namespaces), createExtendedResourceToleration(),
    createAntiAffinityLimit(), createPodTopologyLabels(nodes), createPodResizeValidator(nodes),
    createDefaultStorageClass(storageClasses), createStorageObjectInUseProtection(), createClaimResize(storageClasses),
    createDefaultIngressClass(readsOf('networking.k8s.io', 'ingressclasses')), createExternalIpDenial(),
  ];
}
