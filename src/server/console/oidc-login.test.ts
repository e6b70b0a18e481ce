// Logins at a provider, without a browser: what begins a session, what does not, and tokens that are renewed.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Clock, createManualClock, systemClock } from '../../base/index.ts';
import { type ClientResponse, type TestServer, createTestClient, startTestServer } from '../../test-support/index.ts';
import { OidcTokens } from './oidc-tokens.ts';
import { type TestProvider, startTestProvider, testClient } from './testing.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-oidc-'));
const write = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const REVIEW = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}';

let [server, provider]: [TestServer, TestProvider] = [] as never;
// Time passes as the tests say; certificates are of today.
let passedMs = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + passedMs };
before(async () => {
  provider = await startTestProvider(clock);
  server = await startTestServer({
    clock, console: true, oidcIssuerUrl: provider.url, oidcClientId: testClient.id, oidcCaFile: write('ca.crt', provider.authority), oidcSigningAlgs: ['ES256'],
    oidcUsernamePrefix: 'oidc:', consoleOidcClientId: testClient.id, consoleOidcClientSecretFile: write('secret', `${testClient.secret}\n`),
  });
  provider.redirectUris.push(`${server.url}/console/`);
});
after(async () => {
  await server.close();
  await provider.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => Object.assign(provider, { claims: {}, lifetimeSeconds: 3600, isOver: false }));

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  server.request({ method: 'POST', path: `/console/${path}`, body, token: null, headers });
const cookieOf = ({ headers }: ClientResponse): string => (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';

/** Begins a login and follows it to the provider; what comes back to the page. */
async function comeBack(): Promise<{ cookie: string; code: string; state: string; asked: URL }> {
  const begun = await post('login', '');
  assert.equal(begun.status, 201, begun.text);
  const asked = new URL(begun.body.url);
  const client = createTestClient(provider.url, '');
  const { headers, status } = await client.request({ path: `${asked.pathname}${asked.search}`, token: null });
  client.close();
  assert.equal(status, 302);
  const { searchParams } = new URL(String(headers['location']));
  return { cookie: cookieOf(begun), code: searchParams.get('code') ?? '', state: searchParams.get('state') ?? '', asked };
}

const finish = ({ cookie, ...body }: { cookie: string; code: string; state: string }, headers = {}) =>
  post('session', JSON.stringify({ code: body.code, state: body.state }), { cookie, ...headers });

async function whoIs(session: ClientResponse): Promise<unknown> {
  const headers = { 'x-pintle-console': session.body.key, cookie: cookieOf(session), 'content-type': 'application/json' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const { status, body } = await server.request({ method: 'POST', path, body: REVIEW, token: null, headers });
  return status === 201 ? body.status.userInfo.username : status;
}

describe('a login at the provider', () => {
  test('asks with PKCE, state and nonce, and begins a session of the user that the provider names; its tokens stay at the server', async () => {
    assert.deepEqual((await server.request({ path: '/console/login', token: null })).body, { provider: new URL(provider.url).host });
    const back = await comeBack();
    const read = (name: string) => back.asked.searchParams.get(name) ?? '';
    assert.deepEqual(['tenant', 'response_type', 'code_challenge_method', 'redirect_uri', 'scope'].map(read),
      ['1', 'code', 'S256', `${server.url}/console/`, 'openid email profile offline_access']);
    assert.ok(['state', 'nonce', 'code_challenge'].every((name) => read(name).length === 43));
    const session = await finish(back);
    assert.equal(session.status, 201, session.text);
    assert.deepEqual(Object.keys(session.body).sort(), ['key', 'user']);
    assert.doesNotMatch(JSON.stringify([session.text, session.headers]), /eyJ/);
    assert.match(session.headers['set-cookie']?.[0] ?? '', /^__Host-pintle-.*HttpOnly; SameSite=Strict; Secure$/);
    assert.equal(await whoIs(session), 'oidc:erin');
    assert.equal((await finish(back)).status, 401, 'a code is good once');
  });

  test('is refused without its cookie, with another state, of another login, and for another origin; and is over then', async () => {
    const [first, second] = [await comeBack(), await comeBack()];
    assert.equal((await finish({ ...first, cookie: '' })).status, 401);
    assert.equal((await finish({ ...first, cookie: second.cookie })).status, 401, 'the state of one with the cookie of the other');
    assert.equal((await finish(second)).status, 401, 'which ends the other');
    const refused = await finish(first, { host: 'localhost:1', origin: 'https://localhost:1' });
    assert.deepEqual([refused.status, refused.body.message], [401, 'the login failed: this login was not begun here, or is too old']);
    const { code } = await comeBack();
    assert.equal((await finish({ ...await comeBack(), code })).status, 401, 'the verifier is of another login');
    assert.equal(provider.grants.at(-1), 'refused');
  });

  test('is refused for tokens of another login, another client, another issuer, and for those that have expired', async () => {
    const wrong = [{ nonce: 'other' }, { nonce: undefined }, { aud: 'other' }, { aud: ['console', 'b'], azp: 'b' }, { iss: 'https://other' }, { exp: 1 }];
    for (const claims of wrong) {
      provider.claims = claims;
      const answer = await finish(await comeBack());
      assert.deepEqual([answer.status, answer.headers['set-cookie']], [401, undefined], JSON.stringify(claims));
    }
  });

  test('is not for pages of other sites', async () => {
    const signs: readonly Record<string, string>[] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }];
    for (const headers of signs) assert.equal((await post('login', '', headers)).status, 403);
  });
});

describe('the session of a login', () => {
  test('continues by the refresh token when the ID token expires, as the same user only, and ends where the provider ends it', async () => {
    const session = await finish(await comeBack());
    const before = provider.grants.length;
    assert.equal(await whoIs(session), 'oidc:erin');
    assert.equal(provider.grants.length, before, 'a token that is good for long is not renewed');
    passedMs += 3_700_000;
    assert.deepEqual(await Promise.all([whoIs(session), whoIs(session)]), ['oidc:erin', 'oidc:erin']);
    assert.deepEqual(provider.grants.slice(before), ['refresh_token']);
    provider.claims = { sub: 'mallory' };
    const other = await finish(await comeBack());
    provider.claims = {};
    passedMs += 3_700_000;
    assert.deepEqual([await whoIs(other), await whoIs(session)], [401, 'oidc:erin']);
    provider.isOver = true;
    passedMs += 3_700_000;
    assert.equal(await whoIs(session), 401);
  });

  test('says why it cannot begin where the provider does not answer', async () => {
    const gone = await startTestProvider();
    const other = await startTestServer({
      console: true, oidcIssuerUrl: gone.url, oidcClientId: testClient.id, oidcCaFile: write('gone.crt', gone.authority), consoleOidcClientId: testClient.id,
    });
    await gone.close();
    const answer = await other.request({ method: 'POST', path: '/console/login', token: null });
    assert.equal(answer.status, 502);
    assert.match(answer.body.message, /^the provider of logins does not answer: /);
    await other.close();
  });
});

test('a client whose tokens would be refused, and one without a provider or a console, are no start', async () => {
  const base = { console: true, oidcIssuerUrl: provider.url, oidcClientId: 'app', oidcCaFile: join(directory, 'ca.crt') };
  await assert.rejects(startTestServer({ ...base, consoleOidcClientId: 'console' }), /"console" is not an audience that https/);
  await assert.rejects(startTestServer({ ...base, consoleOidcClientId: 'app', consoleOidcIssuerUrl: 'https://x' }), /is not one of the trusted issuers/);
  await assert.rejects(startTestServer({ ...base, console: false, consoleOidcClientId: 'app' }), /needs --console/);
  await assert.rejects(startTestServer({ console: true, consoleOidcClientId: 'app' }), /needs --oidc-issuer-url or --authentication-config/);
  await assert.rejects(startTestServer({ ...base, consoleOidcClientId: 'app', consoleOidcScopes: ['email'] }), /must include openid/);
});

/** A token that expires at a second, without a signature that anyone looks at here. */
const makeToken = (exp: number): string => `${[{ alg: 'none' }, { exp }].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;

test('OidcTokens renews in the last minute while requests go on, has them wait once the token has expired, and tries again after a failure', async () => {
  const clock = createManualClock();
  const at = (seconds: number): number => Math.floor(clock.now() / 1000) + seconds;
  const asked: string[] = [];
  let answer: () => Promise<{ idToken: string; refreshToken: string }> = () => Promise.reject(new Error('no answer'));
  const tokens = new OidcTokens({ idToken: makeToken(at(600)), refreshToken: 'one' }, {
    clock,
    renew(refreshToken) {
      asked.push(refreshToken);
      return answer();
    },
  });
  const first = tokens.authorization;
  assert.equal(tokens.refresh(), undefined);
  clock.advance(545_000);
  assert.equal(tokens.refresh(), undefined);
  assert.deepEqual(asked, ['one'], 'in the last minute, and nobody waits');
  await Promise.resolve().then(() => {});
  clock.advance(60_000);
  answer = () => Promise.resolve({ idToken: makeToken(at(600)), refreshToken: '' });
  const [renewed, same] = [tokens.refresh(), tokens.refresh()];
  assert.ok(renewed !== undefined && renewed === same, 'one renewal for all that wait');
  await renewed;
  assert.deepEqual(asked, ['one', 'one']);
  assert.notEqual(tokens.authorization, first);
  clock.advance(600_000);
  await tokens.refresh();
  assert.deepEqual(asked, ['one', 'one', 'one'], 'a refresh token that is not replaced stays');
});
