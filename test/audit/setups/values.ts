// Rows about values in etcd and what is read of them: stored versions, defaults, versions of objects, sizes, and what the server says of its store.
import type { Json, Request } from '../../differential/case.ts';
import type { Row } from '../row.ts';
import { configMap, inNamespace, post } from './files.ts';

const put = (key: string, value: Json): Request => ({ method: 'PUT', path: `etcd:${key}`, body: JSON.stringify(value) });
const meta = (name: string): Json => ({ name, namespace: '{ns}', uid: '0f0f0f0f-0000-4000-8000-000000000000', creationTimestamp: '2001-02-03T04:05:06Z' });
const autoscalers = '/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers';
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const template = { spec: { containers: [{ name: 'c', image: 'i' }] } };
const cronJobs = '/apis/batch/v1/namespaces/{ns}/cronjobs';
const revisions = '/apis/apps/v1/namespaces/{ns}/controllerrevisions';

/** The rows; they belong to a server on an etcd that encrypts Secrets and what is of apps. */
export const valueRows: readonly Row[] = [
  { line: 'V-04', what: 'each kind is stored in one version, and read from others', requests: [
    post(autoscalers, { metadata: { name: 'a' }, spec: { scaleTargetRef: target, maxReplicas: 3, targetCPUUtilizationPercentage: 50 } }),
    post('/apis/events.k8s.io/v1/namespaces/{ns}/events', { metadata: { name: 'e' }, eventTime: '2001-02-03T04:05:06.000000Z', action: 'a', reason: 'r',
      type: 'Normal', reportingController: 'example.com/c', reportingInstance: 'i', regarding: { kind: 'Pod', namespace: '{ns}', name: 'p' } }),
    ...['horizontalpodautoscalers/{ns}/a', 'events/{ns}/e'].map((key) => ({ path: `etcd:/registry/${key}?` })),
    put('/registry/horizontalpodautoscalers/{ns}/b', { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1', metadata: meta('b'),
      spec: { scaleTargetRef: target, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 40 } }),
    { path: '/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers/b', until: { field: 'kind', equals: 'HorizontalPodAutoscaler' } },
    { path: '/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers/b' }, { path: `${autoscalers}/b` }] },
  { line: 'M-03', what: 'values without the fields that have defaults', requests: [
    put('/registry/cronjobs/{ns}/c', { kind: 'CronJob', apiVersion: 'batch/v1', metadata: meta('c'), spec: { schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } } } }),
    { path: `${cronJobs}/c`, until: { field: 'kind', equals: 'CronJob' } }, { path: `${cronJobs}/c` }, { path: cronJobs }] },
  { line: 'V-05', what: 'a resourceVersion is the revision of the last change', requests: [
    { ...configMap('a'), save: { first: 'metadata.resourceVersion' } }, { path: 'etcd:/registry/configmaps/{ns}/a?{first}' },
    { method: 'PATCH', path: `${inNamespace}/configmaps/a`, type: 'application/merge-patch+json', body: { data: { k: 'v' } },
      save: { second: 'metadata.resourceVersion' } }, { path: 'etcd:/registry/configmaps/{ns}/a?{first}' },
    { path: 'etcd:/registry/configmaps/{ns}/a?{second}' }] },
  { line: 'V-14', what: 'an encrypted value under another key', requests: [post(revisions, { metadata: { name: 'a' }, revision: 1, data: { a: 'b' } }),
    { method: 'PUT', path: 'etcd:/registry/controllerrevisions/{ns}/b', body: { from: '/registry/controllerrevisions/{ns}/a' } },
    { path: `${revisions}/b`, until: { field: 'code', equals: 500 } }, { path: `${revisions}/b` }, { path: `${revisions}/a` },
    { method: 'DELETE', path: 'etcd:/registry/controllerrevisions/{ns}/b' }, { path: `${revisions}/b`, until: { field: 'code', equals: 404 } }] },
  { line: 'V-19', what: 'a value that is too large for etcd', requests: [post(revisions, { metadata: { name: 'a' }, revision: 1,
    data: { a: 'x'.repeat(1_700_000) } }), { path: `${revisions}/a` }] },
  { line: 'V-20', what: 'checks of the store', requests: ['/healthz/etcd', '/livez/etcd', '/readyz/etcd', '/readyz/etcd-readiness',
    '/livez/etcd-readiness', '/readyz/poststarthook/storage-readiness'].map((path) => ({ path })) },
  { line: 'U-06', what: 'what kubectl get --raw and componentstatuses say', requests: [{ path: '/readyz?verbose' }, { path: '/readyz?verbose&exclude=etcd' },
    { path: '/api/v1/componentstatuses/etcd-0' }] },
  { line: 'V-26', what: 'metrics of the store', requests: [{ path: '/metrics', metrics: ['apiserver_resource_objects', 'apiserver_storage_size_bytes'] }] },
  { line: 'U-10', what: 'metrics that dashboards ask for', requests: [configMap('a'),
    { path: `${inNamespace}/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0`, until: { field: 'none', equals: undefined } },
    { path: '/metrics', metrics: ['apiserver_request_sli_duration_seconds',
    'apiserver_watch_events_total', 'apiserver_watch_events_sizes', 'apiserver_watch_cache_events_received_total',
    'apiserver_watch_cache_initializations_total',
    'etcd_request_duration_seconds', 'etcd_requests_total', 'apiserver_storage_list_total', 'apiserver_storage_list_fetched_objects_total',
    'authentication_attempts', 'authenticated_user_requests', 'authorization_attempts_total', 'authorization_duration_seconds',
    'apiserver_tls_handshake_errors_total', 'workqueue_adds_total', 'process_cpu_seconds_total', 'process_resident_memory_bytes',
    'process_start_time_seconds', 'process_open_fds', 'apiserver_audit_event_total'] }] },
  { line: 'U-11', what: 'checks as metrics', requests: [{ path: '/healthz' }, { path: '/livez' }, { path: '/readyz' },
    { path: '/metrics/slis', metrics: ['kubernetes_healthcheck', 'kubernetes_healthchecks_total'] },
    { path: 'values:kubernetes_healthcheck??/metrics/slis' }] },
  { line: 'U-18', what: 'the lease of the server', requests: [{
    path: 'masked:metadata.name,metadata.labels,spec.holderIdentity,spec.leaseDurationSeconds/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver' }] },
];
