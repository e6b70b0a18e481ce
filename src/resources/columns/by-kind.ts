// Which columns a kind prints, by group and kind. Kinds that are not here print their name and when they were made, as in the reference:
// limitranges, roles and clusterroles, csistoragecapacities, customresourcedefinitions, and what is never stored.
import type { Column } from '../../registry/index.ts';
import { convertAutoscaler } from '../autoscaling/convert.ts';
import { convertEvent } from '../events/convert.ts';
import { autoscalerColumns } from './autoscaling.ts';
import * as cluster from './cluster.ts';
import { convertColumns } from './common.ts';
import * as net from './networking.ts';
import * as pods from './pods.ts';
import * as policies from './policies.ts';
import * as volumes from './storage.ts';
import * as workloads from './workloads.ts';

/** Columns read the stored form; other forms are converted first. */
const autoscalerRowColumns = convertColumns(autoscalerColumns, (object) => {
  return object.apiVersion === 'autoscaling/v1' ? convertAutoscaler(object, 'v1', 'v2') : object;
});
const eventsGroupColumns = convertColumns(cluster.eventColumns, (object) => convertEvent(object, 'events.k8s.io/v1', 'v1'));

/** Columns by `group/Kind`. */
export const columnsByKind: Readonly<Record<string, readonly Column[]>> = {
  '/ComponentStatus': cluster.componentStatusColumns,
  '/ConfigMap': cluster.configMapColumns,
  '/Endpoints': net.endpointsColumns,
  '/Event': cluster.eventColumns,
  '/Namespace': cluster.namespaceColumns,
  '/Node': cluster.nodeColumns,
  '/PersistentVolumeClaim': volumes.claimColumns,
  '/PersistentVolume': volumes.volumeColumns,
  '/Pod': pods.podColumns,
  '/PodTemplate': pods.podTemplateColumns,
  '/ReplicationController': workloads.replicationControllerColumns,
  '/ResourceQuota': cluster.resourceQuotaColumns,
  '/Secret': cluster.secretColumns,
  '/ServiceAccount': cluster.nameAndAgeColumns,
  '/Service': net.serviceColumns,
  'apiregistration.k8s.io/APIService': policies.apiServiceColumns,
  'apps/ControllerRevision': workloads.controllerRevisionColumns,
  'apps/DaemonSet': workloads.daemonSetColumns,
  'apps/Deployment': workloads.deploymentColumns,
  'apps/ReplicaSet': workloads.replicaSetColumns,
  'apps/StatefulSet': workloads.statefulSetColumns,
  'events.k8s.io/Event': eventsGroupColumns,
  'autoscaling/HorizontalPodAutoscaler': autoscalerRowColumns,
  'batch/CronJob': workloads.cronJobColumns,
  'batch/Job': workloads.jobColumns,
  'certificates.k8s.io/CertificateSigningRequest': policies.signingRequestColumns,
  'networking.k8s.io/IngressClass': net.ingressClassColumns,
  'networking.k8s.io/Ingress': net.ingressColumns,
  'networking.k8s.io/IPAddress': net.ipAddressColumns,
  'networking.k8s.io/NetworkPolicy': net.networkPolicyColumns,
  'networking.k8s.io/ServiceCIDR': net.serviceCidrColumns,
  'policy/PodDisruptionBudget': workloads.disruptionBudgetColumns,
  'rbac.authorization.k8s.io/ClusterRoleBinding': policies.roleBindingColumns,
  'rbac.authorization.k8s.io/RoleBinding': policies.roleBindingColumns,
  'storage.k8s.io/CSIDriver': volumes.csiDriverColumns,
  'storage.k8s.io/CSINode': volumes.csiNodeColumns,
  'storage.k8s.io/StorageClass': volumes.storageClassColumns,
  'storage.k8s.io/VolumeAttachment': volumes.volumeAttachmentColumns,
  'storage.k8s.io/VolumeAttributesClass': volumes.attributesClassColumns,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': policies.mutatingPolicyColumns,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': policies.policyBindingColumns,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': policies.webhookConfigurationColumns,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': policies.validatingPolicyColumns,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': policies.policyBindingColumns,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': policies.webhookConfigurationColumns,
  'scheduling.k8s.io/PriorityClass': policies.priorityClassColumns,
  'coordination.k8s.io/Lease': policies.leaseColumns,
  'node.k8s.io/RuntimeClass': policies.runtimeClassColumns,
  'discovery.k8s.io/EndpointSlice': net.endpointSliceColumns,
  'resource.k8s.io/DeviceClass': cluster.nameAndAgeColumns,
  'resource.k8s.io/ResourceClaim': policies.resourceClaimColumns,
  'resource.k8s.io/ResourceClaimTemplate': cluster.nameAndAgeColumns,
  'resource.k8s.io/ResourceSlice': policies.resourceSliceColumns,
  'flowcontrol.apiserver.k8s.io/FlowSchema': policies.flowSchemaColumns,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': policies.priorityLevelColumns,
};
