// What a key management plugin's provider stores: the message EncryptedObject of the reference, with the encrypted seed and the id of the key that
// encrypted the seed beside the data. Of the seed a key is derived for each value (HKDF's expansion, 32 random bytes in front of the data).
import { createHash, createHmac } from 'node:crypto';
import type { Random } from '../../base/index.ts';
import { MessageReader, MessageWriter } from '../../grpc/index.ts';
import { hashText } from '../metrics/metric.ts';
import { type LocalCipher, createGcm } from './ciphers.ts';

/** How the plaintext of the source becomes a key: it is the key, or the seed of keys. */
export const sourceType = { key: 0, seed: 1 } as const;

/** An encrypted seed as a plugin has made it. */
export interface SealedSource {
  readonly keyId: string;
  readonly source: Uint8Array;
  readonly annotations: ReadonlyMap<string, Uint8Array>;
  readonly type: number;
}

/** A value in the store. */
export interface SealedValue extends SealedSource {
  readonly data: Uint8Array;
}

/** Bytes of a seed. */
export const SEED_BYTES = 32;
const INFO_BYTES = 32;
const SOURCE_LIMIT_BYTES = 1024;
const KEY_ID_LIMIT_BYTES = 1024;
const ANNOTATIONS_LIMIT_BYTES = 32 * 1024;

/** EncryptedObject: encryptedData 1, keyID 2, encryptedDEKSource 3, annotations 4 {key 1, value 2}, encryptedDEKSourceType 5. */
export function encodeValue({ data, keyId, source, annotations, type }: SealedValue): Buffer {
  const writer = new MessageWriter(data.length + source.length + 256).bytes(1, data).bytes(2, keyId).bytes(3, source);
  for (const [name, value] of annotations) writer.message(4, (entry) => void entry.bytes(1, name).bytes(2, value));
  return writer.number(5, type).finish();
}

/** Throws for bytes that are no such message, and for what no plugin may have said. */
export function decodeValue(bytes: Uint8Array): SealedValue {
  const reader = new MessageReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const empty = new Uint8Array(0);
  const value = { data: empty as Uint8Array, keyId: '', source: empty as Uint8Array, annotations: new Map<string, Uint8Array>(), type: 0 };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) value.data = reader.bytes();
    else if (field === 2) value.keyId = reader.text();
    else if (field === 3) value.source = reader.bytes();
    else if (field === 4) value.annotations.set(...readAnnotation(reader.nested()));
    else if (field === 5) value.type = reader.number();
    else reader.skip();
  }
  if (value.data.length === 0) throw new Error('encrypted data is empty');
  checkSource(value);
  return value;
}

/** An entry of a map from names to bytes. */
export function readAnnotation(entry: MessageReader): [string, Uint8Array] {
  let [name, value]: [string, Uint8Array] = ['', new Uint8Array(0)];
  for (let field = entry.next(); field !== 0; field = entry.next()) {
    if (field === 1) name = entry.text();
    else if (field === 2) value = entry.bytes();
    else entry.skip();
  }
  return [name, value];
}

/** Throws for a source that the reference would not store. */
export function checkSource({ keyId, source, annotations, type }: SealedSource): void {
  if (type !== sourceType.key && type !== sourceType.seed) throw new Error(`unknown encryptedDEKSourceType: ${type}`);
  const problem = findSourceProblem(source);
  if (problem !== undefined) throw new Error(`failed to validate encrypted DEK source: ${problem}`);
  const id = findKeyIdProblem(keyId);
  if (id !== undefined) throw new Error(`failed to validate key id: ${id.message}`);
  const size = Array.from(annotations, ([name, { length }]) => Buffer.byteLength(name) + length).reduce((sum, one) => sum + one, 0);
  const wrong = [...annotations.keys()].filter((name) => !isFullName(name)).map((name) => `annotations: Invalid value: ${JSON.stringify(name)}: ${NO_NAME}`);
  if (size > ANNOTATIONS_LIMIT_BYTES) wrong.push(`total size of annotations is ${size}, which exceeds the max size of ${ANNOTATIONS_LIMIT_BYTES}`);
  if (wrong.length > 0) throw new Error(`failed to validate annotations: ${wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`}`);
}

const NO_NAME = 'should be a domain with at least two segments separated by dots';

/** At least two labels of DNS. */
function isFullName(name: string): boolean {
  const labels = name.replace(/\.$/, '').split('.');
  return name.length <= 253 && labels.length > 1 && labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

function findSourceProblem({ length }: Uint8Array): string | undefined {
  if (length === 0) return 'encrypted DEK source is empty';
  return length > SOURCE_LIMIT_BYTES ? `encrypted DEK source is ${length} bytes, which exceeds the max size of ${SOURCE_LIMIT_BYTES}` : undefined;
}

/** A problem of a key's id, and how metrics name it. */
export function findKeyIdProblem(keyId: string): { readonly code: string; readonly message: string } | undefined {
  const length = Buffer.byteLength(keyId);
  if (length === 0) return { code: 'empty', message: 'keyID is empty' };
  if (length <= KEY_ID_LIMIT_BYTES) return undefined;
  return { code: 'too_long', message: `keyID is ${length} bytes, which exceeds the max size of ${KEY_ID_LIMIT_BYTES}` };
}

/** One short text for one source: what its plaintext is remembered by. */
export function hashSource({ type, source, keyId, annotations }: SealedSource): string {
  const hash = createHash('sha256').update(`${type}.${source.length}.${Buffer.byteLength(keyId)}.`).update(source).update(keyId);
  for (const [name, value] of [...annotations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`.${Buffer.byteLength(name)}.${value.length}.`).update(name).update(value);
  }
  return hash.digest('base64');
}

/** How logs and metrics name the id of a key. */
export const hashKeyId = (keyId: string): string => (keyId === '' ? '' : hashText(keyId));

/** HKDF's expansion with SHA-256, whose first block is as long as the key. */
const deriveKey = (seed: Uint8Array, info: Uint8Array): Buffer => createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest();

/** The cipher of a seed: each value has a key of its own. Throws for a seed that is too short. */
export function createSeedCipher(seed: Uint8Array, random: Random): LocalCipher {
  if (seed.length < SEED_BYTES) throw new Error(`invalid seed length ${seed.length} used for key generation`);
  return {
    seal(value, context) {
      const info = random.bytes(INFO_BYTES);
      return Buffer.concat([info, createGcm(deriveKey(seed, info), random).seal(value, context)]);
    },
    open(sealed, context) {
      if (sealed.length < INFO_BYTES) throw new Error('the stored data was shorter than the required size');
      return createGcm(deriveKey(seed, sealed.subarray(0, INFO_BYTES)), random).open(sealed.subarray(INFO_BYTES), context);
    },
  };
}
