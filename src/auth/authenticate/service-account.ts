// Authenticates service accounts by their tokens. The signature is checked once and remembered for a while; whether the account and what the
// token is bound to still exist is looked up at every use, so that a token dies with them at once.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Clock, Random } from '../../base/index.ts';
import type { User } from '../user.ts';
import { type AuthenticateToken, type TokenAnswer, type TokenUse, sharedAudiences } from './credentials.ts';
import { type VerifyingKey, parseJwt, verifyJwt } from './jwt.ts';
import {
  type BoundReference, type TokenSubject, checkTimes, LEGACY_ISSUER, readAudiences, readSubject, serviceAccountGroups, serviceAccountUsername,
} from './service-account-claims.ts';
import { TokenCache } from './token-cache.ts';

/** The objects that tokens can be bound to, as they are this moment. */
export type FindBoundObject = (
  resource: 'serviceaccounts' | 'secrets' | 'pods' | 'nodes', key: { readonly namespace: string; readonly name: string },
) => Promise<KubeObject | undefined>;

/** How a token of a service account was used: each is a metric of its own. */
export type ServiceAccountTokenUse = 'valid' | 'stale' | 'legacy' | 'legacy-manual' | 'legacy-auto' | 'invalid-legacy-auto';

interface ServiceAccountTokenOptions {
  /** Issuers whose tokens are accepted; the first one signs. */
  readonly issuers: readonly string[];
  readonly apiAudiences: readonly string[];
  readonly keys: () => Promise<readonly VerifyingKey[]>;
  /** The keys once more, for a token of one that is not among them; absent where no others can have come. */
  readonly renewKeys?: (() => Promise<readonly VerifyingKey[]>) | undefined;
  readonly find: FindBoundObject;
  /** false: tokens from Secrets are not looked up. */
  readonly looksUpSecrets?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  /** Receives the Secret at every use of its token. */
  readonly onLegacyUse?: (secret: KubeObject) => void;
  readonly countUse?: ((use: ServiceAccountTokenUse) => void) | undefined;
}

/** Objects that are being deleted keep their tokens alive this long, as the reference has it. */
const DELETION_LEEWAY_MS = 60_000;
const CACHE_LIMIT = 10_000;
const CACHE_LIFETIME_MS = 5 * 60_000;
/** Label of token Secrets that are not good any more, with the day since when. */
export const INVALIDATED_SINCE = 'kubernetes.io/legacy-token-invalid-since';

const AUTOMATIC = 'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.';

type Claims = Readonly<Record<string, unknown>>;

const refuse = (reason: string): TokenAnswer => ({ type: 'refused', reason });

/** Makes the authenticator. Tokens of other issuers are left to other authenticators. */
export function createServiceAccountAuthenticator(options: ServiceAccountTokenOptions): AuthenticateToken {
  const accepted = new Set([...options.issuers, LEGACY_ISSUER]);
  const createCache = () => new TokenCache<Claims | undefined>({ ...options, limit: CACHE_LIMIT, lifetimeMs: CACHE_LIFETIME_MS });
  let verified = createCache();
  let used: readonly VerifyingKey[] = [];
  const verify = (token: string, keys: readonly VerifyingKey[], onUnknownKey: () => void): Claims | undefined => {
    // What a key verified that others have taken away is not good any more.
    if (options.renewKeys !== undefined && keys !== used) verified = createCache();
    used = keys;
    return verified.use(token, () => {
      const jwt = parseJwt(token);
      if (jwt === undefined || typeof jwt.claims['iss'] !== 'string' || !accepted.has(jwt.claims['iss'])) return undefined;
      if (jwt.keyId !== '' && keys.every(({ keyId }) => keyId !== jwt.keyId)) onUnknownKey();
      return verifyJwt(jwt, keys) ? jwt.claims : undefined;
    });
  };
  const authenticate = async (token: string, audiences: readonly string[]): Promise<TokenAnswer | undefined> => {
    let isUnknown = false;
    let claims = verify(token, await options.keys(), () => (isUnknown = true));
    if (isUnknown && options.renewKeys !== undefined) claims = verify(token, await options.renewKeys().catch(() => used), () => undefined);
    return claims === undefined ? undefined : checkClaims({ claims, token, audiences }, options);
  };
  // Cheap enough to be asked for every bearer token that is no JWT at all.
  return (token, audiences) => (token.startsWith('ey') ? authenticate(token, audiences) : undefined);
}

interface Shown {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly token: string;
  readonly audiences: readonly string[];
}

async function checkClaims({ claims, token, audiences }: Shown, options: ServiceAccountTokenOptions): Promise<TokenAnswer> {
  const problem = checkTimes(claims, options.clock.now());
  if (problem !== undefined) return refuse(problem);
  const subject = readSubject(claims);
  if (subject === undefined) return refuse('service account token claims could not be validated');
  const named = readAudiences(claims);
  const isUnnamed = named.length === 0;
  const own = isUnnamed ? options.apiAudiences : named;
  const { legacy, namespace, serviceAccount } = subject;
  if (isUnnamed) options.countUse?.('legacy');
  const implicit = isUnnamed ? { 'authentication.k8s.io/legacy-token': serviceAccountUsername(namespace, serviceAccount.name) } : undefined;
  const addTo = (use: TokenUse | undefined): TokenUse | undefined =>
    (implicit === undefined ? use : { ...use, annotations: { ...implicit, ...use?.annotations } });
  const shared = sharedAudiences(own, audiences);
  if (shared.length === 0) return refuse(`token audiences ${quoteList(own)} is invalid for the target audiences ${quoteList(audiences)}`);
  const { dead, use } = legacy && options.looksUpSecrets === false ? alive : await checkBound(subject, token, options);
  if (dead !== undefined) return { type: 'refused', reason: dead, use: addTo(use) };
  const noted = addTo(use ?? checkAge(subject, options));
  return { type: 'user', user: describeAccount(subject), audiences: shared, ...(noted !== undefined && { use: noted }) };
}

/** Notes a projected token that its holder has not read again for too long. */
function checkAge({ namespace, serviceAccount, warnAfter }: TokenSubject, { clock, countUse }: ServiceAccountTokenOptions): TokenUse | undefined {
  if (warnAfter === 0) return undefined;
  const nowMs = clock.now();
  const isStale = nowMs > warnAfter * 1000;
  countUse?.(isStale ? 'stale' : 'valid');
  if (!isStale) return undefined;
  const subject = serviceAccountUsername(namespace, serviceAccount.name);
  const seconds = Math.floor(nowMs / 1000) - Math.trunc(warnAfter);
  return { annotations: { 'authentication.k8s.io/stale-token': `subject: ${subject}, seconds after warning threshold: ${seconds}` } };
}

/** What follows from the objects that a token is bound to: why it is dead, and what its use adds to the request. */
interface Bound {
  readonly dead?: string;
  readonly use?: TokenUse;
}

const alive: Bound = {};

const quoteList = (list: readonly string[]): string => `[${list.map((one) => JSON.stringify(one)).join(' ')}]`;

async function checkBound(subject: TokenSubject, token: string, options: ServiceAccountTokenOptions): Promise<Bound> {
  const { find, clock } = options;
  const { namespace, serviceAccount, pod, secret, node, legacy } = subject;
  const isGone = (object: KubeObject | undefined): object is undefined => {
    const deleted = object?.metadata.deletionTimestamp;
    return object === undefined || (deleted !== undefined && Date.parse(deleted) < clock.now() - DELETION_LEEWAY_MS);
  };
  const differs = (what: string, object: KubeObject, { uid }: BoundReference): string | undefined =>
    (object.metadata.uid === uid ? undefined : `${what} UID (${object.metadata.uid ?? ''}) does not match ${claimNames[what] ?? ''} (${uid})`);
  const invalidated = { dead: 'service account token has been invalidated' };
  const held = secret === undefined ? undefined : await find('secrets', { namespace, name: secret.name });
  if (secret !== undefined) {
    if (isGone(held)) return invalidated;
    const dead = legacy ? checkTokenSecret(held, token) : differs('secret', held, secret);
    if (dead !== undefined) return { dead };
  }
  const account = await find('serviceaccounts', { namespace, name: serviceAccount.name });
  if (isGone(account)) return { dead: `serviceaccounts ${JSON.stringify(serviceAccount.name)} not found` };
  const wrongAccount = differs('service account', account, serviceAccount);
  if (wrongAccount !== undefined) return { dead: wrongAccount };
  if (legacy && held !== undefined) return useLegacyToken(held, account, options);
  const others = [['pods', 'pod', pod], ['nodes', 'node', pod === undefined ? node : undefined]] as const;
  for (const [resource, what, reference] of others) {
    if (reference === undefined) continue;
    const found = await find(resource, { namespace: resource === 'nodes' ? '' : namespace, name: reference.name });
    if (isGone(found)) return invalidated;
    const dead = differs(what, found, reference);
    if (dead !== undefined) return { dead };
  }
  return alive;
}

/** Notes the use of a token that a Secret holds, and refuses one whose Secret is marked as not good any more. */
function useLegacyToken(secret: KubeObject, account: KubeObject, { onLegacyUse, countUse }: ServiceAccountTokenOptions): Bound {
  const { name = '', namespace = '', labels } = secret.metadata;
  const annotate = (what: string, value: string): TokenUse => ({ annotations: { [`authentication.k8s.io/legacy-token-${what}`]: value } });
  onLegacyUse?.(secret);
  if (labels?.[INVALIDATED_SINCE]) {
    countUse?.('invalid-legacy-auto');
    return {
      dead: `the token in secret ${namespace}/${name} for service account ${namespace}/${account.metadata.name ?? ''} has been marked invalid. Use tokens from `
        + `the TokenRequest API or manually created secret-based tokens, or remove the '${INVALIDATED_SINCE}' label from the secret to temporarily allow use `
        + 'of this token',
      use: annotate('invalidated', `${name}/${namespace}`),
    };
  }
  const listed = account['secrets'] as readonly { readonly name?: string }[] | undefined;
  const isAutomatic = listed?.some((reference) => reference.name === name) === true;
  countUse?.(isAutomatic ? 'legacy-auto' : 'legacy-manual');
  return isAutomatic ? { use: { ...annotate('autogenerated-secret', name), warning: AUTOMATIC } } : { use: annotate('manual-secret', name) };
}

const claimNames: Readonly<Record<string, string>> = {
  'service account': 'claim', secret: 'service account secret ref claim', pod: 'service account pod ref claim', node: 'service account node ref claim',
};

/** A token from a Secret counts only while the Secret holds it. */
function checkTokenSecret(secret: KubeObject, token: string): string | undefined {
  const held = (secret['data'] as Record<string, string> | undefined)?.['token'] ?? '';
  const hash = (text: Uint8Array | string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(Buffer.from(held, 'base64')), hash(token)) ? undefined : 'service account token does not match server\'s copy';
}

function describeAccount({ namespace, serviceAccount, pod, node, id }: TokenSubject): User {
  const extra: Record<string, readonly string[]> = {};
  if (id !== '') extra['authentication.kubernetes.io/credential-id'] = [`JTI=${id}`];
  for (const [what, reference] of [['pod', pod], ['node', node]] as const) {
    if (reference === undefined) continue;
    extra[`authentication.kubernetes.io/${what}-name`] = [reference.name];
    extra[`authentication.kubernetes.io/${what}-uid`] = [reference.uid];
  }
  return {
    name: serviceAccountUsername(namespace, serviceAccount.name), uid: serviceAccount.uid, groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
