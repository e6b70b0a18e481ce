// The ciphers of keys that the EncryptionConfiguration itself holds: AES in CBC and GCM mode, and NaCl's secretbox, as kube-apiserver writes them.
import { type CipherGCMTypes, createCipheriv, createDecipheriv } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { MaybePromise, Random } from '../../base/index.ts';

/**
 * How one provider hides bytes; the context (the key of the object) is authenticated where the provider can do it. `stored` is the value that holds the
 * sealed bytes behind the provider's prefix, the same for `prepare` and for what comes after it.
 */
export interface Cipher {
  /** A promise where the key of each value is encrypted elsewhere. */
  seal(value: Uint8Array, context: Uint8Array): MaybePromise<Uint8Array>;
  /** Answers undefined or throws when it cannot. */
  open(sealed: Uint8Array, context: Uint8Array, stored: Uint8Array): Uint8Array | undefined;
  /** Whether `seal` would use the same key today; always, when absent. */
  isCurrent?(sealed: Uint8Array, context: Uint8Array, stored: Uint8Array): boolean;
  /** What `open` has to wait for; undefined when it waits for nothing. Rejects when what it needs cannot be had. */
  prepare?(sealed: Uint8Array, stored: Uint8Array): Promise<void> | undefined;
}

/** One whose keys are here, or are remembered for all values. */
export interface LocalCipher extends Cipher {
  seal(value: Uint8Array, context: Uint8Array): Uint8Array;
  open(sealed: Uint8Array, context: Uint8Array): Uint8Array | undefined;
  isCurrent?(sealed: Uint8Array, context: Uint8Array): boolean;
  prepare?(sealed: Uint8Array): Promise<void> | undefined;
}

const TAG_BYTES = 16;
const GCM_NONCE_BYTES = 12;
const SECRETBOX_NONCE_BYTES = 24;
const CBC_BLOCK_BYTES = 16;

/** The lengths of keys that each provider takes. */
export const keySizes = { aescbc: [16, 24, 32], aesgcm: [16, 24, 32], secretbox: [32] } as const satisfies Readonly<Record<string, readonly number[]>>;

/** The providers whose keys are in the file. */
export type LocalProvider = keyof typeof keySizes;

/** Makes the cipher of one key. */
export function createCipher(provider: LocalProvider, key: Uint8Array, random: Random): LocalCipher {
  if (provider === 'aesgcm') return createGcm(key, random);
  return provider === 'aescbc' ? createCbc(key, random) : createSecretbox(key, random);
}

function requireBytes({ length }: Uint8Array, wanted: number): void {
  if (length < wanted) throw new Error('the stored data was shorter than the required size');
}

/** Says in the reference's words that bytes were not sealed with this key; libraries have words of their own. */
function orThrow(message: string, open: () => Uint8Array): Uint8Array {
  try {
    return open();
  } catch (error) {
    throw new Error(message, { cause: error });
  }
}

/** AES in GCM mode: a random nonce, the ciphertext, the tag. */
export function createGcm(key: Uint8Array, random: Random): LocalCipher {
  const algorithm = `aes-${key.length * 8}-gcm` as CipherGCMTypes;
  return {
    seal(value, context) {
      const nonce = random.bytes(GCM_NONCE_BYTES);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(context);
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      requireBytes(sealed, GCM_NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, GCM_NONCE_BYTES), { authTagLength: TAG_BYTES }).setAAD(context);
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      return orThrow('cipher: message authentication failed', () =>
        Buffer.concat([decipher.update(sealed.subarray(GCM_NONCE_BYTES, sealed.length - TAG_BYTES)), decipher.final()]));
    },
  };
}

function createCbc(key: Uint8Array, random: Random): LocalCipher {
  const algorithm = `aes-${key.length * 8}-cbc`;
  return {
    seal(value) {
      const start = random.bytes(CBC_BLOCK_BYTES);
      const cipher = createCipheriv(algorithm, key, start);
      return Buffer.concat([start, cipher.update(value), cipher.final()]);
    },
    open(sealed) {
      requireBytes(sealed, CBC_BLOCK_BYTES);
      if (sealed.length % CBC_BLOCK_BYTES !== 0) throw new Error('the stored data is not a multiple of the block size');
      if (sealed.length === CBC_BLOCK_BYTES) throw new Error('invalid PKCS7 data (empty or not padded)');
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, CBC_BLOCK_BYTES));
      return orThrow('invalid padding on input', () => Buffer.concat([decipher.update(sealed.subarray(CBC_BLOCK_BYTES)), decipher.final()]));
    },
  };
}

/** NaCl's secretbox, which node:crypto does not have: XSalsa20 and Poly1305, the tag in front. */
function createSecretbox(key: Uint8Array, random: Random): LocalCipher {
  return {
    seal(value) {
      const nonce = random.bytes(SECRETBOX_NONCE_BYTES);
      return Buffer.concat([nonce, xsalsa20poly1305(key, nonce).encrypt(value)]);
    },
    open(sealed) {
      requireBytes(sealed, SECRETBOX_NONCE_BYTES);
      const box = xsalsa20poly1305(key, sealed.subarray(0, SECRETBOX_NONCE_BYTES));
      return orThrow('output array was not large enough for encryption', () => box.decrypt(sealed.subarray(SECRETBOX_NONCE_BYTES)));
    },
  };
}
