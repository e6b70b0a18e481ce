// Lines about client programs: the requests that they send, and what they rely on in the answers.
import type { Json, Request } from '../differential/case.ts';
import type { Row } from './row.ts';

const inNamespace = '/api/v1/namespaces/{ns}';
const apps = '/apis/apps/v1/namespaces/{ns}';
const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const applied = 'application/apply-patch+yaml';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
const post = (path: string, body: Json): Request => ({ method: 'POST', path, body });
const pod = { metadata: { name: 'p', labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const makePod = post(`${inNamespace}/pods`, pod);
const makeDeployment = post(`${apps}/deployments?fieldManager=kubectl-create`, { metadata: { name: 'd' }, spec: {
  replicas: 1, selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: pod.spec } } });
const makeMap = (name: string, rest: Json): Request => post(`${inNamespace}/configmaps`, { metadata: { name }, ...rest });
const applyMap = (manager: string, data: Json, query = ''): Request => ({ method: 'PATCH', type: applied,
  path: `${inNamespace}/configmaps/a?fieldManager=${manager}${query}`, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data } });
const lastApplied = (data: string): Json => ({ 'kubectl.kubernetes.io/last-applied-configuration':
  `{"apiVersion":"v1","data":{"k":"${data}"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"a"}}\n` });
const access = (spec: Json): Request => ({ ...post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec }), as: 'alice' });

/** The lines, in their order. */
export const clientRows: readonly Row[] = [
  { line: 'X-04', what: 'kubectl get prints tables', requests: [makePod, makeDeployment, makeMap('a', { data: { k: 'v' } }),
    ...[`${inNamespace}/pods?limit=500`, `${inNamespace}/pods/p`, `${apps}/deployments?limit=500`, `${inNamespace}/configmaps?limit=500`,
      `${inNamespace}/pods?labelSelector=app%3Dweb`].map((path) => ({ path, accept: table })),
    { path: `${inNamespace}/pods?watch=true&timeoutSeconds=1`, accept: table }] },
  { line: 'X-05', what: 'kubectl describe finds the events of an object', requests: [makePod,
    post(`${inNamespace}/events`, { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', name: 'p', namespace: '{ns}' }, reason: 'R', message: 'm' }),
    { path: `${inNamespace}/events?fieldSelector=involvedObject.name%3Dp%2CinvolvedObject.namespace%3D{ns}%2CinvolvedObject.kind%3DPod&limit=500` },
    { path: `${inNamespace}/events?fieldSelector=involvedObject.name%3Dother` }] },
  { line: 'X-06', what: 'kubectl apply with the configuration in an annotation', requests: [
    post(`${inNamespace}/configmaps?fieldManager=kubectl-client-side-apply&fieldValidation=Strict`,
      { metadata: { name: 'a', annotations: lastApplied('1') }, data: { k: '1' } }),
    { method: 'PATCH', path: `${inNamespace}/configmaps/a?fieldManager=kubectl-client-side-apply&fieldValidation=Strict`, type: strategic,
      body: { data: { k: '2' }, metadata: { annotations: lastApplied('2') } } }] },
  { line: 'X-07', what: 'kubectl apply on the server, conflicts and force', requests: [applyMap('kubectl', { k: '1' }, '&fieldValidation=Strict&force=false'),
    applyMap('other', { k: '2' }, '&force=false'), applyMap('other', { k: '2' }, '&force=true'),
    { ...applyMap('kubectl', { k: '1' }, '&dryRun=All') }] },
  { line: 'X-08', what: 'kubectl diff patches without storing', requests: [makeMap('a', { data: { k: '1' } }),
    { method: 'PATCH', path: `${inNamespace}/configmaps/a?dryRun=All&fieldManager=kubectl-client-side-apply`, type: strategic, body: { data: { k: '2' } } },
    { path: `${inNamespace}/configmaps/a` }] },
  { line: 'X-09', what: 'kubectl label, annotate, set, scale and rollout history', requests: [makeDeployment,
    { method: 'PATCH', path: `${apps}/deployments/d?fieldManager=kubectl-label`, type: merge, body: { metadata: { labels: { a: 'b' } } } },
    { method: 'PATCH', path: `${apps}/deployments/d?fieldManager=kubectl-annotate`, type: merge, body: { metadata: { annotations: { a: null } } } },
    { method: 'PATCH', path: `${apps}/deployments/d?fieldManager=kubectl-set`, type: strategic,
      body: { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } } },
    { method: 'PATCH', path: `${apps}/deployments/d/scale`, type: merge, body: { spec: { replicas: 3 } } },
    { method: 'PATCH', path: `${apps}/deployments/d?fieldManager=kubectl-rollout`, type: strategic, body: { spec: { paused: true } } },
    { path: `${apps}/replicasets?labelSelector=app%3Dweb` }, { path: `${apps}/controllerrevisions?labelSelector=app%3Dweb` }] },
  { line: 'X-10', what: 'kubectl wait watches one object by its name', requests: [makeMap('a', {}), makeMap('b', {}),
    { path: `${inNamespace}/configmaps?fieldSelector=metadata.name%3Da`, save: { rv: 'metadata.resourceVersion' } },
    { path: `${inNamespace}/configmaps?fieldSelector=metadata.name%3Da&resourceVersion={rv}&watch=true&allowWatchBookmarks=true&timeoutSeconds=1` }] },
  { line: 'X-12', what: 'kubectl auth can-i and whoami', requests: [access({ resourceAttributes: { namespace: '{ns}', verb: 'list', resource: 'pods' } }),
    access({ nonResourceAttributes: { path: '/none', verb: 'get' } }),
    { ...post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: '{ns}' } }), as: 'alice' },
    { ...post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}), as: 'alice' }] },
  { line: 'X-13', what: 'kubectl create token asks the account', requests: [post(`${inNamespace}/serviceaccounts`, { metadata: { name: 'a' } }),
    post(`${inNamespace}/serviceaccounts/none/token`, { spec: { expirationSeconds: 3600 } }),
    post(`${inNamespace}/serviceaccounts/a/token`, { spec: { expirationSeconds: 1 } })] },
  { line: 'X-15', what: 'kubectl certificate approve and deny', requests: [
    post('/apis/certificates.k8s.io/v1/certificatesigningrequests',
      { metadata: { name: 'c-{id}' }, spec: { request: 'bm90', signerName: 'a.b/c', usages: ['any'] } }),
    { method: 'PUT', path: '/apis/certificates.k8s.io/v1/certificatesigningrequests/none-{id}/approval',
      body: { metadata: { name: 'none-{id}' }, status: { conditions: [{ type: 'Approved', status: 'True' }] } } }] },
  { line: 'X-16', what: 'a proxy to what is not there', requests: [{ path: `${inNamespace}/services/none/proxy/` },
    { path: `${inNamespace}/pods/none/proxy/` },
    { path: '/api/v1/nodes/none-{id}/proxy/' }] },
  { line: 'X-17', what: 'kubectl delete with cascade and grace', requests: [makePod, makeDeployment,
    { method: 'DELETE', path: `${inNamespace}/pods/p`, body: { gracePeriodSeconds: 0, propagationPolicy: 'Background' } },
    { method: 'DELETE', path: `${apps}/deployments/d`, body: { propagationPolicy: 'Orphan' } },
    { method: 'DELETE', path: `${apps}/deployments/none`, body: { propagationPolicy: 'Background' } }] },
  { line: 'X-18', what: 'kubectl cordon, taint and drain', requests: [post('/api/v1/nodes', { metadata: { name: 'n-{id}' } }),
    { method: 'PATCH', path: '/api/v1/nodes/n-{id}?fieldManager=kubectl-cordon', type: strategic, body: { spec: { unschedulable: true } } },
    { method: 'PATCH', path: '/api/v1/nodes/n-{id}?fieldManager=kubectl-taint', type: strategic,
      body: { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } } },
    { path: '/apis/policy/v1' }, makePod, { path: '/api/v1/pods?fieldSelector=spec.nodeName%3Dn-{id}' },
    post(`${inNamespace}/pods/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } })] },
  { line: 'X-20', what: 'elections, scales and metadata as client-go asks for them', requests: [
    post('/apis/coordination.k8s.io/v1/namespaces/{ns}/leases', { metadata: { name: 'l' }, spec: { holderIdentity: 'a', leaseDurationSeconds: 15,
      acquireTime: '2001-02-03T04:05:06.000000Z', renewTime: '2001-02-03T04:05:06.000000Z', leaseTransitions: 0 } }),
    { path: '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', save: { rv: 'metadata.resourceVersion' } },
    { method: 'PUT', path: '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', body: { metadata: { name: 'l', resourceVersion: '{rv}' },
      spec: { holderIdentity: 'b', leaseTransitions: 1 } } },
    { method: 'PUT', path: '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', body: { metadata: { name: 'l', resourceVersion: '{rv}' },
      spec: { holderIdentity: 'c' } } },
    makeDeployment, { path: `${apps}/deployments/d/scale` },
    { path: `${apps}/deployments`, accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }] },
  { line: 'X-21', what: 'informers that stream their first list', requests: [makeMap('a', {}), makeMap('b', {}),
    { path: `${inNamespace}/configmaps?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1` },
    { path: `${inNamespace}/configmaps?watch=true&sendInitialEvents=true&timeoutSeconds=1` }] },
  { line: 'X-22', what: 'clients that prefer CBOR fall back', requests: [makeMap('a', {}),
    { path: `${inNamespace}/configmaps/a`, accept: 'application/cbor,application/json' }, { path: `${inNamespace}/configmaps/a`, accept: 'application/cbor' },
    { ...makeMap('b', {}), type: 'application/cbor' }] },
  { line: 'X-24', what: 'the releases of Helm', requests: [
    post(`${inNamespace}/secrets`, { metadata: { name: 'sh.helm.release.v1.r.v1', labels: { owner: 'helm', status: 'deployed', name: 'r', version: '1' } },
      type: 'helm.sh/release.v1', data: { release: 'YQ==' } }),
    { path: `${inNamespace}/secrets?labelSelector=owner%3Dhelm%2Cname%3Dr%2Cstatus%20in%20%28deployed%2Cfailed%29` },
    { path: `${inNamespace}/secrets?labelSelector=owner%3Dhelm%2Cstatus%3Dsuperseded` }] },
  { line: 'X-29', what: 'dashboards ask for rules and tables', requests: [makePod,
    post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: '{ns}' } }),
    { path: '/api/v1/namespaces/{ns}', accept: table }, { path: `${inNamespace}/pods?limit=1`, accept: table }, { path: '/apis/metrics.k8s.io/v1beta1' }] },
];
