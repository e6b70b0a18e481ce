// Authentication and authorization as tables: the credentials of a request and its user; the attributes of a request and the decision.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualClock, systemRandom } from '../base/index.ts';
import { type Attributes, type AuthenticateToken, createAuthenticator, createTokenAuthenticator, parseTokenFile, refuse } from './index.ts';

const tokens = parseTokenFile('t1,alice,1,"devs, ops"\nt2,"bob ""b""",2\r\n\n');
const authenticate = createAuthenticator({ tokens: [createTokenAuthenticator(tokens, systemRandom)], allowAnonymous: true });

describe('createAuthenticator', () => {
  const certificate = { commonName: 'carol', organizations: ['system:masters'], authorized: true };
  const rows: readonly (readonly [string, Parameters<typeof authenticate>[0], string])[] = [
    ['a token', { authorization: 'Bearer t1' }, 'alice devs,ops,system:authenticated'],
    ['any case of the scheme', { authorization: 'bEARER t2' }, 'bob "b" system:authenticated'],
    ['two spaces', { authorization: 'Bearer  t1' }, 'system:anonymous system:unauthenticated'],
    ['no token', { authorization: 'Bearer' }, 'system:anonymous system:unauthenticated'],
    ['another scheme', { authorization: 'Basic t1' }, 'system:anonymous system:unauthenticated'],
    ['nothing', { authorization: undefined }, 'system:anonymous system:unauthenticated'],
    ['a wrong token', { authorization: 'Bearer nope' }, 'refused'],
    ['a certificate', { authorization: undefined, clientCertificate: certificate }, 'carol system:masters,system:authenticated'],
    ['a certificate and a token', { authorization: 'Bearer t1', clientCertificate: certificate }, 'carol system:masters,system:authenticated'],
    ['a forged certificate', { authorization: undefined, clientCertificate: { ...certificate, authorized: false } }, 'refused'],
    [
      'a forged certificate and a token',
      { authorization: 'Bearer t1', clientCertificate: { ...certificate, authorized: false } }, 'alice devs,ops,system:authenticated',
    ],
  ];
  for (const [what, credentials, expected] of rows) {
    it(`knows ${what} as ${expected}`, async () => {
      const found = await authenticate(credentials);
      assert.equal(found.type === 'refused' ? 'refused' : `${found.user.name} ${found.user.groups.join(',')}`, expected);
    });
  }

  it('refuses a certificate from the moment at which it ends, also on connections that were there before; a token beside it counts', async () => {
    const clock = createManualClock();
    const timed = createAuthenticator({ tokens: [createTokenAuthenticator(tokens, systemRandom)], allowAnonymous: true, clock });
    const clientCertificate = { ...certificate, expiresMs: clock.now() + 1000 };
    const show = async (authorization?: string): Promise<string> => {
      const found = await timed({ authorization, clientCertificate });
      return found.type === 'user' ? found.user.name : found.type;
    };
    assert.equal(await show(), 'carol');
    clock.advance(1000);
    assert.deepEqual([await show(), await show('Bearer t1')], ['refused', 'alice']);
  });

  it('looks a token that lasts up once per connection, and others each time', async () => {
    let asked = 0;
    const countTokens: AuthenticateToken = (token) => {
      asked += 1;
      return token.startsWith('good') ? { type: 'user', user: { name: token, groups: [] }, lasting: token === 'good-1' } : undefined;
    };
    const counting = createAuthenticator({ tokens: [countTokens], allowAnonymous: false });
    const [one, other] = [{}, {}];
    const show = async (token: string, connection?: object): Promise<string> => {
      asked = 0;
      const found = await counting({ authorization: `Bearer ${token}`, ...(connection !== undefined && { connection }) });
      return `${found.type === 'user' ? found.user.name : 'refused'}, asked ${asked}`;
    };
    assert.equal(await show('good-1', one), 'good-1, asked 1');
    assert.equal(await show('good-1', one), 'good-1, asked 0');
    assert.equal(await show('good-1', other), 'good-1, asked 1');
    assert.equal(await show('good-1'), 'good-1, asked 1');
    // The same connection with another token: one that does not last, a wrong one of the same length, a beginning of the right one.
    for (const turn of [1, 2]) assert.equal(await show('good-2', one), 'good-2, asked 1', `turn ${turn}`);
    assert.equal(await show('best-1', one), 'refused, asked 1');
    assert.equal(await show('good-', one), 'good-, asked 1');
    assert.equal(await show('good-1', one), 'good-1, asked 0');
  });

  it('refuses callers without credentials when anonymous is off', async () => {
    const strict = createAuthenticator({ tokens: [], allowAnonymous: false });
    assert.deepEqual(await strict({ authorization: undefined }), { type: 'refused' });
    const somewhere = createAuthenticator({ tokens: [], allowAnonymous: { paths: ['/livez'] } });
    assert.equal((await somewhere({ authorization: undefined, path: '/livez' })).type, 'user');
    assert.equal((await somewhere({ authorization: undefined, path: '/livez/ping' })).type, 'refused');
  });
});

describe('parseTokenFile', () => {
  it('names the line and keeps the token to itself', () => {
    for (const text of ['ok,u,1\nsecret', 'ok,u,1\nsecret,u', 'ok,u,1\n"secret,u,1', 'ok,u,1\n,u,1']) {
      assert.throws(() => parseTokenFile(text), (error: Error) => /line 2/.test(error.message) && !error.message.includes('secret'), text);
    }
  });
});

const nothing = { verb: 'get', isResource: false, group: '', version: '', namespace: '', resource: '', subresource: '', name: '', path: '' };
const ask = (groups: readonly string[], attributes: Partial<Attributes>): Attributes => ({ ...nothing, user: { name: 'u', groups }, ...attributes });

describe('refuse', () => {
  it('reads as the reference does', () => {
    const status = (attributes: Attributes) => refuse(attributes).status;
    assert.equal(status(ask([], { isResource: true, verb: 'list', resource: 'nodes' })).message,
      'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the cluster scope');
    assert.deepEqual(status(ask([], { path: '/x' })), {
      kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'forbidden: User "u" cannot get path "/x"', reason: 'Forbidden',
      details: {}, code: 403,
    });
  });
});
