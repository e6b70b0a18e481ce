// How the values of one resource lie in the store, between the registry's JSON and the bytes on disk: JSON (with the newline that Go's encoder
// ends with, where another apiserver may read it), protobuf, or CBOR for custom resources where that is asked for, and encryption around it.
// A kube-apiserver on the same etcd finds what it would have written itself, but for a mark of white space behind JSON:
//
//   {"kind":"ConfigMap",…}················↵        16 characters of four kinds: a checksum of the JSON
//
// JSON with its mark has its defaults and the order of its fields, and is shown without being parsed. All else (other writers, other releases of this
// program, what was changed by hand, custom objects of another state of their definition) is decoded and defaulted when it is read.
import { type JsonValue, internalError } from '../../apimachinery/index.ts';
import { type MaybePromise, catchMaybe } from '../../base/index.ts';
import { encodeCbor, encodeEnvelope, encodeMessage, encodeUtf8, isCbor, isProtobuf } from '../../codec/index.ts';
import type { Resource } from '../resource.ts';
import type { EncodedObject, Layout } from './layout.ts';

/** Encrypts the values of one resource. The key of an object is authenticated where the provider can do it. */
export interface ValueCipher {
  /** Throws, or rejects, when it cannot encrypt. A promise where that is done elsewhere. */
  seal(value: Uint8Array, key: string): MaybePromise<Uint8Array>;
  /** Throws for values that none of the keys open. */
  open(stored: Uint8Array, key: string): Uint8Array;
  /** Whether `seal` would use the same provider and key today. */
  isCurrent(stored: Uint8Array, key: string): boolean;
}

/** How a registry's values lie in its store. */
export interface StorageFormat {
  readonly mediaType: 'application/json' | 'application/vnd.kubernetes.protobuf';
  /** Whether JSON ends with a newline. */
  readonly endsWithNewline: boolean;
  /**
   * The checksum of JSON that its mark stands for: another one where fields of built-in kinds, their order or their defaults are others. Without it there
   * are no marks, and all is decoded when it is read. The mark of a custom object depends on the fingerprint of its row too. Custom objects have none beside
   * protobuf, which is asked for where a kube-apiserver shares the store: it would write them again.
   */
  readonly sum?: (json: Uint8Array) => number;
  /** Whether custom resources are written as CBOR (the feature gate CBORServingAndStorage); it is read in any case. */
  readonly storesCbor?: boolean;
  /** The cipher for a resource (`secrets`, `deployments.apps`); undefined where its values lie in the clear. */
  readonly cipherFor?: (resource: string) => ValueCipher | undefined;
}

/** A value of the store. */
export interface DecodedValue {
  /** JSON without a newline, protobuf or CBOR, in whichever version and order it was stored. */
  readonly value: Uint8Array;
  /** It is JSON with the mark of what this program writes: decoding it would change nothing. */
  readonly isOwn: boolean;
}

/** The values of one resource in the store. */
export interface StorageCodec {
  encode(object: EncodedObject, key: string): MaybePromise<Uint8Array>;
  /** Throws for values that cannot be decrypted. */
  decode(stored: Uint8Array, key: string): DecodedValue;
  /** The `value` that `decode` has of what is known to be the program's own, or as `decode` would answer it; checksums are not computed again. */
  reread(stored: Uint8Array, key: string): Uint8Array;
  /** Whether `encode` would store the object in the same way today: with the same key, in the same encoding. */
  isCurrent(stored: Uint8Array, key: string): boolean;
  /** What `encode` makes of an object before it is encrypted. */
  plain(object: EncodedObject): Uint8Array;
}

/** Everything of an encoding but what encryption adds. */
type Encoding = Omit<StorageCodec, 'encode'>;

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const NEWLINE = 0x0a;

/** Groups that the reference keeps in JSON whatever the media type: those of servers that were separate once. */
const alwaysJson: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** JSON as the memory of a single server holds it. */
export const plainFormat: StorageFormat = { mediaType: 'application/json', endsWithNewline: false };

/** JSON without marks. Protobuf is read too, and is outdated. */
const createJsonCodec = (endsWithNewline: boolean): Encoding => ({
  plain({ json }) {
    if (!endsWithNewline) return json;
    const stored = new Uint8Array(json.length + 1);
    stored.set(json);
    stored[json.length] = NEWLINE;
    return stored;
  },
  decode: (stored) => ({ value: withoutNewline(stored), isOwn: false }),
  reread: withoutNewline,
  isCurrent: (stored) => !isProtobuf(stored) && !isCbor(stored),
});

const withoutNewline = (stored: Uint8Array): Uint8Array =>
  (stored[0] === OPEN_BRACE && stored[stored.length - 1] === NEWLINE ? stored.subarray(0, -1) : stored);

const MARK_LENGTH = 16;
/** What JSON may end with, by the two bits that it stands for. */
const whiteSpace = Uint8Array.of(0x20, 0x09, 0x0a, 0x0d);
const isWhiteSpace = (byte: number): boolean => whiteSpace.includes(byte);

/** JSON with the mark of what reading would not change. Protobuf is read too, and is outdated. */
function createMarkedCodec(endsWithNewline: boolean, sumOf: NonNullable<StorageFormat['sum']>): Encoding {
  const tail = MARK_LENGTH + (endsWithNewline ? 1 : 0);
  const unmarked = createJsonCodec(endsWithNewline);
  return {
    plain(object) {
      const { json, isOwn } = object;
      if (!isOwn) return unmarked.plain(object);
      const stored = new Uint8Array(json.length + tail);
      stored.set(json);
      const sum = sumOf(json);
      for (let i = 0; i < MARK_LENGTH; i++) stored[json.length + i] = whiteSpace[(sum >>> (2 * i)) & 3] as number;
      if (endsWithNewline) stored[stored.length - 1] = NEWLINE;
      return stored;
    },
    decode(stored) {
      const end = stored.length - tail;
      // Most of what others write ends with its brace.
      if (end > 0 && stored[end - 1] === CLOSE_BRACE && stored[0] === OPEN_BRACE) {
        const value = stored.subarray(0, end);
        if (hasMark(stored, end, sumOf(value))) return { value, isOwn: true };
        // The mark of another state of the kind is no part of the JSON either.
        if (stored.subarray(end).every(isWhiteSpace)) return { value, isOwn: false };
      }
      return { value: withoutNewline(stored), isOwn: false };
    },
    reread(stored) {
      const end = stored.length - tail;
      // JSON without a mark ends with its brace.
      const isMarked = stored[end - 1] === CLOSE_BRACE && stored[end + MARK_LENGTH - 1] !== CLOSE_BRACE;
      return isMarked ? stored.subarray(0, end) : withoutNewline(stored);
    },
    isCurrent: unmarked.isCurrent,
  };
}

function hasMark(stored: Uint8Array, start: number, sum: number): boolean {
  for (let i = 0; i < MARK_LENGTH; i++) if (stored[start + i] !== whiteSpace[(sum >>> (2 * i)) & 3]) return false;
  return true;
}

/** CBOR with sorted keys; JSON is read too, and is outdated. */
const cbor: Encoding = {
  plain: ({ document }) => encodeCbor(document, { sortsKeys: true }),
  decode: (stored) => ({ value: withoutNewline(stored), isOwn: false }),
  reread: withoutNewline,
  isCurrent: isCbor,
};

/** Protobuf; JSON is read too, and is outdated. */
function createProtobufCodec(layout: Layout, json: Encoding): Encoding {
  const { kind, storageVersion } = layout.resource;
  const type = { apiVersion: layout.apiVersion(storageVersion), kind };
  return {
    plain: ({ document }) => encodeEnvelope(type, encodeMessage(layout.schema(storageVersion), document as JsonValue)),
    decode: json.decode,
    reread: json.reread,
    isCurrent: (stored) => stored[0] !== OPEN_BRACE,
  };
}

/** The checksum of objects whose defaults depend on a key or a definition; that of all others without one. */
function keyedSum(sum: NonNullable<StorageFormat['sum']>, key: string | undefined): NonNullable<StorageFormat['sum']> {
  if (key === undefined) return sum;
  const ofKey = sum(encodeUtf8(key));
  return (json) => sum(json) ^ ofKey;
}

function chooseEncoding(layout: Layout, { mediaType, endsWithNewline, storesCbor, sum }: StorageFormat): Encoding {
  const { custom, group, defaultsKey, fingerprint } = layout.resource;
  if (custom && storesCbor === true) return cbor;
  const isProtobuf = mediaType === 'application/vnd.kubernetes.protobuf';
  const endsAsGo = endsWithNewline || isProtobuf;
  const isMarked = sum !== undefined && (!custom || (fingerprint !== undefined && !isProtobuf));
  const json = isMarked ? createMarkedCodec(endsAsGo, keyedSum(sum, custom ? fingerprint : defaultsKey)) : createJsonCodec(endsAsGo);
  return isProtobuf && !custom && !alwaysJson.has(group) ? createProtobufCodec(layout, json) : json;
}

/** StatusError (500) when the value cannot be encrypted: it is not written then. */
function seal(cipher: ValueCipher, value: Uint8Array, key: string): MaybePromise<Uint8Array> {
  return catchMaybe(() => cipher.seal(value, key), (error) => {
    throw internalError(error instanceof Error ? error.message : String(error));
  });
}

function encrypt(encoding: Encoding, cipher: ValueCipher): StorageCodec {
  return {
    ...encoding,
    encode: (object, key) => seal(cipher, encoding.plain(object), key),
    decode: (stored, key) => encoding.decode(cipher.open(stored, key), key),
    reread: (stored, key) => encoding.reread(cipher.open(stored, key), key),
    // Values that another key has sealed are outdated without being opened.
    isCurrent: (stored, key) => cipher.isCurrent(stored, key) && encoding.isCurrent(cipher.open(stored, key), key),
  };
}

const nameOf = ({ group, plural }: Resource): string => (group === '' ? plural : `${plural}.${group}`);

/** The codec of a resource's values. */
export function createStorageCodec(layout: Layout, format: StorageFormat): StorageCodec {
  const encoding = chooseEncoding(layout, format);
  const cipher = format.cipherFor?.(nameOf(layout.resource));
  return cipher === undefined ? { ...encoding, encode: (object) => encoding.plain(object) } : encrypt(encoding, cipher);
}
