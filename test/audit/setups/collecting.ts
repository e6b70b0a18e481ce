// Lines about the end of namespaces, for which a loop of kube-controller-manager's runs beside the peer.
import type { Setup } from '../row.ts';
import { configMap, inNamespace, pod, post } from './files.ts';

const merge = 'application/merge-patch+json';
const ended = { path: inNamespace, until: { field: 'code', equals: 404 } } as const;

export const collecting: Setup = {
  name: 'collecting',
  flags: [],
  loops: ['namespace'],
  rows: [
    { line: 'L-15', what: 'pods of a namespace end before anything else', requests: [pod('p', {}, { finalizers: ['example.com/hold'] }), configMap('a'),
      { method: 'DELETE', path: inNamespace }, { path: inNamespace, until: { field: 'status.conditions.3.status', equals: 'True' } },
      { path: inNamespace }, { path: `${inNamespace}/configmaps/a` }, { path: `${inNamespace}/pods/p` },
      { method: 'PATCH', path: `${inNamespace}/pods/p`, type: merge, body: { metadata: { finalizers: null } } }, ended, { path: inNamespace },
      { path: `${inNamespace}/configmaps/a` }] },
    { line: 'L-17', what: 'a namespace does not end while a group cannot be discovered', requests: [
      post('/apis/apiregistration.k8s.io/v1/apiservices', { metadata: { name: 'v1.{id}.example.com' }, spec: { group: '{id}.example.com', version: 'v1',
        groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: { name: 'none', namespace: '{ns}' } } }),
      { path: '/apis/apiregistration.k8s.io/v1/apiservices/v1.{id}.example.com', until: { field: 'status.conditions.0.status', equals: 'False' } },
      configMap('a'), { method: 'DELETE', path: inNamespace }, { path: inNamespace, until: { field: 'status.conditions.0.status', equals: 'True' } },
      { path: inNamespace }, { path: `${inNamespace}/configmaps/a`, until: { field: 'code', equals: 404 } }, { path: `${inNamespace}/configmaps/a` },
      { method: 'DELETE', path: '/apis/apiregistration.k8s.io/v1/apiservices/v1.{id}.example.com' }, ended, { path: inNamespace }] },
  ],
};
