// One entry of the journal: a change, with what came before it, so that a change that is missing is noticed.
//
//   entry   crc32 u32 | record bytes u32 | mark of the directory 8 bytes | end of lease f64 (0: none)
//           | revision of the entry before f64 | newest revision that was durable before the commit f64 | log record (see record.ts)
//
// A commit that a crash cuts short was never acknowledged, and nothing was written after it. So an entry that does not read is a torn end when
// all that follows belongs to the same commit, and damage when a later commit knew it to be durable.
import { crc32 } from 'node:zlib';
import { StorageCorruptError } from '../errors.ts';
import { type LogRecord, type RecordMemory, decodeRecord, encodeRecord } from './tables/record.ts';

/** A change as the journal holds it. */
export interface JournaledChange extends LogRecord {
  readonly expiresAt: number | undefined;
}

/** A change that was read from the journal. */
export interface ReadChange extends JournaledChange {
  /** Revision of the entry before this one; 0 where that is not known. */
  readonly follows: number;
  /** The newest revision that was durable before the commit of this entry began; 0 where that is not known. */
  readonly after: number;
  /** The bytes between this entry and the one before it in the file, when they do not read. */
  readonly skipped?: Buffer;
}

/** How entries of a directory look. */
export interface EntryLayout {
  /** Eight bytes that only entries of the directory hold, and nothing that a client has written. */
  readonly mark: Buffer;
  /** Entries name what came before them; those of format version 2 do not. */
  readonly isChained: boolean;
}

const MARK_AT = 8;
const EXPIRY_AT = 16;
const FOLLOWS_AT = 24;
const AFTER_AT = 32;
const CHAINED_HEADER_BYTES = 40;
const UNCHAINED_HEADER_BYTES = 24;

const headerBytes = ({ isChained }: EntryLayout): number => (isChained ? CHAINED_HEADER_BYTES : UNCHAINED_HEADER_BYTES);

/** A change as an entry that is yet to be sealed, and as the log record that is a part of it. */
export function encodeEntry(change: JournaledChange, memory: RecordMemory): { readonly entry: Buffer; readonly record: Buffer } {
  const record = encodeRecord(change, { before: CHAINED_HEADER_BYTES, memory });
  const entry = Buffer.from(record.buffer, record.byteOffset - CHAINED_HEADER_BYTES, CHAINED_HEADER_BYTES + record.length);
  entry.writeUInt32LE(record.length, 4);
  entry.writeDoubleLE(change.expiresAt ?? 0, EXPIRY_AT);
  return { entry, record };
}

/** Completes the entries of one commit in their order: `after` is the newest durable revision, which the first of them follows. */
export function sealEntries(entries: readonly Buffer[], mark: Buffer, after: number): void {
  let follows = after;
  for (const entry of entries) {
    mark.copy(entry, MARK_AT);
    entry.writeDoubleLE(follows, FOLLOWS_AT);
    entry.writeDoubleLE(after, AFTER_AT);
    entry.writeUInt32LE(crc32(entry.subarray(4, CHAINED_HEADER_BYTES)), 0);
    follows = entry.readDoubleLE(CHAINED_HEADER_BYTES + 8);
  }
}

/** All whole entries in a file of the journal, in their order. Those that are not chained end at the first that does not read. */
export function readEntries(bytes: Buffer, layout: EntryLayout): ReadChange[] {
  const changes: ReadChange[] = [];
  let skippedAt: number | undefined;
  for (let at = 0; at >= 0;) {
    const change = readEntry(bytes, at, layout);
    if (change === undefined && !layout.isChained) break;
    if (change === undefined) {
      skippedAt ??= at;
      at = findEntry(bytes, at + 1, layout);
    } else {
      const last = changes.at(-1)?.modRevision ?? 0;
      if (!layout.isChained && change.modRevision <= last) break;
      changes.push({
        ...change, ...(!layout.isChained && { follows: last }), ...(skippedAt !== undefined && { skipped: bytes.subarray(skippedAt, at) }),
      });
      skippedAt = undefined;
      at += headerBytes(layout) + bytes.readUInt32LE(at + 4);
    }
  }
  return changes;
}

/** Where the mark says that an entry may begin; -1 for nowhere. */
function findEntry(bytes: Buffer, from: number, { mark }: EntryLayout): number {
  const found = bytes.indexOf(mark, from + MARK_AT);
  return found < 0 ? -1 : found - MARK_AT;
}

function readEntry(bytes: Buffer, at: number, layout: EntryLayout): ReadChange | undefined {
  const start = at + headerBytes(layout);
  if (start > bytes.length || crc32(bytes.subarray(at + 4, start)) !== bytes.readUInt32LE(at)) return undefined;
  const end = start + bytes.readUInt32LE(at + 4);
  if (end > bytes.length || !bytes.subarray(at + MARK_AT, at + EXPIRY_AT).equals(layout.mark)) return undefined;
  const expiresAt = bytes.readDoubleLE(at + EXPIRY_AT);
  const chain = layout.isChained ? { follows: bytes.readDoubleLE(at + FOLLOWS_AT), after: bytes.readDoubleLE(at + AFTER_AT) } : { follows: 0, after: 0 };
  try {
    const record = bytes.subarray(start, end);
    return { ...decodeRecord(record, record.readDoubleLE(8)), expiresAt: expiresAt === 0 ? undefined : expiresAt, ...chain };
  } catch (error) {
    if (error instanceof StorageCorruptError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The log record in bytes that do not read as an entry, as far as they are whole. */
export function guessRecord(skipped: Buffer): { readonly key: string; readonly record: Buffer; readonly value: Buffer } {
  const record = skipped.subarray(CHAINED_HEADER_BYTES);
  const valueAt = record.length < 8 ? 0 : 32 + record.readUInt16LE(6);
  return { key: record.subarray(32, valueAt).toString(), record, value: record.subarray(valueAt) };
}
