// Answers about tokens, kept for a short while. The key is a keyed hash, so that a dump of the memory shows no tokens; the number of entries is
// bounded, and the oldest is dropped first. Objects that a token is bound to can change meanwhile and are not kept here.
import { BoundedCache } from '../../base/index.ts';
import type { Clock, Random } from '../../base/index.ts';
import { createTokenHash } from './token-hash.ts';

interface TokenCacheOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly lifetimeMs: number;
  /** Entries kept. */
  readonly limit: number;
}

/** Remembers one value per token. */
export class TokenCache<Value> {
  readonly #options: TokenCacheOptions;
  readonly #hash: (token: string) => string;
  readonly #entries: BoundedCache<string, { readonly value: Value; readonly untilMs: number }>;

  constructor(options: TokenCacheOptions) {
    this.#options = options;
    this.#entries = new BoundedCache({ limit: options.limit });
    this.#hash = createTokenHash(options.random);
  }

  /** The value kept for the token, or the one that `make` answers; undefined is not kept. */
  use(token: string, make: () => Value): Value {
    const name = this.#hash(token);
    const nowMs = this.#options.clock.monotonicMs();
    const found = this.#entries.peek(name);
    if (found !== undefined && found.untilMs > nowMs) return found.value;
    this.#entries.delete(name);
    const value = make();
    if (value === undefined) return value;
    this.#entries.set(name, { value, untilMs: nowMs + this.#options.lifetimeMs });
    return value;
  }

  /** Forgets the token. */
  forget(token: string): void {
    this.#entries.delete(this.#hash(token));
  }
}
