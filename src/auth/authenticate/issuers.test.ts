// The other authenticators: front proxies, webhooks, bootstrap tokens; each with the credentials that it must refuse.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { systemClock, systemRandom } from '../../base/index.ts';
import { createAuthenticator } from './authenticate.ts';
import { createBootstrapTokenAuthenticator } from './bootstrap-token.ts';
import type { Credentials } from './credentials.ts';
import { createFrontProxy } from './front-proxy.ts';
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
