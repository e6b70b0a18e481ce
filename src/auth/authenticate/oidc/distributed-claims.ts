// Groups that an ID token does not hold itself, but names a place for (OpenID Connect Core 1.0, section 5.6.2: distributed claims). That place answers
// with another signed token, of an issuer of its own, whose keys are found by that issuer's discovery. Mirrors kube-apiserver's claim resolver: only the
// groups claim is looked for, and claims that are aggregated, inside the token, are not.
import { BoundedCache, type Clock, type Random, isJsonObject } from '../../../base/index.ts';
import { parseJwt } from '../jwt.ts';
import { TokenCache } from '../token-cache.ts';
import type { Claims } from './claim-expressions.ts';
import { type UserMapping, readClaim } from './claim-user.ts';
import { type IsSigned, type KeyIssuer, createSignatureCheck, findTokenProblem, issuerOf } from './id-token.ts';

/** Answers the claims of a token with the groups that are elsewhere, or why they could not be had. Groups are kept under the token for a while. */
export type ResolveClaims = (claims: Claims, token: string) => Promise<Claims | Error> | Claims | Error;

interface ResolverIssuer extends KeyIssuer, Pick<UserMapping, 'groups'> {
  readonly audiences: readonly string[];
}

interface ResolverOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Whether the trusted issuer itself signed a token. */
  readonly isSigned: IsSigned;
}

/** kube-apiserver keeps the user of a token for so long. */
const KEPT_MS = 10_000;
const KEPT_TOKENS = 4096;
const KEPT_ISSUERS = 16;

interface ClaimSource {
  readonly url: string;
  /** '' when none is sent. */
  readonly accessToken: string;
}

/** Makes the resolver of a trusted issuer. */
export function createClaimResolver(issuer: ResolverIssuer, { clock, random, isSigned }: ResolverOptions): ResolveClaims {
  const { groups } = issuer;
  if (groups === undefined || 'evaluate' in groups) return (claims) => claims;
  const checks = new BoundedCache<string, IsSigned>({ limit: KEPT_ISSUERS });
  const checkOf = (url: string) => (url === issuer.url ? isSigned
    : checks.get(url) ?? checks.set(url, createSignatureCheck({ url, algorithms: issuer.algorithms, fetchText: issuer.fetchText }, { clock })));
  const kept = new TokenCache<Promise<unknown>>({ clock, random, lifetimeMs: KEPT_MS, limit: KEPT_TOKENS });

  const fetchValue = async (source: ClaimSource): Promise<unknown> => {
    const token = await fetchToken(source, issuer, groups.claim);
    const jwt = parseJwt(token);
    const url = jwt && issuerOf(jwt.claims);
    if (jwt === undefined || typeof url !== 'string') throw new Error(`the token of ${source.url} for the claim ${JSON.stringify(groups.claim)} is malformed`);
    if (!url.startsWith('https://')) throw new Error(`verifying untrusted issuer ${url} failed: it is no address over https`);
    if (!await checkOf(url)({ token, keyId: jwt.keyId })) throw new Error('verify distributed claim token: failed to verify signature');
    const problem = findTokenProblem(jwt.claims, issuer.audiences, clock.now());
    if (problem !== undefined) throw new Error(`verify distributed claim token: ${problem}`);
    const value = readClaim(jwt.claims, groups.claim);
    if (value === undefined) throw new Error(`jwt returned by distributed claim endpoint ${JSON.stringify(source.url)} did not contain claim: ${groups.claim}`);
    return value;
  };

  return (claims, token) => {
    const source = findSource(claims, groups.claim);
    if (source === undefined) return claims;
    if (source instanceof Error) return source;
    return kept.use(token, () => fetchValue(source)).then((value) => ({ ...claims, [groups.claim]: value }), (error: Error) => {
      kept.forget(token);
      return error;
    });
  };
}

/** Where the claim is; undefined when it is in the token or nowhere. */
function findSource(claims: Claims, claim: string): ClaimSource | Error | undefined {
  const names = readClaim(claims, '_claim_names');
  if (readClaim(claims, claim) !== undefined || names === undefined) return undefined;
  if (!isJsonObject(names)) return new Error('oidc: error parsing distributed claim names');
  const sources = readClaim(claims, '_claim_sources');
  if (sources === undefined) return new Error('oidc: no claim sources');
  if (!isJsonObject(sources)) return new Error('oidc: could not parse claim sources');
  const name = readClaim(names, claim);
  if (name === undefined) return undefined;
  const source = typeof name === 'string' ? readClaim(sources, name) : undefined;
  if (!isJsonObject(source)) return new Error(`id token _claim_names contained a source ${String(name)} missing in _claims_sources`);
  const { endpoint = '', access_token: accessToken = '' } = source;
  if (typeof endpoint !== 'string' || typeof accessToken !== 'string') return new Error('oidc: could not parse claim sources');
  return endpoint === '' ? undefined : { url: endpoint, accessToken };
}

async function fetchToken({ url, accessToken }: ClaimSource, { fetchText }: KeyIssuer, claim: string): Promise<string> {
  try {
    return await fetchText(url, { accept: '*/*', ...(accessToken !== '' && { authorization: `Bearer ${accessToken}` }) });
  } catch (error) {
    throw new Error(`while getting distributed claim ${JSON.stringify(claim)}: ${(error as Error).message}`, { cause: error });
  }
}
