// ID tokens of OpenID Connect providers, as --oidc-* flags or the `jwt` part of an AuthenticationConfiguration describe them. The provider's keys
// are found by discovery, fetched by a function that is handed in, kept, and fetched again when a token names a key that is not among them.
// Signatures and key sets are `jose`'s, which is loaded with the first token; claims are validated here, in the words of the reference.
import type { CompactVerifyGetKey, JSONWebKeySet } from 'jose';
import type { Clock, Random } from '../../base/index.ts';
import type { AuthenticateToken, TokenAnswer } from './credentials.ts';
import type { Claims } from './claim-expressions.ts';
import { type UserMapping, mapUser, readClaim } from './claim-user.ts';
import { parseJwt } from './jwt.ts';
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
  /** Fetches JSON as text; follows no redirects, gives up on what is slow or large. */
  readonly fetchText: (url: string) => Promise<string>;
}

/** Hears of issuers, by their addresses, and of their tokens. */
export interface OidcObserver {
  /** The issuers that are trusted from now on. */
  trusts(issuers: readonly string[]): void;
  /** The keys of an issuer were fetched; undefined: they could not be. */
  fetchedKeys(issuer: string, keys: string | undefined): void;
  /** A token was checked that is not among those that are remembered. */
  checkedToken(issuer: string, result: 'success' | 'failure', seconds: number): void;
}

interface OidcOptions {
  readonly issuers: readonly OidcIssuer[];
  readonly clock: Clock;
  readonly random: Random;
  readonly observer?: OidcObserver | undefined;
}

const KEYS_LIFETIME_MS = 60 * 60_000;
/** Unknown key names make the keys be fetched again at most this often. */
const REFETCH_MS = 10_000;
const CACHE_LIMIT = 4096;
const NOT_BEFORE_LEEWAY_SECONDS = 300;

/** Makes the authenticator. Tokens of other issuers are left to other authenticators. */
export function createOidcAuthenticator({ issuers, clock, random, observer }: OidcOptions): AuthenticateToken {
  observer?.trusts(issuers.map(({ url }) => url));
  const rings = new Map(issuers.map((issuer) => [issuer, createKeyRing(issuer, { clock, observer })]));
  const cache = new TokenCache<Promise<boolean>>({ clock, random, lifetimeMs: 60_000, limit: CACHE_LIMIT });
  return async (token) => {
    if (!token.startsWith('ey')) return undefined;
    const jwt = parseJwt(token);
    if (jwt === undefined) return undefined;
    let answer: TokenAnswer | undefined;
    for (const issuer of issuers.filter(({ url }) => url === jwt.claims['iss'])) {
      let startedMs: number | undefined;
      const key = `${issuers.indexOf(issuer)} ${token}`;
      const valid = await cache.use(key, () => {
        startedMs = clock.monotonicMs();
        return isSigned(token, { keyId: jwt.keyId, issuer, ring: rings.get(issuer) as KeyRing });
      });
      answer = valid ? checkToken(jwt.claims, issuer, clock.now()) : { type: 'refused', reason: 'oidc: verify token: failed to verify signature' };
      const result = answer.type === 'user' ? 'success' : 'failure';
      if (startedMs !== undefined) observer?.checkedToken(issuer.url, result, (clock.monotonicMs() - startedMs) / 1000);
      if (answer.type === 'user') return answer;
      if (!valid) cache.forget(key);
    }
    return answer;
  };
}

interface SignatureCheck {
  /** '' when the header names no key. */
  readonly keyId: string;
  readonly issuer: OidcIssuer;
  readonly ring: KeyRing;
}

/** False also when the provider cannot be reached: the reason is not for the caller. */
async function isSigned(token: string, { keyId, issuer: { algorithms }, ring }: SignatureCheck): Promise<boolean> {
  try {
    const { find } = await ring(keyId);
    return await verifySignature(token, find, [...algorithms]);
  } catch {
    return false;
  }
}

/** Only a key with the name that the header gives counts; a header without one leaves all keys to be tried. */
async function verifySignature(token: string, find: CompactVerifyGetKey, algorithms: string[]): Promise<boolean> {
  const { compactVerify, errors } = await import('jose');
  try {
    await compactVerify(token, find, { algorithms });
    return true;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return false;
    for await (const key of error) {
      const isMatch = await compactVerify(token, key, { algorithms }).then(() => true, () => false);
      if (isMatch) return true;
    }
    return false;
  }
}

/** The keys of a provider. */
interface KeySet {
  readonly find: CompactVerifyGetKey;
  readonly names: ReadonlySet<string>;
}

type KeyRing = (keyId: string) => Promise<KeySet>;

/** A ring asks for the discovery document at once: an issuer that is misconfigured is not found out by its first user. */
function createKeyRing(issuer: OidcIssuer, { clock, observer }: Pick<OidcOptions, 'clock' | 'observer'>): KeyRing {
  const discover = createDiscovery(issuer);
  void discover().catch(() => undefined);
  let kept: { readonly keys: KeySet; readonly atMs: number } | undefined;
  let pending: Promise<KeySet> | undefined;
  const fetchAll = async () => {
    const keys = await fetchKeys(issuer, { address: await discover(), observer });
    kept = { keys, atMs: clock.monotonicMs() };
    return keys;
  };
  return (keyId) => {
    const ageMs = kept === undefined ? Infinity : clock.monotonicMs() - kept.atMs;
    const isKnown = keyId === '' || kept?.keys.names.has(keyId) === true;
    if (kept !== undefined && ageMs < (isKnown ? KEYS_LIFETIME_MS : REFETCH_MS)) return Promise.resolve(kept.keys);
    pending ??= fetchAll().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

/** Finds where the keys of an issuer are; what was found stays, as in the reference. */
function createDiscovery({ url, discoveryUrl, fetchText }: OidcIssuer): () => Promise<string> {
  let found: Promise<string> | undefined;
  const discover = async (): Promise<string> => {
    const text = await fetchText(discoveryUrl ?? `${url.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const { issuer, jwks_uri: address } = JSON.parse(text) as { issuer?: unknown; jwks_uri?: unknown };
    if (issuer !== url) throw new Error('the discovery document names another issuer');
    if (typeof address !== 'string' || !address.startsWith('https://')) throw new Error('the discovery document has no jwks_uri over https');
    return address;
  };
  return () => {
    const asked = found ??= discover();
    asked.catch(() => {
      if (found === asked) found = undefined;
    });
    return asked;
  };
}

interface KeysPlace {
  readonly address: string;
  readonly observer: OidcObserver | undefined;
}

async function fetchKeys({ url, fetchText }: OidcIssuer, { address, observer }: KeysPlace): Promise<KeySet> {
  let fetched: string | undefined;
  try {
    const keys = await fetchText(address);
    const set = await readKeys(keys);
    fetched = keys;
    return set;
  } finally {
    observer?.fetchedKeys(url, fetched);
  }
}

async function readKeys(text: string): Promise<KeySet> {
  const set = JSON.parse(text) as JSONWebKeySet;
  const { createLocalJWKSet } = await import('jose');
  const findNamed = createLocalJWKSet(set);
  // An empty name is none.
  const find: CompactVerifyGetKey = ({ kid, ...header }, token) => findNamed({ ...header, ...(kid && { kid }) }, token);
  return { find, names: new Set(set.keys.map(({ kid }) => kid ?? '')) };
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
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf > now + NOT_BEFORE_LEEWAY_SECONDS)) {
    return 'verify token: current time is before the nbf (not before) time';
  }
  if (!readAudiences(claims).some((one) => audiences.includes(one))) return 'verify token: expected audience is missing';
  const missing = requiredClaims.find(({ claim, value }) => readClaim(claims, claim) !== value);
  return missing === undefined ? undefined : `required claim ${missing.claim} does not have the expected value`;
}
