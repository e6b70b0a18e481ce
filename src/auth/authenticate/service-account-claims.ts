// What service account tokens say: the claims of bound tokens and of those in token Secrets, written and read. Mirrors the claims of
// kube-apiserver, names included, so that everything that reads its tokens reads these.

/** An object that a token is bound to. */
export interface BoundReference {
  readonly name: string;
  readonly uid: string;
}

/** The claims of a bound token. Times are whole seconds. */
export interface BoundClaims {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly namespace: string;
  readonly serviceAccount: BoundReference;
  readonly pod?: BoundReference;
  readonly secret?: BoundReference;
  readonly node?: BoundReference;
  readonly id: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** From when on the use of the token is worth a warning: the expiry that was asked for, where it was extended. */
  readonly warnAfter?: number;
}

const USERNAME_PREFIX = 'system:serviceaccount:';
/** The issuer that tokens in Secrets name. */
export const LEGACY_ISSUER = 'kubernetes/serviceaccount';
const LEGACY_PREFIX = 'kubernetes.io/serviceaccount/';

/** The user name of a service account. */
export const serviceAccountUsername = (namespace: string, name: string): string => `${USERNAME_PREFIX}${namespace}:${name}`;

/** The groups of the service accounts of a namespace. */
export const serviceAccountGroups = (namespace: string): string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];

/** Namespace and name behind a user name of that form; undefined for other users. */
export function parseServiceAccountUsername(username: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(USERNAME_PREFIX)) return undefined;
  const parts = username.slice(USERNAME_PREFIX.length).split(':', 3);
  const [namespace = '', name = ''] = parts;
  return parts.length === 2 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace) && /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(name)
    ? { namespace, name } : undefined;
}

/** The claims of a bound token as they are signed. */
export function encodeBoundClaims(claims: BoundClaims): Record<string, unknown> {
  const { namespace, serviceAccount, pod, secret, node, warnAfter } = claims;
  const reference = ({ name, uid }: BoundReference) => ({ name, uid });
  return {
    aud: claims.audiences, exp: claims.expiresAt, iat: claims.issuedAt, iss: claims.issuer, jti: claims.id,
    'kubernetes.io': {
      namespace, ...(node !== undefined && { node: reference(node) }), ...(pod !== undefined && { pod: reference(pod) }),
      ...(secret !== undefined && { secret: reference(secret) }), serviceaccount: reference(serviceAccount),
      ...(warnAfter !== undefined && { warnafter: warnAfter }),
    },
    nbf: claims.issuedAt, sub: serviceAccountUsername(namespace, serviceAccount.name),
  };
}

/** Whose token a Secret holds. */
export interface SecretTokenAccount {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Name of the Secret. */
  readonly secret: string;
}

/** The claims of a token in a Secret: no end, no audience, bound to the Secret by its name. */
export function encodeLegacyClaims(account: SecretTokenAccount): Record<string, unknown> {
  return {
    iss: LEGACY_ISSUER, [`${LEGACY_PREFIX}namespace`]: account.namespace, [`${LEGACY_PREFIX}secret.name`]: account.secret,
    [`${LEGACY_PREFIX}service-account.name`]: account.name, [`${LEGACY_PREFIX}service-account.uid`]: account.uid,
    sub: serviceAccountUsername(account.namespace, account.name),
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** The account and the objects that a verified token names. */
export interface TokenSubject {
  readonly namespace: string;
  readonly serviceAccount: BoundReference;
  readonly pod?: BoundReference;
  readonly secret?: BoundReference;
  readonly node?: BoundReference;
  readonly id: string;
  /** From when on a projected token counts as stale, in seconds; 0 for tokens that do not. */
  readonly warnAfter: number;
  /** From a token Secret. */
  readonly legacy: boolean;
}

/** Reads the subject; undefined when the claims do not fit each other. */
export function readSubject(claims: Claims): TokenSubject | undefined {
  const subject = claims['iss'] === LEGACY_ISSUER ? readLegacySubject(claims) : readBoundSubject(claims);
  if (subject === undefined || claims['sub'] !== serviceAccountUsername(subject.namespace, subject.serviceAccount.name)) return undefined;
  return subject;
}

function readLegacySubject(claims: Claims): TokenSubject | undefined {
  const text = (name: string): string => (typeof claims[LEGACY_PREFIX + name] === 'string' ? claims[LEGACY_PREFIX + name] as string : '');
  const subject = {
    namespace: text('namespace'), serviceAccount: { name: text('service-account.name'), uid: text('service-account.uid') },
    secret: { name: text('secret.name'), uid: '' }, id: '', warnAfter: 0, legacy: true,
  };
  const complete = subject.namespace !== '' && subject.serviceAccount.name !== '' && subject.serviceAccount.uid !== '' && subject.secret.name !== '';
  return complete ? subject : undefined;
}

function readBoundSubject(claims: Claims): TokenSubject | undefined {
  const kubernetes = claims['kubernetes.io'] as Claims | undefined;
  const account = readReference(kubernetes?.['serviceaccount']);
  const namespace = kubernetes?.['namespace'];
  if (account === undefined || account === 'broken' || typeof namespace !== 'string' || namespace === '') return undefined;
  const [pod, secret, node] = ['pod', 'secret', 'node'].map((name) => readReference(kubernetes?.[name]));
  if (pod === 'broken' || secret === 'broken' || node === 'broken') return undefined;
  const id = typeof claims['jti'] === 'string' ? claims['jti'] : '';
  const after = kubernetes?.['warnafter'];
  const warnAfter = typeof after === 'number' ? after : 0;
  return { namespace, serviceAccount: account, ...(pod && { pod }), ...(secret && { secret }), ...(node && { node }), id, warnAfter, legacy: false };
}

function readReference(value: unknown): BoundReference | 'broken' | undefined {
  if (value === undefined || value === null) return undefined;
  const { name, uid } = value as { name?: unknown; uid?: unknown };
  return typeof name === 'string' && name !== '' && typeof uid === 'string' && uid !== '' ? { name, uid } : 'broken';
}

/** Clocks may differ by as much. */
const LEEWAY_SECONDS = 60;

/** The problem of a token's times, in the reference's words; undefined when there is none. */
export function checkTimes(claims: Claims, nowMs: number): string | undefined {
  const now = Math.floor(nowMs / 1000);
  const { exp, nbf, iat } = claims as { exp?: unknown; nbf?: unknown; iat?: unknown };
  const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
  if ([exp, nbf, iat].some((value) => value !== undefined && !isTime(value))) return 'service account token claims could not be validated';
  if (isTime(nbf) && now + LEEWAY_SECONDS < nbf) return 'service account token is not valid yet';
  if (isTime(exp) && now - LEEWAY_SECONDS > exp) return 'service account token has expired';
  return isTime(iat) && now + LEEWAY_SECONDS < iat ? 'service account token is issued in the future' : undefined;
}

/** The audiences of a token. */
export function readAudiences({ aud }: Claims): readonly string[] {
  if (typeof aud === 'string') return [aud];
  return Array.isArray(aud) ? aud.filter((one) => typeof one === 'string') : [];
}
