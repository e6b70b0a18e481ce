// Files that several setups have, and requests that several rows send.
import type { Json, Request } from '../../differential/case.ts';

/** A kubeconfig for the webhook of this name. */
export const kubeconfig = (hook: string): string => JSON.stringify({
  apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'hooks', cluster: { server: `{hooks}/${hook}`, 'certificate-authority': '{dir}/ca.crt' } }],
  users: [{ name: 'apiserver', user: {} }], contexts: [{ name: 'hooks', context: { cluster: 'hooks', user: 'apiserver' } }], 'current-context': 'hooks',
});

export const inNamespace = '/api/v1/namespaces/{ns}';
export const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
export const post = (path: string, body: Json): Request => ({ method: 'POST', path, body });
export const configMap = (name: string, rest: Json = {}): Request => post(`${inNamespace}/configmaps`, { metadata: { name }, ...rest });
export const pod = (name: string, spec: Json = {}, metadata: Json = {}): Request => post(`${inNamespace}/pods`,
  { metadata: { name, ...metadata }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
/** The user that the server sees in this token. */
export const whoIs = (token: string): Request => ({ ...post(selfReviews, {}), headers: { authorization: `Bearer ${token}` } });

export const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}';
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
/** alice may do everything with config maps of the namespace. */
export const letIn: readonly Request[] = [
  post(`${rbac}/roles`, { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }] }),
  post(`${rbac}/rolebindings`, { metadata: { name: 'b' }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] }),
  { path: `${inNamespace}/configmaps`, as: 'alice', until: { field: 'kind', equals: 'ConfigMapList' } },
];
