// A provider whose key is in a key management plugin of the first version of the protocol, which is deprecated: each value has a key of its own, made
// here, encrypted by the plugin and stored before the value. So every write asks the plugin, and every read of a value whose key is not remembered.
import { BoundedCache, type Clock, type Random } from '../../base/index.ts';
import { type Cipher, type LocalCipher, createCipher, createGcm } from './ciphers.ts';
import type { EncryptionMetrics } from './encryption-metrics.ts';
import type { KmsPlugin } from './kms-plugin.ts';
import type { KmsV1Service } from './kms-v1-client.ts';

interface KmsV1ProviderOptions {
  readonly name: string;
  readonly service: KmsV1Service;
  readonly timeoutMs: number;
  /** Keys that are remembered, those used last; below 0 none is. */
  readonly cacheSize: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: EncryptionMetrics | undefined;
}

/** The ciphers of one key: values are written with the first, and read with either. */
interface KeyCiphers {
  readonly gcm: LocalCipher;
  readonly cbc: LocalCipher;
}

const KEY_BYTES = 32;
const LENGTH_BYTES = 2;
/** A health check that was good, or failed, a shorter time ago answers the next one. */
const GOOD_MS = 20_000;
const BAD_MS = 3_000;
const INVALID = 'invalid data encountered by envelope transformer: failed to read uint16 length prefixed data';

/** The cipher of one plugin. */
export class KmsV1Provider implements KmsPlugin {
  readonly version = 'v1';
  readonly cipher: Cipher;
  readonly timeoutMs: number;
  readonly #options: KmsV1ProviderOptions;
  readonly #keys: BoundedCache<string, KeyCiphers>;
  /** Values that were readied keep their keys for as long as they are in memory: a page may have more of them than keys are remembered. */
  readonly #readied = new WeakMap<Uint8Array, KeyCiphers>();
  #checking: Promise<void> | undefined;
  #last: { readonly atMs: number; readonly error: Error | undefined } | undefined;

  constructor(options: KmsV1ProviderOptions) {
    this.#options = options;
    this.timeoutMs = options.timeoutMs;
    this.#keys = new BoundedCache({ limit: Math.max(options.cacheSize, 0) });
    this.cipher = {
      seal: (value, context) => this.#seal(value, context),
      open: (sealed, context, stored) => this.#open(sealed, context, stored),
      isCurrent: (sealed, context, stored) => this.#isCurrent(sealed, context, stored),
      prepare: (sealed, stored) => this.#prepare(sealed, stored),
    };
  }

  start(): Promise<void> {
    return this.check().catch(() => undefined);
  }

  stop(): void {
    this.#options.service.close();
  }

  /** Rejects when the plugin does not encrypt or decrypt, or did not a moment ago. */
  check(): Promise<void> {
    const { atMs, error } = this.#last ?? { atMs: -Infinity, error: undefined };
    const isFresh = this.#options.clock.monotonicMs() - atMs < (error === undefined ? GOOD_MS : BAD_MS);
    if (isFresh) return error === undefined ? Promise.resolve() : Promise.reject(error);
    this.#checking ??= this.#tryOut().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #tryOut(): Promise<void> {
    const { name, service, clock } = this.#options;
    let part = 'encrypt';
    try {
      const sealed = await service.encrypt(Buffer.from('ping'));
      part = 'decrypt';
      await service.decrypt(sealed);
      this.#last = { atMs: clock.monotonicMs(), error: undefined };
    } catch (error) {
      this.#last = { atMs: clock.monotonicMs(), error: error as Error };
      throw new Error(`failed to perform ${part} section of the healthz check for KMS Provider ${name}, error: ${(error as Error).message}`, { cause: error });
    }
  }

  async #seal(value: Uint8Array, context: Uint8Array): Promise<Uint8Array> {
    const { random, service, metrics } = this.#options;
    const key = random.bytes(KEY_BYTES);
    metrics?.madeSeed();
    const sealedKey = await service.encrypt(key);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(sealedKey.length);
    return Buffer.concat([length, sealedKey, this.#remember(sealedKey, key).gcm.seal(value, context)]);
  }

  #open(sealed: Uint8Array, context: Uint8Array, stored: Uint8Array): Uint8Array | undefined {
    const { sealedKey, data } = split(sealed) ?? fail(INVALID);
    const cipher = this.#find(sealedKey, stored) ?? fail(`the plugin ${this.#options.name} has not decrypted the key`);
    return openWith(cipher.gcm, data, context) ?? cipher.cbc.open(data, context);
  }

  /** Servers before 1.25 wrote in CBC mode. */
  #isCurrent(sealed: Uint8Array, context: Uint8Array, stored: Uint8Array): boolean {
    const { sealedKey, data } = split(sealed) ?? {};
    const cipher = sealedKey === undefined ? undefined : this.#find(sealedKey, stored);
    return cipher !== undefined && data !== undefined && openWith(cipher.gcm, data, context) !== undefined;
  }

  #find(sealedKey: Uint8Array, stored: Uint8Array): KeyCiphers | undefined {
    return this.#readied.get(stored) ?? this.#keys.get(nameOf(sealedKey));
  }

  /** Values that are not what a provider writes have nothing to wait for: `open` says what is wrong. */
  #prepare(sealed: Uint8Array, stored: Uint8Array): Promise<void> | undefined {
    const sealedKey = split(sealed)?.sealedKey;
    if (sealedKey === undefined) return undefined;
    const known = this.#find(sealedKey, stored);
    if (known === undefined) return this.#decrypt(sealedKey, stored);
    this.#readied.set(stored, known);
    return undefined;
  }

  async #decrypt(sealedKey: Uint8Array, stored: Uint8Array): Promise<void> {
    const { service, metrics } = this.#options;
    metrics?.missedSeed();
    this.#readied.set(stored, this.#remember(sealedKey, await service.decrypt(sealedKey)));
  }

  #remember(sealedKey: Uint8Array, key: Uint8Array): KeyCiphers {
    const { random } = this.#options;
    const cipher = { gcm: createGcm(key, random), cbc: createCipher('aescbc', key, random) };
    this.#keys.set(nameOf(sealedKey), cipher);
    return cipher;
  }
}

const nameOf = (sealedKey: Uint8Array): string => Buffer.from(sealedKey).toString('base64');

function fail(message: string): never {
  throw new Error(message);
}

/** The length of the key that is in front, the key, and the value. */
function split(sealed: Uint8Array): { readonly sealedKey: Uint8Array; readonly data: Uint8Array } | undefined {
  if (sealed.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + (((sealed[0] as number) << 8) | (sealed[1] as number));
  return sealed.length < end ? undefined : { sealedKey: sealed.subarray(LENGTH_BYTES, end), data: sealed.subarray(end) };
}

/** The value, where this cipher has sealed it. */
function openWith(cipher: LocalCipher, sealed: Uint8Array, context: Uint8Array): Uint8Array | undefined {
  try {
    return cipher.open(sealed, context);
  } catch {
    return undefined;
  }
}
