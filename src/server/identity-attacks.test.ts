// Attacks on identities, each over the socket of a whole server: headers and tokens that pretend, tokens that outlive what they stand for, and what
// callers without credentials see.
import assert from 'node:assert/strict';
import crypto, { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createTokenAuthenticator, keyIdOf, signJwt } from '../auth/index.ts';
import { systemClock, systemRandom } from '../base/index.ts';
import { type TestServer, eventually, startTestServer } from '../test-support/index.ts';
import { createLogger } from './observability/logger.ts';
import { startTestService } from './testing.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-attacks-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const lines: string[] = [];
const logger = createLogger({ verbosity: 10, clock: systemClock, write: (line) => void lines.push(line) });
const core = '/api/v1/namespaces/default';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const apiGroup = 'rbac.authorization.k8s.io';
const tokenRequest = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };

describe('a server under attack', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ logger });
  });
  after(() => server.close());
  const post = (path: string, body: unknown) => server.request({ method: 'POST', path, body });
  const remove = (path: string) => server.request({ method: 'DELETE', path });
  const statusOf = async (token: string | null, path = '/api') => (await server.request({ path, token })).status;

  it('attack 35: no header of a proxy is passed on to what stands behind proxies', async () => {
    const behind = await startTestService(() => ({}));
    const { port } = new URL(behind.url);
    await post(`${core}/services`, { metadata: { name: 'behind' }, spec: { ports: [{ port: 443, targetPort: Number(port) }] } });
    await post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      metadata: { name: 'behind', labels: { 'kubernetes.io/service-name': 'behind' } }, addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }],
      ports: [{ port: Number(port) }],
    });
    await post('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: 'v1.behind.example.com' }, spec: {
        group: 'behind.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true,
        service: { name: 'behind', namespace: 'default', port: 443 },
      },
    });
    const headers = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'x-who': 'root' };
    for (const path of [`${core}/services/https:behind:443/proxy/x`, '/apis/behind.example.com/v1/things', '/api/v1/nodes/127.0.0.1/proxy/x']) {
      const { status } = await server.request({ path, headers });
      assert.ok(status >= 400, `${path} answered ${status}`);
    }
    assert.deepEqual(behind.asked, []);
    await remove('/apis/apiregistration.k8s.io/v1/apiservices/v1.behind.example.com');
    await behind.close();
  });

  it('attack 67: names, agents and users of a client stay inside their log line', async () => {
    const before = lines.length;
    const path = '/api/v1/namespaces/default/configmaps/a%0d%0aforged%1b%5b2J%c2%9b31m';
    await server.request({ path, headers: { 'user-agent': 'agent\u009b31m"} {"level":"error"' } });
    await eventually(() => assert.ok(lines.slice(before).some((line) => line.includes('agent'))));
    for (const line of lines.slice(before)) {
      assert.doesNotMatch(line.slice(0, -1), /[\u0000-\u001f\u007f-\u009f]/);
      assert.doesNotThrow(() => JSON.parse(line));
    }
  });

  it('attack 41: a token is looked up by a keyed hash: its own text is never compared', async (context) => {
    const seen: string[] = [];
    const { hash } = crypto;
    context.mock.method(crypto, 'hash', (...given: Parameters<typeof hash>) => {
      seen.push(String(given[1]));
      return hash(...given);
    });
    syncBuiltinESMExports();
    context.after(() => {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const authenticate = createTokenAuthenticator([{ token: 'secret-token', user: { name: 'u', groups: [] } }], systemRandom);
    assert.deepEqual(await authenticate('secret-token', []), { type: 'user', user: { name: 'u', groups: ['system:authenticated'] }, lasting: true });
    const wrongs = ['', 'secret-toke', 'secret-tokeo', 'secret-token ', 'SECRET-TOKEN'];
    for (const wrong of wrongs) assert.equal(await authenticate(wrong, []), undefined);
    const [key] = /^[0-9a-f]{64}/.exec(seen[0] ?? '') ?? [];
    assert.deepEqual(seen, ['secret-token', 'secret-token', ...wrongs].map((token) => key + token), 'one secret key of 32 bytes before all of them');
  });

  it('attack 41: a token that is refused is in no answer and in no log', async () => {
    await post(`${core}/serviceaccounts`, { metadata: { name: 'quiet' } });
    const { body } = await post(`${core}/serviceaccounts/quiet/token`, { ...tokenRequest, spec: {} });
    const token = body.status.token as string;
    await remove(`${core}/serviceaccounts/quiet`);
    const path = '/apis/authentication.k8s.io/v1/tokenreviews';
    const review = await post(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } });
    const refused = await server.request({ path: `/api?token=x`, token });
    assert.equal(refused.status, 401);
    const [, claims = '', signature = ''] = token.split('.');
    for (const part of [claims, signature]) assert.ok(![refused.text, lines.join(''), JSON.stringify(review.body.status)].some((text) => text.includes(part)));
  });

  it('attack 42: a token whose signature is another\'s, or that names another issuer, audience or time, opens nothing', async () => {
    await post(`${core}/serviceaccounts`, { metadata: { name: 'target' } });
    const { body } = await post(`${core}/serviceaccounts/target/token`, { ...tokenRequest, spec: {} });
    const token = body.status.token as string;
    assert.equal(await statusOf(token), 200);
    const [head = '', middle = '', signature = ''] = token.split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = read(middle);
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const stranger = { ...pair, keyId: read(head).kid as string };
    const forged = [
      `${encode({ alg: 'none' })}.${middle}.`, `${encode({ alg: 'none', kid: read(head).kid })}.${middle}.${signature}`,
      `${encode({ ...read(head), alg: 'HS256' })}.${middle}.${signature}`,
        `${head}.${encode({ ...claims, sub: 'system:serviceaccount:kube-system:x' })}.${signature}`,
      await signJwt(claims, stranger), await signJwt(claims, { ...stranger, keyId: keyIdOf(pair.publicKey) }),
      `${encode({ ...read(head), jwk: pair.publicKey.export({ format: 'jwk' }) })}.${middle}.${(await signJwt(claims, stranger)).split('.')[2] ?? ''}`,
      await signJwt({ ...claims, iss: 'https://evil.example' }, stranger), `${token}x`, token.slice(0, -4), `${token}.${token}`,
    ];
    for (const one of forged) assert.equal(await statusOf(one), 401, one.slice(0, 60));
    const elsewhere = await post(`${core}/serviceaccounts/target/token`, { ...tokenRequest, spec: { audiences: ['elsewhere'] } });
    assert.equal(await statusOf(elsewhere.body.status.token), 401);
  });

  it('attack 43: a token ends with its account, its pod and its Secret, and does not come back with others of their names', async () => {
    const account = async () => post(`${core}/serviceaccounts`, { metadata: { name: 'mortal' } });
    const pod = { metadata: { name: 'p' }, spec: { serviceAccountName: 'mortal', containers: [{ name: 'c', image: 'i' }] } };
    const secret = { metadata: { name: 's' } };
    await account();
    const uids = new Map<string, string>();
    for (const [plural, object] of [['pods', pod], ['secrets', secret]] as const) uids.set(plural, (await post(`${core}/${plural}`, object)).body.metadata.uid);
    const issue = async (kind?: string, plural = '', name = '') => {
      const boundObjectRef = kind === undefined ? {} : { boundObjectRef: { kind, apiVersion: 'v1', name, uid: uids.get(plural) } };
      return (await post(`${core}/serviceaccounts/mortal/token`, { ...tokenRequest, spec: boundObjectRef })).body.status.token as string;
    };
    const [plain, ofPod, ofSecret] = [await issue(), await issue('Pod', 'pods', 'p'), await issue('Secret', 'secrets', 's')];
    assert.deepEqual([await statusOf(plain), await statusOf(ofPod), await statusOf(ofSecret)], [200, 200, 200]);
    await server.request({ method: 'DELETE', path: `${core}/pods/p`, body: { gracePeriodSeconds: 0 } });
    await remove(`${core}/secrets/s`);
    assert.deepEqual([await statusOf(plain), await statusOf(ofPod), await statusOf(ofSecret)], [200, 401, 401]);
    for (const [plural, object] of [['pods', pod], ['secrets', secret]] as const) assert.equal((await post(`${core}/${plural}`, object)).status, 201);
    assert.deepEqual([await statusOf(ofPod), await statusOf(ofSecret)], [401, 401]);
    await remove(`${core}/serviceaccounts/mortal`);
    assert.equal(await statusOf(plain), 401);
    await account();
    assert.equal(await statusOf(plain), 401);
  });

  it('attack 47: callers without credentials see health and version, and nothing that shows more', async () => {
    const open = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
    const closed = ['/', '/api', '/apis', '/api/v1', '/openapi/v2', '/openapi/v3', '/metrics', '/metrics/slis', '/debug/pprof', '/debug/flags/v', '/debug',
      '/logs',
      '/statusz', '/flagz', '/healthz/etcd', '/readyz/ping', '/openid/v1/jwks', '/.well-known/openid-configuration',
        '/api/v1/namespaces/kube-public/configmaps'];
    for (const path of open) assert.equal(await statusOf(null, path), 200, path);
    for (const path of closed) assert.equal(await statusOf(null, path), 403, path);
    for (const path of ['/debug', '/logs']) assert.equal(await statusOf('admin-token', path), 404, path);
    const strict = await startTestServer({ anonymousAuth: false });
    for (const path of [...open, ...closed]) assert.equal((await strict.request({ path, token: null })).status, 401, path);
    await strict.close();
  });

  it('attack 49: a watch outlives the right to it, as in the reference, and cannot be begun again', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['watch'] }];
    const subjects = [{ kind: 'User', apiGroup, name: 'alice' }];
    await post(`${rbac}/roles`, { metadata: { name: 'watcher' }, rules });
    await post(`${rbac}/rolebindings`, { metadata: { name: 'watcher' }, roleRef: { apiGroup, kind: 'Role', name: 'watcher' }, subjects });
    const path = `${core}/configmaps?watch=1&fieldSelector=metadata.name%3Dseen&timeoutSeconds=3`;
    const watching = server.request({ path, token: 'alice-token' });
    const isWatched = /^apiserver_longrunning_requests\{.*resource="configmaps".*\} 1$/m;
    await eventually(async () => assert.match((await server.request({ path: '/metrics' })).text, isWatched));
    await remove(`${rbac}/rolebindings/watcher`);
    await post(`${core}/configmaps`, { metadata: { name: 'seen' } });
    assert.equal(await statusOf('alice-token', path), 403);
    const { status, text } = await watching;
    assert.equal(status, 200);
    assert.match(text, /"ADDED".*"seen"/);
  });
});

describe('a server whose issuer changes its keys', () => {
  it('attack 42: forgets the keys that the issuer has taken back', async () => {
    let now = systemClock.monotonicMs();
    const clock = { ...systemClock, monotonicMs: () => now };
    const make = () => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return { ...pair, keyId: keyIdOf(pair.publicKey) };
    };
    const [old, fresh] = [make(), make()];
    let published = old;
    let url = '';
    const provider = await startTestService((path) => (path === '/keys'
      ? { keys: [{ ...published.publicKey.export({ format: 'jwk' }), kid: published.keyId }] } : { issuer: url, jwks_uri: `${url}/keys` }));
    url = provider.url;
    const issuer = { url, audiences: ['a'], certificateAuthority: provider.authority };
    const file = join(directory, 'authentication.yaml');
    writeFileSync(file, JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', jwt: [{ issuer, claimMappings: { username: { claim: 'sub',
        prefix: '' } } }],
    }));
    const server = await startTestServer({ authenticationConfig: file, clock });
    const ask = async (key: typeof old) => {
      const claims = { iss: url, aud: 'a', sub: 'u', exp: Math.floor(systemClock.now() / 1000) + 600 };
      return (await server.request({ path: '/api', token: await signJwt(claims, key) })).status;
    };
    assert.deepEqual([await ask(old), await ask(fresh)], [200, 401]);
    published = fresh;
    now += 11_000;
    assert.deepEqual([await ask(fresh), await ask(old)], [200, 401]);
    await server.close();
    await provider.close();
  });
});
