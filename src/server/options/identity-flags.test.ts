// The flags about identities, end to end against services on this machine: an OpenID provider, a webhook for tokens, a webhook for rights.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { keyIdOf, signJwt } from '../../auth/index.ts';
import { systemClock } from '../../base/index.ts';
import { type TestServer, startTestServer } from '../../test-support/index.ts';
import { parseCommandLine } from '../cli/command-line.ts';
import type { ServerOptions } from './options.ts';
import { type TestService, startTestService } from '../testing.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-flags-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const write = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const writeKubeconfig = (name: string, service: TestService): string => write(name, JSON.stringify({
  clusters: [{ name, cluster: { server: service.url, 'certificate-authority-data': Buffer.from(service.authority).toString('base64') } }],
  users: [{ name, user: { token: 'ours' } }], contexts: [{ name, context: { cluster: name, user: name } }], 'current-context': name,
}));

/** The options that a command line gives. */
function optionsOf(...flags: readonly string[]): Partial<ServerOptions> {
  const invocation = parseCommandLine(flags);
  assert.ok(invocation.type === 'run', JSON.stringify(invocation));
  assert.deepEqual(invocation.flags.warnings, []);
  const {
    dataDir: _dataDir, securePort: _securePort, verbosity: _verbosity, loggingFormat: _loggingFormat, workers: _workers, ...rest
  } = invocation.flags.settings;
  return rest as Partial<ServerOptions>;
}

async function whoIs(server: TestServer, token: string): Promise<any> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const { status, body } = await server.request({ method: 'POST', path, token, body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' } });
  return status === 201 ? body.status.userInfo : status;
}

describe('the flags about identities', () => {
  it('--oidc-*: trust one provider, with its claims, prefixes, requirements and algorithms', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = { ...pair, keyId: keyIdOf(pair.publicKey) };
    let url = '';
    const provider = await startTestService((path) => (path === '/keys'
      ? { keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.keyId }] } : { issuer: url, jwks_uri: `${url}/keys` }));
    url = provider.url;
    const flags = [
      '--oidc-issuer-url', url, '--oidc-client-id', 'app', '--oidc-ca-file', write('provider.crt', provider.authority), '--oidc-groups-claim', 'roles',
      '--oidc-groups-prefix', 'oidc:', '--oidc-required-claim', 'hd=example.com', '--oidc-signing-algs', 'ES256',
    ];
    const issue = (claims: object = {}) => signJwt({
      iss: url, aud: 'app', sub: 'erin', email: 'erin@example.com', hd: 'example.com', roles: ['a'], exp: Math.floor(systemClock.now() / 1000) + 60, ...claims,
    }, key);
    const server = await startTestServer(optionsOf(...flags));
    assert.deepEqual(await whoIs(server, await issue()), { username: `${url}#erin`, groups: ['oidc:a', 'system:authenticated'] });
    assert.deepEqual(await Promise.all([{ hd: 'other' }, { hd: undefined }, { aud: 'other' }].map(async (claims) => whoIs(server, await issue(claims)))),
      [401, 401, 401]);
    assert.deepEqual(provider.asked, ['/.well-known/openid-configuration', '/keys'], 'the keys are fetched once');
    await server.close();
    const rows = [
      [['--oidc-username-claim', 'email'], {}, 'erin@example.com'], [['--oidc-username-claim', 'email'], { email_verified: false }, 401],
      [['--oidc-username-prefix', '-'], {}, 'erin'], [['--oidc-username-prefix', 'p:'], {}, 'p:erin'], [['--oidc-signing-algs', 'RS256'], {}, 401],
    ] as const;
    for (const [more, claims, expected] of rows) {
      const other = await startTestServer(optionsOf(...flags.slice(0, -2), '--oidc-signing-algs', 'ES256', ...more));
      const found = await whoIs(other, await issue(claims));
      // Lists add up: what is asked for last does not take ES256 away.
      assert.equal(found.username ?? found, more[0] === '--oidc-signing-algs' ? `${url}#erin` : expected, more.join(' '));
      await other.close();
    }
    const strict = await startTestServer(optionsOf(...flags.slice(0, -2)));
    assert.equal(await whoIs(strict, await issue()), 401, 'RS256 alone unless told');
    await strict.close();
    await provider.close();
  });

  it('--authentication-token-webhook-*: ask a service about tokens that no other authenticator knows', async () => {
    for (const version of ['v1', 'v1beta1']) {
      const service = await startTestService((_path, { apiVersion, kind, spec }) => {
        const known = spec.token === 'good' ? { authenticated: true, user: { username: 'w', uid: 'u', groups: ['g'],
          extra: { x: ['y'] } } } : { authenticated: false };
        return { apiVersion, kind, status: known };
      });
      const server = await startTestServer(optionsOf(
        '--authentication-token-webhook-config-file', writeKubeconfig('tokens', service), '--authentication-token-webhook-version', version,
      ));
      assert.deepEqual(await whoIs(server, 'good'), { username: 'w', uid: 'u', groups: ['g', 'system:authenticated'], extra: { x: ['y'] } });
      assert.deepEqual([(await whoIs(server, 'good')).username, await whoIs(server, 'bad'), (await whoIs(server, 'alice-token')).username], ['w', 401,
        'alice']);
      assert.deepEqual(service.asked.map(({ apiVersion, spec }) => [apiVersion, spec.token]),
        [[`authentication.k8s.io/${version}`, 'good'], [`authentication.k8s.io/${version}`, 'bad']]);
      await service.close();
      assert.equal(await whoIs(server, 'unknown'), 401, 'a service that is gone lets no user in');
      await server.close();
    }
  });

  it('--authorization-webhook-*: ask a service about rights, in its place among the modes', async () => {
    const service = await startTestService((_path, { apiVersion, kind, spec }) => ({
      apiVersion, kind, status: { allowed: spec.user === 'alice' && spec.resourceAttributes?.resource === 'nodes', reason: 'asked' },
    }));
    const server = await startTestServer(optionsOf(
      '--authorization-mode', 'RBAC,Webhook', '--authorization-webhook-config-file', writeKubeconfig('rights', service), '--authorization-webhook-version',
      'v1', '--authorization-webhook-cache-unauthorized-ttl', '0s',
    ));
    const ask = async (token: string, path = '/api/v1/nodes') => (await server.request({ path, token })).status;
    assert.deepEqual([await ask('alice-token'), await ask('alice-token'), await ask('bob-token'), await ask('bob-token'), await ask('admin-token')],
      [200, 200, 403, 403, 200]);
    assert.deepEqual(service.asked.map(({ spec }) => spec.user), ['alice', 'bob', 'bob']);
    assert.equal(await ask('bob-token', '/version'), 200, 'RBAC is asked first');
    assert.match((await server.request({ path: '/api/v1/pods', token: 'bob-token' })).body.message, /: asked$/);
    await service.close();
    assert.deepEqual([await ask('alice-token'), await ask('alice-token', '/api/v1/pods')], [200, 500], 'what was allowed is kept, the rest fails');
    await server.close();
  });
});
