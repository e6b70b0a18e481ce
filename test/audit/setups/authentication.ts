// Lines about tokens of issuers and webhooks, and about those of service accounts where flags say more of them.
import type { Json, Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, kubeconfig, post, rbac, whoIs } from './files.ts';

const configuration = (domain: string, ...anonymous: readonly string[]): string => JSON.stringify({
  apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration',
  jwt: [{
    issuer: { url: '{hooks}', audiences: ['app', 'web'], audienceMatchPolicy: 'MatchAny', certificateAuthority: '{ca}' },
    claimMappings: { username: { expression: "'sso:' + claims.sub" }, groups: { expression: "claims.?roles.orValue([])" }, uid: { expression: 'claims.sub' },
      extra: [{ key: 'example.com/team', valueExpression: "claims.?team.orValue('')" }] },
    claimValidationRules: [{ expression: `claims.hd == '${domain}'`, message: 'another domain' }],
    userValidationRules: [{ expression: "!user.username.endsWith('root')", message: 'no root' }],
  }],
  anonymous: { enabled: true, conditions: anonymous.map((path) => ({ path })) },
});

/** Paths of anonymous callers. */
const open = ['/livez', '/readyz', '/healthz'];
const good = { sub: 'erin', aud: 'app', hd: 'example.com', roles: ['devs'], team: 'blue' };
/** The user that the server sees in these claims. */
const whoBears = (claims: Json): readonly Request[] => [{ path: `token:${JSON.stringify(claims)}`, save: { jwt: 'token' } }, whoIs('{jwt}')];
const asBearer = (token: string): Request => ({ path: `${inNamespace}/configmaps`, as: 'nobody', headers: { authorization: `Bearer ${token}` } });
const accounts = `${inNamespace}/serviceaccounts`;

export const authentication: Setup = {
  name: 'authentication',
  flags: ['--authentication-config={dir}/authentication.json', '--authentication-token-webhook-config-file={dir}/tokens.kubeconfig',
    '--authentication-token-webhook-version=v1', '--service-account-max-token-expiration=2h', '--api-audiences=api,https://other.example.com',
    '--service-account-extend-token-expiration=false'],
  files: { 'authentication.json': configuration('example.com', ...open), 'tokens.kubeconfig': kubeconfig('tokens') },
  hooks: {
    tokens: ({ apiVersion, kind, spec }) => ({ apiVersion, kind, status: String(spec?.token).startsWith('known-')
      ? { authenticated: true, audiences: spec.audiences, user: { username: spec.token, uid: 'u', groups: ['hooked'], extra: { 'example.com/a': ['b',
        'c'] } } }
      : { authenticated: false, error: 'nobody knows it' } }),
  },
  rows: [
    { line: 'N-15', what: 'tokens of an issuer, and rules about them', requests: [...whoBears(good), ...whoBears({ ...good, aud: ['x', 'web'],
      roles: undefined }),
      ...whoBears({ ...good, aud: 'x' }), ...whoBears({ ...good, hd: 'x' }), ...whoBears({ ...good, sub: 'root' }), ...whoBears({ ...good, exp: 1 }),
      ...whoBears({ ...good, nbf: 99999999999 }), ...whoBears({ ...good, iss: 'https://other.example.com' }), ...whoBears({ ...good, roles: 'devs' })] },
    { line: 'N-16', what: 'a webhook that knows tokens', requests: [{ path: 'calls:tokens' }, whoIs('known-{id}'), { path: 'calls:tokens?known-{id}' },
      whoIs('unknown-{id}'), { path: 'calls:tokens?unknown-{id}' },
      { ...post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'known-again-{id}', audiences: ['api', 'x'] } }) },
      { path: 'calls:tokens?known-again-{id}' }] },
    { line: 'K-34', what: 'a watch goes on when the token of its user has expired', requests: [
      post(`${rbac}/rolebindings`, { metadata: { name: 'b' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'User', name: 'sso:erin' }] }), { path: `token:${JSON.stringify(good)}`, save: { jwt: 'token' } },
      { ...asBearer('{jwt}'), until: { field: 'kind', equals: 'ConfigMapList' } }, { path: `token:${JSON.stringify({ ...good, livesS: 5 })}`, save: {
        jwt: 'token' } }, { ...asBearer('{jwt}'), path: `open:w${inNamespace}/configmaps?watch=1&fieldSelector=metadata.name%3Da` },
      { ...asBearer('{jwt}'), until: { field: 'code', equals: 401 } }, asBearer('{jwt}'), configMap('a'), { path: 'heard:w?1' }] },
    { line: 'N-25', what: 'what a webhook has said of a token is remembered', requests: [whoIs('known-{id}'), whoIs('known-{id}'),
      { path: 'calls:tokens?known-{id}' }] },
    { line: 'N-03', what: 'anonymous callers where the configuration names paths', requests: ['/livez', '/version', '/api', `${inNamespace}/pods`]
      .map((path) => ({ path, as: 'nobody' })) },
    { line: 'N-12', what: 'audiences and lives of tokens', requests: [post(accounts, { metadata: { name: 'a' } }),
      post(`${accounts}/a/token`, { spec: { expirationSeconds: 100_000 } }), post(`${accounts}/a/token`,
        { spec: { audiences: ['https://other.example.com'] } }),
      { ...post(`${accounts}/a/token`, { spec: { audiences: ['https://other.example.com'] } }), save: { bound: 'status.token' } },
      post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: '{bound}', audiences: ['https://other.example.com', 'x'] } })] },
    { line: 'N-15', what: 'a configuration that changes, and one that may not', requests: [
      { method: 'PUT', path: 'file:authentication.json', body: configuration('other.example.com', '/version') },
      { path: '/version', as: 'nobody', pauseMs: 3000 }, { path: '/livez', as: 'nobody' }, ...whoBears(good),
      { method: 'PUT', path: 'file:authentication.json', body: configuration('other.example.com', ...open) }, ...whoBears({ ...good,
        hd: 'other.example.com' })
        .map((request) => (request.method === 'POST' ? { ...request, until: { field: 'kind', equals: 'SelfSubjectReview' } } : request)),
      ...whoBears({ ...good, hd: 'other.example.com' }), ...whoBears(good)] },
  ],
};
