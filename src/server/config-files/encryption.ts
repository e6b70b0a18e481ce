// Encryption at rest as kube-apiserver writes it: `k8s:enc:<provider>:v1:<key name>:` and then the secret bytes. The first provider of a
// resource writes, all of them read, so that keys can be rotated. The key of the object is authenticated where the provider can do it.
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { Random } from '../../base/index.ts';
import type { StorageFormat, ValueCipher } from '../../registry/index.ts';
import { StartError } from '../options/options.ts';

/** How one provider hides bytes with one key; `open` answers undefined or throws when it cannot. */
interface Cipher {
  seal(value: Uint8Array, context: Uint8Array): Uint8Array;
  open(sealed: Uint8Array, context: Uint8Array): Uint8Array | undefined;
}

interface Provider {
  /** What stored values begin with; empty for identity. */
  readonly prefix: Buffer;
  readonly cipher: Cipher | undefined;
}

interface Rule {
  readonly resources: readonly string[];
  readonly providers: readonly Provider[];
}

const everyPrefix = Buffer.from('k8s:enc:');
const TAG_BYTES = 16;
const GCM_NONCE_BYTES = 12;
const SECRETBOX_NONCE_BYTES = 24;
const CBC_BLOCK_BYTES = 16;
const keySizes: Readonly<Record<string, readonly number[]>> = { aescbc: [16, 24, 32], aesgcm: [16, 24, 32], secretbox: [32] };

/** What the ciphers are made of. */
interface EncryptionOptions {
  /** An EncryptionConfiguration, parsed. */
  readonly config: unknown;
  readonly random: Random;
}

/** Makes the ciphers of an EncryptionConfiguration; throws StartError for one that would not protect. */
export function createEncryption({ config, random }: EncryptionOptions): NonNullable<StorageFormat['cipherFor']> {
  const rules = readRules(config, random);
  return (resource) => {
    const providers = rules.find(({ resources }) => resources.some((pattern) => matches(pattern, resource)))?.providers;
    return createValueCipher(providers);
  };
}

type CipherFor = NonNullable<StorageFormat['cipherFor']>;

/** Ciphers that are replaced when a file says something else. */
export function followEncryption(first: CipherFor): { readonly cipherFor: CipherFor; replace(next: CipherFor): void } {
  let [current, generation] = [first, 0];
  return {
    cipherFor(resource) {
      let [cipher, made] = [current(resource), generation];
      const find = (): ValueCipher | undefined => {
        if (made !== generation) [cipher, made] = [current(resource), generation];
        return cipher;
      };
      return {
        seal: (value, key) => find()?.seal(value, key) ?? value,
        open: (stored, key) => find()?.open(stored, key) ?? stored,
        isCurrent: (stored) => find()?.isCurrent(stored) ?? true,
      };
    },
    replace(next) {
      current = next;
      generation += 1;
    },
  };
}

/** The cipher of resources that no entry names leaves values in the clear, and opens none that are not. */
function createValueCipher(providers: readonly Provider[] | undefined): ValueCipher {
  const writer = providers?.[0];
  return {
    seal: (value, key) => (writer?.cipher === undefined ? value : Buffer.concat([writer.prefix, writer.cipher.seal(value, Buffer.from(key))])),
    open: (stored, key) => open(providers, stored, key),
    // Written by another provider or key than the one that writes today, or in the clear: a rotation is over when no value is.
    isCurrent: (stored) => (writer?.cipher === undefined ? !startsWith(stored, everyPrefix) : startsWith(stored, writer.prefix)),
  };
}

function open(providers: readonly Provider[] | undefined, stored: Uint8Array, key: string): Uint8Array {
  if (!startsWith(stored, everyPrefix)) {
    if (providers === undefined || providers.some(({ cipher }) => cipher === undefined)) return stored;
    throw new Error('no matching prefix found');
  }
  for (const { prefix, cipher } of providers ?? []) {
    if (cipher === undefined || !startsWith(stored, prefix)) continue;
    const value = tryOpen(cipher, stored.subarray(prefix.length), key);
    if (value !== undefined) return value;
  }
  throw new Error('the value cannot be decrypted with the keys that are configured');
}

/** Ciphers throw for what they have not sealed. */
function tryOpen(cipher: Cipher, sealed: Uint8Array, key: string): Uint8Array | undefined {
  try {
    return cipher.open(sealed, Buffer.from(key));
  } catch {
    return undefined;
  }
}

const startsWith = (bytes: Uint8Array, prefix: Buffer): boolean => bytes.length >= prefix.length && prefix.equals(bytes.subarray(0, prefix.length));

/** `*.*` is everything, `*.` the core group, `*.apps` a group; others name one resource. */
function matches(pattern: string, resource: string): boolean {
  const dot = resource.indexOf('.');
  const group = dot < 0 ? '' : resource.slice(dot + 1);
  return pattern === '*.*' || pattern === resource || (pattern.startsWith('*.') && pattern.slice(2) === group);
}

const fail = (problem: string): never => {
  throw new StartError(`--encryption-provider-config: ${problem}`);
};

function readRules(config: unknown, random: Random): Rule[] {
  const { kind, resources } = (config ?? {}) as { readonly kind?: unknown; readonly resources?: unknown };
  if (kind !== 'EncryptionConfiguration' && kind !== 'EncryptionConfig') fail('is not an EncryptionConfiguration');
  if (!Array.isArray(resources) || resources.length === 0) fail('names no resources');
  return (resources as { readonly resources?: unknown; readonly providers?: unknown }[]).map((entry) => {
    if (!Array.isArray(entry.resources) || !Array.isArray(entry.providers)) return fail('each entry has resources and providers');
    if (entry.providers.length === 0) return fail('each entry has at least one provider');
    return { resources: entry.resources.map(String), providers: (entry.providers as object[]).flatMap((provider) => readProviders(provider, random)) };
  });
}

/** One provider per key: the first key writes. */
function readProviders(provider: object, random: Random): Provider[] {
  const [name = '', body] = Object.entries(provider)[0] ?? [];
  if (name === 'identity') return [{ prefix: Buffer.alloc(0), cipher: undefined }];
  const sizes = keySizes[name];
  if (sizes === undefined) return fail(`provider ${JSON.stringify(name)} is not one of identity, aescbc, aesgcm, secretbox`);
  const keys = (body as { readonly keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0) return fail(`${name} has no keys`);
  return keys.map(({ name: keyName, secret }: { readonly name?: unknown; readonly secret?: unknown }) => {
    const key = Buffer.from(String(secret ?? ''), 'base64');
    if (typeof keyName !== 'string' || keyName === '') return fail(`a key of ${name} has no name`);
    if (!sizes.includes(key.length)) return fail(`key ${keyName} of ${name} has ${key.length} bytes, not ${sizes.join(', ')}`);
    return { prefix: Buffer.from(`k8s:enc:${name}:v1:${keyName}:`), cipher: createCipher(name, key, random) };
  });
}

function createCipher(provider: string, key: Buffer, random: Random): Cipher {
  if (provider === 'aesgcm') return createGcm(key, random);
  return provider === 'aescbc' ? createCbc(key, random) : createSecretbox(key, random);
}

function createGcm(key: Buffer, random: Random): Cipher {
  const algorithm = `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
  return {
    seal(value, context) {
      const nonce = random.bytes(GCM_NONCE_BYTES);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(context);
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      if (sealed.length < GCM_NONCE_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, GCM_NONCE_BYTES), { authTagLength: TAG_BYTES }).setAAD(context);
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(GCM_NONCE_BYTES, sealed.length - TAG_BYTES)), decipher.final()]);
    },
  };
}

function createCbc(key: Buffer, random: Random): Cipher {
  const algorithm = `aes-${key.length * 8}-cbc`;
  return {
    seal(value) {
      const start = random.bytes(CBC_BLOCK_BYTES);
      const cipher = createCipheriv(algorithm, key, start);
      return Buffer.concat([start, cipher.update(value), cipher.final()]);
    },
    open(sealed) {
      if (sealed.length < 2 * CBC_BLOCK_BYTES || sealed.length % CBC_BLOCK_BYTES !== 0) return undefined;
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, CBC_BLOCK_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(CBC_BLOCK_BYTES)), decipher.final()]);
    },
  };
}

/** NaCl's secretbox, which node:crypto does not have: XSalsa20 and Poly1305, the tag in front. */
function createSecretbox(key: Buffer, random: Random): Cipher {
  return {
    seal(value) {
      const nonce = random.bytes(SECRETBOX_NONCE_BYTES);
      return Buffer.concat([nonce, xsalsa20poly1305(key, nonce).encrypt(value)]);
    },
    open(sealed) {
      if (sealed.length < SECRETBOX_NONCE_BYTES + TAG_BYTES) return undefined;
      const box = xsalsa20poly1305(key, sealed.subarray(0, SECRETBOX_NONCE_BYTES));
      return box.decrypt(sealed.subarray(SECRETBOX_NONCE_BYTES));
    },
  };
}
