// ID tokens of OpenID Connect providers: what they must hold, and groups that are elsewhere.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../../base/index.ts';
import { type SigningKey, keyIdOf, signJwt } from '../jwt.ts';
import { type OidcIssuer, type OidcObserver, createOidcAuthenticator } from './oidc-authenticator.ts';

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
    async fetchText(address, headers = {}) {
      asked.push([address, ...(headers['authorization'] === undefined ? [] : [headers['authorization']])].join(' '));
      const document = all[address];
      if (document === undefined) throw new Error('not there');
      return typeof document === 'string' ? document : JSON.stringify(document);
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

describe('createOidcAuthenticator, groups that are elsewhere', () => {
  const place = 'https://graph.example/groups';
  const distributed = { ...good, roles: undefined, _claim_names: { roles: 'src1' }, _claim_sources: { src1: { endpoint: place, access_token: 'f00' } } };
  const answer = { iss: url, aud: 'app', exp: now + 600, roles: ['far'] };
  const ask = async (answered: object, documents: Readonly<Record<string, unknown>> = {}, signer = key) => {
    const provider = provide({}, { [place]: await signJwt(answered as Record<string, unknown>, signer), ...documents });
    return { provider, evaluate: (claims: object) => evaluate(claims, provider) };
  };

  it('are asked for with the access token, once for the requests of ten seconds', async () => {
    const { provider, evaluate: sent } = await ask(answer);
    const token = await signJwt(distributed, key);
    for (let times = 0; times < 2; times++) {
      const found = await provider.authenticate(token, []);
      assert.deepEqual(found?.type === 'user' && found.user.groups, ['oidc:far']);
    }
    assert.deepEqual(provider.asked.filter((one) => one.startsWith(place)), [`${place} Bearer f00`]);
    assert.equal(await sent({ ...distributed, roles: ['near'] }), 'erin@example.com oidc:near', 'the token itself goes first');
    assert.equal(await sent({ ...distributed, _claim_names: { other: 'src1' } }), 'erin@example.com ');
    assert.equal(await sent({ ...distributed, _claim_sources: { src1: { JWT: 'x.y.z' } } }), 'erin@example.com ', 'aggregated claims are not read');
  });

  it('may be of another issuer, which is found by its own discovery', async () => {
    const other = 'https://other.example';
    const documents = {
      [`${other}/.well-known/openid-configuration`]: { issuer: other, jwks_uri: `${other}/keys` },
      [`${other}/keys`]: { keys: [{ ...stranger.publicKey.export({ format: 'jwk' }), kid: stranger.keyId, use: 'sig' }] },
    };
    assert.equal(await (await ask({ ...answer, iss: other }, documents, stranger)).evaluate(distributed), 'erin@example.com oidc:far');
    assert.match(await (await ask({ ...answer, iss: other }, documents)).evaluate(distributed), /expand distributed claims: verify .* signature/);
    assert.match(await (await ask({ ...answer, iss: 'http://other.example' }, documents, stranger)).evaluate(distributed), /over https/);
  });

  const refused: readonly (readonly [string, object, object, RegExp])[] = [
    ['a source that is not named', { _claim_sources: {} }, {}, /contained a source src1 missing/],
    ['no sources', { _claim_sources: undefined }, {}, /no claim sources/],
    ['names that are no object', { _claim_names: 'roles' }, {}, /error parsing distributed claim names/],
    ['sources that are no object', { _claim_sources: [] }, {}, /could not parse claim sources/],
    ['a place that does not answer', { _claim_sources: { src1: { endpoint: 'https://gone.example' } } }, {}, /distributed claim "roles": not there/],
    ['an answer for others', {}, { aud: 'other' }, /audience/], ['an answer of before', {}, { exp: now - 1 }, /expired/],
    ['an answer without the claim', {}, { roles: undefined }, /did not contain claim: roles/],
  ];
  for (const [what, claims, answered, reason] of refused) {
    it(`refuse ${what}`, async () => assert.match(await (await ask({ ...answer, ...answered })).evaluate({ ...distributed, ...claims }), reason));
  }

  it('are asked for again after an answer that was none', async () => {
    const documents: Record<string, unknown> = { [place]: 'no token' };
    const all = { ...documents };
    const provider = provide({ fetchText: async (address) => (address in all ? String(all[address]) : JSON.stringify(address.endsWith('/keys')
      ? { keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.keyId }] } : { issuer: url, jwks_uri: `${url}/keys` })) });
    assert.match(await evaluate(distributed, provider), /malformed/);
    all[place] = await signJwt(answer, key);
    assert.equal(await evaluate(distributed, provider), 'erin@example.com oidc:far');
  });
});
