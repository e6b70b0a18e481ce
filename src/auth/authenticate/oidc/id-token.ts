// What makes an ID token hold: a signature by a key of its issuer, its time and its audience. The issuer's keys are found by discovery, fetched by a
// function that is handed in, kept, and fetched again when a token names a key that is not among them. Signatures and key sets are `jose`'s, which is
// loaded with the first token.
import type { CompactVerifyGetKey, JSONWebKeySet } from 'jose';
import type { Clock } from '../../../base/index.ts';
import { readAudiences } from '../service-account-claims.ts';
import type { Claims } from './claim-expressions.ts';

/** Whose keys, and how they are had. */
export interface KeyIssuer {
  readonly url: string;
  /** Where the discovery document is, if not below the issuer. */
  readonly discoveryUrl?: string;
  readonly algorithms: readonly string[];
  /** Fetches a document as text; follows no redirects, gives up on what is slow or large. */
  readonly fetchText: (url: string, headers?: Readonly<Record<string, string>>) => Promise<string>;
}

/** Hears that the keys of an issuer were fetched; undefined: they could not be. */
export type ObserveKeys = (issuer: string, keys: string | undefined) => void;

interface KeysOptions {
  readonly clock: Clock;
  readonly observe?: ObserveKeys | undefined;
}

const KEYS_LIFETIME_MS = 60 * 60_000;
/** Unknown key names make the keys be fetched again at most this often. */
const REFETCH_MS = 10_000;
const NOT_BEFORE_LEEWAY_SECONDS = 300;

/** The issuer that a token names; Google's has a short name too. */
export const issuerOf = (claims: Claims): unknown => (claims['iss'] === 'accounts.google.com' ? 'https://accounts.google.com' : claims['iss']);

/** The fault of a token's time or audience, at a time in milliseconds since 1970; undefined: it has none. */
export function findTokenProblem(claims: Claims, audiences: readonly string[], nowMs: number): string | undefined {
  const { exp, nbf } = claims;
  if (typeof exp !== 'number' || exp <= nowMs / 1000) return 'token is expired';
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf > nowMs / 1000 + NOT_BEFORE_LEEWAY_SECONDS)) {
    return 'current time is before the nbf (not before) time';
  }
  return readAudiences(claims).some((one) => audiences.includes(one)) ? undefined : 'expected audience is missing';
}

/** A token and the name of the key that its header gives; '' when it gives none. */
interface SignedToken {
  readonly token: string;
  readonly keyId: string;
}

/** Answers whether an issuer signed a token; false also when the provider cannot be reached: the reason is not for the caller. */
export type IsSigned = (signed: SignedToken) => Promise<boolean>;

/** Makes the check of an issuer. Its discovery document is asked for at once: an issuer that is misconfigured is not found out by its first user. */
export function createSignatureCheck(issuer: KeyIssuer, options: KeysOptions): IsSigned {
  const ring = createKeyRing(issuer, options);
  const algorithms = [...issuer.algorithms];
  return async ({ token, keyId }) => {
    try {
      const { find } = await ring(keyId);
      return await verifySignature(token, find, algorithms);
    } catch {
      return false;
    }
  };
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

function createKeyRing(issuer: KeyIssuer, { clock, observe }: KeysOptions): KeyRing {
  const discover = createDiscovery(issuer);
  void discover().catch(() => undefined);
  let kept: { readonly keys: KeySet; readonly atMs: number } | undefined;
  let pending: Promise<KeySet> | undefined;
  const fetchAll = async () => {
    const keys = await fetchKeys(issuer, { address: await discover(), observe });
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

/** Fetches the discovery document of an issuer; throws when it is no JSON or is another's. */
export async function fetchDiscovery({ url, discoveryUrl, fetchText }: Omit<KeyIssuer, 'algorithms'>): Promise<Readonly<Record<string, unknown>>> {
  const document = JSON.parse(await fetchText(discoveryUrl ?? `${url.replace(/\/$/, '')}/.well-known/openid-configuration`)) as Record<string, unknown>;
  if (document['issuer'] !== url) throw new Error('the discovery document names another issuer');
  return document;
}

/** Finds where the keys of an issuer are; what was found stays, as in the reference. */
function createDiscovery(issuer: KeyIssuer): () => Promise<string> {
  let found: Promise<string> | undefined;
  const discover = async (): Promise<string> => {
    const { jwks_uri: address } = await fetchDiscovery(issuer);
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
  readonly observe: ObserveKeys | undefined;
}

async function fetchKeys({ url, fetchText }: KeyIssuer, { address, observe }: KeysPlace): Promise<KeySet> {
  let fetched: string | undefined;
  try {
    const keys = await fetchText(address);
    const set = await readKeys(keys);
    fetched = keys;
    return set;
  } finally {
    observe?.(url, fetched);
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
