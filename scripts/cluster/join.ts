// How the kubelet of `npm run cluster` becomes a node: by TLS bootstrap, as kubeadm sets it up. A bootstrap token lets the kubelet ask for a client
// certificate, kube-controller-manager approves and signs the request, and the kubelet keeps the certificate for itself from then on.
import { randomBytes } from 'node:crypto';

/** A bootstrap token: the two halves of `id.secret`. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

/** A token that has not been used. */
export const makeBootstrapToken = (): BootstrapToken => ({ id: randomBytes(3).toString('hex'), secret: randomBytes(8).toString('hex') });

const ROLES = 'rbac.authorization.k8s.io';
const bind = (name: string, role: string, group: string): object => ({
  apiVersion: `${ROLES}/v1`, kind: 'ClusterRoleBinding', metadata: { name }, roleRef: { apiGroup: ROLES, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: ROLES, kind: 'Group', name: group }],
});

/** The objects that let a kubelet join: the token, the right to ask for a certificate, and the two approvals, of the first one and of its renewal. */
export const joinObjects = ({ id, secret }: BootstrapToken): readonly object[] => [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' }, type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true', 'auth-extra-groups': 'system:bootstrappers:nodes' } },
  bind('nodes:bootstrap', 'system:node-bootstrapper', 'system:bootstrappers:nodes'),
  bind('nodes:approve', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient', 'system:bootstrappers:nodes'),
  bind('nodes:renew', 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient', 'system:nodes'),
];

/** A kubeconfig of one user with a token. */
export function tokenKubeconfig(server: string, authorityFile: string, token: string): object {
  return {
    apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'cluster', cluster: { server, 'certificate-authority': authorityFile } }],
    users: [{ name: 'user', user: { token } }], contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }], 'current-context': 'context',
  };
}
