// Lines about what a server says of itself: caching of its documents, metrics, and what client programs ask for beside objects.
import type { Json, Request } from '../differential/case.ts';
import type { Row } from './row.ts';

const inNamespace = '/api/v1/namespaces/{ns}';
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** The request is made for what later ones use of it: the answer itself is not compared. */
const unseen = { field: 'none', equals: undefined } as const;
const caching = ['etag', 'cache-control', 'vary', 'expires'];
const metrics = (...names: readonly string[]): Request => ({ path: '/metrics', metrics: names });
const post = (path: string, body: Json | string): Request => ({ method: 'POST', path, body });
const makePod = post(`${inNamespace}/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
const role = (resources: readonly string[]): Json => ({ metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources, verbs: ['get'] }] });
const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles';

/** The lines, in their order. */
export const serverRows: readonly Row[] = [
  { line: 'B-13', what: 'discovery is cached by its hash', requests: [{ path: '/api', accept: aggregated, shows: caching, save: { tag: 'headers.etag' } },
    { path: '/api', accept: aggregated, headers: { 'if-none-match': '{tag}' }, shows: caching },
    { path: '/api', accept: aggregated, headers: { 'if-none-match': '"other"' }, shows: caching }] },
  { line: 'B-25', what: 'OpenAPI v2 is cached by its hash', requests: [{ path: '/openapi/v2', until: unseen, save: { tag: 'headers.etag' } },
    { path: '/openapi/v2', headers: { 'if-none-match': '{tag}' }, shows: [...caching, 'last-modified'] }] },
  { line: 'B-31', what: 'OpenAPI v3 of a group version is kept for a year under its hash', requests: [
    { path: '/openapi/v3', until: unseen, save: { url: 'paths.apis/apps/v1.serverRelativeURL' } },
    { path: '{url}', until: unseen, save: { tag: 'headers.etag' } }, { path: '{url}', headers: { 'if-none-match': '{tag}' }, shows: caching }] },
  { line: 'C-25 S-18', what: 'compressed bodies', requests: [
    { ...post(`${inNamespace}/configmaps`, '\u001f\u0008\u0000'), headers: { 'content-encoding': 'gzip' } },
    { ...post(`${inNamespace}/configmaps`, { metadata: { name: 'a' } }), headers: { 'content-encoding': 'gzip' } }] },
  { line: 'G-11', what: 'the metric of deprecated APIs that were asked for', requests: [{ path: `${inNamespace}/endpoints` },
    metrics('apiserver_requested_deprecated_apis')] },
  { line: 'O-24', what: 'kubectl auth reconcile writes the union of rules', requests: [post(roles, role(['pods'])), { path: `${roles}/r` },
    { method: 'PUT', path: `${roles}/r`, body: role(['pods', 'services']) }, { path: `${roles}/r` }] },
  { line: 'R-14', what: 'metrics of APIs that are not available', requests: [metrics('aggregator_unavailable_apiservice')] },
  { line: 'U-08', what: 'stable metrics of requests', requests: [{ path: `${inNamespace}/configmaps` }, metrics('apiserver_request_total',
    'apiserver_request_duration_seconds', 'apiserver_response_sizes', 'apiserver_current_inflight_requests')] },
  { line: 'U-09', what: 'metrics of flow control', requests: [metrics('apiserver_flowcontrol_dispatched_requests_total',
    'apiserver_flowcontrol_current_executing_requests', 'apiserver_flowcontrol_nominal_limit_seats',
    'apiserver_flowcontrol_request_wait_duration_seconds')] },
  { line: 'U-16', what: 'metrics of the build and the gates', requests: [metrics('kubernetes_build_info', 'kubernetes_feature_enabled')] },
  { line: 'X-11', what: 'kubectl cluster-info and api-resources', requests: [{ path: '/api?timeout=32s', accept: aggregated },
    { path: '/api/v1/namespaces/kube-system/services?labelSelector=kubernetes.io%2Fcluster-service%3Dtrue' }] },
  { line: 'X-14', what: 'kubectl logs, exec, top and events without a node', requests: [makePod, { path: `${inNamespace}/pods/p/log?container=c` },
    { method: 'POST', path: `${inNamespace}/pods/p/exec?command=a&container=c&stdout=true` }, { path: '/apis/metrics.k8s.io/v1beta1/pods' },
    { path: `${inNamespace}/events?limit=500` }] },
  { line: 'X-19', what: 'pages, subresources and deadlines that kubectl asks for', requests: [makePod, { path: `${inNamespace}/pods?limit=500&timeout=5s` },
    { path: `${inNamespace}/pods/p/status` }, { path: `${inNamespace}/pods/p/resize` }, { path: `${inNamespace}/pods/p/ephemeralcontainers` },
    { method: 'PATCH', path: `${inNamespace}/pods/p/status?fieldManager=kubectl-patch`, type: 'application/strategic-merge-patch+json',
      body: { status: { message: 'm' } } }] },
];
