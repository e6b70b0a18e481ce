// Which validation a kind has, by group and kind. Updates are validated on the paths that write more than status.
import { type FieldError, type KubeObject, loadPatternEngine } from '../../apimachinery/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { validateMutatingBinding, validateValidatingBinding } from './admission-bindings.ts';
import { validateMutatingPolicy, validateValidatingPolicy, validateValidatingPolicyStatus } from './admission-policies.ts';
import { validateApiService, validateApiServiceStatus } from './api-services.ts';
import * as claims from './claims.ts';
import * as core from './core.ts';
import { validateResourceClaimStatus } from './device-claim-status.ts';
import { validateResourceSlice, validateResourceSliceUpdate } from './device-slices.ts';
import * as devices from './devices.ts';
import * as endpoints from './endpoints.ts';
import * as events from './events.ts';
import { validateFlowControlStatus, validateFlowSchema, validatePriorityLevel } from './flow-control.ts';
import * as jobs from './jobs.ts';
import { validateJobStatus } from './job-status.ts';
import { validateLimitRange } from './limits.ts';
import * as net from './networking.ts';
import * as nodes from './nodes.ts';
import { validateAutoscaler, validateAutoscalerStatus } from './autoscaling.ts';
import { validatePodStatus } from './pod-status.ts';
import { validateEphemeralUpdate, validateResize } from './pod-subresources.ts';
import { validatePodUpdate } from './pod-update.ts';
import { validatePod } from './pods.ts';
import * as volumes from './persistent-volumes.ts';
import * as quotas from './quotas.ts';
import { validateSigningRequest, validateSigningRequestUpdate } from './signing-requests.ts';
import * as statuses from './statuses.ts';
import * as services from './services.ts';
import * as storage from './storage.ts';
import { validateWebhooks, validateWebhooksUpdate } from './webhook-configurations.ts';
import * as workloads from './workloads.ts';

type Validate = (object: KubeObject) => readonly FieldError[];
type ValidateUpdate = (object: KubeObject, old: KubeObject) => readonly FieldError[];

/** Validation of creates and updates; without rules of its own an update is validated like a create. */
function validateWith(validate: Validate, update: ValidateUpdate = validate, validateStatus: ValidateUpdate = () => []): Strategy {
  return {
    validate,
    validateUpdate: (object, old, { subresource }) => (subresource === '' ? update(object, old) : subresource === 'status' ? validateStatus(object, old) : []),
  };
}

const both = (validate: Validate, update: ValidateUpdate): Strategy => validateWith(validate, (object, old) => [...update(object, old), ...validate(object)]);

/** The same, with what may not change behind what may not be. */
const validFirst = (validate: Validate, update: ValidateUpdate): Strategy =>
  validateWith(validate, (object, old) => [...validate(object), ...update(object, old)]);

/** The same of what holds expressions: the engine of the patterns in them must be there. */
const withExpressions = (validate: Validate, update: ValidateUpdate, validateStatus?: ValidateUpdate): Strategy =>
  ({ ...validateWith((object) => validate(object), update, validateStatus), prepareValidation: () => loadPatternEngine() });

const webhooks = withExpressions(validateWebhooks, validateWebhooksUpdate);

/** Validations by `group/Kind`. */
export const validationsByKind: Readonly<Record<string, Strategy>> = {
  '/ConfigMap': validateWith(core.validateConfigMap, core.validateConfigMapUpdate),
  '/Endpoints': validateWith(endpoints.validateEndpoints),
  '/Event': validateWith(events.validateEvent),
  '/LimitRange': validateWith(validateLimitRange),
  '/Namespace': {
    validate: nodes.validateNamespace,
    validateUpdate(namespace, _, { subresource }) {
      if (subresource === 'status') return statuses.validateNamespaceStatus(namespace);
      return subresource === 'finalize' ? nodes.validateNamespaceFinalizers(namespace) : [];
    },
  },
  '/Node': validateWith(nodes.validateNode, nodes.validateNodeUpdate, nodes.validateNodeStatus),
  '/PersistentVolume': validateWith(volumes.validateVolume, volumes.validateVolumeUpdate),
  '/PersistentVolumeClaim': validateWith(claims.validateClaim, claims.validateClaimUpdate, claims.validateClaimStatus),
  '/Pod': {
    validate: validatePod,
    validateUpdate(pod, old, { subresource }) {
      if (subresource === 'resize') return validateResize(pod, old);
      if (subresource === 'ephemeralcontainers') return validateEphemeralUpdate(pod, old);
      return subresource === 'status' ? validatePodStatus(pod, old) : subresource === '' ? validatePodUpdate(pod, old) : [];
    },
  },
  '/PodTemplate': validateWith(workloads.validatePodTemplate),
  '/ReplicationController': validateWith(workloads.validateReplicationController),
  '/ResourceQuota': validateWith(quotas.validateResourceQuota, quotas.validateResourceQuotaUpdate, quotas.validateResourceQuotaStatus),
  '/Secret': validateWith(core.validateSecret, core.validateSecretUpdate),
  '/Service': validateWith(services.validateService, services.validateServiceUpdate, statuses.validateServiceStatus),
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': withExpressions(validateMutatingPolicy, validateMutatingPolicy),
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': validateWith((binding) => validateMutatingBinding(binding)),
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': withExpressions(validateValidatingPolicy, validateValidatingPolicy, validateValidatingPolicyStatus),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': validateWith((binding) => validateValidatingBinding(binding)),
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'apiregistration.k8s.io/APIService': validateWith(validateApiService, validateApiService, validateApiServiceStatus),
  'apps/ControllerRevision': validateWith(workloads.validateControllerRevision, workloads.validateControllerRevisionUpdate),
  'apps/DaemonSet': validateWith(workloads.validateDaemonSet, workloads.validateDaemonSetUpdate, statuses.validateDaemonSetStatus),
  'apps/Deployment': validateWith(workloads.validateDeployment, workloads.validateDeploymentUpdate, statuses.validateDeploymentStatus),
  'apps/ReplicaSet': validateWith(workloads.validateReplicaSet, workloads.validateReplicaSetUpdate, statuses.validateReplicaSetStatus),
  'apps/StatefulSet': validateWith(workloads.validateStatefulSet, workloads.validateStatefulSetUpdate, statuses.validateStatefulSetStatus),
  'autoscaling/HorizontalPodAutoscaler': validateWith(validateAutoscaler, validateAutoscaler, validateAutoscalerStatus),
  'batch/CronJob': validateWith(jobs.validateCronJob, jobs.validateCronJobUpdate),
  'batch/Job': validateWith(jobs.validateJob, jobs.validateJobUpdate, validateJobStatus),
  'certificates.k8s.io/CertificateSigningRequest': { validate: validateSigningRequest, validateUpdate: validateSigningRequestUpdate },
  'coordination.k8s.io/Lease': validateWith(core.validateLease),
  'discovery.k8s.io/EndpointSlice': validFirst(endpoints.validateEndpointSlice, endpoints.checkSameAddressType),
  'events.k8s.io/Event': validateWith(events.validateNewEvent, events.validateNewEventUpdate),
  'flowcontrol.apiserver.k8s.io/FlowSchema': validateWith(validateFlowSchema, validateFlowSchema, validateFlowControlStatus),
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': validateWith(validatePriorityLevel, validatePriorityLevel, validateFlowControlStatus),
  'networking.k8s.io/Ingress': validateWith(net.validateIngress, net.validateIngressUpdate, statuses.validateIngressStatus),
  'networking.k8s.io/IngressClass': both(net.validateIngressClass, net.checkSameController),
  'networking.k8s.io/IPAddress': validateWith(services.validateIpAddress, services.validateIpAddressUpdate),
  'networking.k8s.io/NetworkPolicy': validateWith(net.validateNetworkPolicy),
  'networking.k8s.io/ServiceCIDR': both(services.validateServiceCidr, services.checkSameRanges),
  'node.k8s.io/RuntimeClass': both(core.validateRuntimeClass, (object, old) => core.checkSameMembers(object, old, ['handler'])),
  'policy/PodDisruptionBudget': validateWith(workloads.validateDisruptionBudget, workloads.validateDisruptionBudget, statuses.validateDisruptionBudgetStatus),
  'rbac.authorization.k8s.io/ClusterRole': validateWith(core.validateClusterRole),
  'rbac.authorization.k8s.io/ClusterRoleBinding': validFirst(core.validateClusterRoleBinding, core.checkRoleRef),
  'rbac.authorization.k8s.io/Role': validateWith(core.validateRole),
  'rbac.authorization.k8s.io/RoleBinding': validFirst(core.validateRoleBinding, core.checkRoleRef),
  'resource.k8s.io/DeviceClass': validateWith(devices.validateDeviceClass),
  'resource.k8s.io/ResourceClaim': validateWith(devices.validateResourceClaim, devices.validateResourceClaimUpdate, validateResourceClaimStatus),
  'resource.k8s.io/ResourceClaimTemplate': validateWith(devices.validateResourceClaimTemplate, devices.validateResourceClaimTemplateUpdate),
  'resource.k8s.io/ResourceSlice': validateWith(validateResourceSlice, validateResourceSliceUpdate),
  'scheduling.k8s.io/PriorityClass': both(core.validatePriorityClass, core.checkSamePriority),
  'storage.k8s.io/CSIDriver': validateWith(storage.validateCsiDriver, storage.validateCsiDriverUpdate),
  'storage.k8s.io/CSINode': validateWith(storage.validateCsiNode, storage.validateCsiNodeUpdate),
  'storage.k8s.io/CSIStorageCapacity': validFirst(storage.validateStorageCapacity, (capacity, old) => {
    return core.checkSameMembers(capacity, old, ['nodeTopology', 'storageClassName']);
  }),
  'storage.k8s.io/StorageClass': validFirst(core.validateStorageClass, (object, old) => {
    return core.checkSameMembers(object, old, ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']);
  }),
  'storage.k8s.io/VolumeAttachment': validateWith(storage.validateAttachment, storage.validateAttachmentUpdate),
  'storage.k8s.io/VolumeAttributesClass': both(storage.validateAttributesClass, storage.validateAttributesClassUpdate),
};
