// Lines of the audit that requests of their own show; kube-apiserver's answers to them are in answers.json.
import type { Json, Request } from '../differential/case.ts';

/** A line: what is looked at, and the requests that show it. */
export interface Row {
  readonly line: string;
  readonly what: string;
  readonly requests: readonly Request[];
}

const inNamespace = '/api/v1/namespaces/{ns}';
const post = (path: string, body: Json): Request => ({ method: 'POST', path, body });
const configMap = (metadata: Json, rest: Json = {}): Request => post(`${inNamespace}/configmaps`, { metadata: { name: 'a', ...metadata }, ...rest });
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '11111111-1111-1111-1111-111111111111' };
const claim = (storage: string): Request => post(`${inNamespace}/persistentvolumeclaims`, {
  metadata: { generateName: 'c-' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const makePod = post(`${inNamespace}/pods`, pod);
const deployment = {
  metadata: { name: 'd' }, spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: pod.spec } },
};
const makeDeployment = post('/apis/apps/v1/namespaces/{ns}/deployments', deployment);
const strategic = 'application/strategic-merge-patch+json';
const reviews = '/apis/authorization.k8s.io/v1';

/** The lines, in their order. */
export const rows: readonly Row[] = [
  { line: 'A-15', what: 'methods that a kind lacks', requests: [{ method: 'PUT', path: `${reviews}/subjectaccessreviews/x`, body: {} },
    { method: 'DELETE', path: `${reviews}/subjectaccessreviews` }] },
  { line: 'B-14', what: 'aggregated discovery in protobuf', requests: [{ path: '/apis',
    accept: 'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }] },
  { line: 'C-10', what: 'a content type with a bare parameter', requests: [{ ...configMap({}), type: 'application/json;bogus' }] },
  { line: 'C-39', what: 'quantities: exponents, fractions of bytes, numbers beyond int64',
    requests: [claim('1E3'), claim('1.5'), claim('500m'), claim('9223372036854775808')] },
  { line: 'D-29', what: 'names of core events', requests: [post(`${inNamespace}/events`,
    { metadata: { name: 'A_b' }, involvedObject: { namespace: '{ns}', kind: 'Pod', name: 'p' } })] },
  { line: 'D-30', what: 'labels with long prefixes', requests: [configMap({ labels: { [`${'p'.repeat(254)}/a`]: 'b' } })] },
  { line: 'D-35', what: 'owner references with odd versions', requests: [configMap({ ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] })] },
  { line: 'D-36', what: 'owners with one uid', requests: [configMap({ ownerReferences: [owner, { ...owner, name: 'other' }] }),
    configMap({ name: 'b', ownerReferences: [owner, owner] })] },
  { line: 'D-43', what: 'addresses that are not canonical', requests: [post(`${inNamespace}/services`,
    { metadata: { name: 's' }, spec: { ports: [{ port: 1 }], externalIPs: ['2001:DB8::1', '::ffff:1.2.3.4'] } })] },
  { line: 'D-49', what: 'a binding without a name', requests: [makePod, post(`${inNamespace}/pods/p/binding`, { target: { kind: 'Node', name: 'n' } })] },
  { line: 'D-50', what: 'managed fields of reviews', requests: [post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'alice-token' } }),
    post(`${reviews}/selfsubjectaccessreviews`, { spec: {} })] },
  {
    line: 'E-22', what: 'strategic merge of null items and odd directives', requests: [
      makeDeployment, { method: 'PATCH', path: '/apis/apps/v1/namespaces/{ns}/deployments/d', type: strategic,
        body: { spec: { template: { spec: { containers: [null] } } } } },
      { method: 'PATCH', path: '/apis/apps/v1/namespaces/{ns}/deployments/d', type: strategic,
        body: { spec: { template: { spec: { '$setElementOrder/containers': 'x' } } } } },
    ],
  },
  { line: 'E-29', what: 'a scale with another uid', requests: [makeDeployment, { method: 'PATCH', path: '/apis/apps/v1/namespaces/{ns}/deployments/d/scale',
    body: { metadata: { uid: 'other' }, spec: { replicas: 2 } } }] },
  { line: 'G-03', what: 'the order of unknown and duplicate fields', requests: [{ method: 'POST', path: `${inNamespace}/configmaps`,
    body: '{"metadata":{"name":"a","x":1,"name":"a"},"y":1,"data":{"a":"b","a":"c"}}' }] },
  { line: 'G-16', what: 'a literal that is cut off', requests: [{ method: 'POST', path: `${inNamespace}/configmaps`,
    body: '{"metadata":{"name":"a"},"immutable":tru' }] },
  { line: 'I-04', what: 'what deletion answers', requests: [post('/apis/resource.k8s.io/v1/deviceclasses', { metadata: { name: 'a-{id}' }, spec: {} }),
    { method: 'DELETE', path: '/apis/resource.k8s.io/v1/deviceclasses/a-{id}' }] },
  { line: 'J-27', what: 'field selectors of replica sets',
    requests: [{ path: '/apis/apps/v1/namespaces/{ns}/replicasets?fieldSelector=status.replicas%3D1' }] },
  { line: 'J-42', what: 'shard selectors while their gate is off', requests: [configMap({}), { path: `${inNamespace}/configmaps?shardSelector=x` }] },
  { line: 'L-05', what: 'namespaces have no deletecollection', requests: [{ method: 'DELETE', path: '/api/v1/namespaces?labelSelector=none%3D{id}' }] },
  { line: 'L-21', what: 'labels of Pod Security', requests: [post('/api/v1/namespaces',
    { metadata: { name: 'x-{id}', labels: { 'pod-security.kubernetes.io/enforce': 'bogus' } } })] },
  {
    line: 'M-08', what: 'bindings: names, namespaces, versions', requests: [
      makePod, post(`${inNamespace}/pods/p/binding`, { metadata: { name: 'p', namespace: 'other' }, target: { kind: 'Node', name: 'n' } }),
      post(`${inNamespace}/pods/p/binding`, { metadata: { name: 'p', resourceVersion: '1' }, target: { kind: 'Node', name: 'n' } }),
    ],
  },
  {
    line: 'M-09', what: 'evictions: names, namespaces, dry runs', requests: [
      makePod, post(`${inNamespace}/pods/p/eviction`, {}), post(`${inNamespace}/pods/p/eviction`, { metadata: { name: 'p', namespace: 'other' } }),
      post(`${inNamespace}/pods/p/eviction`, { metadata: { name: 'p' }, deleteOptions: { dryRun: ['X'] } }),
    ],
  },
  { line: 'M-12', what: 'options of logs', requests: [makePod, { path: `${inNamespace}/pods/p/log?sinceSeconds=0` },
    { path: `${inNamespace}/pods/p/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z` }] },
  { line: 'M-45', what: 'reviews in another namespace, selectors that do not parse', requests: [
    post(`${reviews}/namespaces/{ns}/localsubjectaccessreviews`, { metadata: { namespace: 'other' },
      spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } } }),
    post(`${reviews}/subjectaccessreviews`, { spec: { user: 'u', resourceAttributes: { verb: 'list', resource: 'pods',
      labelSelector: { rawSelector: 'a in (' } } } }),
  ] },
  { line: 'M-48', what: 'component statuses', requests: [{ path: '/api/v1/componentstatuses/scheduler' }] },
  { line: 'M-67', what: 'group versions that are off', requests: ['storage.k8s.io/v1beta1', 'scheduling.k8s.io/v1alpha2',
    'internal.apiserver.k8s.io/v1alpha1', 'coordination.k8s.io/v1beta1'].map((version) => ({ path: `/apis/${version}` })) },
  { line: 'Q-32', what: 'more selectable fields than eight', requests: [post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', {
    metadata: { name: 'things.{id}.example.com' }, spec: { group: '{id}.example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' },
      versions: [{
      name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } },
        selectableFields: Array.from({ length: 9 }, (_, i) => ({ jsonPath: `.spec.f${i}` })),
    }] },
  })] },
  { line: 'W-05', what: 'system priority classes stay',
    requests: [{ method: 'DELETE', path: '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical' }] },
];
