// How often the reference checks the metadata of updates of a kind; see `metadataChecks` of rows. Clients see the causes as often.

const kinds: Readonly<Record<string, string>> = {
  'UM*': '/Pod',
  'U*M': 'networking.k8s.io/Ingress /ConfigMap /Secret /ServiceAccount /PersistentVolumeClaim /Endpoints apps/ControllerRevision '
    + 'storage.k8s.io/VolumeAttributesClass networking.k8s.io/IngressClass',
  'U*': 'apps/Deployment apps/ReplicaSet apps/StatefulSet apps/DaemonSet batch/CronJob /Service autoscaling/HorizontalPodAutoscaler '
    + 'networking.k8s.io/NetworkPolicy events.k8s.io/Event scheduling.k8s.io/PriorityClass /ResourceQuota /PodTemplate /ReplicationController '
    + 'storage.k8s.io/CSIDriver networking.k8s.io/ServiceCIDR resource.k8s.io/ResourceSlice',
  'M*M': '/PersistentVolume',
  'M*': 'discovery.k8s.io/EndpointSlice /LimitRange storage.k8s.io/CSINode storage.k8s.io/VolumeAttachment flowcontrol.apiserver.k8s.io/FlowSchema '
    + 'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration',
  'u*': 'apiextensions.k8s.io/CustomResourceDefinition coordination.k8s.io/Lease',
  'm*u': 'node.k8s.io/RuntimeClass apiregistration.k8s.io/APIService',
  '*': 'policy/PodDisruptionBudget /Event',
};
const byKind = new Map(Object.entries(kinds).flatMap(([checks, names]) => names.split(' ').map((name) => [name, checks] as const)));

/** The checks of the kind `group/Kind`; those of admission check it once like a new object, most others twice. */
export function metadataChecksOf(key: string): string {
  return byKind.get(key) ?? (key.startsWith('admissionregistration.k8s.io/') ? 'm*' : 'M*U');
}
