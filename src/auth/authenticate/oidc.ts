// ID tokens of OpenID Connect providers, as --oidc-* flags or the `jwt` part of an AuthenticationConfiguration describe them. The provider's keys
// are found by discovery, fetched by a function that is handed in, kept, and fetched again when a token names a key that is not among them.
import { createPublicKey } from 'node:crypto';
import type { Clock, Random } from '../../base/index.ts';
import type { AuthenticateToken, TokenAnswer } from './credentials.ts';
import type { Claims } from './claim-expressions.ts';
import { type UserMapping, mapUser, readClaim } from './claim-user.ts';
import { type Jwt, type VerifyingKey, parseJwt, verifyJwt } from './jwt.ts';
import { readAudiences } from './service-account-claims.ts';
import { TokenCache } from './token-cache.ts';

/** One trusted issuer. */
export interface OidcIssuer extends UserMapping {
  readonly url: string;
  /** Where the discovery document is, if not below the issuer. */
  readonly discoveryUrl?: string;
  readonly audiences: readonly string[];
  readonly requiredClaims: readonly { readonly claim: string; readonly value: string }[];
  readonly algorithms: readonly string[];
  /** Fetches JSON; follows no redirects, gives up on what is slow or large. */
  readonly fetchJson: (url: string) => Promise<unknown>;
}

interface OidcOptions {
  readonly issuers: readonly OidcIssuer[];
  readonly clock: Clock;
  readonly random: Random;
}

const keysLifetimeMs = 60 * 60_000;
/** Unknown key names make the keys be fetched again at most this often. */
const refetchMs = 10_000;
const cacheLimit = 4096;
const notBeforeLeewaySeconds = 300;

/** Makes the authenticator. Tokens of other issuers are nobody's business here. */
export function createOidcAuthenticator({ issuers, clock, random }: OidcOptions): AuthenticateToken {
  const rings = new Map(issuers.map((issuer) => [issuer, createKeyRing(issuer, clock)]));
  const cache = new TokenCache<Promise<boolean>>({ clock, random, lifetimeMs: 60_000, limit: cacheLimit });
  return async (token) => {
    if (!token.startsWith('ey')) return undefined;
    const jwt = parseJwt(token);
    const own = jwt === undefined ? [] : issuers.filter(({ url }) => url === jwt.claims['iss']);
    let answer: TokenAnswer | undefined;
    for (const issuer of own) {
      const ring = rings.get(issuer) as KeyRing;
      const valid = await cache.use(`${issuers.indexOf(issuer)} ${token}`, () => isSigned(jwt as Jwt, issuer, ring));
      answer = valid ? checkToken((jwt as Jwt).claims, issuer, clock.now()) : { type: 'refused', reason: 'oidc: verify token: failed to verify signature' };
      if (answer.type === 'user') return answer;
      if (!valid) cache.forget(`${issuers.indexOf(issuer)} ${token}`);
    }
    return answer;
  };
}

async function isSigned(jwt: Jwt, issuer: OidcIssuer, ring: KeyRing): Promise<boolean> {
  try {
    return verifyJwt(jwt, await ring(jwt.keyId), issuer.algorithms);
  } catch {
    // The provider cannot be reached: nobody can be let in, and why is not the caller's business.
    return false;
  }
}

type KeyRing = (keyId: string) => Promise<readonly VerifyingKey[]>;

function createKeyRing(issuer: OidcIssuer, clock: Clock): KeyRing {
  let kept: { readonly keys: readonly VerifyingKey[]; readonly atMs: number } | undefined;
  let pending: Promise<readonly VerifyingKey[]> | undefined;
  const fetchAll = async () => {
    const keys = await fetchKeys(issuer);
    kept = { keys, atMs: clock.monotonicMs() };
    return keys;
  };
  return (keyId) => {
    const ageMs = kept === undefined ? Infinity : clock.monotonicMs() - kept.atMs;
    const known = kept?.keys.some((key) => key.keyId === keyId) === true || keyId === '';
    if (kept !== undefined && ageMs < (known ? keysLifetimeMs : refetchMs)) return Promise.resolve(kept.keys);
    pending ??= fetchAll().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

async function fetchKeys({ url, discoveryUrl, fetchJson }: OidcIssuer): Promise<VerifyingKey[]> {
  const document = await fetchJson(discoveryUrl ?? `${url.replace(/\/$/, '')}/.well-known/openid-configuration`) as { issuer?: unknown; jwks_uri?: unknown };
  if (document.issuer !== url) throw new Error('the discovery document names another issuer');
  if (typeof document.jwks_uri !== 'string' || !document.jwks_uri.startsWith('https://')) throw new Error('the discovery document has no jwks_uri over https');
  const { keys } = await fetchJson(document.jwks_uri) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the key set has no keys');
  return keys.flatMap((jwk: { readonly kid?: string; readonly use?: string }) => {
    if (jwk.use !== undefined && jwk.use !== 'sig') return [];
    try {
      return [{ keyId: jwk.kid ?? '', publicKey: createPublicKey({ key: jwk as never, format: 'jwk' }) }];
    } catch {
      // Kinds of keys that are not known here are for somebody else.
      return [];
    }
  });
}

function checkToken(claims: Claims, issuer: OidcIssuer, nowMs: number): TokenAnswer {
  const problem = findProblem(claims, issuer, nowMs / 1000);
  if (problem !== undefined) return { type: 'refused', reason: `oidc: ${problem}` };
  const user = mapUser(claims, issuer);
  return typeof user === 'string' ? { type: 'refused', reason: `oidc: ${user}` } : { type: 'user', user };
}

function findProblem(claims: Claims, { audiences, requiredClaims }: OidcIssuer, now: number): string | undefined {
  const { exp, nbf } = claims;
  if (typeof exp !== 'number' || exp <= now) return 'verify token: token is expired';
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf > now + notBeforeLeewaySeconds)) {
    return 'verify token: current time is before the nbf (not before) time';
  }
  if (!readAudiences(claims).some((one) => audiences.includes(one))) return 'verify token: expected audience is missing';
  const missing = requiredClaims.find(({ claim, value }) => readClaim(claims, claim) !== value);
  return missing === undefined ? undefined : `required claim ${missing.claim} does not have the expected value`;
}
