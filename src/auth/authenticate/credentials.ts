// What a caller shows, and what an authenticator of bearer tokens returns.
import type { MaybePromise } from '../../base/index.ts';
import type { User } from '../user.ts';

/** What a client certificate says. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** From an attribute of the subject; '' or absent when it has none. */
  readonly uid?: string;
  /** Chains to an authority of clients. */
  readonly authorized: boolean;
  /** Chains to the authority of front proxies. */
  readonly frontProxy?: boolean;
  /** SHA-256 of the certificate, in hexadecimal. */
  readonly fingerprint?: string;
  /** When the certificate ends, in milliseconds since the Unix epoch: connections and sessions may outlive it. */
  readonly expiresMs?: number;
}

/** What authentication looks at. */
export interface Credentials {
  /** The Authorization header. */
  readonly authorization: string | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
  /** All headers with the values as they were sent, lower-case names; asked for only where a front proxy speaks. */
  readonly headers?: () => ReadonlyMap<string, readonly string[]>;
  /** What a request of the API came by, one object per connection: a token that lasts is looked up once on each. */
  readonly connection?: object;
  /** Where the caller is: some tokens are good on this machine only. */
  readonly remoteAddress?: string;
  /** The path asked for: anonymous callers may be let in on some only. */
  readonly path?: string;
  /** Audiences of which the token must name one; by default those of the API. */
  readonly audiences?: readonly string[];
}

/** What the use of a token adds to its request. */
export interface TokenUse {
  /** Annotations of the audit event. */
  readonly annotations: Readonly<Record<string, string>>;
  /** For the caller. */
  readonly warning?: string;
}

/** `refused`: a token of this authenticator that is not good. `audiences` absent: the token is for the API and says nothing of audiences. */
export type TokenAnswer =
  | {
    readonly type: 'user'; readonly user: User; readonly audiences?: readonly string[];
    /** The token stands for this user as long as the server runs. */
    readonly lasting?: boolean;
    readonly use?: TokenUse | undefined;
  }
  | { readonly type: 'refused'; readonly reason: string; readonly use?: TokenUse | undefined };

/** The audiences that are asked for and that a token has, as often and in the order as they are asked for. */
export const sharedAudiences = (own: readonly string[], asked: readonly string[]): readonly string[] => asked.filter((one) => own.includes(one));

/** Looks a token up; undefined when it is not one of this authenticator's. */
export type AuthenticateToken = (token: string, audiences: readonly string[]) => MaybePromise<TokenAnswer | undefined>;
