// ID tokens of OpenID Connect providers, as --oidc-* flags or the `jwt` part of an AuthenticationConfiguration describe them. A token that holds
// (id-token.ts) is given its groups (distributed-claims.ts), and its claims become a user (claim-user.ts).
import type { Clock, Random } from '../../../base/index.ts';
import type { AuthenticateToken, TokenAnswer } from '../credentials.ts';
import { parseJwt } from '../jwt.ts';
import { TokenCache } from '../token-cache.ts';
import type { Claims } from './claim-expressions.ts';
import { type UserMapping, mapUser, readClaim } from './claim-user.ts';
import { type ResolveClaims, createClaimResolver } from './distributed-claims.ts';
import { type KeyIssuer, createSignatureCheck, findTokenProblem, issuerOf } from './id-token.ts';

/** One trusted issuer. */
export interface OidcIssuer extends UserMapping, KeyIssuer {
  readonly audiences: readonly string[];
  readonly requiredClaims: readonly { readonly claim: string; readonly value: string }[];
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

const CACHE_LIMIT = 4096;

/** Makes the authenticator. Tokens of other issuers are left to other authenticators. */
export function createOidcAuthenticator({ issuers, clock, random, observer }: OidcOptions): AuthenticateToken {
  observer?.trusts(issuers.map(({ url }) => url));
  const trusted = issuers.map((issuer) => {
    const isSigned = createSignatureCheck(issuer, { clock, observe: (url, keys) => observer?.fetchedKeys(url, keys) });
    return { issuer, isSigned, resolve: createClaimResolver(issuer, { clock, random, isSigned }) };
  });
  const cache = new TokenCache<Promise<boolean>>({ clock, random, lifetimeMs: 60_000, limit: CACHE_LIMIT });
  return async (token) => {
    if (!token.startsWith('ey')) return undefined;
    const jwt = parseJwt(token);
    if (jwt === undefined) return undefined;
    const url = issuerOf(jwt.claims);
    let answer: TokenAnswer | undefined;
    for (const [index, { issuer, isSigned, resolve }] of trusted.entries()) {
      if (issuer.url !== url) continue;
      let startedMs: number | undefined;
      const key = `${index} ${token}`;
      const valid = await cache.use(key, () => {
        startedMs = clock.monotonicMs();
        return isSigned({ token, keyId: jwt.keyId });
      });
      answer = valid ? await checkToken(jwt.claims, { issuer, token, resolve, clock }) : refuse('verify token: failed to verify signature');
      const result = answer.type === 'user' ? 'success' : 'failure';
      if (startedMs !== undefined) observer?.checkedToken(issuer.url, result, (clock.monotonicMs() - startedMs) / 1000);
      if (answer.type === 'user') return answer;
      if (!valid) cache.forget(key);
    }
    return answer;
  };
}

const refuse = (problem: string): TokenAnswer => ({ type: 'refused', reason: `oidc: ${problem}` });

interface TokenCheck {
  readonly issuer: OidcIssuer;
  readonly token: string;
  readonly resolve: ResolveClaims;
  readonly clock: Clock;
}

async function checkToken(claims: Claims, { issuer, token, resolve, clock }: TokenCheck): Promise<TokenAnswer> {
  const problem = findTokenProblem(claims, issuer.audiences, clock.now());
  if (problem !== undefined) return refuse(`verify token: ${problem}`);
  const all = await resolve(claims, token);
  if (all instanceof Error) return refuse(`could not expand distributed claims: ${all.message}`);
  const missing = issuer.requiredClaims.find(({ claim, value }) => readClaim(all, claim) !== value);
  if (missing !== undefined) return refuse(`required claim ${missing.claim} does not have the expected value`);
  const user = mapUser(all, issuer);
  return typeof user === 'string' ? refuse(user) : { type: 'user', user };
}
