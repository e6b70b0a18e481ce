// The tokens of one session that a provider began: the ID token, which is the credentials of its requests, renewed before it expires.
import { decodeJwt } from 'jose';
import type { Clock } from '../../base/index.ts';

/** What the token endpoint answers, as far as it is used. */
export interface TokenAnswer {
  readonly idToken: string;
  /** '' where the provider gives none: the session ends with the ID token. */
  readonly refreshToken: string;
}

interface RenewOptions {
  readonly clock: Clock;
  /** Asks the provider for the next tokens. */
  readonly renew: (refreshToken: string) => Promise<TokenAnswer>;
}

/** Tokens are renewed in their last minute, short ones in their last quarter. */
const EARLY_MS = 60_000;
const EARLY_SHARE = 0.25;
/** Time until the next try where the provider did not answer. */
const PAUSE_MS = 5000;

/** Reads the answer of a token endpoint; throws for one without an ID token. */
export function readTokenAnswer(answer: unknown): TokenAnswer {
  const { id_token: idToken, refresh_token: refreshToken } = (answer ?? {}) as { id_token?: unknown; refresh_token?: unknown };
  if (typeof idToken !== 'string' || idToken === '') throw new Error('the provider gives no ID token');
  return { idToken, refreshToken: typeof refreshToken === 'string' ? refreshToken : '' };
}

/** The credentials of a session, as the authenticator takes them. */
export class OidcTokens {
  readonly #options: RenewOptions;
  #current: TokenAnswer;
  #renewMs = 0;
  #expiresMs = 0;
  #pending: Promise<void> | undefined;

  constructor(first: TokenAnswer, options: RenewOptions) {
    this.#options = options;
    this.#current = first;
    this.#take(first);
  }

  readonly clientCertificate = undefined;

  /** The header of the ID token. */
  get authorization(): string {
    return `Bearer ${this.#current.idToken}`;
  }

  /** Renews the token where it is due. Requests wait only for the renewal of one that has expired; a token that cannot be renewed is left to be refused. */
  refresh(): Promise<void> | undefined {
    const now = this.#options.clock.now();
    if (now < this.#renewMs || this.#current.refreshToken === '') return undefined;
    this.#pending ??= this.#renew().finally(() => {
      this.#pending = undefined;
    });
    return now < this.#expiresMs ? undefined : this.#pending;
  }

  async #renew(): Promise<void> {
    try {
      this.#take(await this.#options.renew(this.#current.refreshToken));
    } catch {
      this.#renewMs = this.#options.clock.now() + PAUSE_MS;
    }
  }

  /** A provider that gives no new refresh token accepts the one before again. */
  #take({ idToken, refreshToken }: TokenAnswer): void {
    const now = this.#options.clock.now();
    this.#current = { idToken, refreshToken: refreshToken === '' ? this.#current.refreshToken : refreshToken };
    this.#expiresMs = (decodeJwt(idToken).exp ?? 0) * 1000;
    this.#renewMs = this.#expiresMs - Math.min(EARLY_MS, Math.max(0, this.#expiresMs - now) * EARLY_SHARE);
  }
}
