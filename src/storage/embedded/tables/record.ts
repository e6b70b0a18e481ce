// The bytes of the embedded Store: log records and the keys of its tables. Everything that is read back is checked here.
//
//   log record   crc32 u32 | type u8 | 0 u8 | key length u16 | modRevision f64 | createRevision f64 | replaced revision f64 | key | value
//   version      modRevision f64 | createRevision f64            (an entry of the live and the old table)
//   revision key u64 big-endian, so that byte order is revision order
import { crc32 } from 'node:zlib';
import { allocateLasting } from '../../../base/index.ts';
import { StorageCorruptError } from '../../errors.ts';

/** One change as the log holds it. */
export interface LogRecord {
  readonly isTombstone: boolean;
  readonly key: string;
  readonly value: Uint8Array;
  readonly modRevision: number;
  readonly createRevision: number;
  /** modRevision of the version that this one replaced; 0 for none. */
  readonly replaced: number;
}

/** The place of a version in the log, and the revision that created its key. */
export interface VersionPointer {
  readonly modRevision: number;
  readonly createRevision: number;
}

const HEADER_BYTES = 32;
const TYPE_PUT = 1;
const TYPE_DELETE = 2;
const noValue = new Uint8Array(0);

const SLAB_BYTES = 2 ** 18;
/** The memory of one Store's records. They are released together, in the order in which they were made, and so each slab soon as a whole. */
export class RecordMemory {
  #slab = Buffer.alloc(0);
  #taken = 0;

  take(length: number): Buffer {
    if (length > SLAB_BYTES / 4) return Buffer.allocUnsafe(length);
    if (this.#taken + length > this.#slab.length) {
      this.#slab = Buffer.from(allocateLasting(SLAB_BYTES).buffer, 0, SLAB_BYTES);
      this.#taken = 0;
    }
    this.#taken += length;
    return this.#slab.subarray(this.#taken - length, this.#taken);
  }
}

interface RecordPlace {
  /** Bytes in front of the record that stay free for the caller. */
  readonly before: number;
  readonly memory: RecordMemory;
}

/** The log record of a change, with its checksum. */
export function encodeRecord(record: LogRecord, place?: RecordPlace): Buffer {
  const keyBytes = Buffer.byteLength(record.key);
  const length = HEADER_BYTES + keyBytes + record.value.length;
  const bytes = place === undefined ? Buffer.allocUnsafe(length) : place.memory.take(place.before + length).subarray(place.before);
  bytes[4] = record.isTombstone ? TYPE_DELETE : TYPE_PUT;
  bytes[5] = 0;
  bytes.writeUInt16LE(keyBytes, 6);
  bytes.writeDoubleLE(record.modRevision, 8);
  bytes.writeDoubleLE(record.createRevision, 16);
  bytes.writeDoubleLE(record.replaced, 24);
  bytes.write(record.key, HEADER_BYTES, 'utf8');
  bytes.set(record.value, HEADER_BYTES + keyBytes);
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

/** Where the value of the record of `revision` begins. Throws StorageCorruptError. */
function checkRecord(bytes: Buffer, revision: number): number {
  const size = bytes.length;
  const keyBytes = size < HEADER_BYTES ? 0 : bytes.readUInt16LE(6);
  const isWhole = size >= HEADER_BYTES + keyBytes && crc32(new Uint8Array(bytes.buffer, bytes.byteOffset + 4, size - 4)) === bytes.readUInt32LE(0);
  if (!isWhole || bytes.readDoubleLE(8) !== revision) throw new StorageCorruptError(`the record of revision ${revision} does not match its checksum`);
  return HEADER_BYTES + keyBytes;
}

/** The value that the record of `revision` has of `key`, a view of `bytes`; undefined for a tombstone and for another key. Throws StorageCorruptError. */
export function viewValue(bytes: Buffer, key: string, revision: number): Uint8Array | undefined {
  const valueStart = checkRecord(bytes, revision);
  if (bytes[4] === TYPE_DELETE || bytes.toString('utf8', HEADER_BYTES, valueStart) !== key) return undefined;
  return new Uint8Array(bytes.buffer, bytes.byteOffset + valueStart, bytes.length - valueStart);
}

/** Reads the record of `revision`; `bytes` may be a buffer that is used again. Throws StorageCorruptError. */
export function decodeRecord(bytes: Buffer, revision: number): LogRecord {
  const size = bytes.length;
  const valueStart = checkRecord(bytes, revision);
  return {
    isTombstone: bytes[4] === TYPE_DELETE,
    key: bytes.toString('utf8', HEADER_BYTES, valueStart),
    value: copyOf(bytes, valueStart, size),
    modRevision: asInteger(revision),
    createRevision: readInteger(bytes, 16),
    replaced: readInteger(bytes, 24),
  };
}

function copyOf(bytes: Buffer, start: number, end: number): Uint8Array {
  if (start === end) return noValue;
  const copy = Buffer.allocUnsafe(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

/**
 * The integer that a double holds. The engine gives a number that was read as a double memory of its own in every object that it is put into,
 * and there are several such objects for each key; a small integer takes none.
 */
function readInteger(bytes: Buffer, at: number): number {
  return asInteger(bytes.readDoubleLE(at));
}

const asInteger = (value: number): number => ((value | 0) === value ? value | 0 : value);

/** A revision (or a time) as a table key. */
export function encodeRevision(revision: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  writeRevision(revision, bytes, 0);
  return bytes;
}

/** The inverse of encodeRevision, at `offset`. */
export function decodeRevision(bytes: Buffer, offset = 0): number {
  return asInteger(bytes.readUInt32BE(offset) * 2 ** 32 + bytes.readUInt32BE(offset + 4));
}

/** A pointer into the log. */
export function encodePointer(pointer: VersionPointer): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeDoubleLE(pointer.modRevision, 0);
  bytes.writeDoubleLE(pointer.createRevision, 8);
  return bytes;
}

/** The inverse of encodePointer. */
export function decodePointer(bytes: Buffer): VersionPointer {
  if (bytes.length !== 16) throw new StorageCorruptError('an index entry has the wrong size');
  return { modRevision: readPointed(bytes, 0), createRevision: readPointed(bytes, 8) };
}

/** A revision that a pointer holds. A damaged one that no table key can spell points where there is no record: reads find the object damaged. */
function readPointed(bytes: Buffer, at: number): number {
  const revision = readInteger(bytes, at);
  return Number.isSafeInteger(revision) && revision >= 0 ? revision : Number.MAX_SAFE_INTEGER;
}

/**
 * The key of a superseded version: key bytes (zero escaped as 0 255), 0 0, revision of the change that superseded it.
 * The order is that of keys first, then of those revisions, whatever bytes the keys hold.
 */
export function encodeOldKey(key: string, supersededAt: number): Buffer {
  const escaped = escapeKey(key);
  const bytes = Buffer.alloc(escaped.length + 10);
  escaped.copy(bytes);
  writeRevision(supersededAt, bytes, escaped.length + 2);
  return bytes;
}

/** The inverse of encodeOldKey. */
export function decodeOldKey(bytes: Buffer): { readonly key: string; readonly supersededAt: number } {
  const escaped = bytes.subarray(0, bytes.length - 10);
  const key = escaped.includes(0) ? Buffer.from(escaped.toString('latin1').replaceAll('\0\xff', '\0'), 'latin1').toString() : escaped.toString();
  return { key, supersededAt: decodeRevision(bytes, bytes.length - 8) };
}

/** The part of an old key that comes from `key`; old keys of smaller keys are below it, those of `key` and larger ones are not. */
export function escapeKey(key: string): Buffer {
  if (!key.includes('\0')) return Buffer.from(key);
  return Buffer.from(Buffer.from(key).toString('latin1').replaceAll('\0', '\0\xff'), 'latin1');
}

/** The key of a lease: when it ends, then the revision of its put. */
export function encodeLeaseKey({ expiresAt, revision }: { readonly expiresAt: number; readonly revision: number }): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  writeRevision(expiresAt, bytes, 0);
  writeRevision(revision, bytes, 8);
  return bytes;
}

/** Numbers with a checksum: the records of the meta table. */
export function encodeNumbers(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 + 8 * numbers.length);
  numbers.forEach((value, index) => bytes.writeDoubleLE(value, 4 + 8 * index));
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

/** The inverse of encodeNumbers; undefined when the checksum does not hold. */
export function decodeNumbers(bytes: Buffer): readonly number[] | undefined {
  if (bytes.length < 4 || bytes.length % 8 !== 4 || crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) return undefined;
  return Array.from({ length: (bytes.length - 4) / 8 }, (_, index) => readInteger(bytes, 4 + 8 * index));
}

function writeRevision(revision: number, bytes: Buffer, offset: number): void {
  bytes.writeUInt32BE(Math.floor(revision / 2 ** 32), offset);
  bytes.writeUInt32BE(revision % 2 ** 32, offset + 4);
}
