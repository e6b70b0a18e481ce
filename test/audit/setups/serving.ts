// Lines about connections and the callers at their other end: TLS, certificates, headers of all answers, front proxies, bootstrap tokens.
import type { Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, post, selfReviews, whoIs } from './files.ts';

const crossOrigin = ['access-control-allow-origin', 'access-control-allow-methods', 'access-control-allow-headers', 'access-control-expose-headers',
  'access-control-allow-credentials'];
const fromOrigin = (origin: string, request: Request): Request => ({ ...request, headers: { origin, ...request.headers }, shows: crossOrigin });
const good = 'https://console.example.com';
const proxied = { 'x-remote-user': 'carol', 'x-remote-group': 'ops', 'x-remote-extra-scopes': 'a', 'x-remote-uid': 'carol-uid' };
const asCertificate = (name: string, headers: Readonly<Record<string, string>> = {}): Request => ({ ...post(`cert:${name}${selfReviews}`, {}), headers });
const strict = (path: string, rest: Partial<Request> = {}): Request => ({ path, shows: ['strict-transport-security'], ...rest });

export const serving: Setup = {
  name: 'serving',
  flags: ['--strict-transport-security-directives=max-age=31536000,includeSubDomains', String.raw`--cors-allowed-origins=^https://console\.example\.com$`,
    '--tls-cert-file={dir}/serving.crt', '--tls-private-key-file={dir}/serving.key', '--tls-sni-cert-key={dir}/named.crt,{dir}/named.key',
    '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', '--client-ca-file={dir}/ca.crt',
    '--requestheader-client-ca-file={dir}/ca.crt', '--requestheader-allowed-names=front-proxy', '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group', '--requestheader-extra-headers-prefix=X-Remote-Extra-', '--requestheader-uid-headers=X-Remote-Uid',
    '--goaway-chance=0.02', '--http2-max-streams-per-connection=77', '--enable-bootstrap-token-auth'],
  certificates: {
    serving: { commonName: 'serving', hosts: ['127.0.0.1'] }, named: { commonName: 'named', hosts: ['named.example.com'] },
    alice: { commonName: 'alice', organizations: ['devs', 'ops'] }, master: { commonName: 'root', organizations: ['system:masters'] },
    'front-proxy': { commonName: 'front-proxy' }, stranger: { commonName: 'stranger', isSelfSigned: true },
  },
  rows: [
    { line: 'A-26', what: 'Strict-Transport-Security on all answers', requests: [strict('/livez'), strict('/none'),
      strict(`${inNamespace}/configmaps`, { headers: { authorization: 'Bearer wrong' } }), strict(`${inNamespace}/configmaps`, { as: 'alice' }),
      strict(`${inNamespace}/configmaps?watch=1&timeoutSeconds=1`)] },
    { line: 'A-27', what: 'requests of pages, and those that come before them', requests: [
      fromOrigin(good, { method: 'OPTIONS', path: `${inNamespace}/configmaps`, as: 'nobody', headers: { 'access-control-request-method': 'POST' } }),
      fromOrigin('https://other.example.com', { method: 'OPTIONS', path: `${inNamespace}/configmaps`, as: 'nobody' }),
      fromOrigin(good, { path: `${inNamespace}/configmaps` }), fromOrigin('https://other.example.com', { path: `${inNamespace}/configmaps` }),
      fromOrigin(good, { path: `${inNamespace}/configmaps`, headers: { authorization: 'Bearer wrong' } }), fromOrigin(good, { path: '/none',
        as: 'alice' })] },
    { line: 'A-28', what: 'connections that end by chance', requests: [{ path: 'h2:2000/version' }] },
    { line: 'A-29', what: 'protocols, versions and suites', requests: ['', 'alpn=h2,http/1.1', 'alpn=http/1.1', 'alpn=none',
      'maxVersion=TLSv1.2', 'maxVersion=TLSv1.2&ciphers=ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384',
      'maxVersion=TLSv1.1&minVersion=TLSv1.1&ciphers=DEFAULT@SECLEVEL%3D0'].map((options) => ({ path: `tls:?${options}` })) },
    { line: 'A-29 S-17', what: 'streams of known and unknown callers', requests: [{ path: 'h2:1/version' }, { path: 'h2:3/version', as: 'nobody' },
      { path: 'h2:3/api/v1/pods', as: 'nobody' }] },
    { line: 'A-53', what: 'the certificate of the server for itself', requests: [{ path: 'tls:?servername=apiserver-loopback-client' }] },
    { line: 'A-54', what: 'certificates by name, and new ones in the same files', requests: ['named.example.com', 'other.example.com', '']
      .map((name): Request => ({ path: `tls:?servername=${name}` })).concat([{ path: 'certificate:serving', method: 'PUT',
        body: { commonName: 'serving-again', hosts: ['127.0.0.1'] } },
        { path: 'certificate:named', method: 'PUT', body: { commonName: 'named-again', hosts: ['named.example.com'] } },
        { path: 'tls:?', until: { field: 'subject', equals: 'serving-again' } },
        { path: 'tls:?servername=named.example.com', until: { field: 'subject', equals: 'named-again' } },
        { path: 'tls:?' }, { path: 'tls:?servername=named.example.com' }]) },
    { line: 'A-31 K-32', what: 'a watch by WebSocket', requests: [{ ...configMap('a', { data: { k: 'v' } }), save: { rv: 'metadata.resourceVersion' } },
      { path: `ws:${inNamespace}/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0`, headers: { origin: 'https://example.com' } },
      { path: `ws:${inNamespace}/configmaps/none?watch=1&resourceVersion=x`, headers: { origin: 'https://example.com' } }] },
    { line: 'N-19', what: 'tokens among the protocols of a WebSocket', requests: ['admin-token', 'alice-token', 'wrong'].map((token) => ({ as: 'nobody',
      path: `ws:${inNamespace}/configmaps?watch=1&timeoutSeconds=1`, headers: { origin: 'https://example.com', 'sec-websocket-protocol':
        `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}, base64.binary.k8s.io` } })) },
    { line: 'N-05', what: 'users of client certificates', requests: [asCertificate('alice'), { path: `cert:alice${inNamespace}/configmaps` }] },
    { line: 'N-06', what: 'the group of a certificate that may do everything', requests: [asCertificate('master'), { path: 'cert:master/api/v1/nodes' }] },
    { line: 'N-26', what: 'certificates are asked for, not demanded', requests: [{ path: '/livez', as: 'nobody' }, asCertificate('stranger'),
      { path: 'cert:stranger/livez' }, { ...asCertificate('stranger'), headers: { authorization: 'Bearer alice-token' } }] },
    { line: 'N-01', what: 'the first that knows the caller wins', requests: [asCertificate('alice', { authorization: 'Bearer bob-token' }),
      asCertificate('alice', { authorization: 'Bearer wrong' }), asCertificate('front-proxy', { ...proxied, authorization: 'Bearer bob-token' })] },
    { line: 'N-17', what: 'users of front proxies', requests: [asCertificate('front-proxy', proxied), asCertificate('front-proxy'), asCertificate('alice',
      proxied),
      { ...post(selfReviews, {}), headers: proxied }] },
    { line: 'N-18 W-09', what: 'what aggregated servers read of callers', requests: [
      { path: '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication' },
      { path: '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/extension-apiserver-authentication-reader' }] },
    { line: 'N-10', what: 'bootstrap tokens', requests: [post('/api/v1/namespaces/kube-system/secrets', { metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.kubernetes.io/token', stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': 'system:bootstrappers:one' } }), { ...whoIs('abcdef.0123456789abcdef'), pauseMs: 500 }, whoIs('abcdef.0123456789abcdeg'),
    post('/api/v1/namespaces/kube-system/secrets', { metadata: { name: 'bootstrap-token-ghijkl' }, type: 'bootstrap.kubernetes.io/token',
      stringData: { 'token-id': 'ghijkl', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true',
        expiration: '2001-02-03T04:05:06Z' } }),
    { ...whoIs('ghijkl.0123456789abcdef'), pauseMs: 500 }] },
    { line: 'X-02 X-32', what: 'flags that are none, and values that are none', requests: ['--no-such-flag', '--secure-port=abc', '--event-ttl=abc',
      '--allow-privileged=abc',
      '--v=abc'].map((flags) => ({ path: `run:${flags}` })) },
  ],
};
