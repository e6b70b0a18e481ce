// Versions of built-in kinds that Kubernetes no longer serves: since when, and what took their place.

/** What became of a version. */
export interface RemovedVersion {
  /** The minor release that has it no more. */
  readonly since: string;
  /** The version to use; '' where the kind is gone. */
  readonly use: string;
}

/** Rows of `since`, the version, its kinds (all without any), and what took its place. */
const rows: readonly (readonly [since: string, apiVersion: string, kinds: string, use: string])[] = [
  ['1.16', 'extensions/v1beta1', 'DaemonSet Deployment ReplicaSet', 'apps/v1'],
  ['1.16', 'extensions/v1beta1', 'NetworkPolicy', 'networking.k8s.io/v1'],
  ['1.16', 'extensions/v1beta1', 'PodSecurityPolicy', ''],
  ['1.16', 'apps/v1beta1', 'Deployment StatefulSet ControllerRevision', 'apps/v1'],
  ['1.16', 'apps/v1beta2', 'DaemonSet Deployment ReplicaSet StatefulSet ControllerRevision', 'apps/v1'],
  ['1.22', 'extensions/v1beta1', 'Ingress', 'networking.k8s.io/v1'],
  ['1.22', 'networking.k8s.io/v1beta1', 'Ingress IngressClass', 'networking.k8s.io/v1'],
  ['1.22', 'admissionregistration.k8s.io/v1beta1', 'MutatingWebhookConfiguration ValidatingWebhookConfiguration', 'admissionregistration.k8s.io/v1'],
  ['1.22', 'apiextensions.k8s.io/v1beta1', 'CustomResourceDefinition', 'apiextensions.k8s.io/v1'],
  ['1.22', 'apiregistration.k8s.io/v1beta1', 'APIService', 'apiregistration.k8s.io/v1'],
  ['1.22', 'authentication.k8s.io/v1beta1', 'TokenReview', 'authentication.k8s.io/v1'],
  ['1.22', 'authorization.k8s.io/v1beta1', '', 'authorization.k8s.io/v1'],
  ['1.22', 'certificates.k8s.io/v1beta1', 'CertificateSigningRequest', 'certificates.k8s.io/v1'],
  ['1.22', 'coordination.k8s.io/v1beta1', 'Lease', 'coordination.k8s.io/v1'],
  ['1.22', 'rbac.authorization.k8s.io/v1beta1', '', 'rbac.authorization.k8s.io/v1'],
  ['1.22', 'scheduling.k8s.io/v1beta1', 'PriorityClass', 'scheduling.k8s.io/v1'],
  ['1.22', 'storage.k8s.io/v1beta1', 'CSIDriver CSINode StorageClass VolumeAttachment', 'storage.k8s.io/v1'],
  ['1.25', 'batch/v1beta1', 'CronJob', 'batch/v1'],
  ['1.25', 'discovery.k8s.io/v1beta1', 'EndpointSlice', 'discovery.k8s.io/v1'],
  ['1.25', 'events.k8s.io/v1beta1', 'Event', 'events.k8s.io/v1'],
  ['1.25', 'autoscaling/v2beta1', 'HorizontalPodAutoscaler', 'autoscaling/v2'],
  ['1.25', 'policy/v1beta1', 'PodDisruptionBudget', 'policy/v1'],
  ['1.25', 'policy/v1beta1', 'PodSecurityPolicy', ''],
  ['1.25', 'node.k8s.io/v1beta1', 'RuntimeClass', 'node.k8s.io/v1'],
  ['1.26', 'autoscaling/v2beta2', 'HorizontalPodAutoscaler', 'autoscaling/v2'],
  ['1.26', 'flowcontrol.apiserver.k8s.io/v1beta1', '', 'flowcontrol.apiserver.k8s.io/v1'],
  ['1.27', 'storage.k8s.io/v1beta1', 'CSIStorageCapacity', 'storage.k8s.io/v1'],
  ['1.29', 'flowcontrol.apiserver.k8s.io/v1beta2', '', 'flowcontrol.apiserver.k8s.io/v1'],
  ['1.32', 'flowcontrol.apiserver.k8s.io/v1beta3', '', 'flowcontrol.apiserver.k8s.io/v1'],
];

/** What became of a version of a kind; undefined for what Kubernetes never had. */
export function findRemoved(apiVersion: string, kind: string): RemovedVersion | undefined {
  const row = rows.find(([, version, kinds]) => version === apiVersion && (kinds === '' || kinds.split(' ').includes(kind)));
  return row && { since: row[0], use: row[3] };
}
