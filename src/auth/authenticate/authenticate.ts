// Authentication as kube-apiserver orders it: client certificate, then bearer token, then anonymous.
// Credentials that one authenticator refuses are fatal only when no other one accepts what else the request carries.
import { type User, anonymous, markAuthenticated } from '../user.ts';
import { readBearerToken } from './bearer.ts';

/** What authentication looks at. */
export interface Credentials {
  /** The Authorization header. */
  readonly authorization: string | undefined;
  readonly clientCertificate?: { readonly commonName: string; readonly organizations: readonly string[]; readonly authorized: boolean } | undefined;
}

/** `refused`: there were credentials, and they are wrong. */
export type Authentication = { readonly type: 'user'; readonly user: User } | { readonly type: 'refused' };

/** Finds out who is calling. */
export type Authenticate = (credentials: Credentials) => Promise<Authentication>;

/** Looks a token up: the user it stands for, or undefined when it is not one of this authenticator's. */
export type AuthenticateToken = (token: string) => Promise<User | undefined> | User | undefined;

/** Makes the authenticator of a server. Token authenticators are asked in order. */
export function createAuthenticator(options: { readonly tokens: readonly AuthenticateToken[]; readonly allowAnonymous: boolean }): Authenticate {
  return async ({ authorization, clientCertificate }) => {
    if (clientCertificate?.authorized === true && clientCertificate.commonName !== '') {
      return accept({ name: clientCertificate.commonName, groups: clientCertificate.organizations });
    }
    const token = authorization === undefined ? undefined : readBearerToken(authorization);
    if (token !== undefined) {
      for (const authenticate of options.tokens) {
        const user = await authenticate(token);
        if (user !== undefined) return accept(user);
      }
    }
    const refused = token !== undefined || clientCertificate?.authorized === false || !options.allowAnonymous;
    return refused ? { type: 'refused' } : { type: 'user', user: anonymous };
  };
}

const accept = (user: User): Authentication => ({ type: 'user', user: markAuthenticated(user) });
