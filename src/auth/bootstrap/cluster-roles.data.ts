// The ClusterRoles that every cluster begins with, as facts: which verbs on which resources. Mirrors the reference's bootstrap policy
// with its default feature gates. Lists are separated by blanks; `core` is the group without a name.
import type { GatedRuleData, RoleData, RuleData } from './role-data.ts';

const read = 'get list watch';
const write = 'create delete deletecollection patch update';
const readWrite = 'create delete deletecollection get list patch update watch';
const readUpdate = 'get list patch update watch';
const writeEvents = ['core events.k8s.io', 'events', 'create patch update'] as const;
const reviewTokens = ['authentication.k8s.io', 'tokenreviews', 'create'] as const;
const reviewAccess = ['authorization.k8s.io', 'subjectaccessreviews', 'create'] as const;

const ifOn = (gate: string, ...rule: RuleData & readonly string[]): GatedRuleData => ({ gate, rule });

const approver = (name: string, signer: string): RoleData => ({
  name: `system:certificates.k8s.io:${name}-approver`, rules: [['certificates.k8s.io', 'signers', 'approve', `kubernetes.io/${signer}`]],
});

/** What a kubelet may, which the Node authorizer grants as well. */
export const nodeRules: RoleData['rules'] = [
  reviewTokens,
  ['authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews', 'create'],
  ['core', 'services', read],
  ['core', 'nodes', 'create get list watch'],
  ['core', 'nodes/status', 'patch update'],
  ['core', 'nodes', 'patch update'],
  writeEvents,
  ['core', 'pods', read],
  ['core', 'pods', 'create delete'],
  ['core', 'pods/status', 'patch update'],
  ['core', 'pods/eviction', 'create'],
  ['core', 'configmaps secrets', read],
  ['core', 'persistentvolumeclaims persistentvolumes', 'get'],
  ['core', 'endpoints', 'get'],
  ['certificates.k8s.io', 'certificatesigningrequests', 'create get list watch'],
  ['coordination.k8s.io', 'leases', 'create delete get patch update'],
  ['storage.k8s.io', 'volumeattachments', 'get'],
  ['core', 'serviceaccounts/token', 'create'],
  ['core', 'persistentvolumeclaims/status', 'get patch update'],
  ['storage.k8s.io', 'csidrivers', read],
  ['storage.k8s.io', 'csinodes', 'create delete get patch update'],
  ['node.k8s.io', 'runtimeclasses', read],
  ['resource.k8s.io', 'resourceclaims', 'get'],
  ['resource.k8s.io', 'resourceslices', 'deletecollection'],
  ['core', 'serviceaccounts', 'get'],
  ifOn('PodCertificateRequest', 'certificates.k8s.io', 'podcertificaterequests', 'create get list watch'),
];

/** Roles for people and for the parts of the control plane that are no controllers. */
export const clusterRoles: readonly RoleData[] = [
  { name: 'admin', aggregates: 'admin', rules: [] },
  { name: 'cluster-admin', rules: [['*', '*', '*'], { urls: '*', verbs: '*' }] },
  { name: 'edit', aggregates: 'edit', partOf: 'admin', rules: [] },
  {
    name: 'system:aggregate-to-admin', partOf: 'admin',
    rules: [['authorization.k8s.io', 'localsubjectaccessreviews', 'create'], ['rbac.authorization.k8s.io', 'rolebindings roles', readWrite]],
  },
  {
    name: 'system:aggregate-to-edit', partOf: 'edit',
    rules: [
      ['core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy', read],
      ['core', 'serviceaccounts', 'impersonate'],
      ['core', 'pods pods/attach pods/exec pods/portforward pods/proxy', write],
      ['core', 'pods/eviction', 'create'],
      [
        'core',
        'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy', write,
      ],
      ['core', 'serviceaccounts/token', 'create'],
      ['core events.k8s.io', 'events', write],
      [
        'apps',
        'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale', write,
      ],
      ['autoscaling', 'horizontalpodautoscalers', write],
      ['batch', 'cronjobs jobs', write],
      [
        'extensions',
        'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale'
        + ' replicationcontrollers/scale', write,
      ],
      ['policy', 'poddisruptionbudgets', write],
      ['networking.k8s.io', 'ingresses networkpolicies', write],
      ['coordination.k8s.io', 'leases', readWrite],
      ['resource.k8s.io', 'resourceclaims resourceclaimtemplates', write],
      ifOn('GenericWorkload', 'scheduling.k8s.io', 'podgroups workloads', write),
    ],
  },
  {
    name: 'system:aggregate-to-view', partOf: 'view',
    rules: [
      [
        'core',
        'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale'
        + ' serviceaccounts services services/status', read,
      ],
      [
        'core',
        'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status', read,
      ],
      ['core', 'namespaces', read],
      ['core events.k8s.io', 'events', read],
      ['discovery.k8s.io', 'endpointslices', read],
      [
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale'
        + ' replicasets/status statefulsets statefulsets/scale statefulsets/status', read,
      ],
      ['autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status', read],
      ['batch', 'cronjobs cronjobs/status jobs jobs/status', read],
      [
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets'
        + ' replicasets/scale replicasets/status replicationcontrollers/scale', read,
      ],
      ['policy', 'poddisruptionbudgets poddisruptionbudgets/status', read],
      ['networking.k8s.io', 'ingresses ingresses/status networkpolicies', read],
      ['resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates', read],
      ifOn('GenericWorkload', 'scheduling.k8s.io', 'podgroups podgroups/status workloads', read),
    ],
  },
  { name: 'system:auth-delegator', rules: [reviewTokens, reviewAccess] },
  {
    name: 'system:basic-user',
    rules: [
      ['authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews', 'create'],
      ['authentication.k8s.io', 'selfsubjectreviews', 'create'],
    ],
  },
  {
    name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    rules: [['certificates.k8s.io', 'certificatesigningrequests/nodeclient', 'create']],
  },
  {
    name: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    rules: [['certificates.k8s.io', 'certificatesigningrequests/selfnodeclient', 'create']],
  },
  approver('kube-apiserver-client', 'kube-apiserver-client'),
  approver('kube-apiserver-client-kubelet', 'kube-apiserver-client-kubelet'),
  approver('kubelet-serving', 'kubelet-serving'),
  approver('legacy-unknown', 'legacy-unknown'),
  {
    name: 'system:discovery',
    rules: [{ urls: '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/', verbs: 'get' }],
  },
  { name: 'system:heapster', rules: [['core', 'events namespaces nodes pods', read], ['extensions', 'deployments', read]] },
  { name: 'system:kube-aggregator', rules: [['core', 'endpoints services', read]] },
  {
    name: 'system:kube-controller-manager',
    rules: [
      writeEvents,
      ['coordination.k8s.io', 'leases', 'create'],
      ['coordination.k8s.io', 'leases', 'get update', 'kube-controller-manager'],
      ['core', 'secrets serviceaccounts', 'create'],
      ['core', 'secrets', 'delete'],
      ['core', 'configmaps namespaces secrets serviceaccounts', 'get'],
      ['core', 'secrets serviceaccounts', 'update'],
      reviewTokens,
      reviewAccess,
      ['*', '*', 'list watch'],
      ['core', 'serviceaccounts/token', 'create'],
    ],
  },
  { name: 'system:kube-dns', rules: [['core', 'endpoints services', 'list watch']] },
  {
    name: 'system:kube-scheduler',
    rules: [
      writeEvents,
      ['coordination.k8s.io', 'leases', 'create'],
      ['coordination.k8s.io', 'leases', 'get list update watch', 'kube-scheduler'],
      ['coordination.k8s.io', 'leasecandidates', 'create delete deletecollection get list patch update watch'],
      ['core', 'nodes', read],
      ['core', 'pods', 'delete get list watch'],
      ['core', 'bindings pods/binding', 'create'],
      ['core', 'pods/status', 'patch update'],
      ['core', 'replicationcontrollers services', read],
      ['apps extensions', 'replicasets', read],
      ['apps', 'statefulsets', read],
      ['policy', 'poddisruptionbudgets', read],
      ['core', 'persistentvolumeclaims persistentvolumes', read],
      reviewTokens,
      reviewAccess,
      ['storage.k8s.io', 'csinodes', read],
      ['storage.k8s.io', 'volumeattachments', read],
      ['core', 'namespaces', read],
      ['storage.k8s.io', 'csidrivers', read],
      ['storage.k8s.io', 'csistoragecapacities', read],
      ['resource.k8s.io', 'deviceclasses', read],
      ['resource.k8s.io', 'resourceclaims', readUpdate],
      ['resource.k8s.io', 'resourceclaims/status', readUpdate],
      ['core', 'pods/finalizers', 'update'],
      ['resource.k8s.io', 'resourceslices', read],
      ifOn('DRAExtendedResource', 'resource.k8s.io', 'resourceclaims', 'create delete'),
      ifOn('DRADeviceTaintRules', 'resource.k8s.io', 'devicetaintrules', read),
      ['resource.k8s.io', 'resourceclaims/binding', 'patch update'],
      ifOn('GenericWorkload', 'scheduling.k8s.io', 'podgroups', read),
      ifOn('GenericWorkload', 'scheduling.k8s.io', 'podgroups/status', 'patch update'),
    ],
  },
  {
    name: 'system:kubelet-api-admin',
    rules: [
      ['core', 'nodes', read],
      ['core', 'nodes', 'proxy'],
      ['core', 'nodes/log nodes/metrics nodes/proxy nodes/stats', '*'],
      ['core', 'nodes/configz nodes/healthz nodes/pods', '*'],
    ],
  },
  {
    name: 'system:monitoring',
    rules: [
      { urls: '/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz', verbs: 'get' },
      ['core', 'nodes/metrics', 'get'],
    ],
  },
  { name: 'system:cluster-trust-bundle-discovery', gate: 'ClusterTrustBundle', rules: [['certificates.k8s.io', 'clustertrustbundles', read]] },
  { name: 'system:node', rules: nodeRules },
  { name: 'system:node-bootstrapper', rules: [['certificates.k8s.io', 'certificatesigningrequests', 'create get list watch']] },
  { name: 'system:node-problem-detector', rules: [['core', 'nodes', 'get'], ['core', 'nodes/status', 'patch'], writeEvents] },
  {
    name: 'system:node-proxier',
    rules: [
      ['core', 'endpoints services', 'list watch'],
      ['core', 'nodes', read],
      writeEvents,
      ['networking.k8s.io', 'servicecidrs', 'list watch'],
      ['discovery.k8s.io', 'endpointslices', 'list watch'],
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      ['core', 'persistentvolumes', 'create delete get list watch'],
      ['core', 'persistentvolumeclaims', 'get list update watch'],
      ['storage.k8s.io', 'storageclasses', read],
      ['core', 'events', 'watch'],
      writeEvents,
    ],
  },
  { name: 'system:public-info-viewer', rules: [{ urls: '/healthz /livez /readyz /version /version/', verbs: 'get' }] },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [{
      urls: '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/', verbs: 'get',
    }],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      ['core', 'persistentvolumes', readUpdate],
      ['storage.k8s.io', 'storageclasses', read],
      ['core', 'persistentvolumeclaims', readUpdate],
    ],
  },
  { name: 'view', aggregates: 'view', partOf: 'edit', rules: [] },
];
