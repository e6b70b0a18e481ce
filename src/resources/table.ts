// What the server serves: the kinds of Kubernetes 1.36. Alpha and beta versions are off unless --runtime-config asks for them, as in the
// reference. A diff of this list is a diff of what the server serves; all else about a kind is in its own file.
// Groups stand in the order of discovery, kinds of a group by the name of their resource. The priorities are those of the APIService objects that
// the reference makes for its own groups: kubectl takes the first match of a short name or kind.
import type { SchemaSet } from '../apimachinery/index.ts';
import type { Resource } from '../registry/index.ts';
import { mutatingAdmissionPolicyBindingKind } from './admissionregistration/mutating-admission-policy-binding.ts';
import { mutatingAdmissionPolicyKind } from './admissionregistration/mutating-admission-policy.ts';
import { mutatingWebhookConfigurationKind } from './admissionregistration/mutating-webhook-configuration.ts';
import { validatingAdmissionPolicyBindingKind } from './admissionregistration/validating-admission-policy-binding.ts';
import { validatingAdmissionPolicyKind } from './admissionregistration/validating-admission-policy.ts';
import { validatingWebhookConfigurationKind } from './admissionregistration/validating-webhook-configuration.ts';
import { customResourceDefinitionKind } from './apiextensions/custom-resource-definition.ts';
import { storageVersionKind } from './apiserverinternal/storage-version.ts';
import { apiServiceKind } from './apiregistration/api-service.ts';
import { controllerRevisionKind } from './apps/controller-revision.ts';
import { daemonSetKind } from './apps/daemon-set.ts';
import { deploymentKind } from './apps/deployment.ts';
import { replicaSetKind } from './apps/replica-set.ts';
import { statefulSetKind } from './apps/stateful-set.ts';
import { selfSubjectReviewKind } from './authentication/self-subject-review.ts';
import { tokenReviewKind } from './authentication/token-review.ts';
import { localSubjectAccessReviewKind } from './authorization/local-subject-access-review.ts';
import { selfSubjectAccessReviewKind } from './authorization/self-subject-access-review.ts';
import { selfSubjectRulesReviewKind } from './authorization/self-subject-rules-review.ts';
import { subjectAccessReviewKind } from './authorization/subject-access-review.ts';
import { horizontalPodAutoscalerKind } from './autoscaling/horizontal-pod-autoscaler.ts';
import { cronJobKind } from './batch/cron-job.ts';
import { jobKind } from './batch/job.ts';
import { buildResource, buildStrategy, defaultGatesOf, gatesOf, isOnByDefault } from './build-resource.ts';
import { certificateSigningRequestKind } from './certificates/certificate-signing-request.ts';
import { clusterTrustBundleKind } from './certificates/cluster-trust-bundle.ts';
import { podCertificateRequestKind } from './certificates/pod-certificate-request.ts';
import { leaseCandidateKind } from './coordination/lease-candidate.ts';
import { leaseKind } from './coordination/lease.ts';
import { bindingKind } from './core/binding.ts';
import { componentStatusKind } from './core/component-status.ts';
import { configMapKind } from './core/config-map.ts';
import { endpointsKind } from './core/endpoints.ts';
import { eventKind } from './core/event.ts';
import { limitRangeKind } from './core/limit-range.ts';
import { namespaceKind } from './core/namespace.ts';
import { nodeKind } from './core/nodes/node.ts';
import { podTemplateKind } from './core/pod-template.ts';
import { podKind } from './core/pods/pod.ts';
import { replicationControllerKind } from './core/replication-controller.ts';
import { resourceQuotaKind } from './core/resource-quota.ts';
import { secretKind } from './core/secret.ts';
import { serviceAccountKind } from './core/service-account.ts';
import { serviceKind } from './core/services/service.ts';
import { persistentVolumeClaimKind } from './core/volumes/persistent-volume-claim.ts';
import { persistentVolumeKind } from './core/volumes/persistent-volume.ts';
import { endpointSliceKind } from './discovery/endpoint-slice.ts';
import { eventsGroupEventKind } from './events/event.ts';
import { flowSchemaKind } from './flowcontrol/flow-schema.ts';
import { priorityLevelConfigurationKind } from './flowcontrol/priority-level-configuration.ts';
import type { KindSpec } from './kind-spec.ts';
import { ingressClassKind } from './networking/ingress-class.ts';
import { ingressKind } from './networking/ingress.ts';
import { ipAddressKind } from './networking/ip-address.ts';
import { networkPolicyKind } from './networking/network-policy.ts';
import { serviceCidrKind } from './networking/service-cidr.ts';
import { runtimeClassKind } from './node/runtime-class.ts';
import { podDisruptionBudgetKind } from './policy/pod-disruption-budget.ts';
import { clusterRoleBindingKind } from './rbac/cluster-role-binding.ts';
import { clusterRoleKind } from './rbac/cluster-role.ts';
import { roleBindingKind } from './rbac/role-binding.ts';
import { roleKind } from './rbac/role.ts';
import { deviceClassKind } from './resource/device-class.ts';
import { deviceTaintRuleKind } from './resource/device-taint-rule.ts';
import { resourceClaimTemplateKind } from './resource/resource-claim-template.ts';
import { resourceClaimKind } from './resource/resource-claim.ts';
import { resourcePoolStatusRequestKind } from './resource/resource-pool-status-request.ts';
import { resourceSliceKind } from './resource/resource-slice.ts';
import { podGroupKind } from './scheduling/pod-group.ts';
import { priorityClassKind } from './scheduling/priority-class.ts';
import { workloadKind } from './scheduling/workload.ts';
import { csiDriverKind } from './storage/csi-driver.ts';
import { csiNodeKind } from './storage/csi-node.ts';
import { csiStorageCapacityKind } from './storage/csi-storage-capacity.ts';
import { storageClassKind } from './storage/storage-class.ts';
import { volumeAttachmentKind } from './storage/volume-attachment.ts';
import { volumeAttributesClassKind } from './storage/volume-attributes-class.ts';
import { storageVersionMigrationKind } from './storagemigration/storage-version-migration.ts';

/** A built-in group: its place among all groups, the place of each of its versions (higher comes first, equal ones by name), and its kinds. */
interface Group {
  readonly group: string;
  readonly priority: number;
  /** Absent: v1 alone. */
  readonly versions?: Readonly<Record<string, number>>;
  readonly kinds: readonly KindSpec[];
}

const groups: readonly Group[] = [
  { group: 'apiregistration.k8s.io', priority: 20_000, kinds: [apiServiceKind] },
  {
    group: '', priority: 18_000, versions: { v1: 1 },
    kinds: [
      bindingKind, componentStatusKind, configMapKind, endpointsKind, eventKind, limitRangeKind, namespaceKind, nodeKind, persistentVolumeClaimKind,
      persistentVolumeKind, podKind, podTemplateKind, replicationControllerKind, resourceQuotaKind, secretKind, serviceAccountKind, serviceKind,
    ],
  },
  { group: 'apps', priority: 17_800, kinds: [controllerRevisionKind, daemonSetKind, deploymentKind, replicaSetKind, statefulSetKind] },
  { group: 'events.k8s.io', priority: 17_750, kinds: [eventsGroupEventKind] },
  { group: 'authentication.k8s.io', priority: 17_700, kinds: [selfSubjectReviewKind, tokenReviewKind] },
  {
    group: 'authorization.k8s.io', priority: 17_600,
    kinds: [
      localSubjectAccessReviewKind, selfSubjectAccessReviewKind, selfSubjectRulesReviewKind, subjectAccessReviewKind,
    ],
  },
  { group: 'autoscaling', priority: 17_500, versions: { v2: 30, v1: 15 }, kinds: [horizontalPodAutoscalerKind] },
  { group: 'batch', priority: 17_400, kinds: [cronJobKind, jobKind] },
  {
    group: 'certificates.k8s.io', priority: 17_300, versions: { v1: 15, v1beta1: 9, v1alpha1: 1 },
    kinds: [certificateSigningRequestKind, clusterTrustBundleKind, podCertificateRequestKind],
  },
  {
    group: 'networking.k8s.io', priority: 17_200, versions: { v1: 15, v1beta1: 9 },
    kinds: [ingressClassKind, ingressKind, ipAddressKind, networkPolicyKind, serviceCidrKind],
  },
  { group: 'policy', priority: 17_100, kinds: [podDisruptionBudgetKind] },
  { group: 'rbac.authorization.k8s.io', priority: 17_000, kinds: [clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind] },
  {
    group: 'storage.k8s.io', priority: 16_800, versions: { v1: 15, v1beta1: 9 },
    kinds: [
      csiDriverKind, csiNodeKind, csiStorageCapacityKind, storageClassKind, volumeAttachmentKind, volumeAttributesClassKind,
    ],
  },
  {
    group: 'admissionregistration.k8s.io', priority: 16_700, versions: { v1: 15, v1beta1: 12, v1alpha1: 9 },
    kinds: [
      mutatingAdmissionPolicyKind, mutatingAdmissionPolicyBindingKind, mutatingWebhookConfigurationKind, validatingAdmissionPolicyKind,
      validatingAdmissionPolicyBindingKind, validatingWebhookConfigurationKind,
    ],
  },
  { group: 'apiextensions.k8s.io', priority: 16_700, kinds: [customResourceDefinitionKind] },
  { group: 'scheduling.k8s.io', priority: 16_600, versions: { v1: 15, v1alpha2: 2 }, kinds: [podGroupKind, priorityClassKind, workloadKind] },
  { group: 'coordination.k8s.io', priority: 16_500, versions: { v1: 15, v1beta1: 13, v1alpha2: 12 }, kinds: [leaseCandidateKind, leaseKind] },
  { group: 'node.k8s.io', priority: 16_300, kinds: [runtimeClassKind] },
  { group: 'discovery.k8s.io', priority: 16_200, kinds: [endpointSliceKind] },
  {
    group: 'resource.k8s.io', priority: 16_200, versions: { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 },
    kinds: [
      deviceClassKind, deviceTaintRuleKind, resourceClaimKind, resourceClaimTemplateKind, resourcePoolStatusRequestKind, resourceSliceKind,
    ],
  },
  { group: 'flowcontrol.apiserver.k8s.io', priority: 16_100, versions: { v1: 21 }, kinds: [flowSchemaKind, priorityLevelConfigurationKind] },
  { group: 'internal.apiserver.k8s.io', priority: 16_000, versions: { v1alpha1: 9 }, kinds: [storageVersionKind] },
  { group: 'storagemigration.k8s.io', priority: 15_800, versions: { v1beta1: 9 }, kinds: [storageVersionMigrationKind] },
];

/** A built-in group in discovery: the priorities of the group and of its versions. */
interface GroupPriority {
  readonly group: string;
  readonly priority: number;
  readonly versions: readonly { readonly name: string; readonly priority: number }[];
}

/** The built-in groups in the order of discovery. apiregistration.k8s.io has no APIService of its own and is always first of /apis. */
export const groupPriorities: readonly GroupPriority[] = groups.map(({ group, priority, versions = { v1: 15 } }) => ({
  group, priority, versions: Object.entries(versions).map(([name, versionPriority]) => ({ name, priority: versionPriority })),
}));

/** All built-in resources, in the order of discovery. Throws (a broken invariant) when a kind has no schema. */
export function createBuiltinResources(schemas: SchemaSet): readonly Resource[] {
  return groups.flatMap(({ group, kinds }) => kinds.map((spec) => buildResource(group, spec, schemas)));
}

/** The kinds by `group/Kind`. */
export const kindSpecs: ReadonlyMap<string, KindSpec> = new Map(groups.flatMap(({ group, kinds }) => kinds.map((spec) => [`${group}/${spec.kind}`, spec])));

/** A row as servers with these feature gates serve it: fields of features that are on stay. Rows are the same where no gate changes them. */
export function withGates(row: Resource, isGateOn: (gate: string) => boolean): Resource {
  const spec = row.custom ? undefined : kindSpecs.get(`${row.group}/${row.kind}`);
  const isChanged = spec !== undefined && [...gatesOf(spec)].some((gate) => isGateOn(gate) !== isOnByDefault(gate));
  if (!isChanged) return row;
  const defaultGates = defaultGatesOf(spec, isGateOn);
  return { ...row, strategy: buildStrategy(spec, isGateOn), ...(defaultGates.length > 0 && { defaultsKey: defaultGates.join() }) };
}
