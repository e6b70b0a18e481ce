// Lines about audit events: in a file, and at a webhook.
import type { Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, kubeconfig, pod, post } from './files.ts';

const policy = JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules: [
  { level: 'None', users: ['bob'], verbs: ['get'], resources: [{ group: '', resources: ['configmaps'] }] },
  { level: 'None', nonResourceURLs: ['/healthz*'] },
  { level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }, { group: 'authentication.k8s.io', resources: ['tokenreviews'] }] },
  { level: 'RequestResponse', resources: [{ group: '', resources: ['configmaps'], resourceNames: ['whole', ''] }], omitManagedFields: true },
  { level: 'Request', resources: [{ group: '', resources: ['pods', 'pods/*', 'serviceaccounts'] }], userGroups: ['system:masters'] },
  { level: 'Metadata', omitStages: ['ResponseStarted'], resources: [{ group: '', resources: ['services'] }] },
  { level: 'Metadata' },
] });
/** The events of the namespace of the row so far; they may come a little behind the answers. */
const events: Request = { path: 'lines:audit.log?{ns}', pauseMs: 500 };
const maps = `${inNamespace}/configmaps`;

export const auditing: Setup = {
  name: 'auditing',
  flags: ['--audit-policy-file={dir}/policy.json', '--audit-log-path={dir}/audit.log', '--audit-webhook-config-file={dir}/events.kubeconfig',
    '--audit-webhook-mode=blocking', '--audit-webhook-truncate-enabled', '--audit-webhook-truncate-max-event-size=4000'],
  files: { 'policy.json': policy, 'events.kubeconfig': kubeconfig('events') },
  hooks: { events: () => ({}) },
  rows: [
    { line: 'T-01 T-02', what: 'rules, levels and stages', requests: [configMap('whole', { data: { k: 'v' } }), { path: `${maps}/whole` },
      { path: `${maps}/whole`, as: 'bob' },
      { path: `${maps}/part` }, post(`${inNamespace}/secrets`, { metadata: { name: 's' }, stringData: { k: 'v' } }), pod('p'), { ...pod('q'), as: 'alice' },
      { path: `${inNamespace}/services?watch=1&timeoutSeconds=1` }, { path: `${inNamespace}/pods?watch=1&timeoutSeconds=1` },
      { path: '/healthz?x={ns}' }, { path: '/livez?x={ns}' }, events] },
    { line: 'T-03', what: 'what an event tells', requests: [
      { path: `${maps}/none`, headers: { 'x-forwarded-for': '10.1.2.3, 10.1.2.4', 'x-real-ip': '10.1.2.5', 'user-agent': 'one/1', 'audit-id': 'given-id' } },
      post(`${inNamespace}/pods/none/eviction`, { metadata: { name: 'none' } }), { method: 'DELETE', path: `${maps}/none`, body: { gracePeriodSeconds: 1 } },
      post('/apis/apps/v1/namespaces/{ns}/deployments', { metadata: { name: 'd' }, spec: {} }), { path: `/apis/none/v1/namespaces/{ns}/x` }, events] },
    { line: 'T-04', what: 'annotations of events', requests: [{ path: maps, as: 'alice' }, { path: `${inNamespace}/endpoints` },
      { method: 'PATCH', path: '/api/v1/namespaces/{ns}', pauseMs: 1100, type: 'application/merge-patch+json', body: { metadata: { labels: {
        'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/audit': 'restricted' } } } }, { ...pod('p'), pauseMs: 500 },
        events] },
    { line: 'T-05', what: 'lines of the log', requests: [{ path: maps }, events] },
    { line: 'T-06', what: 'lists of events for a webhook, and large ones', requests: [configMap('whole', { data: { k: 'v'.repeat(5000) } }),
      { path: `${maps}/other` },
      { path: 'calls:events?{ns}', pauseMs: 500 }] },
    { line: 'T-08', what: 'callers that are unknown', requests: [{ path: maps, headers: { authorization: 'Bearer wrong' } }, { path: maps, as: 'nobody' },
      events] },
    { line: 'T-09', what: 'fields of managers in events', requests: [configMap('whole'), { method: 'PATCH', path: `${maps}/whole?fieldManager=m`,
      type: 'application/merge-patch+json', body: { data: { a: 'b' } } }, { path: maps }, events] },
    { line: 'O-18', what: 'users that others act as', requests: [{ path: maps, headers: { 'impersonate-user': 'carol', 'impersonate-group': 'ops',
      'impersonate-extra-scopes': 'a', 'impersonate-uid': 'u' } }, { path: maps, as: 'alice', headers: { 'impersonate-user': 'carol' } }, events] },
  ],
};
