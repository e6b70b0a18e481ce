// Authentication as kube-apiserver orders it: front proxy, client certificate, bearer token, then anonymous.
// Credentials that one authenticator refuses are fatal only when no other one accepts what else the request carries.
import type { Clock, MaybePromise } from '../../base/index.ts';
import { type User, anonymous, markAuthenticated } from '../user.ts';
import { EXTRA_SPACE, hasExtraSpace, readBearerToken } from './bearer.ts';
import { type AuthenticateToken, type ClientCertificate, type Credentials, type TokenAnswer, type TokenUse, sharedAudiences } from './credentials.ts';
import type { FrontProxy } from './front-proxy.ts';

/** `refused`: there were credentials, and they are wrong. The reasons are for TokenReview alone: callers never see them. */
type Authentication =
  | { readonly type: 'user'; readonly user: User; readonly audiences?: readonly string[] | undefined; readonly use?: TokenUse | undefined }
  | { readonly type: 'refused'; readonly reasons?: readonly string[]; readonly use?: TokenUse | undefined };

/** Finds the user of a request, in the same turn where nothing has to be waited for. */
export type Authenticate = (credentials: Credentials) => MaybePromise<Authentication>;

interface AuthenticatorOptions {
  /** Asked in order. */
  readonly tokens: readonly AuthenticateToken[];
  /** Asked first, for callers on this machine only: what has no rights elsewhere. */
  readonly localTokens?: readonly AuthenticateToken[];
  /** Whether callers without credentials are let in, or on which paths. */
  readonly allowAnonymous: boolean | { readonly paths: readonly string[] };
  readonly apiAudiences?: readonly string[];
  readonly frontProxy?: FrontProxy;
  /** Whether the client certificate with this fingerprint is good no more. */
  readonly isRevoked?: (fingerprint: string) => boolean;
  /** Says when client certificates have expired; without it they do not. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Makes the authenticator of a server. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const apiAudiences = options.apiAudiences ?? [];
  /** By connection, the last token that was shown there and lasts, in its header, and whose it is. */
  const lasting = new WeakMap<object, { readonly authorization: string; readonly found: Authentication }>();
  const ownTokens = [...options.localTokens ?? [], ...options.tokens];
  return (credentials) => {
    const { authorization, clientCertificate, connection, audiences = apiAudiences } = credentials;
    const certificate = hasExpired(clientCertificate, options.clock) ? undefined : clientCertificate;
    const proxied = certificate?.frontProxy === true ? options.frontProxy?.(certificate, credentials.headers?.() ?? new Map()) : undefined;
    if (proxied !== undefined) return accept(proxied);
    if (certificate?.authorized === true && certificate.commonName !== '') {
      return options.isRevoked?.(certificate.fingerprint ?? '') === true ? { type: 'refused' } : acceptCertified(certificate);
    }
    const known = connection === undefined ? undefined : lasting.get(connection);
    if (known !== undefined && authorization !== undefined && isSameSecret(known.authorization, authorization)) return known.found;
    const token = authorization === undefined ? undefined : readBearerToken(authorization);
    if (token !== undefined) {
      const tokens = isLoopback(credentials.remoteAddress) ? ownTokens : options.tokens;
      const keep = (found: Authentication): void => {
        if (connection !== undefined && authorization !== undefined) lasting.set(connection, { authorization, found });
      };
      return authenticateToken({ token, audiences, tokens, apiAudiences, refusals: [], keep });
    }
    // A certificate that no authority of clients signed, or that has expired, is refused; that of a front proxy too, when it names no user or is not an
    // allowed one.
    const foreign = clientCertificate !== undefined && certificate?.authorized !== true;
    const use = authorization !== undefined && hasExtraSpace(authorization) ? { annotations: {}, warning: EXTRA_SPACE } : undefined;
    const noted = use === undefined ? {} : { use };
    return foreign || !mayBeAnonymous(options.allowAnonymous, credentials.path) ? { type: 'refused', ...noted } : { type: 'user', user: anonymous, ...noted };
  };
}

const hasExpired = (certificate: ClientCertificate | undefined, clock: Pick<Clock, 'now'> | undefined): boolean =>
  certificate?.expiresMs !== undefined && clock !== undefined && clock.now() >= certificate.expiresMs;

const isLoopback = (address = ''): boolean => address === '::1' || /^(?:::ffff:)?127\./.test(address);

const accept = (user: User, audiences?: readonly string[], use?: TokenUse): Authentication => ({ type: 'user', user: markAuthenticated(user), audiences, use });

/** A connection has one certificate and many requests: they are made by one and the same user. */
const certified = new WeakMap<ClientCertificate, Authentication>();

function acceptCertified(certificate: ClientCertificate): Authentication {
  let accepted = certified.get(certificate);
  if (accepted === undefined) certified.set(certificate, accepted = accept(describeCertified(certificate)));
  return accepted;
}

/** Whether two secrets are equal, compared in a time that does not depend on where they differ: proxies put many callers on one connection. */
function isSameSecret(known: string, given: string): boolean {
  if (known.length !== given.length) return false;
  let differences = 0;
  for (let at = 0; at < known.length; at++) differences |= known.charCodeAt(at) ^ given.charCodeAt(at);
  return differences === 0;
}

function describeCertified({ commonName, organizations, uid, fingerprint }: ClientCertificate): User {
  const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint ?? ''}`] };
  return { name: commonName, groups: organizations, ...(uid && { uid }), ...(fingerprint !== undefined && { extra }) };
}

interface Asking extends Required<Pick<AuthenticatorOptions, 'tokens' | 'apiAudiences'>> {
  readonly token: string;
  readonly audiences: readonly string[];
  /** Answers of authenticators that refused the token so far. */
  readonly refusals: (TokenAnswer & { readonly type: 'refused' })[];
  /** Receives an answer that lasts. */
  readonly keep: (found: Authentication) => void;
}

/** Asks one authenticator after the other, from `first` on. */
function authenticateToken(asking: Asking, first = 0): MaybePromise<Authentication> {
  const { token, audiences, tokens, refusals } = asking;
  for (let index = first; index < tokens.length; index++) {
    const found = (tokens[index] as AuthenticateToken)(token, audiences);
    if (found instanceof Promise) return found.then((answer) => checkAnswer(answer, asking) ?? authenticateToken(asking, index + 1));
    const authenticated = checkAnswer(found, asking);
    if (authenticated !== undefined) return authenticated;
  }
  const reasons = ['invalid bearer token', ...refusals.map(({ reason }) => reason)];
  return { type: 'refused', reasons, use: refusals.find(({ use }) => use !== undefined)?.use };
}

/** The end of asking, if this answer is it. */
function checkAnswer(found: TokenAnswer | undefined, { audiences, apiAudiences, refusals, keep }: Asking): Authentication | undefined {
  if (found === undefined) return undefined;
  if (found.type === 'user') {
    const shared = found.audiences ?? sharedAudiences(apiAudiences, audiences);
    const accepted = shared.length > 0 || audiences.length === 0 ? accept(found.user, shared, found.use) : undefined;
    if (found.lasting === true && accepted !== undefined) keep(accepted);
    return accepted;
  }
  refusals.push(found);
  return undefined;
}

function mayBeAnonymous(allowed: AuthenticatorOptions['allowAnonymous'], path: string | undefined): boolean {
  return typeof allowed === 'boolean' ? allowed : path !== undefined && allowed.paths.includes(path);
}
