// The users of a test server: bearer tokens that are made while it runs.
import { type AuthenticateToken, createTokenAuthenticator } from '../auth/index.ts';
import { systemRandom } from '../base/index.ts';
import type { TestUser } from './options.ts';

/** Tokens and their users. */
export class TokenBook {
  readonly #authenticators = new Map<string, AuthenticateToken>();
  /** The tokens of the same user are the same. */
  readonly #known = new Map<string, string>();

  /** The token of a user, made where there is none. */
  tokenOf({ token, ...user }: TestUser): string {
    const key = JSON.stringify([user.name, user.uid, user.groups, user.extra]);
    const known = token ?? this.#known.get(key);
    const chosen = known ?? `test-${Buffer.from(systemRandom.bytes(18)).toString('base64url')}`;
    this.#known.set(key, chosen);
    this.#authenticators.set(chosen, createTokenAuthenticator([{ token: chosen, user: { ...user, groups: user.groups ?? [] } }], systemRandom));
    return chosen;
  }

  /** Answers for the tokens of this book. */
  readonly authenticate: AuthenticateToken = (token, audiences) => this.#authenticators.get(token)?.(token, audiences);
}
