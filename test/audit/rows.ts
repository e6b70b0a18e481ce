// Lines of the audit that requests of their own show; kube-apiserver's answers to them are in answers.json.
import type { Json, Request } from '../differential/case.ts';
import { clientRows } from './client-rows.ts';
import { documentRows } from './document-rows.ts';
import type { Row } from './row.ts';
import { serverRows } from './server-rows.ts';

const inNamespace = '/api/v1/namespaces/{ns}';
const post = (path: string, body: Json | string): Request => ({ method: 'POST', path, body });
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
const merge = 'application/merge-patch+json';
const reviews = '/apis/authorization.k8s.io/v1';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = (plural: string, rest: Json, group = '{id}.example.com'): Request => post(definitions, {
  metadata: { name: `${plural}.${group}` }, spec: { group, scope: 'Namespaced', names: { plural, kind: plural.replace(/^./, (first) => first.toUpperCase()) },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }], ...rest },
});
/** A version of a kind whose spec has a map of this topology. */
const withMap = (topology: string): Json => ({ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
  spec: { type: 'object', properties: { map: { type: 'object', 'x-kubernetes-map-type': topology,
    properties: { a: { type: 'string' }, b: { type: 'string' } } } } },
  status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } } });
const applyThing = (manager: string, spec: Json, ...[query = '', where = '']: readonly string[]): Request => ({
  method: 'PATCH', type: 'application/apply-patch+yaml',
  path: `/apis/{id}.example.com/v1/namespaces/{ns}/things/a${where}?fieldManager=${manager}${query}`,
  body: { apiVersion: '{id}.example.com/v1', kind: 'Things', metadata: { name: 'a' }, spec, status: { by: manager } } });
/** A list of lists of aliases that grows ninefold with each line. */
const aliases = ['a: &a [x, x, x, x, x, x, x, x, x]', ...[...'bcdefghi'].map((name, i) =>
  `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdefgh'[i]}`).join(', ')}]`)].join('\n');

/** The lines, in their order. */
export const rows: readonly Row[] = [
  { line: 'A-07', what: 'the old proxy paths', requests: [{ path: '/api/v1/proxy/namespaces/{ns}/pods/p', as: 'alice' },
    { path: '/api/v1/proxy/namespaces/{ns}/pods/p' }] },
  { line: 'A-15', what: 'methods that a kind lacks', requests: [{ method: 'PUT', path: `${reviews}/subjectaccessreviews/x`, body: {} },
    { method: 'DELETE', path: `${reviews}/subjectaccessreviews` }] },
  { line: 'A-19', what: 'timeouts that are no durations', requests: [{ path: `${inNamespace}/configmaps?timeout=abc` },
    { ...configMap({}), path: `${inNamespace}/configmaps?timeout=5` }, { path: `${inNamespace}/configmaps?timeout=5s` }] },
  { line: 'A-33', what: 'paths of which no request can be read', requests: [{ path: '/api/v1/watch' }, { path: '/apis/apps/v1/watch' }] },
  { line: 'A-48', what: 'a refusal of access comes before all that a handler looks at', requests: [
    { ...configMap({}), path: `${inNamespace}/configmaps?dryRun=x`, as: 'alice', accept: 'text/html', type: 'text/plain' },
    { path: '/api/v1/none', as: 'alice' }, { path: '/apis/none/v1/nones', as: 'alice' }, { method: 'PUT', path: `${inNamespace}/configmaps`, as: 'alice' },
  ] },
  { line: 'B-01', what: 'the versions of the core group', requests: [{ path: '/api' }] },
  { line: 'B-14', what: 'aggregated discovery in protobuf', requests: [{ path: '/apis',
    accept: 'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }] },
  { line: 'B-15 B-45', what: 'discovery without peers', requests: [{ path: '/api',
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer' }] },
  { line: 'B-41', what: 'paths of old descriptions', requests: ['/swagger.json', '/swaggerapi', '/swagger-ui', '/swagger-ui/', '/swagger-2.0.0.json']
    .map((path) => ({ path })) },
  { line: 'B-44', what: 'paths for those who run the server', requests: [{ path: '/logs' }, ...['/logs', '/debug/pprof/', '/debug/flags/v',
    '/debug/api_priority_and_fairness/dump_queues'].map((path) => ({ path, as: 'alice' as const }))] },
  { line: 'C-10', what: 'a content type with a bare parameter', requests: [{ ...configMap({}), type: 'application/json;bogus' }] },
  { line: 'C-03 C-26', what: 'lists of built-in and of custom objects', requests: [configMap({}, { data: { a: '<&>' } }), configMap({ name: 'b' }),
    { path: `${inNamespace}/configmaps` }, { path: `${inNamespace}/configmaps?limit=1` }, definition('things', {}),
    { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingsList' }, pauseMs: 100 },
    post('/apis/{id}.example.com/v1/namespaces/{ns}/things', { apiVersion: '{id}.example.com/v1', kind: 'Things', metadata: { name: 'a' } }),
    { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things' }] },
  { line: 'C-34 S-19', what: 'bodies that nest deeply or grow by aliases', requests: [
    post(`${inNamespace}/configmaps`, `{"metadata":{"name":"a"},"x":${'['.repeat(10_001)}${']'.repeat(10_001)}}`),
    { ...post(`${inNamespace}/configmaps`, aliases), type: 'application/yaml' },
  ] },
  { line: 'C-39', what: 'quantities: exponents, fractions of bytes, numbers beyond int64',
    requests: [claim('1E3'), claim('1.5'), claim('500m'), claim('9223372036854775808')] },
  { line: 'D-29', what: 'names of core events', requests: [post(`${inNamespace}/events`,
    { metadata: { name: 'A_b' }, involvedObject: { namespace: '{ns}', kind: 'Pod', name: 'p' } })] },
  { line: 'D-30', what: 'labels with long prefixes', requests: [configMap({ labels: { [`${'p'.repeat(254)}/a`]: 'b' } })] },
  { line: 'D-35', what: 'owner references with odd versions', requests: [configMap({ ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] })] },
  { line: 'D-36', what: 'owners with one uid', requests: [configMap({ ownerReferences: [owner, { ...owner, name: 'other' }] }),
    configMap({ name: 'b', ownerReferences: [owner, owner] })] },
  { line: 'D-38', what: 'metadata fields that are gone', requests: [configMap({ clusterName: 'x', selfLink: '/y' }),
    { ...configMap({ name: 'b', clusterName: 'x' }), path: `${inNamespace}/configmaps?fieldValidation=Strict` }] },
  { line: 'D-40 S-12', what: 'an object that no store takes', requests: [post('/apis/apps/v1/namespaces/{ns}/controllerrevisions',
    { metadata: { name: 'a' }, revision: 1, data: { x: 'x'.repeat(2_000_000) } })] },
  { line: 'D-42', what: 'exports', requests: [configMap({}), { path: `${inNamespace}/configmaps/a?export=true` },
    { path: `${inNamespace}/configmaps/a?exact=true` }, { path: `${inNamespace}/configmaps?export=true` }] },
  { line: 'D-43', what: 'addresses that are not canonical', requests: [post(`${inNamespace}/services`,
    { metadata: { name: 's' }, spec: { ports: [{ port: 1 }], externalIPs: ['2001:DB8::1', '::ffff:1.2.3.4'] } })] },
  { line: 'D-47 E-15', what: 'writes without a version meet whatever is stored, others what they name', requests: [
    { ...configMap({}), save: { rv: 'metadata.resourceVersion' } },
    { method: 'PUT', path: `${inNamespace}/configmaps/a`, body: { metadata: { name: 'a' }, data: { a: '1' } } },
    { method: 'PATCH', path: `${inNamespace}/configmaps/a`, type: merge, body: { data: { b: '2' } } },
    { method: 'PATCH', path: `${inNamespace}/configmaps/a`, type: merge, body: { metadata: { resourceVersion: '{rv}' }, data: { b: '3' } } },
    { method: 'PUT', path: `${inNamespace}/configmaps/a`, body: { metadata: { name: 'a', resourceVersion: '{rv}' } } },
  ] },
  { line: 'D-48', what: 'fields whose gates are off', requests: [post(`${inNamespace}/pods`,
    { metadata: { name: 'p' }, spec: { ...pod.spec, schedulingGroup: { podGroupName: 'g' } } })] },
  { line: 'D-49', what: 'a binding without a name', requests: [makePod, post(`${inNamespace}/pods/p/binding`, { target: { kind: 'Node', name: 'n' } })] },
  { line: 'D-50', what: 'managed fields of reviews', requests: [post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'alice-token' } }),
    post(`${reviews}/selfsubjectaccessreviews`, { spec: {} })] },
  { line: 'E-10 S-12', what: 'copies beyond three mebibytes', requests: [configMap({}, { data: { a: 'x'.repeat(8000) } }),
    { method: 'PATCH', path: `${inNamespace}/configmaps/a`, type: 'application/json-patch+json',
      body: Array.from({ length: 420 }, (_, i) => ({ op: 'copy', from: '/data/a', path: `/data/b${i}` })) }] },
  { line: 'E-20', what: 'merge keys of lists in a template', requests: [
    post('/apis/apps/v1/namespaces/{ns}/deployments', { ...deployment, spec: { ...deployment.spec, template: { metadata: { labels: { a: 'b' } }, spec: {
      ...pod.spec, volumes: [{ name: 'v', emptyDir: {} }], hostAliases: [{ ip: '192.0.2.1', hostnames: ['a'] }], imagePullSecrets: [{ name: 's' }],
      tolerations: [{ key: 'k', operator: 'Exists' }], initContainers: [{ name: 'n', image: 'i' }],
      topologySpreadConstraints: [{ topologyKey: 't', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }],
      containers: [{ name: 'c', image: 'i', env: [{ name: 'E', value: '1' }], volumeMounts: [{ name: 'v', mountPath: '/m' }] }] } } } }),
    { method: 'PATCH', path: '/apis/apps/v1/namespaces/{ns}/deployments/d', type: strategic, body: { spec: { template: { spec: {
      volumes: [{ name: 'v', configMap: { name: 'm' }, $retainKeys: ['name', 'configMap'] }, { name: 'w', emptyDir: {} }],
      hostAliases: [{ ip: '192.0.2.1', hostnames: ['b'] }, { ip: '192.0.2.2', hostnames: ['c'] }], imagePullSecrets: [{ name: 't' }],
      tolerations: [{ key: 'l', operator: 'Exists' }], initContainers: [{ name: 'n', image: 'j' }],
      topologySpreadConstraints: [{ topologyKey: 't', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' }],
      containers: [{ name: 'c', env: [{ name: 'E', value: '2' }, { name: 'F', value: '3' }],
        volumeMounts: [{ name: 'w', mountPath: '/m' }, { name: 'v', mountPath: '/o' }] }] } } } } },
  ] },
  { line: 'E-21', what: 'ports with one number and two protocols', requests: [
    post('/apis/apps/v1/namespaces/{ns}/deployments', { ...deployment, spec: { ...deployment.spec, template: { metadata: { labels: { a: 'b' } }, spec: {
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'a', containerPort: 53, protocol: 'TCP' },
        { name: 'b', containerPort: 53, protocol: 'UDP' }] }] } } } }),
    { method: 'PATCH', path: '/apis/apps/v1/namespaces/{ns}/deployments/d', type: strategic, body: { spec: { template: { spec: {
      containers: [{ name: 'c', ports: [{ containerPort: 53, name: 'z', protocol: 'UDP' }] }] } } } } },
    { method: 'PATCH', path: '/apis/apps/v1/namespaces/{ns}/deployments/d', type: strategic, body: { spec: { template: { spec: {
      containers: [{ name: 'c', ports: [{ containerPort: 53, $patch: 'delete' }] }] } } } } },
  ] },
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
  { line: 'F-38', what: 'owners of a map that becomes one value', requests: [
    definition('things', { versions: [withMap('granular')] }),
    { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingsList' }, pauseMs: 100 },
    applyThing('one', { map: { a: 'x' } }), applyThing('two', { map: { b: 'y' } }),
    { method: 'PATCH', path: `${definitions}/things.{id}.example.com`, type: merge, body: { spec: { versions: [withMap('atomic')] } },
      until: { field: 'kind', equals: 'CustomResourceDefinition' } },
    { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingsList' }, pauseMs: 1000 },
    applyThing('one', { map: { a: 'z' } }), applyThing('one', { map: { a: 'z' } }, '&force=true'),
  ] },
  { line: 'F-40', what: 'fields that a path leaves alone have no owners of it', requests: [
    definition('things', { versions: [{ ...withMap('granular'), subresources: { status: {} } }] }),
    { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingsList' }, pauseMs: 100 },
    applyThing('one', { map: { a: 'x' } }), applyThing('two', { map: { a: 'y' } }, '', '/status'),
    makeDeployment, { method: 'PATCH', path: '/apis/apps/v1/namespaces/{ns}/deployments/d?fieldManager=m', type: 'application/apply-patch+yaml',
      body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, status: { replicas: 5 } } },
  ] },
  { line: 'F-41', what: 'owners of a set in another order', requests: [configMap({ finalizers: ['example.com/a', 'example.com/b'] }),
    { method: 'PATCH', path: `${inNamespace}/configmaps/a?fieldManager=other`, type: merge,
      body: { metadata: { finalizers: ['example.com/b', 'example.com/a'] } } }] },
  { line: 'F-42', what: 'an apply to what is being deleted', requests: [configMap({ finalizers: ['example.com/a'] }),
    { method: 'DELETE', path: `${inNamespace}/configmaps/a` },
    { method: 'PATCH', path: `${inNamespace}/configmaps/a?fieldManager=m`, type: 'application/apply-patch+yaml',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', deletionTimestamp: '2001-01-01T00:00:00Z' }, data: { a: 'b' } } }] },
  { line: 'G-03', what: 'the order of unknown and duplicate fields', requests: [{ method: 'POST', path: `${inNamespace}/configmaps`,
    body: '{"metadata":{"name":"a","x":1,"name":"a"},"y":1,"data":{"a":"b","a":"c"}}' }] },
  { line: 'G-19', what: 'errors of kinds that are validated by their declaration', requests: [
    post(`${inNamespace}/replicationcontrollers`, { metadata: { name: 'A_b' }, spec: { replicas: -1, minReadySeconds: -1, selector: { a: 'b' } } }),
    post('/apis/certificates.k8s.io/v1/certificatesigningrequests', { metadata: { name: 'c-{id}' }, spec: {} }),
    post('/apis/storage.k8s.io/v1/storageclasses', { metadata: { name: 's-{id}' } }),
  ] },
  { line: 'G-16', what: 'a literal that is cut off', requests: [{ method: 'POST', path: `${inNamespace}/configmaps`,
    body: '{"metadata":{"name":"a"},"immutable":tru' }] },
  { line: 'H-09', what: 'dry runs of connections', requests: [makePod, { method: 'POST', path: `${inNamespace}/pods/p/exec?command=ls&dryRun=All` },
    { method: 'POST', path: `${inNamespace}/pods/p/binding?dryRun=All`, body: { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } } },
    { path: `${inNamespace}/pods/p` }] },
  { line: 'I-04', what: 'what deletion answers', requests: [post('/apis/resource.k8s.io/v1/deviceclasses', { metadata: { name: 'a-{id}' }, spec: {} }),
    { method: 'DELETE', path: '/apis/resource.k8s.io/v1/deviceclasses/a-{id}' }] },
  { line: 'I-09', what: 'a precondition of an empty uid', requests: [configMap({}),
    { method: 'DELETE', path: `${inNamespace}/configmaps/a`, body: { preconditions: { uid: '' } } }] },
  { line: 'I-29', what: 'a version in the query of a deletion', requests: [configMap({}),
    { method: 'DELETE', path: `${inNamespace}/configmaps/a?resourceVersion=1` },
    { method: 'DELETE', path: `${inNamespace}/configmaps/a?uid=&resourceVersion=` }, configMap({}),
    { method: 'DELETE', path: `${inNamespace}/configmaps/a`, body: { preconditions: { uid: null } } }] },
  { line: 'I-30', what: 'removal of what cannot be read while its gate is off', requests: [configMap({}),
    { method: 'DELETE', path: `${inNamespace}/configmaps/a?ignoreStoreReadErrorWithClusterBreakingPotential=true&dryRun=All` },
    { method: 'DELETE', path: `${inNamespace}/configmaps/a`, body: { ignoreStoreReadErrorWithClusterBreakingPotential: true } }] },
  { line: 'J-21 V-07', what: 'a list knows the write before it', requests: [configMap({}), { path: `${inNamespace}/configmaps` }, configMap({ name: 'b' }),
    { path: `${inNamespace}/configmaps?resourceVersion=0`, pauseMs: 500 }, { path: `${inNamespace}/configmaps/b?resourceVersion=0` }] },
  { line: 'J-22 V-08', what: 'the second part of a list, and a list at a version', requests: [configMap({}), configMap({ name: 'b' }),
    configMap({ name: 'c' }),
    { path: `${inNamespace}/configmaps?limit=2`, save: { rest: 'metadata.continue', rv: 'metadata.resourceVersion' } },
    { method: 'DELETE', path: `${inNamespace}/configmaps/c` }, configMap({ name: 'd' }), { path: `${inNamespace}/configmaps?limit=2&continue={rest}` },
    { path: `${inNamespace}/configmaps?resourceVersion={rv}&resourceVersionMatch=Exact` }, { path: `${inNamespace}/configmaps` }] },
  { line: 'J-27', what: 'field selectors of replica sets',
    requests: [{ path: '/apis/apps/v1/namespaces/{ns}/replicasets?fieldSelector=status.replicas%3D1' }] },
  { line: 'J-29', what: 'selectors where one object is read', requests: [configMap({}),
    { path: `${inNamespace}/configmaps/a?labelSelector=no%3Dmatch&fieldSelector=metadata.name%3Dother` }] },
  { line: 'J-37', what: 'seconds for a list', requests: [{ path: `${inNamespace}/configmaps?timeoutSeconds=1` },
    { path: `${inNamespace}/configmaps?timeoutSeconds=-1` }, { path: `${inNamespace}/configmaps?timeoutSeconds=0` }] },
  { line: 'J-39', what: 'bookmarks for a list', requests: [{ path: `${inNamespace}/configmaps?allowWatchBookmarks=true` }] },
  { line: 'J-42', what: 'shard selectors while their gate is off', requests: [configMap({}), { path: `${inNamespace}/configmaps?shardSelector=x` }] },
  { line: 'J-44', what: 'versions that are none', requests: ['01', '-1', '+1', '0x1', '1.0', '18446744073709551616'].flatMap((version) => [
    { path: `${inNamespace}/configmaps?resourceVersion=${version}` },
    { path: `${inNamespace}/configmaps?watch=1&timeoutSeconds=1&resourceVersion=${version}` }]) },
  { line: 'J-45', what: 'the version of one kind is one of another', requests: [{ ...configMap({}), save: { rv: 'metadata.resourceVersion' } },
    post(`${inNamespace}/secrets`, { metadata: { name: 's' } }), { path: `${inNamespace}/secrets?resourceVersion={rv}&resourceVersionMatch=NotOlderThan` },
    { path: `${inNamespace}/secrets?watch=1&timeoutSeconds=1&resourceVersion={rv}` }] },
  { line: 'K-15 K-39 V-25', what: 'the end of the state that a watch sends first', requests: [{ ...configMap({}), save: { rv: 'metadata.resourceVersion' } },
    ...['', '&resourceVersion=0', '&resourceVersion={rv}'].map((version) => ({ path:
      `${inNamespace}/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan${version}` }))] },
  { line: 'K-20', what: 'a watch goes on where the one before ended', requests: [{ ...configMap({}), save: { rv: 'metadata.resourceVersion' } },
    configMap({ name: 'b' }), { method: 'PATCH', path: `${inNamespace}/configmaps/a`, type: merge, body: { data: { a: 'b' } } },
    { method: 'DELETE', path: `${inNamespace}/configmaps/b` }, { path: `${inNamespace}/configmaps?watch=1&timeoutSeconds=1&resourceVersion={rv}` }] },
  { line: 'K-41', what: 'the state that a watch from any version begins with', requests: [configMap({}), configMap({ name: 'b' }),
    { path: `${inNamespace}/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0`, pauseMs: 500 }] },
  { line: 'K-44', what: 'watches of events in both groups', requests: [
    post(`${inNamespace}/events`, { metadata: { name: 'one' }, involvedObject: { namespace: '{ns}', kind: 'Pod', name: 'p' }, message: 'm', reason: 'R' }),
    post('/apis/events.k8s.io/v1/namespaces/{ns}/events', { metadata: { name: 'two' }, regarding: { namespace: '{ns}', kind: 'Pod', name: 'p' },
      eventTime: '2001-02-03T04:05:06.000000Z', reportingController: 'c', reportingInstance: 'i', action: 'a', reason: 'R', type: 'Normal', note: 'n' }),
    { path: `${inNamespace}/events?watch=1&timeoutSeconds=1&resourceVersion=0` },
    { path: '/apis/events.k8s.io/v1/namespaces/{ns}/events?watch=1&timeoutSeconds=1&resourceVersion=0' },
  ] },
  { line: 'L-02', what: 'namespaces that are always there', requests: ['default', 'kube-system', 'kube-public', 'kube-node-lease']
    .map((name) => ({ path: `/api/v1/namespaces/${name}` })) },
  { line: 'L-05', what: 'namespaces have no deletecollection', requests: [{ method: 'DELETE', path: '/api/v1/namespaces?labelSelector=none%3D{id}' }] },
  { line: 'L-07', what: 'the status of a namespace', requests: [{ method: 'PATCH', path: '/api/v1/namespaces/{ns}/status', type: strategic,
    body: { metadata: { labels: { a: 'b' } }, spec: { finalizers: [] }, status: { conditions: [{ type: 'Example', status: 'True' }] } } },
    { method: 'PUT', path: '/api/v1/namespaces/{ns}/status', body: { metadata: { name: '{ns}' }, status: { phase: 'Terminating' } } }] },
  { line: 'L-13', what: 'creations right behind the deletion of their namespace', requests: [configMap({ finalizers: ['example.com/a'] }),
    { method: 'DELETE', path: inNamespace }, configMap({ name: 'b' }), post(`${inNamespace}/pods`, pod),
    { method: 'PATCH', path: `${inNamespace}/configmaps/a`, type: merge, body: { metadata: { finalizers: null } } }] },
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
  { line: 'M-13', what: 'connections to pods that run nowhere', requests: [makePod, { path: `${inNamespace}/pods/p/exec?command=ls&stdout=true` },
    { path: `${inNamespace}/pods/p/attach` }, { path: `${inNamespace}/pods/none/exec?command=ls` }, { path: `${inNamespace}/pods/p/exec` },
    { path: `${inNamespace}/pods/p/exec?command=ls&container=none&stdout=true` }] },
  { line: 'M-14', what: 'proxies to what has no address', requests: [makePod, { path: `${inNamespace}/pods/p/proxy/x` },
    post(`${inNamespace}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }), { path: `${inNamespace}/services/s/proxy/x` },
    { path: `${inNamespace}/services/s:none/proxy/` }, { path: `${inNamespace}/services/none/proxy/` }] },
  { line: 'M-16', what: 'leases of nodes', requests: [post('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    { metadata: { name: '{id}' }, spec: { holderIdentity: '{id}', leaseDurationSeconds: 40, renewTime: '2001-02-03T04:05:06.000000Z' } })] },
  { line: 'M-29', what: 'revisions of deployments, and the group that is gone', requests: [
    post('/apis/apps/v1/namespaces/{ns}/deployments', { ...deployment, metadata: { name: 'd', annotations: { 'deployment.kubernetes.io/revision': '3' } } }),
    { method: 'PATCH', path: '/apis/apps/v1/namespaces/{ns}/deployments/d', type: merge, body: { spec: { replicas: 2 } } },
    { path: '/apis/extensions/v1beta1' }, { method: 'POST', path: '/apis/apps/v1/namespaces/{ns}/deployments/d/rollback', body: {} },
  ] },
  { line: 'M-45', what: 'reviews in another namespace, selectors that do not parse', requests: [
    post(`${reviews}/namespaces/{ns}/localsubjectaccessreviews`, { metadata: { namespace: 'other' },
      spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } } }),
    post(`${reviews}/subjectaccessreviews`, { spec: { user: 'u', resourceAttributes: { verb: 'list', resource: 'pods',
      labelSelector: { rawSelector: 'a in (' } } } }),
  ] },
  { line: 'M-48', what: 'component statuses', requests: [{ path: '/api/v1/componentstatuses/scheduler' }] },
  { line: 'M-58 M-60 M-61', what: 'kinds that are off', requests: ['storagemigration.k8s.io/v1beta1/storageversionmigrations',
    'internal.apiserver.k8s.io/v1alpha1/storageversions', 'scheduling.k8s.io/v1alpha2/workloads', 'scheduling.k8s.io/v1alpha2/podgroups',
    'coordination.k8s.io/v1beta1/leasecandidates', 'coordination.k8s.io/v1alpha2/leasecandidates'].map((at) => ({ path: `/apis/${at}` })) },
  { line: 'M-66', what: 'kinds that are gone', requests: ['policy/v1beta1/podsecuritypolicies', 'policy/v1beta1/poddisruptionbudgets',
    'extensions/v1beta1/ingresses', 'apps/v1beta1/deployments', 'apps/v1beta2/deployments', 'batch/v1beta1/cronjobs',
    'autoscaling/v2beta1/horizontalpodautoscalers', 'autoscaling/v2beta2/horizontalpodautoscalers', 'flowcontrol.apiserver.k8s.io/v1beta3/flowschemas',
    'resource.k8s.io/v1alpha2/resourceclaims'].map((at) => ({ path: `/apis/${at}` })) },
  { line: 'M-67', what: 'group versions that are off', requests: ['storage.k8s.io/v1beta1', 'scheduling.k8s.io/v1alpha2',
    'internal.apiserver.k8s.io/v1alpha1', 'coordination.k8s.io/v1beta1'].map((version) => ({ path: `/apis/${version}` })) },
  { line: 'O-01', what: 'access that no authorizer gives', requests: [{ path: `${inNamespace}/secrets`, as: 'alice' },
    { path: '/apis/apps/v1/deployments', as: 'alice' }, { method: 'DELETE', path: `${inNamespace}/pods/p`, as: 'alice' }, { path: '/none', as: 'alice' }] },
  { line: 'O-03', what: 'the group that may do everything', requests: [post(`${reviews}/subjectaccessreviews`,
    { spec: { user: 'u', groups: ['system:masters'], resourceAttributes: { verb: 'x', group: 'y', resource: 'z' } } })] },
  { line: 'O-06', what: 'a binding to a role that is not there', requests: [
    post('/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings', { metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'none-{id}' }, subjects: [{ kind: 'User', name: 'alice' }] }),
    { path: `${inNamespace}/configmaps`, as: 'alice', pauseMs: 1000 },
  ] },
  { line: 'O-08', what: 'roles and bindings of the system namespaces', requests: ['kube-system', 'kube-public'].flatMap((namespace) => ['roles',
    'rolebindings']
    .map((resource) => ({ path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${resource}?labelSelector=kubernetes.io%2Fbootstrapping` }))) },
  { line: 'O-21', what: 'verbs that stand for no request', requests: [
    post('/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'approver-{id}' }, rules: [{ apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests', 'certificatesigningrequests/approval'], verbs: ['create', 'update'] }] }),
    post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { metadata: { name: 'approver-{id}' }, subjects: [{ kind: 'User', name: 'bob' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'approver-{id}' } }),
    ...['approve', 'sign', 'attest'].map((verb) => post(`${reviews}/subjectaccessreviews`, { spec: { user: 'bob', resourceAttributes: {
      group: 'certificates.k8s.io', resource: 'signers', name: 'example.com/*', verb } } })),
    { method: 'PUT', path: '/apis/certificates.k8s.io/v1/certificatesigningrequests/none/approval', as: 'bob', pauseMs: 1000,
      body: { metadata: { name: 'none' }, spec: { signerName: 'example.com/a', request: 'YQ==', usages: ['any'] } } },
  ] },
  { line: 'P-02 P-03', what: 'what the plugins that are on do to a pod, a node and a claim', requests: [makePod,
    post(`${inNamespace}/pods`, { ...pod, metadata: { name: 'q' }, spec: { ...pod.spec, priorityClassName: 'none' } }),
    post(`${inNamespace}/pods`, { ...pod, metadata: { name: 'r' }, spec: { ...pod.spec, runtimeClassName: 'none' } }),
    post('/api/v1/nodes', { metadata: { name: 'n-{id}' } }), claim('1Gi'),
    post('/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses', { metadata: { name: 'i' }, spec: { ingressClassName: 'none', defaultBackend: {
      service: { name: 's', port: { number: 1 } } } } }),
  ] },
  { line: 'Q-05', what: 'the generation that conditions saw', requests: [definition('things', {}),
    { path: `${definitions}/things.{id}.example.com`, until: { field: 'status.conditions.1.status', equals: 'True' } },
    { path: `${definitions}/things.{id}.example.com` }] },
  { line: 'Q-27 Q-28', what: 'conversions by a webhook that cannot be reached', requests: [
    definition('things', {
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: { type: 'object' } } })),
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/c' } } } }),
    { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingsList' }, pauseMs: 100 },
    post('/apis/{id}.example.com/v1/namespaces/{ns}/things', { apiVersion: '{id}.example.com/v1', kind: 'Things', metadata: { name: 'a' } }),
    { path: '/apis/{id}.example.com/v2/namespaces/{ns}/things/a' }, { path: '/apis/{id}.example.com/v2/namespaces/{ns}/things' },
    { method: 'DELETE', path: '/apis/{id}.example.com/v1/namespaces/{ns}/things/a' },
  ] },
  { line: 'Q-32', what: 'more selectable fields than eight', requests: [post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', {
    metadata: { name: 'things.{id}.example.com' }, spec: { group: '{id}.example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' },
      versions: [{
      name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } },
        selectableFields: Array.from({ length: 9 }, (_, i) => ({ jsonPath: `.spec.f${i}` })),
    }] },
  })] },
  { line: 'Q-42', what: 'updates that make a definition worse', requests: [definition('things', {}),
    { path: `${definitions}/things.{id}.example.com`, until: { field: 'status.conditions.1.status', equals: 'True' } },
    ...[{ type: 'object', properties: { a: {} } }, { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.' }] },
      { type: 'object', properties: { a: { type: 'string', default: 7 } } }].map((schema): Request => ({ method: 'PATCH', type: 'application/json-patch+json',
      path: `${definitions}/things.{id}.example.com`, body: [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: schema }] })),
  ] },
  { line: 'Q-43', what: 'the storage version of a custom resource', requests: [
    definition('audits', {}, 'hash.example.com'), { path: '/apis/hash.example.com/v1', until: { field: 'resources.0.name', equals: 'audits' } },
    { path: '/apis/hash.example.com/v1' },
  ] },
  { line: 'Q-44', what: 'a conversion whose certificates are none', requests: [definition('things', { conversion: { strategy: 'Webhook', webhook: {
    conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/c', caBundle: 'bm90IGEgY2VydA==' } } } }),
    { path: `${definitions}/things.{id}.example.com`, pauseMs: 1000 }, { path: '/apis/{id}.example.com/v1' }] },
  { line: 'R-12', what: 'an APIService without a service', requests: [post('/apis/apiregistration.k8s.io/v1/apiservices',
    { metadata: { name: 'v1.{id}.agg.example.com' }, spec: { group: '{id}.agg.example.com', version: 'v1', groupPriorityMinimum: 100,
      versionPriority: 100 } }),
    { path: '/apis/apiregistration.k8s.io/v1/apiservices/v1.{id}.agg.example.com', pauseMs: 1500 }, { path: '/apis/{id}.agg.example.com/v1' }] },
  { line: 'S-13', what: 'a selector of a hundred thousand characters',
    requests: [{ path: `${inNamespace}/configmaps?labelSelector=a%20in%20(${Array.from({ length: 3000 },
      (_, i) => `value-${'x'.repeat(24)}-${i}`).join()})` }] },
  { line: 'U-01', what: 'checks one by one', requests: [{ path: '/healthz/ping?verbose' }, { path: '/livez/ping?verbose' }, { path: '/readyz/log' }] },
  { line: 'U-02', what: 'checks that are excluded, and one that is not there', requests: [{ path: '/readyz/nosuch' },
    { path: '/livez/ping?exclude=nosuch' }] },
  { line: 'U-03', what: 'the names of all checks', requests: [{ path: '/livez?verbose' }, { path: '/readyz?verbose' }] },
  { line: 'W-05', what: 'system priority classes stay',
    requests: [{ method: 'DELETE', path: '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical' }] },
  { line: 'W-17', what: 'the first range of addresses of services', requests: [{ path: '/apis/networking.k8s.io/v1/servicecidrs/kubernetes' }] },
  ...clientRows, ...serverRows, ...documentRows,
];
