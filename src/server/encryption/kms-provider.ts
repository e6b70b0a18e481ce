// A provider whose key is in a key management plugin (KMS v2). The plugin encrypts a seed once per key of its own; values are encrypted here, with keys
// derived from the seed. Its status is asked every minute:
//
//   no seed ──status, seed encrypted──▶ writes with a seed ──the key's id changes, seed encrypted──▶ writes with another seed
//                                         └─ three minutes without a good status: reads, refuses to write ─▶ (good status) writes
//
// Seeds of values that others have written, or this server before its start, are decrypted by the plugin when a value first needs one.
import { formatTime } from '../../registry/index.ts';
import { BoundedCache, type Clock, type Random, type Timer } from '../../base/index.ts';
import { type LocalCipher, createGcm } from './ciphers.ts';
import type { EncryptionMetrics } from './encryption-metrics.ts';
import type { KmsPlugin } from './kms-plugin.ts';
import { currentSpan, inShortSpan } from '../tracing/spans.ts';
import type { KmsService } from './kms-client.ts';
import {
  type SealedSource, type SealedValue, SEED_BYTES, checkSource, createSeedCipher, decodeValue, encodeValue, findKeyIdProblem, hashKeyId, hashSource, sourceType,
} from './kms-value.ts';

interface KmsProviderOptions {
  readonly name: string;
  readonly service: KmsService;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: EncryptionMetrics | undefined;
}

/** What values are written with. */
interface WriteState {
  readonly sealed: SealedSource;
  readonly cipher: LocalCipher;
  /** Writes are refused after this moment of the clock. */
  readonly expiresMs: number;
}

const HEALTHY_PERIOD_MS = 60_000;
const FAILED_PERIOD_MS = 10_000;
/** A status that is younger answers a health check. */
const GOOD_STATUS_MS = 20_000;
const BAD_STATUS_MS = 3_000;
const SEED_LIFE_MS = 180_000;
/** Seeds that are remembered: as many as there were keys of plugins and starts of servers since the values were written. */
const MOST_SEEDS = 10_000;

/** The cipher of one plugin, kept up to date. */
export class KmsProvider implements KmsPlugin {
  readonly version = 'v2';
  readonly cipher: LocalCipher;
  readonly timeoutMs: number;
  readonly #options: KmsProviderOptions;
  readonly #seeds = new BoundedCache<string, LocalCipher>({ limit: MOST_SEEDS });
  readonly #decrypting = new Map<string, Promise<void>>();
  #state: WriteState | undefined;
  #protocol = '';
  #checking: Promise<void> | undefined;
  #last: { readonly atMs: number; readonly error: Error | undefined } | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: KmsProviderOptions) {
    this.#options = options;
    this.timeoutMs = options.timeoutMs;
    this.cipher = {
      seal: (value, context) => this.#inSpan('TransformToStorage', () => this.#seal(value, context)),
      open: (sealed, context) => this.#inSpan('TransformFromStorage', () => this.#open(sealed, context)),
      isCurrent: (sealed) => this.#isCurrent(sealed),
      prepare: (sealed) => this.#prepare(sealed),
    };
  }

  #inSpan<T>(name: string, run: () => T): T {
    return inShortSpan(() => ({ name: `${name} with envelopeTransformer`, attributes: { 'transformer.provider.name': this.#options.name } }), run);
  }

  /** Asks the plugin for the first time, and from then on. A plugin that does not answer yet is no reason to wait longer. */
  async start(): Promise<void> {
    await this.check().catch(() => undefined);
    this.#checkLater();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#options.service.close();
  }

  /** Rejects when the plugin is not well, or was not a moment ago. */
  check(): Promise<void> {
    const { clock } = this.#options;
    const { atMs, error } = this.#last ?? { atMs: -Infinity, error: undefined };
    const isFresh = clock.monotonicMs() - atMs < (error === undefined ? GOOD_STATUS_MS : BAD_STATUS_MS);
    if (isFresh) return error === undefined ? Promise.resolve() : Promise.reject(error);
    this.#checking ??= this.#askStatus().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  #checkLater(): void {
    if (this.#stopped) return;
    const periodMs = this.#last?.error === undefined ? HEALTHY_PERIOD_MS : FAILED_PERIOD_MS;
    this.#timer = this.#options.clock.after(periodMs, () => void this.check().catch(() => undefined).then(() => this.#checkLater()));
  }

  async #askStatus(): Promise<void> {
    const { clock } = this.#options;
    try {
      await this.#readStatus();
      this.#last = { atMs: clock.monotonicMs(), error: undefined };
    } catch (error) {
      // The reference remembers what the call itself said.
      const { cause } = error as Error;
      this.#last = { atMs: clock.monotonicMs(), error: cause instanceof Error ? cause : error as Error };
      throw error;
    }
  }

  async #readStatus(): Promise<void> {
    const { name, service, metrics } = this.#options;
    const { version, healthz, keyId } = await service.status().catch((error: Error) => {
      throw new Error(`failed to perform status section of the healthz check for KMS Provider ${name}, error: ${error.message}`, { cause: error });
    });
    const problems: string[] = [];
    if (healthz !== 'ok') problems.push(`got unexpected healthz status: ${healthz}`);
    const known = version === 'v2' || version === 'v2beta1';
    if (!known) problems.push(`expected KMSv2 API version v2, got ${version}`);
    else if (version !== (this.#protocol ||= version)) {
      problems.push(`KMSv2 API version should not change after the initial status response version ${this.#protocol}, got ${version}`);
    }
    const wrong = findKeyIdProblem(keyId);
    if (wrong !== undefined) {
      metrics?.invalidKeyId(name, wrong.code);
      problems.push(`got invalid KMSv2 KeyID hash "${hashKeyId(keyId)}": ${wrong.message}`);
    } else {
      metrics?.statusKeyId(name, keyId);
      await this.#useKey(keyId).catch((error: Error) => void problems.push(error.message));
    }
    if (problems.length === 0) return;
    throw new Error(`kmsv2 Provider ${name} is not healthy, error: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`);
  }

  /** Writes with a seed that this key has encrypted, from now on for three minutes. On failure the seed before stays until its time is up. */
  async #useKey(keyId: string): Promise<void> {
    const { clock, random, service, metrics } = this.#options;
    const expiresMs = clock.now() + SEED_LIFE_MS;
    const before = this.#state;
    if (before?.sealed.keyId === keyId) {
      this.#state = { ...before, expiresMs };
      return;
    }
    const uid = random.uuid();
    let encrypted: SealedSource | undefined;
    try {
      const seed = random.bytes(SEED_BYTES);
      metrics?.madeSeed();
      encrypted = await service.encrypt(uid, seed);
      checkSource(encrypted);
      if (encrypted.keyId !== keyId) throw new Error('the key of the status is another');
      const cipher = createSeedCipher(seed, random);
      this.#state = { sealed: encrypted, cipher, expiresMs };
      this.#remember(hashSource(encrypted), cipher);
    } catch (error) {
      const cause = encrypted === undefined ? `failed to encrypt DEK, error: ${(error as Error).message}` : (error as Error).message;
      throw new Error(`failed to rotate DEK uid="${uid}", errGen=${cause}, statusKeyIDHash="${hashKeyId(keyId)}", `
        + `encryptKeyIDHash="${hashKeyId(encrypted?.keyId ?? '')}", stateKeyIDHash="${hashKeyId(before?.sealed.keyId ?? '')}"`, { cause: error });
    }
  }

  #seal(value: Uint8Array, context: Uint8Array): Uint8Array {
    const { name, clock, metrics } = this.#options;
    const { sealed, cipher, expiresMs } = this.#current();
    if (clock.now() > expiresMs) {
      throw new Error(`encryptedDEKSource with keyID hash "${hashKeyId(sealed.keyId)}" expired at ${formatTime(expiresMs)} `
        + `(current time is ${formatTime(clock.now())})`);
    }
    metrics?.usedKey(name, 'to_storage', sealed.keyId);
    const span = currentSpan();
    span?.event('About to encrypt data using DEK');
    const data = cipher.seal(value, context);
    span?.event('Data encryption succeeded');
    span?.event('About to encode encrypted object');
    const encoded = encodeValue({ ...sealed, data });
    span?.event('Encoded encrypted object');
    return encoded;
  }

  #current(): WriteState {
    if (this.#state === undefined) throw new Error('got unexpected nil transformer');
    return this.#state;
  }

  #open(sealed: Uint8Array, context: Uint8Array): Uint8Array | undefined {
    const { name, metrics } = this.#options;
    const span = currentSpan();
    span?.event('About to decode encrypted object');
    const value = decodeValue(sealed);
    span?.event('Decoded encrypted object');
    this.#current();
    const cipher = this.#seeds.get(hashSource(value));
    if (cipher === undefined) throw new Error(`failed to decrypt DEK, error: the plugin ${name} has not decrypted it`);
    metrics?.usedKey(name, 'from_storage', value.keyId);
    span?.event('About to decrypt data using DEK');
    const plain = cipher.open(value.data, context);
    span?.event('Data decryption succeeded');
    return plain;
  }

  #isCurrent(sealed: Uint8Array): boolean {
    const { keyId, type } = decodeValue(sealed);
    return keyId === this.#state?.sealed.keyId && type === this.#state.sealed.type;
  }

  /** Values that are not what a provider writes have nothing to wait for: `open` says what is wrong. */
  #prepare(sealed: Uint8Array): Promise<void> | undefined {
    const value = tryDecode(sealed);
    if (value === undefined) return undefined;
    const hash = hashSource(value);
    if (this.#state !== undefined && this.#seeds.get(hash) !== undefined) return undefined;
    let decrypting = this.#decrypting.get(hash);
    if (decrypting === undefined) {
      decrypting = this.#decrypt(value, hash).finally(() => void this.#decrypting.delete(hash));
      this.#decrypting.set(hash, decrypting);
    }
    return decrypting;
  }

  /** The reference neither reads before the plugin has been well once. */
  async #decrypt(value: SealedValue, hash: string): Promise<void> {
    const { service, random, metrics } = this.#options;
    this.#current();
    metrics?.missedSeed();
    const plaintext = await service.decrypt(random.uuid(), value).catch((error: Error) => {
      throw new Error(`failed to decrypt DEK, error: ${error.message}`, { cause: error });
    });
    this.#remember(hash, value.type === sourceType.seed ? createSeedCipher(plaintext, random) : createGcm(plaintext, random));
  }

  #remember(hash: string, cipher: LocalCipher): void {
    const { name, metrics } = this.#options;
    this.#seeds.set(hash, cipher);
    metrics?.rememberedSeeds(name, this.#seeds.count);
  }
}

function tryDecode(sealed: Uint8Array): SealedValue | undefined {
  try {
    return decodeValue(sealed);
  } catch {
    return undefined;
  }
}

