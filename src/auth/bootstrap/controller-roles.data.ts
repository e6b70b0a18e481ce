// The ClusterRoles of controllers, `system:controller:<name>`, each for the service account of that name in kube-system, and the Roles of
// kube-system and kube-public. Facts, in the same notation as cluster-roles.data.ts.
import type { NamespacedRoleData, RoleData } from './role-data.ts';

const read = 'get list watch';
const writeEvents = ['core events.k8s.io', 'events', 'create patch update'] as const;
const workloads = 'apps extensions';

/** By controller, without the prefix. */
export const controllerRoles: readonly RoleData[] = [
  {
    name: 'attachdetach-controller',
    rules: [
      ['core', 'persistentvolumeclaims persistentvolumes', 'list watch'], ['core', 'nodes', read], ['core', 'nodes/status', 'patch update'],
      ['core', 'pods', 'list watch'], writeEvents, ['storage.k8s.io', 'volumeattachments', 'create delete get list watch'],
      ['storage.k8s.io', 'csidrivers', read], ['storage.k8s.io', 'csinodes', read],
    ],
  },
  {
    name: 'certificate-controller',
    rules: [
      ['certificates.k8s.io', 'certificatesigningrequests', 'delete get list watch'],
      ['certificates.k8s.io', 'certificatesigningrequests/approval certificatesigningrequests/status', 'update'],
      ['certificates.k8s.io', 'signers', 'approve', 'kubernetes.io/kube-apiserver-client-kubelet'],
      [
        'certificates.k8s.io', 'signers', 'sign',
        'kubernetes.io/kube-apiserver-client kubernetes.io/kube-apiserver-client-kubelet kubernetes.io/kubelet-serving kubernetes.io/legacy-unknown',
      ],
      ['authorization.k8s.io', 'subjectaccessreviews', 'create'], writeEvents,
    ],
  },
  { name: 'clusterrole-aggregation-controller', rules: [['rbac.authorization.k8s.io', 'clusterroles', 'escalate get list patch update watch']] },
  {
    name: 'cronjob-controller',
    rules: [
      ['batch', 'cronjobs', 'get list update watch'], ['batch', 'jobs', 'create delete get list patch update watch'],
      ['batch', 'cronjobs/status', 'update'], ['batch', 'cronjobs/finalizers', 'update'], ['core', 'pods', 'delete list watch'], writeEvents,
    ],
  },
  {
    name: 'daemon-set-controller',
    rules: [
      [workloads, 'daemonsets', read], [workloads, 'daemonsets/status', 'update'], [workloads, 'daemonsets/finalizers', 'update'],
      ['core', 'nodes', 'list watch'], ['core', 'pods', 'create delete list patch watch'], ['core', 'pods/binding', 'create'],
      ['apps', 'controllerrevisions', 'create delete get list patch update watch'], writeEvents,
    ],
  },
  {
    name: 'deployment-controller',
    rules: [
      [workloads, 'deployments', 'get list update watch'], [workloads, 'deployments/status', 'update'], [workloads, 'deployments/finalizers', 'update'],
      [workloads, 'replicasets', 'create delete get list patch update watch'], ['core', 'pods', 'get list update watch'], writeEvents,
    ],
  },
  {
    name: 'device-taint-eviction-controller', gate: 'DRADeviceTaints',
    rules: [
      ['core', 'pods', 'delete get list watch'], ['core', 'pods/status', 'patch update'], ['resource.k8s.io', 'resourceclaims', read],
      ['resource.k8s.io', 'resourceslices', read], ['resource.k8s.io', 'deviceclasses', read], writeEvents,
      { gate: 'DRADeviceTaintRules', rule: ['resource.k8s.io', 'devicetaintrules/status', 'patch update'] },
      { gate: 'DRADeviceTaintRules', rule: ['resource.k8s.io', 'devicetaintrules', read] },
    ],
  },
  {
    name: 'disruption-controller',
    rules: [
      [workloads, 'deployments', read], [workloads, 'replicasets', read], ['core', 'replicationcontrollers', read],
      ['policy', 'poddisruptionbudgets', read], ['apps', 'statefulsets', read], ['policy', 'poddisruptionbudgets/status', 'update'],
      ['core', 'pods/status', 'patch update'], ['*', '*/scale', 'get'], writeEvents,
    ],
  },
  {
    name: 'endpoint-controller',
    rules: [
      ['core', 'pods services', read], ['core', 'endpoints', 'create delete get list update watch'], ['core', 'endpoints/restricted', 'create'], writeEvents,
    ],
  },
  {
    name: 'endpointslice-controller',
    rules: [
      ['core', 'nodes pods services', read], ['core', 'services/finalizers', 'update'],
      ['discovery.k8s.io', 'endpointslices', 'create delete get list update watch'], writeEvents,
    ],
  },
  {
    name: 'endpointslicemirroring-controller',
    rules: [
      ['core', 'endpoints services', read], ['core', 'services/finalizers', 'update'], ['core', 'endpoints/finalizers', 'update'],
      ['discovery.k8s.io', 'endpointslices', 'create delete get list update watch'], writeEvents,
    ],
  },
  {
    name: 'ephemeral-volume-controller',
    rules: [
      ['core', 'pods', read], ['core', 'pods/finalizers', 'update'], ['core', 'persistentvolumeclaims', 'create get list watch'], writeEvents,
    ],
  },
  {
    name: 'expand-controller',
    rules: [
      ['core', 'persistentvolumes', 'get list patch update watch'], ['core', 'persistentvolumeclaims/status', 'patch update'],
      ['core', 'persistentvolumeclaims', read], writeEvents,
    ],
  },
  { name: 'generic-garbage-collector', rules: [['*', '*', 'delete get list patch update watch'], writeEvents] },
  {
    name: 'horizontal-pod-autoscaler',
    rules: [
      ['autoscaling', 'horizontalpodautoscalers', read], ['autoscaling', 'horizontalpodautoscalers/status', 'update'], ['*', '*/scale', 'get update'],
      ['core', 'pods', 'list watch'], ['metrics.k8s.io', 'pods', 'list watch'], ['custom.metrics.k8s.io', '*', read],
      ['external.metrics.k8s.io', '*', read], writeEvents,
    ],
  },
  {
    name: 'job-controller',
    rules: [
      ['batch', 'jobs', 'get list patch update watch'], ['batch', 'jobs/status', 'update'], ['batch', 'jobs/finalizers', 'update'],
      ['core', 'pods', 'create delete list patch watch'], writeEvents,
      { gate: 'WorkloadWithJob', rule: ['scheduling.k8s.io', 'podgroups workloads', 'create get list watch'] },
    ],
  },
  {
    name: 'legacy-service-account-token-cleaner',
    rules: [['core', 'configmaps', 'get', 'kube-apiserver-legacy-service-account-token-tracking'], ['core', 'secrets', 'delete patch']],
  },
  {
    name: 'namespace-controller',
    rules: [
      ['core', 'namespaces', 'delete get list watch'], ['core', 'namespaces/finalize namespaces/status', 'update'],
      ['*', '*', 'delete deletecollection get list watch'],
    ],
  },
  {
    name: 'node-controller',
    rules: [
      ['core', 'nodes', 'delete get list patch update watch'], ['core', 'nodes/status', 'patch update'], ['core', 'pods/status', 'patch update'],
      ['core', 'pods', 'delete get list watch'], writeEvents,
    ],
  },
  {
    name: 'persistent-volume-binder',
    rules: [
      ['core', 'persistentvolumes', 'create delete get list update watch'], ['core', 'persistentvolumes/status', 'update'],
      ['core', 'persistentvolumeclaims', 'get list update watch'], ['core', 'persistentvolumeclaims/status', 'update'],
      ['core', 'pods', 'create delete get list watch'], ['storage.k8s.io', 'storageclasses', read], ['core', 'nodes', 'list watch'],
      writeEvents, ['core', 'events', 'watch'],
    ],
  },
  { name: 'pod-garbage-collector', rules: [['core', 'pods', 'delete list watch'], ['core', 'nodes', read], ['core', 'pods/status', 'patch']] },
  { name: 'pv-protection-controller', rules: [['core', 'persistentvolumes', 'get list update watch'], writeEvents] },
  {
    name: 'pvc-protection-controller',
    rules: [
      ['core', 'persistentvolumeclaims', 'get list update watch'], ['core', 'persistentvolumeclaims/status', 'update'], ['core', 'pods', read], writeEvents,
    ],
  },
  {
    name: 'replicaset-controller',
    rules: [
      [workloads, 'replicasets', 'get list update watch'], [workloads, 'replicasets/status', 'update'], [workloads, 'replicasets/finalizers', 'update'],
      ['core', 'pods', 'create delete list patch watch'], writeEvents,
    ],
  },
  {
    name: 'replication-controller',
    rules: [
      ['core', 'replicationcontrollers', 'get list update watch'], ['core', 'replicationcontrollers/status', 'update'],
      ['core', 'replicationcontrollers/finalizers', 'update'], ['core', 'pods', 'create delete list patch watch'], writeEvents,
    ],
  },
  {
    name: 'resource-claim-controller',
    rules: [
      ['core', 'pods', read], ['core', 'pods/finalizers', 'update'], ['resource.k8s.io', 'resourceclaims', 'create delete get list watch'],
      ['resource.k8s.io', 'resourceclaims resourceclaims/status', 'patch update'], ['core', 'pods/status', 'patch update'], writeEvents,
      { gate: 'DRAWorkloadResourceClaims', rule: ['scheduling.k8s.io', 'podgroups', read] },
      { gate: 'DRAWorkloadResourceClaims', rule: ['scheduling.k8s.io', 'podgroups/status', 'patch update'] },
      ['resource.k8s.io', 'resourceclaims/binding', 'patch update'],
    ],
  },
  { name: 'resourcequota-controller', rules: [['*', '*', 'list watch'], ['core', 'resourcequotas/status', 'update'], writeEvents] },
  { name: 'root-ca-cert-publisher', rules: [['core', 'configmaps', 'create update'], writeEvents] },
  { name: 'route-controller', rules: [['core', 'nodes', 'list watch'], ['core', 'nodes/status', 'patch'], writeEvents] },
  {
    name: 'selinux-warning-controller',
    rules: [
      writeEvents, ['core', 'persistentvolumes', read], ['core', 'persistentvolumeclaims', read], ['core', 'pods', read],
      ['storage.k8s.io', 'csidrivers', read],
    ],
  },
  { name: 'service-account-controller', rules: [['core', 'serviceaccounts', 'create'], writeEvents] },
  {
    name: 'service-cidrs-controller',
    rules: [
      ['networking.k8s.io', 'servicecidrs', 'get list patch update watch'], ['networking.k8s.io', 'servicecidrs/finalizers', 'patch update'],
      ['networking.k8s.io', 'servicecidrs/status', 'patch update'], ['networking.k8s.io', 'ipaddresses', read], writeEvents,
    ],
  },
  {
    name: 'service-controller',
    rules: [['core', 'services', read], ['core', 'services/status', 'patch update'], ['core', 'nodes', 'list watch'], writeEvents],
  },
  {
    name: 'statefulset-controller',
    rules: [
      ['core', 'pods', 'list watch'], ['apps', 'statefulsets', read], ['apps', 'statefulsets/status', 'update'], ['apps', 'statefulsets/finalizers', 'update'],
      ['core', 'pods', 'create delete get patch update'], ['apps', 'controllerrevisions', 'create delete get list patch update watch'],
      ['core', 'persistentvolumeclaims', 'create get list watch'], ['core', 'persistentvolumeclaims', 'delete update'],
      ['core', 'pods/finalizers', 'update'], writeEvents,
    ],
  },
  { name: 'ttl-after-finished-controller', rules: [['batch', 'jobs', 'delete get list watch'], writeEvents] },
  { name: 'ttl-controller', rules: [['core', 'nodes', 'list patch update watch'], writeEvents] },
  {
    name: 'validatingadmissionpolicy-status-controller',
    rules: [
      ['admissionregistration.k8s.io', 'validatingadmissionpolicies', read],
      ['admissionregistration.k8s.io', 'validatingadmissionpolicies/status', 'get patch update'], writeEvents,
    ],
  },
  {
    name: 'volumeattributesclass-protection-controller',
    rules: [
      ['core', 'persistentvolumeclaims', read], ['core', 'persistentvolumes', read],
      ['storage.k8s.io', 'volumeattributesclasses', 'get list update watch'], writeEvents,
    ],
  },
  {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher', gate: 'ClusterTrustBundle',
    rules: [
      ['certificates.k8s.io', 'signers', 'attest', 'kubernetes.io/kube-apiserver-serving'],
      ['certificates.k8s.io', 'clustertrustbundles', 'create delete list update watch'], writeEvents,
    ],
  },
  {
    name: 'podcertificaterequestcleaner', gate: 'PodCertificateRequest',
    rules: [['certificates.k8s.io', 'podcertificaterequests', 'delete get list watch']],
  },
  {
    name: 'podgroup-protection-controller', gate: 'GenericWorkload',
    rules: [['scheduling.k8s.io', 'podgroups', 'get list update watch'], ['core', 'pods', read]],
  },
  {
    name: 'resourcepoolstatusrequest-controller', gate: 'DRAResourcePoolStatus',
    rules: [
      ['resource.k8s.io', 'resourcepoolstatusrequests', 'delete get list watch'],
      ['resource.k8s.io', 'resourcepoolstatusrequests/status', 'patch update'], ['resource.k8s.io', 'resourceslices', read],
      ['resource.k8s.io', 'resourceclaims', read], writeEvents,
    ],
  },
  {
    name: 'storage-version-migrator-controller', gate: 'StorageVersionMigrator',
    rules: [
      ['*', '*', 'create list patch'], ['apiextensions.k8s.io', 'customresourcedefinitions', 'get'],
      ['apiextensions.k8s.io', 'customresourcedefinitions/status', 'patch'], ['storagemigration.k8s.io', 'storageversionmigrations/status', 'update'],
    ],
  },
];

const lockLeases: RoleData['rules'] = [
  ['coordination.k8s.io', 'leases', 'create get list update watch'],
  ['coordination.k8s.io', 'leasecandidates', 'create get list update watch'],
];

/** Roles of the system's namespaces, each with its binding. */
export const namespacedRoles: readonly NamespacedRoleData[] = [
  {
    namespace: 'kube-public', name: 'system:controller:bootstrap-signer', subjects: ['kube-system/bootstrap-signer'],
    rules: [['core', 'configmaps', read], ['core', 'configmaps', 'update', 'cluster-info'], writeEvents],
  },
  {
    namespace: 'kube-system', name: 'extension-apiserver-authentication-reader', binding: 'system::extension-apiserver-authentication-reader',
    subjects: ['user system:kube-controller-manager', 'user system:kube-scheduler'],
    rules: [['core', 'configmaps', read, 'extension-apiserver-authentication']],
  },
  {
    namespace: 'kube-system', name: 'system::leader-locking-kube-controller-manager', rules: lockLeases,
    subjects: ['user system:kube-controller-manager', 'kube-system/kube-controller-manager', 'kube-system/leader-election-controller'],
  },
  {
    namespace: 'kube-system', name: 'system::leader-locking-kube-scheduler', rules: lockLeases,
    subjects: ['user system:kube-scheduler', 'kube-system/kube-scheduler'],
  },
  {
    namespace: 'kube-system', name: 'system:controller:bootstrap-signer', subjects: ['kube-system/bootstrap-signer'],
    rules: [['core', 'secrets', read]],
  },
  {
    namespace: 'kube-system', name: 'system:controller:cloud-provider', subjects: ['kube-system/cloud-provider'],
    rules: [['core', 'configmaps', 'create get list watch']],
  },
  {
    namespace: 'kube-system', name: 'system:controller:token-cleaner', subjects: ['kube-system/token-cleaner'],
    rules: [['core', 'secrets', 'delete get list watch'], writeEvents],
  },
];

/** Bindings of ClusterRoles that no controller holds: role to subjects. */
export const clusterRoleBindings: readonly (readonly [role: string, subjects: readonly string[]])[] = [
  ['cluster-admin', ['group system:masters']],
  ['system:basic-user', ['group system:authenticated']],
  ['system:cluster-trust-bundle-discovery', ['group system:serviceaccounts']],
  ['system:discovery', ['group system:authenticated']],
  ['system:kube-controller-manager', ['user system:kube-controller-manager']],
  ['system:kube-dns', ['kube-system/kube-dns']],
  ['system:kube-scheduler', ['user system:kube-scheduler']],
  ['system:monitoring', ['group system:monitoring']],
  // Nodes get their rights from the Node authorizer; the binding stays for administrators that add subjects to it.
  ['system:node', []],
  ['system:node-proxier', ['user system:kube-proxy']],
  ['system:public-info-viewer', ['group system:authenticated', 'group system:unauthenticated']],
  ['system:service-account-issuer-discovery', ['group system:serviceaccounts']],
  ['system:volume-scheduler', ['user system:kube-scheduler']],
];
