// Identities of a whole server, over its socket: tokens of service accounts inside and outside their rights, reviews, impersonation, certificates,
// and what must be refused to everyone.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { X509Certificate, generateKeyPairSync, sign } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { systemClock, systemRandom } from '../base/index.ts';
import { type TestServer, createTestClient, requestUntil, startTestServer } from '../test-support/index.ts';
import { type KeyPair, createCertificate } from './tls/certificates.ts';
import { encodeBits, encodeElement, encodeInteger, encodeOid, encodeSequence, encodeSet, encodeUtf8 } from './tls/der.ts';
import { createLogger } from './observability/logger.ts';

const lines: string[] = [];
const logger = createLogger({ verbosity: 10, clock: systemClock, write: (line) => void lines.push(line) });
const context = { clock: systemClock, random: systemRandom };
const weekMs = 7 * 86_400_000;
const directory = mkdtempSync(join(tmpdir(), 'pintle-identity-'));
const write = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const selfReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const post = (path: string, body: unknown) => ({ method: 'POST', path, body });

/** A PKCS#10 request (PEM) for a fresh key. */
function createRequest(commonName: string, organization: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const attribute = (oid: string, text: string) => encodeSet(encodeSequence(encodeOid(oid), encodeUtf8(text)));
  const name = encodeSequence(attribute('2.5.4.3', commonName), attribute('2.5.4.10', organization));
  const info = encodeSequence(encodeInteger(Uint8Array.of(0)), name, publicKey.export({ type: 'spki', format: 'der' }), encodeElement(0xa0));
  const der = encodeSequence(info, encodeSequence(encodeOid('1.2.840.10045.4.3.2')), encodeBits(sign('sha256', info, privateKey)));
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}

describe('a server with service accounts', () => {
  let server: TestServer;
  const tokens: string[] = [];
  before(async () => {
    server = await startTestServer({ logger });
    await server.request(post(accounts, { metadata: { name: 'bot' } }));
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }];
    await server.request(post(`${rbac}/roles`, { metadata: { name: 'maps' }, rules }));
    await server.request(post(`${rbac}/rolebindings`, {
      metadata: { name: 'maps' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'maps' },
      subjects: [{ kind: 'ServiceAccount', name: 'bot', namespace: 'default' }],
    }));
  });
  after(() => server.close());
  const issue = async (spec: object = {}, account = 'bot'): Promise<string> => {
    const { body } = await server.request(post(`${accounts}/${account}/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }));
    tokens.push(body.status.token);
    return body.status.token;
  };
  const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());

  it('lets a client in a service account\'s clothes do what its role says, and nothing else', async () => {
    const client = createTestClient(server.url, await issue());
    const maps = '/api/v1/namespaces/default/configmaps';
    const own = post(maps, { metadata: { name: 'own' } });
    const created = await requestUntil({ request: (one) => client.request(one) }, own, { until: ({ status }) => status !== 403 });
    assert.equal(created.status, 201);
    assert.equal((await client.request({ path: `${maps}/own` })).status, 200);
    const refused = [
      { path: maps }, { path: '/api/v1/namespaces/kube-system/configmaps/own' }, { path: '/api/v1/namespaces/default/secrets/own' },
      { method: 'DELETE', path: `${maps}/own` }, { path: '/api/v1/nodes' },
    ];
    for (const request of refused) assert.equal((await client.request(request)).status, 403, request.path);
    const who = await client.request(post(selfReviews, selfReview));
    assert.equal(who.body.status.userInfo.username, 'system:serviceaccount:default:bot');
    client.close();
  });

  it('writes the claims that other verifiers read', async () => {
    const claims = claimsOf(await issue({ expirationSeconds: 700, audiences: ['vault'] }));
    assert.deepEqual(Object.keys(claims), ['aud', 'exp', 'iat', 'iss', 'jti', 'kubernetes.io', 'nbf', 'sub']);
    assert.deepEqual([claims.aud, claims.exp - claims.iat, claims.iss, claims.sub],
      [['vault'], 700, 'https://kubernetes.default.svc', 'system:serviceaccount:default:bot']);
    assert.deepEqual(Object.keys(claims['kubernetes.io']), ['namespace', 'serviceaccount']);
  });

  it('signs a token for a dry run as well', async () => {
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status, body } = await server.request(post(`${accounts}/bot/token?dryRun=All`, asked));
    assert.deepEqual([status, claimsOf(body.status.token).sub], [201, 'system:serviceaccount:default:bot']);
  });

  it('extends tokens of pods, and ends them with their pod', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const made = await server.request(post(pods, { metadata: { name: 'p' }, spec: { serviceAccountName: 'bot', containers: [{ name: 'c', image: 'i' }] } }));
    assert.equal(made.body.spec.containers[0].volumeMounts[0].mountPath, '/var/run/secrets/kubernetes.io/serviceaccount');
    const token = await issue({ expirationSeconds: 3607, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } });
    const claims = claimsOf(token);
    assert.deepEqual([claims.exp - claims.iat, claims['kubernetes.io'].warnafter - claims.iat], [365 * 24 * 3600, 3607]);
    assert.equal((await server.request({ path: '/api', token })).status, 200);
    await server.request({ method: 'DELETE', path: `${pods}/p?gracePeriodSeconds=0` });
    assert.equal((await server.request({ path: '/api', token })).status, 401);
  });

  it('lets none without credentials in where every caller may do everything', async (test) => {
    const found: string[] = [];
    const open = await startTestServer({
      authorizationMode: ['RBAC', 'AlwaysAllow'], logger: createLogger({ verbosity: 0, clock: systemClock, write: (line) => void found.push(line) }),
    });
    test.after(() => open.close());
    assert.equal((await open.request({ path: '/api/v1/secrets', token: null })).status, 401);
    assert.equal((await open.request({ path: '/api/v1/secrets' })).status, 200);
    assert.match(found.join(''), /callers without credentials are not let in with the mode AlwaysAllow/);
  });

  it('refuses a token request of another name before it looks for the account', async () => {
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: { name: 'other' }, spec: {} };
    const { status, body } = await server.request(post(`${accounts}/absent/token`, asked));
    assert.deepEqual([status, body.details.causes[0].message], [422, 'Invalid value: "other": must match the service account name if specified']);
    assert.equal((await server.request(post(`${accounts}/absent/token`, { ...asked, metadata: {} }))).status, 404);
  });

  it('refuses to bind a token to a pod of another account', async () => {
    await requestUntil(server, { path: `${accounts}/default` }, { until: ({ status }) => status === 200 });
    await server.request(post('/api/v1/namespaces/default/pods', { metadata: { name: 'q' }, spec: { containers: [{ name: 'c', image: 'i' }] } }));
    const spec = { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'q' } };
    const { status, body } = await server.request(post(`${accounts}/bot/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }));
    assert.deepEqual([status, body.message], [400, 'cannot bind token for serviceaccount "bot" to pod running with different serviceaccount name.']);
  });

  it('fills token Secrets, honours them, and removes them with their account', async () => {
    await server.request(post(accounts, { metadata: { name: 'old' } }));
    const annotations = { 'kubernetes.io/service-account.name': 'old' };
    const secrets = '/api/v1/namespaces/default/secrets';
    await server.request(post(secrets, { metadata: { name: 'old', annotations }, type: 'kubernetes.io/service-account-token' }));
    const filled = await requestUntil(server, { path: `${secrets}/old` }, { until: ({ body }) => body.data?.token !== undefined });
    const token = Buffer.from(filled.body.data.token, 'base64').toString();
    tokens.push(token);
    assert.equal((await server.request({ path: '/api', token })).status, 200);
    const used = 'kubernetes.io/legacy-token-last-used';
    await requestUntil(server, { path: `${secrets}/old` }, { until: ({ body }) => body.metadata.labels?.[used] !== undefined });
    const bound = await issue({}, 'old');
    await server.request({ method: 'DELETE', path: `${accounts}/old` });
    for (const gone of [token, bound]) assert.equal((await server.request({ path: '/api', token: gone })).status, 401);
    await requestUntil(server, { path: `${secrets}/old` }, { until: ({ status }) => status === 404 });
  });

  it('notes the use of a token Secret that kube-controller-manager fills', async (test) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const keyFile = write('legacy.pub', publicKey.export({ type: 'spki', format: 'pem' }) as string);
    const other = await startTestServer({ controllers: ['*', '-serviceaccount-token'], serviceAccountKeyFiles: [keyFile] });
    test.after(() => other.close());
    const { body: { metadata: { uid } } } = await other.request(post(accounts, { metadata: { name: 'old' } }));
    const prefix = 'kubernetes.io/serviceaccount';
    const claims = { iss: 'kubernetes/serviceaccount', sub: 'system:serviceaccount:default:old', [`${prefix}/namespace`]: 'default',
      [`${prefix}/secret.name`]: 's', [`${prefix}/service-account.name`]: 'old', [`${prefix}/service-account.uid`]: uid };
    const text = [{ alg: 'RS256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const token = `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
    const secrets = '/api/v1/namespaces/default/secrets';
    await other.request(post(secrets, { metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'old',
      'kubernetes.io/service-account.uid': uid } }, type: 'kubernetes.io/service-account-token', stringData: { token } }));
    assert.equal((await other.request({ path: '/api', token })).status, 200);
    await requestUntil(other, { path: `${secrets}/s` }, { until: ({ body }) => body.metadata.labels?.['kubernetes.io/legacy-token-last-used'] !== undefined });
    await requestUntil(other, { path: '/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking' },
      { until: ({ body }) => body.data?.since !== undefined });
  });

  it('reviews tokens for the audiences asked for, and shows callers of 401s nothing', async () => {
    const token = await issue({ audiences: ['vault', 'other'] });
    const review = (spec: object) => server.request(post(tokenReviews, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }));
    assert.deepEqual((await review({ token, audiences: ['vault'] })).body.status.audiences, ['vault']);
    const repeated = ['other', 'vault', 'none', 'other'];
    assert.deepEqual((await review({ token, audiences: repeated })).body.status.audiences, ['other', 'vault', 'other']);
    assert.match((await review({ token })).body.status.error, /^\[invalid bearer token, token audiences /);
    assert.equal((await review({ token: `${token}x` })).body.status.error, 'invalid bearer token');
    const { body } = await server.request({ path: '/api', token });
    assert.deepEqual([body.code, body.message], [401, 'Unauthorized']);
  });

  it('publishes the keys with which anybody verifies its tokens', async () => {
    const token = await issue();
    const { body } = await server.request({ path: '/.well-known/openid-configuration' });
    assert.equal(body.issuer, 'https://kubernetes.default.svc');
    assert.match(body.jwks_uri, /\/openid\/v1\/jwks$/);
    assert.deepEqual((await server.request({ path: '/.well-known/openid-configuration/' })).body, body, 'a slash may follow');
    const set = JSON.parse((await server.request({ path: '/openid/v1/jwks/', headers: { accept: 'application/jwk-set+json' } })).text);
    assert.equal(set.keys[0].kid, JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString()).kid);
    assert.deepEqual(Object.keys(set.keys[0]).filter((name) => 'dpq'.includes(name)), []);
  });

  it('answers the same 403 for what exists and what does not', async () => {
    await server.request(post('/api/v1/namespaces/default/secrets', { metadata: { name: 'there' } }));
    const ask = async (name: string) => {
      const { text } = await server.request({ path: `/api/v1/namespaces/default/secrets/${name}`, token: 'bob-token' });
      return text.replaceAll(name, 'X');
    };
    assert.equal(await ask('there'), await ask('gone'));
    const inside = await server.request({ path: '/api/v1/namespaces/nowhere/secrets/there', token: 'bob-token' });
    assert.equal(inside.status, 403);
  });

  it('attack 44: limits the pods of an account that says so to its own secrets, debugging containers included', async () => {
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
    await server.request(post(accounts, { metadata: { name: 'strict', annotations }, secrets: [{ name: 'mine' }] }));
    const pods = '/api/v1/namespaces/default/pods';
    const pod = (name: string, container: object, more: object = {}) =>
      post(pods, { metadata: { name }, spec: { serviceAccountName: 'strict', containers: [{ name: 'c', image: 'i', ...container }], ...more } });
    assert.equal((await server.request(pod('ok', { envFrom: [{ secretRef: { name: 'mine' } }] }))).status, 201);
    const refused = [
      pod('a', { envFrom: [{ secretRef: { name: 'theirs' } }] }), pod('b', { env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'theirs', key: 'k' } } }] }),
      pod('c', {}, { volumes: [{ name: 'v', secret: { secretName: 'theirs' } }] }), pod('d', {}, { imagePullSecrets: [{ name: 'theirs' }] }),
    ];
    for (const request of refused) {
      const { status, body } = await server.request(request);
      assert.equal(status, 403);
      assert.match(body.message, /"theirs" is not allowed because service account strict does not reference that (?:secret|imagePullSecret)$/);
    }
    const debug = { spec: { ephemeralContainers: [{ name: 'e', image: 'i', envFrom: [{ secretRef: { name: 'theirs' } }] }] } };
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    const later = await server.request({ method: 'PATCH', path: `${pods}/ok/ephemeralcontainers`, body: debug, headers });
    assert.equal(later.status, 403);
    assert.match(later.body.message, /^pods "ok" is forbidden: ephemeral container e with envFrom referencing secret\.secretName="theirs"/);
  });

  it('attack 37: impersonates only for users with the right to, and never as a group by the back door', async () => {
    const ask = (headers: Record<string, string>, token = 'admin-token') =>
      server.request({ ...post(selfReviews, selfReview), headers: { 'content-type': 'application/json', ...headers }, token });
    const acted = await ask({ 'impersonate-user': 'carol', 'impersonate-extra-scopes': 'view' });
    assert.deepEqual(acted.body.status.userInfo, { username: 'carol', groups: ['system:authenticated'], extra: { scopes: ['view'] } });
    assert.equal((await ask({ 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' }, 'alice-token')).status, 403);
    assert.equal((await ask({ 'impersonate-group': 'system:masters' }, 'alice-token')).status, 400);
    assert.equal((await ask({ 'impersonate-user': 'admin' }, 'nobody')).status, 401);
    const comma = await ask({ 'impersonate-user': 'carol', 'impersonate-group': 'devs, system:masters' });
    assert.deepEqual(comma.body.status.userInfo.groups, ['devs, system:masters', 'system:authenticated']);
    assert.equal((await ask({ 'impersonate-user': 'admin' }, 'alice-token')).headers['x-content-type-options'], 'nosniff');
  });

  it('reads the headers of impersonation as UTF-8', async () => {
    const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
    const headers = { 'content-type': 'application/json', 'impersonate-user': bytes('jörg'), 'impersonate-group': bytes('日本'),
      'impersonate-extra-acme.io%2fk': bytes('ä') };
    const { body } = await server.request({ ...post(selfReviews, selfReview), headers });
    assert.deepEqual(body.status.userInfo, { username: 'jörg', groups: ['日本', 'system:authenticated'], extra: { 'acme.io/k': ['ä'] } });
  });

  it('warns a caller whose token stands behind two spaces', async () => {
    const { status, headers } = await server.request({ path: '/version', token: null, headers: { authorization: 'Bearer  admin-token' } });
    assert.deepEqual([status, headers['warning']], [200,
      '299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"']);
  });

  it('signs approved requests of clients, and lets only users with the right to approve for the signer decide', async () => {
    const request = Buffer.from(createRequest('user-one', 'team')).toString('base64');
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], expirationSeconds: 3600, username: 'forged' };
    const made = await server.request(post(requests, { metadata: { name: 'one' }, spec }));
    assert.equal(made.body.spec.username, 'admin');
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const resources = ['approval', 'status'].map((part) => `certificatesigningrequests/${part}`);
    const rules = [{ apiGroups: ['certificates.k8s.io'], resources, verbs: ['*'] }];
    await server.request(post(`${rbac}/clusterroles`, { metadata: { name: 'deciders' }, rules }));
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'deciders' };
    await server.request(post(`${rbac}/clusterrolebindings`, { metadata: { name: 'deciders' }, roleRef, subjects: [{ kind: 'User', name: 'bob' }] }));
    const approval = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patching = (path: string, body: object, token: string) => ({ method: 'PATCH', path: `${requests}/one/${path}`, body, token, headers });
    const patch = (path: string, body: object, token: string) => server.request(patching(path, body, token));
    const refused = await requestUntil(server, patching('approval', approval, 'bob-token'), { until: ({ text }) => !text.includes('cannot patch') });
    assert.match(refused.body.message, /user not permitted to approve requests with signerName "kubernetes\.io\/kube-apiserver-client"$/);
    const forged = Buffer.from(createCertificate({ commonName: 'x', lifetimeMs: weekMs }, context).certificate).toString('base64');
    assert.match((await patch('status', { status: { certificate: forged } }, 'bob-token')).body.message, /user not permitted to sign requests/);
    assert.equal((await patch('approval', approval, 'admin-token')).status, 200);
    const signed = await requestUntil(server, { path: `${requests}/one` }, { until: ({ body }) => body.status.certificate !== undefined });
    const certificate = new X509Certificate(Buffer.from(signed.body.status.certificate, 'base64'));
    assert.equal(certificate.subject, 'CN=user-one\nO=team');
    assert.ok(Math.abs(Date.parse(certificate.validTo) - systemClock.now() - 3_600_000) < 60_000);
    assert.match((await patch('approval', { status: { conditions: [] } }, 'admin-token')).body.message, /may not remove a condition of type "Approved"/);
    const other = { ...spec, signerName: 'example.com/other' };
    assert.equal((await server.request(post(requests, { metadata: { name: 'two' }, spec: other }))).status, 201);
    const issue = { method: 'PATCH', path: `${requests}/two/status`, body: { status: { certificate: forged } }, headers };
    for (const query of ['?dryRun=All', '', '']) assert.equal((await server.request({ ...issue, path: `${issue.path}${query}` })).status, 200);
    // A worker handles a request of so many members, and this server counts it.
    const annotations = Object.fromEntries(Array.from({ length: 8000 }, (_, index) => [`k${index}`, '']));
    assert.equal((await server.request(post(requests, { metadata: { name: 'three' }, spec: other }))).status, 201);
    const large = { method: 'PATCH', path: `${requests}/three/status`, body: { metadata: { annotations }, status: { certificate: forged } }, headers };
    assert.equal((await server.request(large)).status, 200);
    const counted = (await server.request({ path: '/metrics' })).text.split('\n').filter((line) => line.startsWith('apiserver_certificates_registry_'));
    assert.deepEqual(counted.sort(), [
      'apiserver_certificates_registry_csr_honored_duration_total{signerName="kubernetes.io/kube-apiserver-client"} 1',
      'apiserver_certificates_registry_csr_requested_duration_total{signerName="kubernetes.io/kube-apiserver-client"} 1',
      'apiserver_certificates_registry_csr_requested_duration_total{signerName="other"} 2',
    ]);
  });

  it('attack 41: writes no token into its logs', () => {
    assert.ok(tokens.length > 5 && lines.length > 0);
    const log = lines.join('');
    for (const token of [...tokens, 'admin-token', 'alice-token']) assert.ok(!log.includes(token) && !log.includes(token.split('.')[2] ?? token));
  });
});

describe('a server with a front proxy', () => {
  const proxies = createCertificate({ commonName: 'proxies', lifetimeMs: weekMs }, context);
  const clients = createCertificate({ commonName: 'clients', lifetimeMs: weekMs }, context);
  const leaf = (issuer: KeyPair, commonName: string) => createCertificate({ commonName, issuer, lifetimeMs: weekMs }, context);
  const ask = (url: string, pair: KeyPair | undefined, headers: Record<string, string>) => new Promise<any>((resolve, reject) => {
    const agent = new Agent({ rejectUnauthorized: false, ...(pair !== undefined && { cert: pair.certificate, key: pair.key }) });
    const call = requestHttps(`${url}${selfReviews}`, { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => {
        agent.destroy();
        resolve(JSON.parse(text));
      });
    });
    call.on('error', reject);
    call.end(JSON.stringify(selfReview));
  });
  const files = { requestheaderClientCaFile: write('proxies.crt', proxies.certificate), clientCaFile: write('clients.crt', clients.certificate) };

  it('attack 34: believes its headers with its certificate only', async (testContext) => {
    const server = await startTestServer({ ...files, requestheaderAllowedNames: ['front'] });
    testContext.after(() => server.close());
    const remote = { 'x-remote-user': 'erin', 'x-remote-group': 'devs' };
    const nameOf = async (pair: KeyPair | undefined) => {
      const answer = await ask(server.url, pair, remote);
      return answer.status?.userInfo?.username ?? answer.message;
    };
    assert.equal(await nameOf(leaf(proxies, 'front')), 'erin');
    assert.equal(await nameOf(leaf(clients, 'dave')), 'dave');
    assert.equal(await nameOf(leaf(proxies, 'other')), 'Unauthorized');
    assert.match(await nameOf(undefined), /User "system:anonymous" cannot create/);
    assert.equal(await nameOf(leaf(createCertificate({ commonName: 'proxies', lifetimeMs: weekMs }, context), 'front')), 'Unauthorized');
    assert.match((await server.request({ path: '/metrics' })).text, /^apiserver_client_certificate_expiration_seconds_count 1$/m);
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
    const map = await requestUntil(server, { path }, { until: ({ status }) => status === 200 });
    assert.equal(map.body.data['requestheader-allowed-names'], '["front"]');
    assert.ok(map.body.data['client-ca-file'].includes(clients.certificate));
  });

  it('attack 34: does not start when every client could be a proxy', async () => {
    await assert.rejects(startTestServer({ ...files, clientCaFile: files.requestheaderClientCaFile }), /contain overlapping certificates/);
  });
});

describe('a server without TLS', () => {
  it('has an administrator on this machine', async () => {
    const server = await startTestServer({ tls: false });
    const token = /token: "([^"]+)"/.exec(server.kubeconfig)?.[1] as string;
    assert.equal((await server.request({ path: '/api/v1/nodes', token })).status, 200);
    const review = await server.request(post(tokenReviews, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }));
    assert.equal(review.body.status.authenticated, undefined);
    await server.close();
  });
});

after(() => rmSync(directory, { recursive: true, force: true }));
