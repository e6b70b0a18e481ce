// Bootstrap tokens (`id.secret`), kept as Secrets in kube-system: what `kubeadm join` and the like show. Mirrors kube-apiserver's
// --enable-bootstrap-token-auth.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/index.ts';
import type { AuthenticateToken } from './credentials.ts';
import type { FindBoundObject } from './service-account.ts';

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Makes the authenticator. */
export function createBootstrapTokenAuthenticator(options: { readonly find: FindBoundObject; readonly clock: Clock }): AuthenticateToken {
  return async (token) => {
    const [, id, secret] = form.exec(token) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const found = await options.find('secrets', { namespace: 'kube-system', name: `bootstrap-token-${id}` });
    if (found === undefined || found.metadata.deletionTimestamp !== undefined || found['type'] !== 'bootstrap.kubernetes.io/token') return undefined;
    const data = (found['data'] ?? {}) as Readonly<Record<string, string>>;
    const read = (name: string) => Buffer.from(Object.hasOwn(data, name) ? data[name] as string : '', 'base64').toString('utf8');
    const hash = (text: string) => createHash('sha256').update(text).digest();
    const same = timingSafeEqual(hash(read('token-secret')), hash(secret)) && read('token-id') === id;
    const expiration = read('expiration');
    const expired = expiration !== '' && !(Date.parse(expiration) > options.clock.now());
    if (!same || expired || read('usage-bootstrap-authentication') !== 'true') return undefined;
    const groups = read('auth-extra-groups').split(',').filter((group) => group !== '');
    if (!groups.every((group) => groupForm.test(group))) return undefined;
    return { type: 'user', user: { name: `system:bootstrap:${id}`, groups: ['system:bootstrappers', ...groups] } };
  };
}
