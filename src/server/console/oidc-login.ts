// Logins at the OpenID Connect provider that the server trusts: the authorization code flow with PKCE, state and nonce.
//
//   POST /console/login    the server remembers a login, bound to the browser by a cookie, and answers the address at the provider
//   GET  /console/?code=…  the provider leads the browser back to the page, which takes the code out of its address
//   POST /console/session  {code, state}: the server exchanges the code, and the ID token begins a session as any bearer token does
//
// Tokens stay here: the browser has the secret of its session and nothing else. A login is good once, within minutes, for the origin where it began.
import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { fetchDiscovery } from '../../auth/index.ts';
import { BoundedCache, type Clock, type Random } from '../../base/index.ts';
import type { TrustedIssuer } from '../config-files/authentication-config.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type CookieShape, formatCookie, hostOf, isSameText, readCookie } from './cookies.ts';
import { OidcTokens, type TokenAnswer, readTokenAnswer } from './oidc-tokens.ts';

/** The client of the console at its provider. */
export interface OidcClient {
  readonly clientId: string;
  /** '' for a public client. */
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  /** The provider as it is trusted at the moment; undefined where it no longer is. */
  readonly issuer: () => TrustedIssuer | undefined;
}

interface OidcLoginOptions {
  readonly clock: Clock;
  readonly random: Pick<Random, 'bytes'>;
  readonly isSecure: boolean;
  readonly client: OidcClient;
}

/** A login that waits for the browser to come back. */
interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly endsMs: number;
}

/** What the page needs to send the browser away. */
interface BegunLogin {
  readonly url: string;
  readonly state: string;
  readonly cookie: string;
}

const LOGIN_MS = 600_000;
const PENDING_LIMIT = 1000;
const SECRET_BYTES = 32;
const DOCUMENT_MS = 3_600_000;
const FAILURE_MS = 10_000;
const COOKIE = 'pintle-login';
/** Longer codes and states are no answers of a provider. */
const LONGEST = 3000;

interface ProviderDocument {
  readonly authorization_endpoint?: unknown;
  readonly token_endpoint?: unknown;
  readonly scopes_supported?: unknown;
  readonly token_endpoint_auth_methods_supported?: unknown;
}

interface Provider {
  readonly issuer: TrustedIssuer;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly hasOfflineAccess: boolean;
  /** Whether the secret of the client is a field of the form. */
  readonly wantsSecretInForm: boolean;
}

const challenge = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Logins at one provider. */
export class OidcLogins {
  readonly #options: OidcLoginOptions;
  readonly #pending = new BoundedCache<string, Pending>({ limit: PENDING_LIMIT });
  #document: { readonly of: TrustedIssuer; readonly found: Promise<Provider>; endsMs: number } | undefined;

  constructor(options: OidcLoginOptions) {
    this.#options = options;
  }

  /** Host of the provider, for the page. */
  get provider(): string {
    const { issuer } = this.#options.client;
    const url = issuer()?.url;
    return url === undefined ? '' : new URL(url).host;
  }

  /** Begins a login of this browser. Throws where the provider does not answer. */
  async begin(exchange: Pick<ServerExchange, 'headers'>): Promise<BegunLogin> {
    const { clock, isSecure, client: { clientId, scopes } } = this.#options;
    const { authorizationEndpoint, hasOfflineAccess } = await this.#findProvider();
    const [secret, state, nonce, verifier] = [this.#secret(), this.#secret(), this.#secret(), this.#secret()];
    const redirectUri = `${isSecure ? 'https' : 'http'}://${hostOf(exchange)}/console/`;
    this.#pending.set(challenge(secret), { state, nonce, verifier, redirectUri, endsMs: clock.monotonicMs() + LOGIN_MS });
    const url = new URL(authorizationEndpoint);
    const parameters = {
      response_type: 'code', client_id: clientId, redirect_uri: redirectUri, state, nonce, code_challenge: challenge(verifier), code_challenge_method: 'S256',
      scope: [...new Set([...scopes, ...(hasOfflineAccess ? ['offline_access'] : [])])].join(' '),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { url: url.href, state, cookie: formatCookie({ ...this.#cookie, value: secret, maxAgeSeconds: LOGIN_MS / 1000 }) };
  }

  /** The tokens that a code stands for, once, for the browser and the origin that began the login; throws with the reason for anything else. */
  async finish({ code, state }: { readonly code: string; readonly state: string }, exchange: Pick<ServerExchange, 'headers'>): Promise<OidcTokens> {
    const { clock, isSecure, client } = this.#options;
    const name = challenge(readCookie(exchange.headers['cookie'] ?? '', this.#cookie) ?? '');
    const pending = this.#pending.peek(name);
    this.#pending.delete(name);
    const isOwn = pending !== undefined && pending.endsMs > clock.monotonicMs() && code.length <= LONGEST && isSameText(pending.state, state)
      && pending.redirectUri === `${isSecure ? 'https' : 'http'}://${hostOf(exchange)}/console/`;
    if (!isOwn) throw new Error('this login was not begun here, or is too old');
    const { redirectUri, verifier, nonce } = pending;
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    const answer = await this.#askForTokens(form);
    const { nonce: shown, sub } = decodeJwt(answer.idToken);
    if (typeof shown !== 'string' || !isSameText(shown, nonce)) throw new Error('the token of the provider is of another login');
    this.#checkToken(answer);
    return new OidcTokens(answer, {
      clock,
      renew: async (refreshToken) => {
        const next = await this.#askForTokens({ grant_type: 'refresh_token', refresh_token: refreshToken });
        this.#checkToken(next);
        if (decodeJwt(next.idToken).sub !== sub) throw new Error(`the provider gives ${client.clientId} the token of another user`);
        return next;
      },
    });
  }

  get #cookie(): CookieShape {
    return { name: COOKIE, isSecure: this.#options.isSecure };
  }

  #secret(): string {
    return Buffer.from(this.#options.random.bytes(SECRET_BYTES)).toString('base64url');
  }

  /** Signature, audience and times are the authenticator's to check; this is the rest of what OpenID Connect asks of a client. */
  #checkToken({ idToken }: TokenAnswer): void {
    const { client } = this.#options;
    const { iss, aud, azp } = decodeJwt(idToken);
    const isOurs = [aud ?? []].flat().includes(client.clientId) && (azp === undefined || azp === client.clientId);
    if (iss !== client.issuer()?.url || !isOurs) throw new Error('the token of the provider is for another client');
  }

  async #askForTokens(fields: Readonly<Record<string, string>>): Promise<TokenAnswer> {
    const { client: { clientId, clientSecret } } = this.#options;
    const { issuer, tokenEndpoint, wantsSecretInForm } = await this.#findProvider();
    const form = new URLSearchParams({ client_id: clientId, ...fields });
    if (clientSecret !== '' && wantsSecretInForm) form.set('client_secret', clientSecret);
    const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
    const headers = clientSecret !== '' && !wantsSecretInForm ? { authorization: `Basic ${basic}` } : undefined;
    return readTokenAnswer(await issuer.postForm(tokenEndpoint, form, headers ?? {}));
  }

  /** The provider's document is kept for an hour, and that it cannot be read for some seconds: visitors cannot make the server ask more often. */
  #findProvider(): Promise<Provider> {
    const { clock, client } = this.#options;
    const issuer = client.issuer();
    if (issuer === undefined) return Promise.reject(new Error('the provider of the console is no longer trusted'));
    if (this.#document?.of === issuer && this.#document.endsMs > clock.monotonicMs()) return this.#document.found;
    const document = { of: issuer, found: readProvider(issuer), endsMs: clock.monotonicMs() + DOCUMENT_MS };
    this.#document = document;
    document.found.catch(() => {
      document.endsMs = clock.monotonicMs() + FAILURE_MS;
    });
    return document.found;
  }
}

async function readProvider(issuer: TrustedIssuer): Promise<Provider> {
  const document: ProviderDocument = await fetchDiscovery(issuer);
  const { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint } = document;
  const isAddress = (value: unknown): value is string => typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'https:';
  if (!isAddress(authorizationEndpoint) || !isAddress(tokenEndpoint)) throw new Error('the discovery document names no addresses of https for logins');
  const methods = list(document.token_endpoint_auth_methods_supported);
  return {
    issuer, authorizationEndpoint, tokenEndpoint, hasOfflineAccess: list(document.scopes_supported).includes('offline_access'),
    wantsSecretInForm: methods.includes('client_secret_post') && !methods.includes('client_secret_basic'),
  };
}
