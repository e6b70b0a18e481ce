// What the server serves: one row per built-in resource of the group versions that are generally available in Kubernetes 1.36.
// A diff of this table is a diff of what the server serves. Alpha and beta versions are off, as in the reference.
// Groups stand in the order of discovery, resources of a group by name.
import type { SchemaSet } from '../apimachinery/index.ts';
import type { Resource, ResourceVerb } from '../registry/index.ts';
import { compareFlowSchemas } from './columns/policies.ts';
import { convertDefinition } from './apiextensions/convert.ts';
import { convertAutoscaler } from './autoscaling/convert.ts';
import { convertEvent } from './events/convert.ts';
import * as fields from './fields.ts';
import { type GroupSpec, buildResource, connectSubresource, createOnly, scale, scalePaths, status, subresource, withoutDeleteCollection } from './row.ts';

const tunnel: readonly ResourceVerb[] = ['create', 'get'];
const proxy: readonly ResourceVerb[] = ['create', 'delete', 'get', 'patch', 'update'];
const api = ['api-extensions'];
const all = ['all'];

const core: GroupSpec = {
  group: '',
  rows: [
    { kind: 'Binding', plural: 'bindings', verbs: createOnly, virtual: true },
    {
      kind: 'ComponentStatus', plural: 'componentstatuses', shortNames: ['cs'], cluster: true, verbs: ['get', 'list'], virtual: true,
      deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+',
    },
    { kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'] },
    {
      kind: 'Endpoints', plural: 'endpoints', shortNames: ['ep'], createOnUpdate: true, storagePrefix: 'services/endpoints',
      deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    },
    { kind: 'Event', plural: 'events', shortNames: ['ev'], selectableFields: fields.coreEventFields, createOnUpdate: true, ttlSeconds: 3600 },
    { kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'], createOnUpdate: true },
    {
      kind: 'Namespace', plural: 'namespaces', shortNames: ['ns'], cluster: true, verbs: withoutDeleteCollection, nameRule: 'dns-label',
      subresources: [{ name: 'finalize', verbs: ['update'] }, status], selectableFields: fields.namespaceFields, returnsDeleted: true,
    },
    {
      kind: 'Node', plural: 'nodes', shortNames: ['no'], cluster: true, storagePrefix: 'minions', selectableFields: fields.nodeFields,
      subresources: [connectSubresource('proxy', 'NodeProxyOptions', proxy), status], statusOnCreate: true,
    },
    { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', shortNames: ['pvc'], subresources: [status], returnsDeleted: true },
    { kind: 'PersistentVolume', plural: 'persistentvolumes', shortNames: ['pv'], cluster: true, subresources: [status], returnsDeleted: true },
    {
      kind: 'Pod', plural: 'pods', shortNames: ['po'], categories: all, selectableFields: fields.podFields, returnsDeleted: true, tracksGeneration: true,
      subresources: [
        connectSubresource('attach', 'PodAttachOptions', tunnel),
        { name: 'binding', verbs: createOnly, kind: { group: '', version: 'v1', kind: 'Binding' } },
        subresource('ephemeralcontainers'),
        { name: 'eviction', verbs: createOnly, kind: { group: 'policy', version: 'v1', kind: 'Eviction', formerVersions: ['v1beta1'] } },
        connectSubresource('exec', 'PodExecOptions', tunnel),
        { name: 'log', verbs: ['get'] },
        connectSubresource('portforward', 'PodPortForwardOptions', tunnel),
        connectSubresource('proxy', 'PodProxyOptions', proxy),
        subresource('resize'),
        status,
      ],
    },
    { kind: 'PodTemplate', plural: 'podtemplates', returnsDeleted: true, tracksGeneration: true },
    {
      kind: 'ReplicationController', plural: 'replicationcontrollers', shortNames: ['rc'], categories: all, subresources: [scale, status],
      scale: scalePaths, selectableFields: fields.replicaFields, defaultPropagation: 'Orphan', tracksGeneration: true, storagePrefix: 'controllers',
    },
    { kind: 'ResourceQuota', plural: 'resourcequotas', shortNames: ['quota'], subresources: [status], returnsDeleted: true },
    { kind: 'Secret', plural: 'secrets', selectableFields: fields.secretFields },
    {
      kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'], returnsDeleted: true,
      subresources: [{ name: 'token', verbs: createOnly, kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } }],
    },
    {
      kind: 'Service', plural: 'services', shortNames: ['svc'], categories: all, nameRule: 'dns-label', selectableFields: fields.serviceFields,
      subresources: [connectSubresource('proxy', 'ServiceProxyOptions', proxy), status], createOnUpdate: true, returnsDeleted: true,
      storagePrefix: 'services/specs',
    },
  ],
};

const apiregistration: GroupSpec = {
  group: 'apiregistration.k8s.io',
  rows: [
    {
      kind: 'APIService', plural: 'apiservices', categories: api, cluster: true, nameRule: 'path-segment', subresources: [status],
      unconditionalUpdate: false, storagePrefix: 'apiregistration.k8s.io/apiservices',
    },
  ],
};

const apps: GroupSpec = {
  group: 'apps',
  rows: [
    { kind: 'ControllerRevision', plural: 'controllerrevisions' },
    { kind: 'DaemonSet', plural: 'daemonsets', shortNames: ['ds'], categories: all, subresources: [status], tracksGeneration: true },
    {
      kind: 'Deployment', plural: 'deployments', shortNames: ['deploy'], categories: all, subresources: [scale, status], scale: scalePaths,
      tracksGeneration: true,
    },
    {
      kind: 'ReplicaSet', plural: 'replicasets', shortNames: ['rs'], categories: all, subresources: [scale, status], scale: scalePaths,
      selectableFields: fields.replicaFields, tracksGeneration: true,
    },
    {
      kind: 'StatefulSet', plural: 'statefulsets', shortNames: ['sts'], categories: all, subresources: [scale, status], scale: scalePaths,
      nameRule: 'dns-label', tracksGeneration: true,
    },
  ],
};

const events: GroupSpec = {
  group: 'events.k8s.io',
  rows: [
    {
      kind: 'Event', plural: 'events', shortNames: ['ev'], selectableFields: fields.eventsGroupFields,
      createOnUpdate: true, storedAs: '/events', convert: convertEvent, ttlSeconds: 3600,
    },
  ],
};

const authentication: GroupSpec = {
  group: 'authentication.k8s.io',
  rows: [
    { kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', cluster: true, verbs: createOnly, virtual: true },
    { kind: 'TokenReview', plural: 'tokenreviews', cluster: true, verbs: createOnly, virtual: true },
  ],
};

const authorization: GroupSpec = {
  group: 'authorization.k8s.io',
  rows: [
    { kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews', verbs: createOnly, virtual: true },
    { kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', cluster: true, verbs: createOnly, virtual: true },
    { kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', cluster: true, verbs: createOnly, virtual: true },
    { kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', cluster: true, verbs: createOnly, virtual: true },
  ],
};

const autoscaling: GroupSpec = {
  group: 'autoscaling',
  rows: [
    {
      kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers', shortNames: ['hpa'], categories: all, versions: ['v2', 'v1'],
      subresources: [status], convert: convertAutoscaler,
    },
  ],
};

const batch: GroupSpec = {
  group: 'batch',
  rows: [
    { kind: 'CronJob', plural: 'cronjobs', shortNames: ['cj'], categories: all, subresources: [status], tracksGeneration: true },
    {
      kind: 'Job', plural: 'jobs', categories: all, subresources: [status], selectableFields: fields.jobFields, defaultPropagation: 'Orphan',
      tracksGeneration: true, unknownField: (field) => `field label ${JSON.stringify(field)} not supported for Job`,
    },
  ],
};

const certificates: GroupSpec = {
  group: 'certificates.k8s.io',
  rows: [
    {
      kind: 'CertificateSigningRequest', plural: 'certificatesigningrequests', shortNames: ['csr'], cluster: true,
      subresources: [subresource('approval'), status], selectableFields: fields.signingRequestFields,
      resetFields: { '': [['spec'], ['status']], status: [['spec']], approval: [['spec']] },
    },
  ],
};

const networking: GroupSpec = {
  group: 'networking.k8s.io',
  rows: [
    { kind: 'IngressClass', plural: 'ingressclasses', cluster: true, tracksGeneration: true },
    { kind: 'Ingress', plural: 'ingresses', shortNames: ['ing'], subresources: [status], tracksGeneration: true, storagePrefix: 'ingress' },
    { kind: 'IPAddress', plural: 'ipaddresses', shortNames: ['ip'], cluster: true },
    { kind: 'NetworkPolicy', plural: 'networkpolicies', shortNames: ['netpol'], tracksGeneration: true },
    { kind: 'ServiceCIDR', plural: 'servicecidrs', cluster: true, subresources: [status] },
  ],
};

const policy: GroupSpec = {
  group: 'policy',
  rows: [
    {
      kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', shortNames: ['pdb'], subresources: [status], unconditionalUpdate: false,
      tracksGeneration: true,
    },
  ],
};

const rbac: GroupSpec = {
  group: 'rbac.authorization.k8s.io',
  rows: [
    { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', cluster: true, nameRule: 'path-segment', createOnUpdate: true },
    { kind: 'ClusterRole', plural: 'clusterroles', cluster: true, nameRule: 'path-segment', createOnUpdate: true },
    { kind: 'RoleBinding', plural: 'rolebindings', nameRule: 'path-segment', createOnUpdate: true },
    { kind: 'Role', plural: 'roles', nameRule: 'path-segment', createOnUpdate: true },
  ],
};

const storage: GroupSpec = {
  group: 'storage.k8s.io',
  rows: [
    { kind: 'CSIDriver', plural: 'csidrivers', cluster: true, unconditionalUpdate: false, returnsDeleted: true },
    { kind: 'CSINode', plural: 'csinodes', cluster: true, unconditionalUpdate: false, returnsDeleted: true },
    { kind: 'CSIStorageCapacity', plural: 'csistoragecapacities', unconditionalUpdate: false },
    { kind: 'StorageClass', plural: 'storageclasses', shortNames: ['sc'], cluster: true, returnsDeleted: true },
    { kind: 'VolumeAttachment', plural: 'volumeattachments', cluster: true, subresources: [status], unconditionalUpdate: false, returnsDeleted: true },
    { kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', shortNames: ['vac'], cluster: true, unconditionalUpdate: false, returnsDeleted: true },
  ],
};

const admissionregistration: GroupSpec = {
  group: 'admissionregistration.k8s.io',
  rows: [
    { kind: 'MutatingAdmissionPolicy', plural: 'mutatingadmissionpolicies', upstreamStorageVersion: 'v1beta1' },
    { kind: 'MutatingAdmissionPolicyBinding', plural: 'mutatingadmissionpolicybindings', upstreamStorageVersion: 'v1beta1' },
    { kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations' },
    { kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies', subresources: [status] },
    { kind: 'ValidatingAdmissionPolicyBinding', plural: 'validatingadmissionpolicybindings' },
    { kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations' },
  ].map((row) => ({ ...row, categories: api, cluster: true, unconditionalUpdate: false, tracksGeneration: true }) as const),
};

const apiextensions: GroupSpec = {
  group: 'apiextensions.k8s.io',
  rows: [
    {
      kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions', shortNames: ['crd', 'crds'], categories: api, cluster: true,
      subresources: [status], unconditionalUpdate: false, tracksGeneration: true, storagePrefix: 'apiextensions.k8s.io/customresourcedefinitions',
      upstreamStorageVersion: 'v1beta1', convert: convertDefinition,
    },
  ],
};

const scheduling: GroupSpec = {
  group: 'scheduling.k8s.io',
  rows: [{ kind: 'PriorityClass', plural: 'priorityclasses', shortNames: ['pc'], cluster: true }],
};

const coordination: GroupSpec = {
  group: 'coordination.k8s.io',
  rows: [{ kind: 'Lease', plural: 'leases', createOnUpdate: true, unconditionalUpdate: false }],
};

const node: GroupSpec = {
  group: 'node.k8s.io',
  rows: [{ kind: 'RuntimeClass', plural: 'runtimeclasses', cluster: true, createOnUpdate: true, unconditionalUpdate: false }],
};

const discovery: GroupSpec = {
  group: 'discovery.k8s.io',
  rows: [{ kind: 'EndpointSlice', plural: 'endpointslices', tracksGeneration: true }],
};

const dynamicResources: GroupSpec = {
  group: 'resource.k8s.io',
  rows: [
    { kind: 'DeviceClass', plural: 'deviceclasses', cluster: true, tracksGeneration: true },
    { kind: 'ResourceClaim', plural: 'resourceclaims', subresources: [status] },
    { kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates' },
    {
      kind: 'ResourceSlice', plural: 'resourceslices', cluster: true, selectableFields: fields.resourceSliceFields, tracksGeneration: true,
      unknownField: (field) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
    },
  ],
};

const flowcontrol: GroupSpec = {
  group: 'flowcontrol.apiserver.k8s.io',
  rows: [
    { kind: 'FlowSchema', plural: 'flowschemas', cluster: true, subresources: [status], tracksGeneration: true, tableOrder: compareFlowSchemas },
    { kind: 'PriorityLevelConfiguration', plural: 'prioritylevelconfigurations', cluster: true, subresources: [status], tracksGeneration: true },
  ],
};

const groups: readonly GroupSpec[] = [
  core, apiregistration, apps, events, authentication, authorization, autoscaling, batch, certificates, networking, policy, rbac, storage,
  admissionregistration, apiextensions, scheduling, coordination, node, discovery, dynamicResources, flowcontrol,
];

/** All built-in resources, in the order of discovery. Throws (a broken invariant) when a kind has no schema. */
export function createBuiltinResources(schemas: SchemaSet): readonly Resource[] {
  return groups.flatMap(({ group, rows }) => rows.map((row) => buildResource(group, row, schemas)));
}
