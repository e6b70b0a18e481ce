// What the bench of writes writes: objects of the size that real clusters have, each with a count that every write changes.
import { type Call } from './connection.ts';

/** One kind of object: where it is and how it looks; `count` is in an annotation and in the status. */
export interface Written {
  readonly name: string;
  readonly collection: string;
  readonly custom: boolean;
  readonly make: (name: string, count: string) => Record<string, unknown>;
  readonly status?: (count: string) => Record<string, unknown>;
}

/** The namespace of them. */
export const namespace = 'writes';

const note = 'x'.repeat(200);
const stamp = '2026-01-02T03:04:05Z';
const metadata = (name: string, count: string, isNamespaced = true) => ({
  name, ...(isNamespaced && { namespace }), labels: { app: 'bench', tier: 'web', 'pod-template-hash': '5d8c7f9b6c' },
  annotations: { 'example.com/count': count, 'example.com/note': note },
});
const settings = (of: string, length = 10) =>
  Array.from({ length }, (_, index) => ({ name: `SETTING_${index}`, value: `value-of-setting-${index}-for-${of}` }));
const container = (of: string) => ({
  name: 'main', image: 'registry.example.com/team/app:1.2.3', ports: [{ containerPort: 8080, name: 'http' }], env: settings(of),
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } },
});
const condition = (type: string, count: string) => ({ type, status: 'True', lastTransitionTime: stamp, reason: 'Counted', message: `count ${count}` });

const pods: Written = {
  name: 'Pod', collection: `/api/v1/namespaces/${namespace}/pods`, custom: false,
  make: (name, count) => ({
    apiVersion: 'v1', kind: 'Pod', metadata: metadata(name, count), spec: { automountServiceAccountToken: false, containers: [container(name)] },
  }),
  status: (count) => ({
    phase: 'Running', hostIP: '10.1.2.3', podIP: '10.200.1.2', podIPs: [{ ip: '10.200.1.2' }], startTime: stamp,
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => condition(type, count)),
    containerStatuses: [{
      name: 'main', image: 'registry.example.com/team/app:1.2.3', imageID: 'sha256:0123456789', containerID: 'containerd://0123456789',
      ready: true, started: true, restartCount: Number(count), state: { running: { startedAt: stamp } },
    }],
  }),
};

const deployments: Written = {
  name: 'Deployment', collection: `/apis/apps/v1/namespaces/${namespace}/deployments`, custom: false,
  make: (name, count) => ({
    apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadata(name, count), spec: {
      replicas: 3, selector: { matchLabels: { app: 'bench' } },
      template: { metadata: { labels: { app: 'bench', tier: 'web' }, annotations: { 'example.com/note': note } }, spec: { containers: [container(name)] } },
    },
  }),
  status: (count) => ({
    observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3,
    conditions: ['Available', 'Progressing'].map((type) => ({ ...condition(type, count), lastUpdateTime: stamp })),
  }),
};

const nodes: Written = {
  name: 'Node', collection: '/api/v1/nodes', custom: false,
  make: (name, count) => ({
    apiVersion: 'v1', kind: 'Node', metadata: metadata(name, count, false), spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] },
  }),
  status: (count) => ({
    capacity: { cpu: '8', memory: '32Gi', pods: '110' }, allocatable: { cpu: '7800m', memory: '31Gi', pods: '110' },
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({ ...condition(type, count), lastHeartbeatTime: stamp })),
    addresses: [{ type: 'InternalIP', address: '10.1.2.3' }, { type: 'Hostname', address: 'node' }],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: 'm', systemUUID: 's', bootID: 'b', kernelVersion: '6.1', osImage: 'Linux', containerRuntimeVersion: 'containerd://2.0',
      kubeletVersion: 'v1.36.0', kubeProxyVersion: '', operatingSystem: 'linux', architecture: 'amd64',
    },
    images: Array.from({ length: 10 }, (_, index) => ({ names: [`registry.example.com/team/image-${index}:1.2.3`], sizeBytes: 1_000_000 + index })),
  }),
};

const leases: Written = {
  name: 'Lease', collection: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, custom: false,
  make: (name, count) => ({
    apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace, annotations: { 'example.com/count': count } },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: '2026-01-02T03:04:05.000006Z' },
  }),
};

const customs: Written = {
  name: 'custom resource', collection: `/apis/bench.example.com/v1/namespaces/${namespace}/widgets`, custom: true,
  make: (name, count) => ({
    apiVersion: 'bench.example.com/v1', kind: 'Widget', metadata: metadata(name, count),
    spec: { replicas: 3, settings: settings(name, 30), selector: { app: 'bench' } },
  }),
  status: (count) => ({ observed: Number(count), conditions: ['Ready', 'Synced', 'Stable'].map((type) => condition(type, count)) }),
};

/** All of them. */
export const written: readonly Written[] = [pods, deployments, nodes, leases, customs];

const text = { type: 'string', maxLength: 4096 };
const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, text]));
const listOf = (key: string, properties: object) => ({
  type: 'array', maxItems: 100, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key], items: { type: 'object', required: [key], properties },
});
const schema = {
  type: 'object', properties: {
    spec: {
      type: 'object', required: ['replicas'], properties: {
        replicas: { type: 'integer', minimum: 0, maximum: 100 }, mode: { type: 'string', enum: ['Fast', 'Slow'], default: 'Fast' },
        settings: listOf('name', texts('name', 'value')), selector: { type: 'object', additionalProperties: text },
      },
    },
    status: {
      type: 'object',
      properties: { observed: { type: 'integer' }, conditions: listOf('type', texts('type', 'status', 'lastTransitionTime', 'reason', 'message')) },
    },
  },
};
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.bench.example.com' },
  spec: {
    group: 'bench.example.com', scope: 'Namespaced', names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }],
  },
};

/** Calls that make the place for all of them. */
export const groundwork: readonly Call[] = [
  { method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify({ metadata: { name: namespace } }) },
  { method: 'POST', path: `/api/v1/namespaces/${namespace}/serviceaccounts`, body: JSON.stringify({ metadata: { name: 'default' } }) },
  { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: JSON.stringify(definition) },
];
