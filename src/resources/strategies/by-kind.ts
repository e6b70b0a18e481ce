// What makes kinds special, by group and kind. A kind that is not here is data and nothing else.
import type { Strategy } from '../../registry/index.ts';
import * as cluster from '../defaults/cluster.ts';
import * as defaults from '../defaults/policies.ts';
import { applyPodTemplateDefaults } from '../defaults/workloads.ts';
import * as core from './core.ts';
import { podStrategy } from './pods.ts';
import * as policies from './policies.ts';
import { serviceStrategy } from './services.ts';
import * as workloads from './workloads.ts';

/** Strategies by `group/Kind`. */
export const strategiesByKind: Readonly<Record<string, Strategy>> = {
  '/Endpoints': { applyDefaults: cluster.applyEndpointsDefaults },
  '/LimitRange': { applyDefaults: cluster.applyLimitRangeDefaults },
  '/Namespace': core.namespaceStrategy,
  '/Node': core.nodeStrategy,
  '/PersistentVolume': core.volumeStrategy,
  '/PersistentVolumeClaim': core.claimStrategy,
  '/Pod': podStrategy,
  '/PodTemplate': { applyDefaults: applyPodTemplateDefaults },
  '/ReplicationController': workloads.replicationControllerStrategy,
  '/ResourceQuota': core.resourceQuotaStrategy,
  '/Secret': { applyDefaults: cluster.applySecretDefaults },
  '/Service': serviceStrategy,
  '/ServiceAccount': core.accountStrategy,
  'apiregistration.k8s.io/APIService': policies.apiServiceStrategy,
  'apps/DaemonSet': workloads.daemonSetStrategy,
  'apps/Deployment': workloads.deploymentStrategy,
  'apps/ReplicaSet': workloads.replicaSetStrategy,
  'apps/StatefulSet': workloads.statefulSetStrategy,
  'autoscaling/HorizontalPodAutoscaler': workloads.autoscalerStrategy,
  'batch/CronJob': workloads.cronJobStrategy,
  'batch/Job': workloads.jobStrategy,
  'certificates.k8s.io/CertificateSigningRequest': policies.signingRequestStrategy,
  'networking.k8s.io/IngressClass': { applyDefaults: defaults.applyIngressClassDefaults },
  'networking.k8s.io/NetworkPolicy': { applyDefaults: defaults.applyNetworkPolicyDefaults },
  'networking.k8s.io/ServiceCIDR': policies.separatedStrategy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': { applyDefaults: defaults.applyRoleBindingDefaults },
  'rbac.authorization.k8s.io/RoleBinding': { applyDefaults: defaults.applyRoleBindingDefaults },
  'storage.k8s.io/CSIDriver': policies.csiDriverStrategy,
  'storage.k8s.io/StorageClass': { applyDefaults: defaults.applyStorageClassDefaults },
  'storage.k8s.io/VolumeAttachment': policies.separatedStrategy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': { applyDefaults: defaults.applyAdmissionPolicyDefaults },
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': { applyDefaults: defaults.applyPolicyBindingDefaults },
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': { applyDefaults: defaults.applyMutatingWebhookDefaults },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': policies.validatingPolicyStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': { applyDefaults: defaults.applyPolicyBindingDefaults },
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': { applyDefaults: defaults.applyValidatingWebhookDefaults },
  'apiextensions.k8s.io/CustomResourceDefinition': policies.definitionStrategy,
  'scheduling.k8s.io/PriorityClass': policies.priorityClassStrategy,
  'discovery.k8s.io/EndpointSlice': { applyDefaults: defaults.applyEndpointSliceDefaults },
  'resource.k8s.io/ResourceClaim': policies.resourceClaimStrategy,
  'resource.k8s.io/ResourceClaimTemplate': { applyDefaults: defaults.applyResourceClaimTemplateDefaults },
  'resource.k8s.io/ResourceSlice': policies.resourceSliceStrategy,
  'flowcontrol.apiserver.k8s.io/FlowSchema': policies.flowSchemaStrategy,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': policies.priorityLevelStrategy,
};
