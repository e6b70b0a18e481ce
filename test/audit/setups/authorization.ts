// Lines about authorizers: a configuration with webhooks, and the modes of flags.
import type { Json, Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, kubeconfig, pod, post } from './files.ts';

const map = (name: string, as: 'alice' | 'bob'): Request => ({ path: `${inNamespace}/configmaps/${name}`, as });
/** A webhook that allows by the name of what is asked for. */
const decide = ({ apiVersion, kind, spec }: Json): Json | undefined => {
  const name = spec?.resourceAttributes?.name as string | undefined;
  if (name === 'broken') return undefined;
  return { apiVersion, kind, status: { allowed: name === 'allowed', denied: name === 'denied', reason: name === undefined ? '' : `it is ${name}` } };
};
const webhook = (name: string, rest: Json): Json => ({ type: 'Webhook', name, webhook: { timeout: '3s', subjectAccessReviewVersion: 'v1',
  matchConditionSubjectAccessReviewVersion: 'v1', authorizedTTL: '30s', unauthorizedTTL: '30s',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '{dir}/access.kubeconfig' }, ...rest } });
const configuration = (...more: readonly string[]): string => JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration',
  authorizers: [
  webhook('first', { failurePolicy: 'Deny', matchConditions: [{ expression: `request.user in ${JSON.stringify(['alice', ...more])}` },
    { expression: "has(request.resourceAttributes) && request.resourceAttributes.verb != 'delete'" }] }),
  { type: 'Node', name: 'node' }, { type: 'RBAC', name: 'rbac' },
] });

export const authorization: Setup = {
  name: 'authorization',
  flags: ['--authorization-config={dir}/authorization.json'],
  files: { 'authorization.json': configuration(), 'access.kubeconfig': kubeconfig('access') },
  hooks: { access: decide },
  rows: [
    { line: 'O-02', what: 'webhooks of a configuration', requests: [...['allowed', 'denied', 'other'].flatMap((name) => [map(name, 'alice'),
      { path: 'calls:access?{ns}' }]), map('allowed', 'bob'), { ...map('allowed', 'alice'), method: 'DELETE' }, { path: '/none', as: 'alice' },
        { path: 'calls:access?{ns}' },
    { path: `${inNamespace}/configmaps?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx`, as: 'alice' }, { path: 'calls:access?{ns}' }] },
    { line: 'O-02', what: 'a webhook that fails', requests: [{ ...map('broken', 'alice'), headers: { accept: 'application/json' } }] },
    { line: 'O-02', what: 'a configuration of authorizers that changes', requests: [{ method: 'PUT', path: 'file:authorization.json',
      body: configuration('bob') },
      { ...map('allowed', 'bob'), until: { field: 'reason', equals: 'NotFound' } }, map('denied', 'bob'), map('denied', 'alice')] },
  ],
};

const policy = (spec: Json): string => JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });
const asNode = (method: string, path: string, body?: Json): Request => ({ method, path: `cert:node${path}`, ...(body !== undefined && { body }) });
const node = (name: string, rest: Json = {}): Json => ({ metadata: { name, ...rest } });

export const modes: Setup = {
  name: 'modes',
  flags: ['--authorization-mode=Node,ABAC,Webhook,RBAC', '--authorization-policy-file={dir}/policies.jsonl',
    '--authorization-webhook-config-file={dir}/access.kubeconfig',
    '--authorization-webhook-version=v1', '--client-ca-file={dir}/ca.crt', '--enable-admission-plugins=NodeRestriction'],
  files: {
    'policies.jsonl': [policy({ user: 'bob', namespace: '*', resource: 'pods', readonly: true }), policy({ group: 'ops', nonResourcePath: '/logs*',
      readonly: true }),
      policy({ user: 'bob', namespace: 'projects', resource: '*', apiGroup: '*' })].join('\n'),
    'access.kubeconfig': kubeconfig('access'),
  },
  certificates: { node: { commonName: 'system:node:n1', organizations: ['system:nodes'] } },
  hooks: { access: decide },
  rows: [
    { line: 'O-13', what: 'policies of ABAC, a line each', requests: [{ path: `${inNamespace}/pods`, as: 'bob' }, { ...pod('p'), as: 'bob' },
      { path: `${inNamespace}/configmaps`, as: 'bob' }, { path: '/logs/x', as: 'bob' }, { path: '/logs/x', as: 'alice' },
      { path: '/apis/apps/v1/namespaces/projects/deployments', as: 'bob' }, { path: '/api/v1/namespaces/projects/configmaps/x', method: 'DELETE', as: 'bob' },
      { ...post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'projects' } }), as: 'bob' }] },
    { line: 'O-12', what: 'a webhook of flags, and its memory', requests: [map('allowed', 'alice'), map('allowed', 'alice'), { path: 'calls:access?{ns}' },
      map('denied', 'alice'), map('denied', 'alice'), { path: 'calls:access?{ns}' }, map('other', 'alice'), { path: 'calls:access?{ns}' },
      post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { user: 'dave', groups: ['g'], extra: { K: ['v'] }, uid: 'u', resourceAttributes:
        { namespace: '{ns}', name: 'denied', verb: 'get', resource: 'secrets', subresource: 's', version: 'v1' } } }), { path: 'calls:access?{ns}' }] },
    { line: 'O-11', what: 'what nodes may read', requests: [
      ...['one', 'two'].map((name) => post(`${inNamespace}/secrets`, { metadata: { name } })), configMap('one'), configMap('two'),
      post(`${inNamespace}/serviceaccounts`, { metadata: { name: 'default' } }),
      pod('p', { nodeName: 'n1', volumes: [{ name: 'a', secret: { secretName: 'one' } }, { name: 'b', configMap: { name: 'one' } }] }),
      pod('q', { nodeName: 'n2', volumes: [{ name: 'a', secret: { secretName: 'two' } }] }), { ...asNode('GET', `${inNamespace}/secrets/one`), pauseMs: 500 },
      ...['secrets/two', 'secrets', 'configmaps/one', 'configmaps/two', 'pods/p', 'pods/q', 'pods', 'serviceaccounts/default',
        'serviceaccounts/other'].map((at) =>
        asNode('GET', `${inNamespace}/${at}`)), asNode('GET', `${inNamespace}/secrets?fieldSelector=metadata.name%3Done`),
      asNode('POST', `${inNamespace}/serviceaccounts/default/token`, { spec: {} }), asNode('GET', '/api/v1/nodes/n1'), asNode('GET', '/api/v1/nodes/n2'),
      asNode('GET', '/api/v1/nodes'), asNode('GET', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2'),
      asNode('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1'), asNode('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')] },
    { line: 'P-15', what: 'what nodes may write', requests: [asNode('POST', '/api/v1/nodes', node('n1')), asNode('POST', '/api/v1/nodes', node('n2')),
      asNode('PATCH', '/api/v1/nodes/n1', { metadata: { labels: { 'node-restriction.kubernetes.io/a': 'b' } } }),
      asNode('PATCH', '/api/v1/nodes/n1', { metadata: { labels: { 'kubernetes.io/other': 'b' } } }),
      asNode('PATCH', '/api/v1/nodes/n1', { metadata: { labels: { 'example.com/a': 'b' } } }), asNode('PATCH', '/api/v1/nodes/n1',
        { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
      asNode('PATCH', '/api/v1/nodes/n2', { metadata: { labels: { a: 'b' } } }), pod('p', { nodeName: 'n1' }), pod('q', { nodeName: 'n2' }),
      asNode('PATCH', `${inNamespace}/pods/p/status`, { status: { message: 'm' } }), asNode('PATCH', `${inNamespace}/pods/q/status`,
        { status: { message: 'm' } }),
      asNode('PATCH', `${inNamespace}/pods/p/status`, { metadata: { labels: { a: 'b' } } }),
      asNode('DELETE', `${inNamespace}/pods/q`), asNode('POST', `${inNamespace}/pods`, { metadata: { name: 'r' }, spec: { nodeName: 'n1',
        containers: [{ name: 'c', image: 'i' }] } }),
      asNode('POST', `${inNamespace}/pods`, { metadata: { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' } }, spec: { nodeName: 'n2',
        containers: [{ name: 'c', image: 'i' }] } }),
      asNode('POST', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', { metadata: { name: 'n2' }, spec: {} }),
      asNode('POST', `${inNamespace}/pods/q/eviction`, { metadata: { name: 'q' } }), asNode('DELETE', '/api/v1/nodes/n1')]
      .map((request) => (request.method === 'PATCH' ? { ...request, headers: { 'content-type': 'application/merge-patch+json' } } : request)) },
  ],
};
