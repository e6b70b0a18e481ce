// The administrator's kubeconfig: one cluster, one user, one context, certificates inline. JSON would be valid YAML; people read this file.
import type { KeyPair } from './certificates.ts';

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** The text of a kubeconfig. `authority` and `admin` are absent for plain HTTP. */
export function formatKubeconfig(
  options: { readonly url: string; readonly authority: string | undefined; readonly admin: KeyPair | undefined; readonly token?: string },
): string {
  const { url, authority, admin, token } = options;
  const cluster = [`    server: ${url}`, ...(authority === undefined ? [] : [`    certificate-authority-data: ${encode(authority)}`])];
  const user = [
    ...(admin === undefined ? [] : [`    client-certificate-data: ${encode(admin.certificate)}`, `    client-key-data: ${encode(admin.key)}`]),
    ...(token === undefined ? [] : [`    token: ${JSON.stringify(token)}`]),
  ];
  return [
    'apiVersion: v1', 'kind: Config', 'current-context: pintle', 'clusters:', '- name: pintle', '  cluster:', ...cluster,
    'users:', '- name: kubernetes-admin', ...(user.length === 0 ? ['  user: {}'] : ['  user:', ...user]),
    'contexts:', '- name: pintle', '  context:', '    cluster: pintle', '    user: kubernetes-admin', '',
  ].join('\n');
}
