// An OpenID Connect provider for tests: it knows one client, holds each request to what OAuth and PKCE ask, and logs one user in without a question.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { keyIdOf, signJwt } from '../../auth/index.ts';
import { type Clock, systemClock, systemRandom } from '../../base/index.ts';
import { type TestTlsServer, startTlsServer } from '../testing.ts';

/** The client that is known. */
export const testClient = { id: 'console', secret: 's3cret & more' } as const;

/** A provider that runs. */
export interface TestProvider extends TestTlsServer {
  /** Addresses that browsers may be led back to. */
  readonly redirectUris: string[];
  /** Claims of the next tokens; undefined ones are left out. */
  claims: Record<string, unknown>;
  lifetimeSeconds: number;
  /** Refuses new tokens. */
  isOver: boolean;
  /** Kinds of grants that tokens were given for, and what was refused. */
  readonly grants: string[];
}

interface Grant {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly nonce: string;
}

const makeSecret = (): string => Buffer.from(systemRandom.bytes(16)).toString('base64url');

/** Starts it. */
export async function startTestProvider(clock: Pick<Clock, 'now'> = systemClock): Promise<TestProvider> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...pair, keyId: keyIdOf(pair.publicKey) };
  const codes = new Map<string, Grant>();
  const refreshTokens = new Set<string>();
  const state: Omit<TestProvider, keyof TestTlsServer> = { redirectUris: [], claims: {}, lifetimeSeconds: 3600, isOver: false, grants: [] };
  const authorize = (query: URLSearchParams): string | undefined => {
    const read = (name: string): string => query.get(name) ?? '';
    const isRight = read('client_id') === testClient.id && read('response_type') === 'code' && read('code_challenge_method') === 'S256'
      && read('scope').split(' ').includes('openid') && state.redirectUris.includes(read('redirect_uri')) && read('state') !== '';
    if (!isRight) return undefined;
    const code = makeSecret();
    codes.set(code, { challenge: read('code_challenge'), redirectUri: read('redirect_uri'), nonce: read('nonce') });
    return `${read('redirect_uri')}?${new URLSearchParams({ code, state: read('state') }).toString()}`;
  };
  const issue = async (nonce: string | undefined): Promise<object> => {
    const refreshToken = makeSecret();
    refreshTokens.add(refreshToken);
    const exp = Math.floor(clock.now() / 1000) + state.lifetimeSeconds;
    const claims = { iss: provider.url, aud: testClient.id, sub: 'erin', exp, nonce, ...state.claims };
    return { id_token: await signJwt(claims, key), refresh_token: refreshToken, token_type: 'Bearer' };
  };
  const grant = (form: URLSearchParams): Promise<object> | undefined => {
    const refreshToken = form.get('refresh_token') ?? '';
    if (form.get('grant_type') === 'refresh_token') return refreshTokens.delete(refreshToken) && !state.isOver ? issue(undefined) : undefined;
    const found = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    return found?.challenge === challenge && found.redirectUri === form.get('redirect_uri') ? issue(found.nonce) : undefined;
  };
  const basic = `Basic ${Buffer.from(`${testClient.id}:${encodeURIComponent(testClient.secret)}`).toString('base64')}`;
  const server = await startTlsServer((request, text, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', server.url);
    const answer = (value: unknown, status = 200): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/keys') return answer({ keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.keyId }] });
    if (pathname === '/authorize') {
      const location = authorize(searchParams);
      return void response.writeHead(location === undefined ? 400 : 302, { ...(location !== undefined && { location }) }).end();
    }
    if (pathname !== '/token') {
      return answer({
        issuer: server.url, jwks_uri: `${server.url}/keys`, authorization_endpoint: `${server.url}/authorize?tenant=1`, token_endpoint: `${server.url}/token`,
        scopes_supported: ['openid', 'offline_access'],
      });
    }
    const form = new URLSearchParams(text);
    const tokens = request.headers.authorization === basic ? grant(form) : undefined;
    state.grants.push(tokens === undefined ? 'refused' : form.get('grant_type') ?? '');
    if (tokens === undefined) return answer({ error: 'invalid_grant' }, 400);
    return void tokens.then((value) => answer(value));
  });
  const provider: TestProvider = Object.assign(state, server);
  return provider;
}
