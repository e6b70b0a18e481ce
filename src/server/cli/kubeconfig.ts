// A kubeconfig: one cluster, one user, one context, certificates inline. JSON would be valid YAML; people read this file.
import { type KeyPair, formatClientKey } from '../tls/certificates.ts';

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** What a kubeconfig is made of. */
interface KubeconfigParts {
  readonly url: string;
  readonly authority: string | undefined;
  readonly admin: KeyPair | undefined;
  readonly token?: string;
  readonly name?: string;
}

/** The text of a kubeconfig; `name` is that of its user, by default the administrator's. `authority` and `admin` are absent for plain HTTP. */
export function formatKubeconfig(options: KubeconfigParts): string {
  const { url, authority, admin, token } = options;
  const name = options.name === undefined ? 'kubernetes-admin' : /^[A-Za-z][-A-Za-z0-9_.]*$/.test(options.name) ? options.name : JSON.stringify(options.name);
  // Clients that read no http: URL without this word take it as what it is: there is nothing to verify.
  const plain = url.startsWith('http:') ? ['    insecure-skip-tls-verify: true'] : [];
  const cluster = [`    server: ${url}`, ...plain, ...(authority === undefined ? [] : [`    certificate-authority-data: ${encode(authority)}`])];
  const user = [
    ...(admin === undefined ? [] : [`    client-certificate-data: ${encode(admin.certificate)}`, `    client-key-data: ${encode(formatClientKey(admin.key))}`]),
    ...(token === undefined ? [] : [`    token: ${JSON.stringify(token)}`]),
  ];
  return [
    'apiVersion: v1', 'kind: Config', 'current-context: pintle', 'clusters:', '- name: pintle', '  cluster:', ...cluster,
    'users:', `- name: ${name}`, ...(user.length === 0 ? ['  user: {}'] : ['  user:', ...user]),
    'contexts:', '- name: pintle', '  context:', '    cluster: pintle', `    user: ${name}`, '',
  ].join('\n');
}
