// Chance as a value that is handed in, so that a test can repeat a run.

/** The only source of randomness. */
export interface Random {
  /** A version 4 UUID. */
  uuid(): string;
  /** An integer in [0, limit). */
  below(limit: number): number;
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array;
}

/** Cryptographic randomness of the platform (Web Crypto, so it runs in a browser too). */
export const systemRandom: Random = {
  uuid: () => globalThis.crypto.randomUUID(),
  below(limit) {
    const word = globalThis.crypto.getRandomValues(new Uint32Array(1))[0] as number;
    return Math.floor((word / 2 ** 32) * limit);
  },
  bytes: (length) => globalThis.crypto.getRandomValues(new Uint8Array(length)),
};
