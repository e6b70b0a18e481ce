// The other authenticators: front proxies, OpenID providers, webhooks, bootstrap tokens; each with the credentials that it must refuse.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { systemClock, systemRandom } from '../../base/index.ts';
import { createAuthenticator } from './authenticate.ts';
import { createBootstrapTokenAuthenticator } from './bootstrap-token.ts';
import type { Credentials } from './credentials.ts';
import { createFrontProxy } from './front-proxy.ts';
import { type SigningKey, keyIdOf, signJwt } from './jwt.ts';
import { type OidcIssuer, type OidcObserver, createOidcAuthenticator } from './oidc.ts';
import { createWebhookTokenAuthenticator } from './webhook-token.ts';

const headers = new Map([
  ['x-remote-user', ['erin']], ['x-remote-group', ['devs', 'ops, system:masters']], ['x-remote-extra-acme.com%2fteam', ['x']], ['x-remote-uid', ['9']],
]);
const proxy = { commonName: 'proxy', organizations: [], authorized: false, frontProxy: true };

describe('createFrontProxy', () => {
  const frontProxy = createFrontProxy({
    allowedNames: ['proxy'], usernameHeaders: ['X-Remote-User'], uidHeaders: ['X-Remote-Uid'], groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  });
  const authenticate = createAuthenticator({ tokens: [], allowAnonymous: true, frontProxy });
  const whoIs = async (credentials: Omit<Credentials, 'authorization'>): Promise<unknown> => {
    const found = await authenticate({ authorization: undefined, headers: () => headers, ...credentials });
    return found.type === 'user' ? found.user : found.type;
  };

  it('believes headers with the certificate of a proxy; a comma in a group is part of its name', async () => {
    assert.deepEqual(await whoIs({ clientCertificate: proxy }), {
      name: 'erin', uid: '9', groups: ['devs', 'ops, system:masters', 'system:authenticated'], extra: { 'acme.com/team': ['x'] },
    });
  });

  it('does not see headers without it, and refuses another name on it, or a proxy that names no user', async () => {
    assert.deepEqual(await whoIs({}), { name: 'system:anonymous', groups: ['system:unauthenticated'] });
    assert.equal(await whoIs({ clientCertificate: { ...proxy, commonName: 'other' } }), 'refused');
    assert.equal(await whoIs({ clientCertificate: proxy, headers: () => new Map() }), 'refused');
    const client = { commonName: 'carol', organizations: [], authorized: true, frontProxy: false };
    assert.deepEqual(await whoIs({ clientCertificate: client }), { name: 'carol', groups: ['system:authenticated'] });
  });
});

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key: SigningKey = { ...pair, keyId: keyIdOf(pair.publicKey) };
const strangerPair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const stranger: SigningKey = { ...strangerPair, keyId: 'stranger' };
const url = 'https://issuer.example';

function provide(more: Partial<OidcIssuer> = {}, documents: Readonly<Record<string, unknown>> = {}, observer?: OidcObserver) {
  const asked: string[] = [];
  const all: Readonly<Record<string, unknown>> = {
    [`${url}/.well-known/openid-configuration`]: { issuer: url, jwks_uri: `${url}/keys` },
    [`${url}/keys`]: { keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.keyId, use: 'sig' }] }, ...documents,
  };
  const issuer: OidcIssuer = {
    url, audiences: ['app'], username: { claim: 'email', prefix: '' }, groups: { claim: 'roles', prefix: 'oidc:' }, requiredClaims: [], algorithms: ['RS256'],
    async fetchText(address) {
      asked.push(address);
      if (all[address] === undefined) throw new Error('not there');
      return JSON.stringify(all[address]);
    },
    ...more,
  };
  return { asked, authenticate: createOidcAuthenticator({ issuers: [issuer], clock: systemClock, random: systemRandom, observer }) };
}
const now = Math.floor(Date.now() / 1000);
const good = { iss: url, aud: 'app', exp: now + 600, email: 'erin@example.com', email_verified: true, roles: ['a', 'b'] };
const evaluate = async (claims: object, { authenticate } = provide(), signer = key): Promise<string> => {
  const found = await authenticate(await signJwt(claims as Record<string, unknown>, signer), []);
  return found === undefined ? 'unknown' : found.type === 'user' ? `${found.user.name} ${found.user.groups.join(',')}` : found.reason;
};

describe('createOidcAuthenticator', () => {
  it('maps claims to a user and fetches the keys once', async () => {
    const provider = provide();
    assert.deepEqual(provider.asked, [`${url}/.well-known/openid-configuration`], 'the document is asked for before there is a token');
    assert.equal(await evaluate(good, provider), 'erin@example.com oidc:a,oidc:b');
    assert.equal(await evaluate({ ...good, roles: 'one' }, provider), 'erin@example.com oidc:one');
    assert.equal(provider.asked.length, 2);
  });

  const refused: readonly (readonly [string, object, RegExp])[] = [
    ['an expired token', { exp: now - 1 }, /expired/], ['a token without an end', { exp: undefined }, /expired/],
    ['a token of later', { nbf: now + 900 }, /nbf/],
    ['another audience', { aud: ['other'] }, /audience/], ['another issuer', { iss: 'https://evil.example' }, /unknown/],
    ['an unverified address', { email_verified: false }, /email not verified/], ['a claim that is no text', { email: 5 }, /username claim/],
    ['no user', { email: undefined }, /username claim/], ['groups that are no texts', { roles: [1] }, /groups claim/],
  ];
  for (const [what, claims, reason] of refused) it(`refuses ${what}`, async () => assert.match(await evaluate({ ...good, ...claims }), reason));

  it('refuses a signature of another key, also under the provider\'s key name', async () => {
    assert.match(await evaluate(good, provide(), stranger), /signature/);
    assert.match(await evaluate(good, provide(), { ...stranger, keyId: key.keyId }), /signature/);
  });

  it('refuses a name that no key has, whatever key made the signature, and fetches the keys again for it', async () => {
    const provider = provide();
    assert.match(await evaluate(good, provider, { ...key, keyId: 'unknown' }), /signature/);
    assert.equal(await evaluate(good, provider), 'erin@example.com oidc:a,oidc:b');
    assert.equal(provider.asked.length, 2, 'the keys that were fetched a moment ago are not fetched again');
  });

  it('tries all keys for a header without a name', async () => {
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = [strangerPair.publicKey, ec.publicKey, key.publicKey].map((one, index) => ({ ...one.export({ format: 'jwk' }), kid: `k${index}` }));
    const provider = provide({}, { [`${url}/keys`]: { keys: jwks } });
    assert.equal(await evaluate(good, provider, { ...key, keyId: '' }), 'erin@example.com oidc:a,oidc:b');
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
    assert.match(await evaluate(good, provider, { ...other, keyId: '' }), /signature/);
  });

  it('attack 42: refuses keys of a discovery document that names another issuer or a place without TLS', async () => {
    const discovery = `${url}/.well-known/openid-configuration`;
    assert.match(await evaluate(good, provide({}, { [discovery]: { issuer: 'https://evil.example', jwks_uri: `${url}/keys` } })), /signature/);
    assert.match(await evaluate(good, provide({}, { [discovery]: { issuer: url, jwks_uri: 'http://issuer.example/keys' } })), /signature/);
  });

  it('takes an empty name from a claim, and none from claims that lack it', async () => {
    assert.equal(await evaluate({ ...good, email: '' }), ' oidc:a,oidc:b');
    assert.equal(await evaluate({ ...good, email: undefined }), 'oidc: could not read the username claim email');
  });

  it('says when keys were fetched and what became of tokens', async () => {
    const heard: unknown[] = [];
    const observer: OidcObserver = {
      trusts: (issuers) => void heard.push(issuers),
      fetchedKeys: (issuer, keys) => void heard.push([issuer, keys === undefined ? undefined : Object.keys(JSON.parse(keys))]),
      checkedToken: (issuer, result, seconds) => void heard.push([issuer, result, seconds >= 0]),
    };
    const provider = provide({}, {}, observer);
    const token = await signJwt(good, key);
    for (let times = 0; times < 2; times++) await provider.authenticate(token, []);
    await evaluate({ ...good, aud: 'other' }, provider);
    assert.deepEqual(heard, [[url], [url, ['keys']], [url, 'success', true], [url, 'failure', true]]);
    heard.length = 0;
    await evaluate(good, provide({}, { [`${url}/keys`]: undefined }, observer));
    assert.deepEqual(heard, [[url], [url, undefined], [url, 'failure', true]]);
  });

  it('wants required claims and allowed algorithms', async () => {
    assert.match(await evaluate(good, provide({ requiredClaims: [{ claim: 'hd', value: 'x' }] })), /required claim hd/);
    assert.equal(await evaluate({ ...good, hd: 'x' }, provide({ requiredClaims: [{ claim: 'hd', value: 'x' }] })), 'erin@example.com oidc:a,oidc:b');
    assert.match(await evaluate(good, provide({ algorithms: ['ES256'] })), /signature/);
  });
});

describe('createWebhookTokenAuthenticator', () => {
  const make = (status: object) => {
    let calls = 0;
    const authenticate = createWebhookTokenAuthenticator({
      apiVersion: 'authentication.k8s.io/v1', cacheMs: 60_000, clock: systemClock, random: systemRandom,
      async post() {
        calls += 1;
        return { status };
      },
    });
    return { authenticate, calls: () => calls };
  };

  it('takes over the user that the service names, and asks once per token', async () => {
    const { authenticate, calls } = make({ authenticated: true, user: { username: 'w', groups: ['g'] } });
    assert.deepEqual(await authenticate('t', ['api']), { type: 'user', user: { name: 'w', groups: ['g'] } });
    await authenticate('t', ['api']);
    assert.equal(calls(), 1);
  });

  it('believes no other issuer', async () => {
    assert.equal(await make({ authenticated: false }).authenticate('t', ['api']), undefined);
    assert.equal(await make({ authenticated: true, user: { username: 'w' }, audiences: ['elsewhere'] }).authenticate('t', ['api']), undefined);
    assert.deepEqual(await make({ error: 'no' }).authenticate('t', ['api']), { type: 'refused', reason: 'no' });
  });
});

describe('createBootstrapTokenAuthenticator', () => {
  const encode = (fields: Record<string, string>) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, Buffer.from(value).toString('base64')]));
  const fields = {
    'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true', 'auth-extra-groups': 'system:bootstrappers:x',
  };
  const ask = (token: string, more: Record<string, string> = {}, type = 'bootstrap.kubernetes.io/token') => {
    const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, type, data: encode({ ...fields, ...more }) };
    const find = async (_resource: string, { name }: { name: string }) => (name === 'bootstrap-token-abcdef' ? secret : undefined);
    return createBootstrapTokenAuthenticator({ find, clock: systemClock })(token, []);
  };

  it('knows the token by its Secret, and nothing else', async () => {
    assert.deepEqual(await ask('abcdef.0123456789abcdef'),
      { type: 'user', user: { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:bootstrappers:x'] } });
    const strangers = ['abcdef.0123456789abcdeg', 'bbcdef.0123456789abcdef', 'abcdef', 'abcdef.0123456789abcdef.x'];
    for (const token of strangers) assert.equal(await ask(token), undefined, token);
    const broken: Record<string, string>[] = [
      { expiration: '2001-01-01T00:00:00Z' }, { expiration: 'soon' }, { 'usage-bootstrap-authentication': 'false' }, { 'auth-extra-groups': 'system:masters' },
    ];
    for (const more of broken) assert.equal(await ask('abcdef.0123456789abcdef', more), undefined);
    assert.equal(await ask('abcdef.0123456789abcdef', {}, 'Opaque'), undefined);
  });
});
