// Service account tokens against the objects that they are bound to: their users, lifetimes and audiences, and the events that end them.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { systemClock, systemRandom } from '../../base/index.ts';
import { type SigningKey, keyIdOf, signJwt } from './jwt.ts';
import { type ServiceAccountTokenUse, createServiceAccountAuthenticator, INVALIDATED_SINCE } from './service-account.ts';
import { type BoundClaims, encodeBoundClaims, encodeLegacyClaims, parseServiceAccountUsername } from './service-account-claims.ts';

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key: SigningKey = { ...pair, keyId: keyIdOf(pair.publicKey) };
const api = 'https://kubernetes.default.svc';
const objects = new Map<string, KubeObject>();
const uses: ServiceAccountTokenUse[] = [];
let nowMs = Date.parse('2030-01-01T00:00:00Z');
const authenticate = createServiceAccountAuthenticator({
  issuers: [api, 'https://old.example'], apiAudiences: [api], keys: async () => [key], random: systemRandom, clock: { ...systemClock, now: () => nowMs },
  countUse: (use) => void uses.push(use),
  find: async (resource, { namespace, name }) => objects.get(`${resource}/${namespace}/${name}`),
});
const put = (path: string, uid: string, more: object = {}): void => {
  const { metadata = {}, ...rest } = more as { metadata?: object };
  objects.set(path, { apiVersion: 'v1', kind: 'X', metadata: { name: path.split('/')[2] as string, uid, ...metadata }, ...rest });
};
const seconds = (): number => Math.floor(nowMs / 1000);
const claims = (more: Partial<BoundClaims> = {}): BoundClaims => ({
  issuer: api, audiences: [api], namespace: 'n', serviceAccount: { name: 'a', uid: 'u' }, id: 'j', issuedAt: seconds(), expiresAt: seconds() + 3600, ...more,
});
const issue = (more: Partial<BoundClaims> = {}): Promise<string> => signJwt(encodeBoundClaims(claims(more)), key);

async function evaluate(token: string, audiences = [api]): Promise<string> {
  const found = await authenticate(token, audiences);
  return found === undefined ? 'unknown' : found.type === 'user' ? found.user.name : found.reason;
}

beforeEach(() => {
  objects.clear();
  uses.length = 0;
  nowMs = Date.parse('2030-01-01T00:00:00Z');
  put('serviceaccounts/n/a', 'u');
});

describe('createServiceAccountAuthenticator', () => {
  it('knows the account with its groups and what the token is bound to', async () => {
    put('pods/n/p', 'pu');
    const found = await authenticate(await issue({ pod: { name: 'p', uid: 'pu' }, node: { name: 'w', uid: 'wu' } }), [api]);
    assert.deepEqual(found, {
      type: 'user', audiences: [api],
      user: {
        name: 'system:serviceaccount:n:a', uid: 'u', groups: ['system:serviceaccounts', 'system:serviceaccounts:n'],
        extra: {
          'authentication.kubernetes.io/credential-id': ['JTI=j'],
          'authentication.kubernetes.io/pod-name': ['p'], 'authentication.kubernetes.io/pod-uid': ['pu'],
          'authentication.kubernetes.io/node-name': ['w'], 'authentication.kubernetes.io/node-uid': ['wu'],
        },
      },
    });
  });

  it('attack 42: refuses tokens that are too old, too new, or for another audience', async () => {
    const old = await issue({ expiresAt: seconds() - 61, issuedAt: seconds() - 4000 });
    assert.equal(await evaluate(old), 'service account token has expired');
    assert.equal(await evaluate(await issue({ issuedAt: seconds() + 61 })), 'service account token is not valid yet');
    assert.equal(await evaluate(await issue({ audiences: ['elsewhere'] })), `token audiences ["elsewhere"] is invalid for the target audiences ["${api}"]`);
    assert.equal(await evaluate(await issue({ issuer: 'https://evil.example' })), 'unknown');
    assert.equal(await evaluate(await issue({ issuer: 'https://old.example' })), 'system:serviceaccount:n:a');
    const timeless = { ...encodeBoundClaims(claims()), exp: 'never' };
    assert.equal(await evaluate(await signJwt(timeless, key)), 'service account token claims could not be validated');
  });

  it('refuses a subject that is not the account in the claims', async () => {
    const forged = { ...encodeBoundClaims(claims()), sub: 'system:serviceaccount:kube-system:root' };
    assert.equal(await evaluate(await signJwt(forged, key)), 'service account token claims could not be validated');
  });

  it('attack 43: refuses a token at the next use after what it is bound to is gone or another one', async () => {
    const rows = [
      ['serviceaccounts/n/a', 'u', {}], ['pods/n/p', 'pu', { pod: { name: 'p', uid: 'pu' } }], ['secrets/n/s', 'su', { secret: { name: 's', uid: 'su' } }],
      ['nodes//w', 'wu', { node: { name: 'w', uid: 'wu' } }],
    ] as const;
    for (const [path, uid, bound] of rows) {
      put(path, uid);
      const token = await issue(bound);
      assert.equal(await evaluate(token), 'system:serviceaccount:n:a', path);
      put(path, 'another');
      assert.match(await evaluate(token), /UID \(another\) does not match/, path);
      objects.delete(path);
      assert.match(await evaluate(token), /not found|invalidated/, path);
      put(path, uid, { metadata: { deletionTimestamp: new Date(nowMs - 61_000).toISOString() } });
      assert.match(await evaluate(token), /not found|invalidated/, path);
      put(path, uid);
    }
  });

  it('attack 43: honours a token from a Secret only while the Secret holds it', async () => {
    const token = await signJwt(encodeLegacyClaims({ namespace: 'n', name: 'a', uid: 'u', secret: 's' }), key);
    const data = { token: Buffer.from(token).toString('base64') };
    put('secrets/n/s', 'su', { data });
    assert.equal(await evaluate(token), 'system:serviceaccount:n:a');
    assert.match(await evaluate(token, ['elsewhere']), /is invalid for the target audiences/);
    put('secrets/n/s', 'su', { data: { token: Buffer.from('another').toString('base64') } });
    assert.match(await evaluate(token), /does not match/);
    put('secrets/n/s', 'su', { data, metadata: { namespace: 'n', labels: { [INVALIDATED_SINCE]: '2029-01-01' } } });
    assert.match(await evaluate(token), /^the token in secret n\/s for service account n\/a has been marked invalid\. Use tokens from /);
    objects.delete('secrets/n/s');
    assert.equal(await evaluate(token), 'service account token has been invalidated');
  });
});

describe('the use of a service account token', () => {
  const useOf = async (token: string) => (await authenticate(token, [api]))?.use;
  const annotated = (notes: Readonly<Record<string, string>>) =>
    ({ annotations: Object.fromEntries(Object.entries(notes).map(([name, value]) => [`authentication.k8s.io/${name}`, value])) });

  it('is noted and counted where a projected token was to be read again', async () => {
    const token = await issue({ warnAfter: seconds() + 60 });
    assert.deepEqual([await useOf(token), uses], [undefined, ['valid']]);
    nowMs += 75_500;
    assert.deepEqual(await useOf(token), annotated({ 'stale-token': 'subject: system:serviceaccount:n:a, seconds after warning threshold: 15' }));
    assert.deepEqual([await useOf(await issue()), uses], [undefined, ['valid', 'stale']]);
  });

  it('is noted and counted where the token comes from a Secret, and warns where that was made by itself', async () => {
    const legacy = { 'legacy-token': 'system:serviceaccount:n:a' };
    const token = await signJwt(encodeLegacyClaims({ namespace: 'n', name: 'a', uid: 'u', secret: 's' }), key);
    const held = { data: { token: Buffer.from(token).toString('base64') } };
    put('secrets/n/s', 'su', held);
    assert.deepEqual(await useOf(token), annotated({ ...legacy, 'legacy-token-manual-secret': 's' }));
    put('serviceaccounts/n/a', 'u', { secrets: [{ name: 's' }] });
    const warning = 'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.';
    assert.deepEqual(await useOf(token), { ...annotated({ ...legacy, 'legacy-token-autogenerated-secret': 's' }), warning });
    put('secrets/n/s', 'su', { ...held, metadata: { namespace: 'n', labels: { [INVALIDATED_SINCE]: '2029-01-01' } } });
    assert.deepEqual(await useOf(token), annotated({ ...legacy, 'legacy-token-invalidated': 's/n' }));
    assert.deepEqual(uses, ['legacy', 'legacy-manual', 'legacy', 'legacy-auto', 'legacy', 'invalid-legacy-auto']);
  });
});

describe('parseServiceAccountUsername', () => {
  it('takes names apart that are whole', () => {
    assert.deepEqual(parseServiceAccountUsername('system:serviceaccount:n:a.b'), { namespace: 'n', name: 'a.b' });
    for (const name of ['system:serviceaccount:n', 'system:serviceaccount::a', 'system:serviceaccount:n:a:b', 'system:serviceaccount:n:', 'n:a']) {
      assert.equal(parseServiceAccountUsername(name), undefined, name);
    }
  });
});
