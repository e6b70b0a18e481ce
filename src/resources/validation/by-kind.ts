// Which validation a kind has, by group and kind. Updates are validated on the paths that write more than status.
import type { FieldError, KubeObject } from '../../apimachinery/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { validateApiService, validateApiServiceStatus } from './api-services.ts';
import * as core from './core.ts';
import { validateFlowControlStatus, validateFlowSchema, validatePriorityLevel } from './flow-control.ts';
import { validatePod, validatePodUpdate } from './pods.ts';
import { validateSigningRequest, validateSigningRequestUpdate } from './signing-requests.ts';
import { validateDeploymentStatus, validateReplicaSetStatus } from './statuses.ts';
import * as services from './services.ts';
import * as workloads from './workloads.ts';

type Validate = (object: KubeObject) => readonly FieldError[];
type ValidateUpdate = (object: KubeObject, old: KubeObject) => readonly FieldError[];

/** Validation of creates and updates; without rules of its own an update is validated like a create. */
function validateWith(validate: Validate, update: ValidateUpdate = validate, validateStatus: Validate = () => []): Strategy {
  return {
    validate,
    validateUpdate: (object, old, { subresource }) => (subresource === '' ? update(object, old) : subresource === 'status' ? validateStatus(object) : []),
  };
}

const both = (validate: Validate, update: ValidateUpdate): Strategy => validateWith(validate, (object, old) => [...update(object, old), ...validate(object)]);

/** Validations by `group/Kind`. */
export const validationsByKind: Readonly<Record<string, Strategy>> = {
  '/ConfigMap': validateWith(core.validateConfigMap, core.validateConfigMapUpdate),
  '/Pod': validateWith(validatePod, validatePodUpdate),
  '/PodTemplate': validateWith(workloads.validatePodTemplate),
  '/ReplicationController': validateWith(workloads.validateReplicationController),
  '/Secret': validateWith(core.validateSecret, core.validateSecretUpdate),
  '/Service': validateWith(services.validateService, services.validateServiceUpdate, services.validateServiceStatus),
  'apiregistration.k8s.io/APIService': validateWith(validateApiService, validateApiService, validateApiServiceStatus),
  'apps/ControllerRevision': validateWith(workloads.validateControllerRevision, workloads.validateControllerRevisionUpdate),
  'apps/DaemonSet': validateWith(workloads.validateDaemonSet, workloads.validateDaemonSetUpdate),
  'apps/Deployment': validateWith(workloads.validateDeployment, workloads.validateDeploymentUpdate, validateDeploymentStatus),
  'apps/ReplicaSet': validateWith(workloads.validateReplicaSet, workloads.validateReplicaSetUpdate, validateReplicaSetStatus),
  'apps/StatefulSet': validateWith(workloads.validateStatefulSet, workloads.validateStatefulSetUpdate),
  'batch/CronJob': validateWith(workloads.validateCronJob),
  'batch/Job': validateWith(workloads.validateJob, workloads.validateJobUpdate),
  'certificates.k8s.io/CertificateSigningRequest': { validate: validateSigningRequest, validateUpdate: validateSigningRequestUpdate },
  'coordination.k8s.io/Lease': validateWith(core.validateLease),
  'flowcontrol.apiserver.k8s.io/FlowSchema': validateWith(validateFlowSchema, validateFlowSchema, validateFlowControlStatus),
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': validateWith(validatePriorityLevel, validatePriorityLevel, validateFlowControlStatus),
  'networking.k8s.io/IPAddress': validateWith(services.validateIpAddress, services.validateIpAddressUpdate),
  'networking.k8s.io/ServiceCIDR': both(services.validateServiceCidr, services.checkSameRanges),
  'node.k8s.io/RuntimeClass': both(core.validateRuntimeClass, (object, old) => core.checkSameMembers(object, old, ['handler'])),
  'policy/PodDisruptionBudget': validateWith(workloads.validateDisruptionBudget),
  'rbac.authorization.k8s.io/ClusterRole': validateWith(core.validateClusterRole),
  'rbac.authorization.k8s.io/ClusterRoleBinding': both(core.validateClusterRoleBinding, core.checkRoleRef),
  'rbac.authorization.k8s.io/Role': validateWith(core.validateRole),
  'rbac.authorization.k8s.io/RoleBinding': both(core.validateRoleBinding, core.checkRoleRef),
  'scheduling.k8s.io/PriorityClass': both(core.validatePriorityClass, core.checkSamePriority),
  'storage.k8s.io/StorageClass': both(core.validateStorageClass, (object, old) => {
    return core.checkSameMembers(object, old, ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']);
  }),
};
