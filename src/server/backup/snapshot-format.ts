// A snapshot as a file: everything that a server on another machine needs to be the same one.
//
//   file     "pintle snapshot\n" | frames
//   frame    payload bytes u32 | type u8 | payload
//   header   type 1, JSON: SnapshotHeader
//   secret   type 2, JSON: SecretFile
//   key      type 3: modRevision f64 | createRevision f64 | seconds left f64 (0: no end) | key bytes u16 | key | value
//   end      type 4: the SHA-256 of everything before; nothing follows it
import type { RestoredKey } from '../../storage/index.ts';

/** What the head of a snapshot says. */
export interface SnapshotHeader {
  readonly version: number;
  /** The revision of the store that it holds. */
  readonly revision: number;
  /** Where the keys of objects begin. */
  readonly root: string;
  readonly keys: number;
  /** When it was begun, as RFC 3339. */
  readonly time: string;
  /** The version of the program that wrote it. */
  readonly program: string;
}

/** A file of the directory of certificates. */
export interface SecretFile {
  readonly name: string;
  readonly text: string;
}

/** The version of the format that this program writes, and the newest that it reads. */
export const SNAPSHOT_VERSION = 1;
/** How a file begins. */
export const magic: Buffer = Buffer.from('pintle snapshot\n');
/** The types of frames. */
export const frameTypes = { header: 1, secret: 2, key: 3, end: 4 } as const;
export const FRAME_HEAD_BYTES = 5;
export const DIGEST_BYTES = 32;
/** No value is nearly as long: a length beyond it is damage. */
export const PAYLOAD_LIMIT_BYTES: number = 64 * 2 ** 20;
const KEY_HEAD_BYTES = 26;

/** The bytes before a payload. */
export function encodeFrameHead(type: number, payloadBytes: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head.writeUInt32LE(payloadBytes, 0);
  head[4] = type;
  return head;
}

/** The payload of a key. */
export function encodeKey({ key, value, modRevision, createRevision, ttlSeconds }: RestoredKey): Buffer {
  const keyBytes = Buffer.from(key);
  const head = Buffer.allocUnsafe(KEY_HEAD_BYTES);
  head.writeDoubleLE(modRevision, 0);
  head.writeDoubleLE(createRevision, 8);
  head.writeDoubleLE(ttlSeconds ?? 0, 16);
  head.writeUInt16LE(keyBytes.length, 24);
  return Buffer.concat([head, keyBytes, value]);
}

/** The inverse of encodeKey. Throws for bytes that are no key. */
export function decodeKey(payload: Buffer): RestoredKey {
  const valueStart = KEY_HEAD_BYTES + payload.readUInt16LE(24);
  if (valueStart > payload.length) throw new RangeError('a record is shorter than its key');
  const ttlSeconds = payload.readDoubleLE(16);
  return {
    key: payload.toString('utf8', KEY_HEAD_BYTES, valueStart), value: payload.subarray(valueStart),
    modRevision: payload.readDoubleLE(0), createRevision: payload.readDoubleLE(8), ...(ttlSeconds > 0 && { ttlSeconds }),
  };
}
