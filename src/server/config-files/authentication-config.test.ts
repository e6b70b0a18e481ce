// A whole server under an AuthenticationConfiguration: several issuers, claims and users by expressions, anonymous callers by path, files that are
// refused, and files that change.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { keyIdOf, signJwt } from '../../auth/index.ts';
import { systemClock } from '../../base/index.ts';
import { type TestServer, eventually, requestUntil, startTestServer } from '../../test-support/index.ts';
import { type TestService, readReloads, recordWarnings, startTestService } from '../testing.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-authentication-'));
const write = (name: string, more: object): string => {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', ...more }));
  return path;
};
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = { ...pair, keyId: keyIdOf(pair.publicKey) };
const byClaim = { username: { claim: 'sub', prefix: 'o:' } };
const review = {
  method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
};

describe('readAuthenticationConfiguration', () => {
  let provider: TestService;
  const issuer = (more: object = {}) => ({ url: provider.url, audiences: ['pintle'], certificateAuthority: provider.authority, ...more });
  const issue = (claims: object) => signJwt({
    iss: provider.url, aud: 'pintle', sub: 'erin', exp: Math.floor(systemClock.now() / 1000) + 60, ...claims,
  }, key);
  before(async () => {
    provider = await startTestService((path) => {
      if (path === '/keys') return { keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.keyId }] };
      // The same keys serve a second issuer, whose document is somewhere else.
      return { issuer: path === '/elsewhere' ? 'https://second.example' : provider.url, jwks_uri: `${provider.url}/keys` };
    });
  });
  after(async () => {
    await provider.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const whoIs = async (server: TestServer, claims: object): Promise<any> => {
    const { status, body } = await server.request({ ...review, token: await issue(claims) });
    return status === 201 ? body.status.userInfo : status;
  };

  it('makes users of claims by expressions, and refuses those that break a rule', async () => {
    const jwt = {
      issuer: issuer(), claimMappings: {
        username: { expression: '"cel:" + claims.sub' }, groups: { expression: 'claims.roles.split(",") + (has(claims.team) ? [claims.team] : [])' },
        uid: { expression: 'claims.numbers.id' },
        extra: [{ key: 'example.com/tenant', valueExpression: 'claims.?tenant.orValue("")' }, { key: 'example.com/all', valueExpression: 'claims.scopes' }],
      },
      claimValidationRules: [
        { claim: 'hd', requiredValue: 'example.com' }, { expression: 'claims.exp - claims.nbf <= 3600', message: 'a token lives for an hour at most' },
      ],
      userValidationRules: [
        { expression: '!user.username.startsWith("cel:system:")', message: 'names of the system are reserved' },
        { expression: 'user.groups.all(group, !group.startsWith("system:"))' }, { expression: 'user.extra["example.com/all"].size() < 3' },
      ],
    };
    const server = await startTestServer({ authenticationConfig: write('expressions.yaml', { jwt: [jwt] }) });
    const now = Math.floor(systemClock.now() / 1000);
    const good = { hd: 'example.com', nbf: now, roles: 'a,b', team: 't', numbers: { id: 'u-1' }, tenant: 'blue', scopes: ['x', '', 'y'] };
    assert.deepEqual(await whoIs(server, good), {
      username: 'cel:erin', uid: 'u-1', groups: ['a', 'b', 't', 'system:authenticated'], extra: { 'example.com/tenant': ['blue'], 'example.com/all': ['x',
        'y'] },
    });
    assert.deepEqual((await whoIs(server, { ...good, team: undefined, tenant: undefined })).extra, { 'example.com/all': ['x', 'y'] });
    const refused: readonly (readonly [object, RegExp])[] = [
      [{ hd: 'other' }, /required claim hd/], [{ nbf: now - 7200 }, /claim validation rule: .*failed: a token lives for an hour at most/],
      [{ nbf: undefined }, /claim validation rule: .*no such key/], [{ sub: 'system:admin' }, /user info validation rule: .*names of the system/],
      [{ roles: 'system:masters' }, /user info validation rule/], [{ scopes: ['1', '2', '3'] }, /user info validation rule/], [{ scopes: 7 },
        /extra claim expression/],
      [{ sub: 5 }, /username claim expression/], [{ numbers: {} }, /uid claim expression: no such key: id/],
    ];
    for (const [claims, reason] of refused) {
      const spec = { token: await issue({ ...good, ...claims }) };
      const { body } = await server.request({
        method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec },
      });
      assert.match(body.status.error, reason);
      assert.equal(await whoIs(server, { ...good, ...claims }), 401);
    }
    await server.close();
  });

  it('knows several issuers, each with its audiences and its place of discovery', async () => {
    const second = issuer({ url: 'https://second.example', discoveryURL: `${provider.url}/elsewhere`, audiences: ['a', 'b'],
      audienceMatchPolicy: 'MatchAny' });
    const jwt = [{ issuer: issuer(), claimMappings: byClaim }, { issuer: second, claimMappings: { username: { claim: 'sub', prefix: 'second:' } } }];
    const server = await startTestServer({ authenticationConfig: write('several.yaml', { jwt }) });
    const nameOf = async (claims: object) => (await whoIs(server, claims)).username ?? 401;
    const other = { iss: 'https://second.example' };
    assert.deepEqual(
      await Promise.all([{}, { ...other, aud: 'b' }, { ...other, aud: ['x', 'a'] }, other, { aud: 'a' }, { iss: 'https://third.example' }].map(nameOf)),
      ['o:erin', 'second:erin', 'second:erin', 401, 401, 401],
    );
    await server.close();
  });

  it('takes a file that changes, and stays with the one before when it cannot', async () => {
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] };
    const path = write('changing.yaml', { jwt: [{ issuer: issuer(), claimMappings: byClaim }], anonymous });
    const { logger, warnings } = recordWarnings();
    const server = await startTestServer({ authenticationConfig: path, logger });
    const ask = (token: string | null, where: string) => server.request({ path: where, token });
    const token = await issue({});
    assert.deepEqual([(await ask(token, '/api')).status, (await ask(null, '/livez')).status, (await ask(null, '/readyz')).status], [200, 200, 401]);
    write('changing.yaml', { jwt: [], anonymous });
    await requestUntil(server, { path: '/api', token }, { until: ({ status }) => status === 401 });
    assert.deepEqual([(await ask(null, '/livez')).status, (await ask(null, '/readyz')).status], [200, 401]);
    write('changing.yaml', { jwt: [{ issuer: issuer({ url: 'http://insecure' }), claimMappings: byClaim }], anonymous });
    await eventually(() => assert.match(warnings.join('\n'), /the one before stays: .*URL scheme must be https/));
    assert.equal((await ask(token, '/api')).status, 401);
    write('changing.yaml', { jwt: [{ issuer: issuer(), claimMappings: byClaim }], anonymous });
    await requestUntil(server, { path: '/api', token }, { until: ({ status }) => status === 200 });
    assert.deepEqual(readReloads((await server.request({ path: '/metrics' })).text, 'authentication', readFileSync(path, 'utf8')), [2, 1, true, true]);
    await server.close();
  });

  it('refuses a later file that lets in others without credentials', async () => {
    const path = write('opening.yaml', { anonymous: { enabled: true, conditions: [{ path: '/livez' }] } });
    const server = await startTestServer({ authenticationConfig: path });
    for (const [index, rest] of [{ anonymous: { enabled: true, conditions: [{ path: '/readyz' }] } }, { anonymous: { enabled: true } }, {}].entries()) {
      write('opening.yaml', rest);
      await eventually(async () => assert.match((await server.request({ path: '/metrics' })).text,
        new RegExp(`^apiserver_authentication_config_controller_automatic_reloads_total.*status="failure".* ${index + 1}$`, 'm')));
      assert.deepEqual([(await server.request({ path: '/livez', token: null })).status, (await server.request({ path: '/readyz', token: null })).status],
        [200, 401]);
    }
    await server.close();
  });

  it('refuses what it does not understand, and names every field', async () => {
    const good = { url: 'https://x', audiences: ['a'] };
    const from = (more: object) => ({ jwt: [{ issuer: { ...good, ...more }, claimMappings: byClaim }] });
    const mapping = (more: object) => ({ jwt: [{ issuer: good, claimMappings: { ...byClaim, ...more } }] });
    const ruled = (...claimValidationRules: object[]) => ({ jwt: [{ issuer: good, claimMappings: byClaim, claimValidationRules }] });
    const user = (...userValidationRules: object[]) => ({ jwt: [{ issuer: good, claimMappings: byClaim, userValidationRules }] });
    const extra = (key: string, valueExpression = 'claims.sub') => mapping({ extra: [{ key, valueExpression }] });
    const rows: readonly (readonly [object, RegExp])[] = [
      [from({ url: '' }), /jwt\[0\]\.issuer\.url: Required value/], [from({ url: 'http://x' }), /jwt\[0\]\.issuer\.url: .*URL scheme must be https/],
      [from({ url: 'https://u:p@x?q#f' }), /username or password, .*must not contain a query, .*must not contain a fragment\]/],
      [from({ url: 'https://kubernetes.default.svc' }), /issuer\.url: .*must not overlap with disallowed issuers/],
      [from({ url: 'https://x:port' }), /issuer\.url: Invalid value: "https:\/\/x:port": parse "https:\/\/x:port": invalid port ":port" after host/],
      [from({ url: 'https://@x' }), /issuer\.url: .*username or password/], [from({ url: 'https://x/%zz' }), /invalid URL escape "%zz"/],
      [extra('a.b/c d'), /extra\[0\]\.key: Invalid value: "c d": Invalid path/], [extra(''), /extra\[0\]\.key: Required value/],
      [from({ discoveryURL: 'https://x/' }), /issuer\.discoveryURL: .*must be different from URL/], [from({ audiences: [] }),
        /issuer\.audiences: Required value/],
      [from({ audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' }), /issuer\.audiences\[1\]: Duplicate value: "a"/],
      [from({ audiences: ['a', 'b'] }), /issuer\.audienceMatchPolicy: .*must be MatchAny for multiple audiences/],
      [from({ audienceMatchPolicy: 'Some' }), /must be empty or MatchAny for single audience/],
      [from({ certificateAuthority: 'x' }), /issuer\.certificateAuthority: Invalid value: "<omitted>"/], [from({ egressSelectorType: 'x' }),
        /egressSelectorType: Invalid value: "x": egress selector must be either/],
      [{ jwt: [from({}).jwt[0], from({}).jwt[0]] }, /jwt\[1\]\.issuer\.url: Duplicate value: "https:\/\/x"/],
      [mapping({ username: {} }), /claimMappings\.username: Required value: claim or expression is required/],
      [mapping({ username: { claim: 'sub' } }), /claimMappings\.username\.prefix: Required value: prefix is required/],
      [mapping({ username: { claim: 'sub', expression: 'claims.sub' } }), /claimMappings\.username: .*claim and expression can't both be set/],
      [mapping({ username: { expression: 'claims.sub', prefix: 'x' } }), /claimMappings\.username\.prefix: .*may not be specified when expression is set/],
      [mapping({ username: { expression: 'claim.sub' } }), /claimMappings\.username\.expression: Invalid value: "claim\.sub": compilation failed/],
      [mapping({ username: { expression: 'claims.email' } }),
        /claimMappings\.username\.expression: Invalid value: "claims\.email": claims\.email_verified must be used/],
      [mapping({ groups: { expression: 'claims.' } }), /claimMappings\.groups\.expression: .*compilation failed/],
      [mapping({ uid: { claim: 'a', expression: 'claims.a' } }), /claimMappings\.uid: .*can't both be set/],
      [extra('plain'), /extra\[0\]\.key: .*domain-prefixed path/], [extra('Example.com/a'), /must be lowercase/], [extra('x.k8s.io/a'),
        /are reserved for Kubernetes use/],
      [extra('example.com/a', ''), /extra\[0\]\.valueExpression: Required value/],
      [mapping({ extra: [1, 2].map(() => ({ key: 'a.b/c', valueExpression: 'claims.x' })) }), /extra\[1\]\.key: Duplicate value/],
      [ruled({}), /claimValidationRules\[0\]: Required value/], [ruled({ claim: 'a', expression: 'true' }), /claimValidationRules\[0\]: .*can't both be set/],
      [ruled({ expression: 'claims.sub' }), /claimValidationRules\[0\]\.expression: Invalid value: "claims\.sub": must evaluate to bool/],
      [ruled({ claim: 'a', message: 'm' }), /claimValidationRules\[0\]\.message: .*may not be specified when claim is set/],
      [ruled({ expression: 'true' }, { expression: 'true' }), /claimValidationRules\[1\]\.expression: Duplicate value/],
      [user({}), /userValidationRules\[0\]\.expression: Required value/], [user({ expression: 'user.name == ""' }),
        /userValidationRules\[0\]\.expression: .*compilation/],
      [{ anonymous: { enabled: false, conditions: [{ path: '/' }] } }, /anonymous\.conditions: .*enabled should be set to true/],
      [{ surprise: 1 }, /strict decoding error: unknown field "surprise"/], [{ kind: 'Other' }, /no kind "Other" is registered for version/],
    ];
    for (const [part, message] of rows) await assert.rejects(startTestServer({ authenticationConfig: write('broken.yaml', part) }), message, String(message));
    const verified = mapping({ username: { expression: 'claims.email_verified ? claims.email : "nobody"' } });
    await (await startTestServer({ authenticationConfig: write('verified.yaml', verified) })).close();
    await assert.rejects(startTestServer({ authenticationConfig: 'x', oidcIssuerUrl: 'https://x', oidcClientId: 'y' }), /cannot be given together/);
    await assert.rejects(startTestServer({ authenticationConfig: write('a.yaml', { anonymous: { enabled: true } }), anonymousAuth: false }),
      /anonymous: Forbidden: --anonymous-auth flag cannot/);
  });
});
