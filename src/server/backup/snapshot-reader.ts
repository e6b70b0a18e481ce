// Reads a snapshot: once from its beginning to its end, to be sure of all of it, then key by key in the order of their revisions. Of the content
// no more than one value is in memory, and the place of each key.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { RestoredKey } from '../../storage/index.ts';
import { StartError } from '../options/options.ts';
import {
  DIGEST_BYTES, FRAME_HEAD_BYTES, PAYLOAD_LIMIT_BYTES, SNAPSHOT_VERSION, type SecretFile, type SnapshotHeader, decodeKey, frameTypes, magic,
} from './snapshot-format.ts';

/** Receives how many bytes have been checked. */
export type CheckProgress = (bytes: number, total: number) => void;

interface KeyPlace {
  readonly modRevision: number;
  readonly at: number;
}

interface Frame {
  readonly type: number;
  /** With its head. */
  readonly bytes: Buffer;
  readonly payload: Buffer;
  /** Where it begins in the file. */
  readonly at: number;
}

/** For the read from beginning to end, and for single keys. */
const [LONG_WINDOW_BYTES, SHORT_WINDOW_BYTES] = [2 ** 20, 2 ** 14];

/** A snapshot whose whole content matches its checksum. */
export class SnapshotReader {
  readonly header: SnapshotHeader;
  readonly secrets: readonly SecretFile[];
  /** How long the file is. */
  readonly bytes: number;
  readonly #file: FileWindow;
  readonly #places: readonly KeyPlace[];

  /** Throws StartError for a file that is no snapshot, is cut short or damaged, or has a newer format. */
  constructor(path: string, progress: CheckProgress = () => undefined) {
    this.#file = new FileWindow(path);
    this.bytes = this.#file.size;
    try {
      const content = readContent(this.#file, progress);
      this.header = content.header;
      this.secrets = content.secrets;
      this.#places = content.places.sort((one, other) => one.modRevision - other.modRevision);
    } catch (error) {
      this.close();
      throw error instanceof StartError ? error : new StartError(`${path} is damaged: ${(error as Error).message}`, { cause: error });
    }
  }

  /** All keys in the order of their modRevision. Throws StartError when two share one, which happens in transactions of other programs only. */
  *keys(): Generator<RestoredKey> {
    let last = 0;
    this.#file.windowBytes = SHORT_WINDOW_BYTES;
    for (const { modRevision, at } of this.#places) {
      const key = decodeKey((this.#file.frame(at) as Frame).payload);
      if (modRevision === last) throw new StartError(`${key.key} shares revision ${modRevision} with another key, which no server of this API writes`);
      last = modRevision;
      yield key;
    }
  }

  close(): void {
    this.#file.close();
  }
}

/** A file that is read through a window which moves along. */
class FileWindow {
  readonly path: string;
  readonly size: number;
  /** How much is read at once. */
  windowBytes = LONG_WINDOW_BYTES;
  readonly #handle: number;
  #bytes = Buffer.alloc(0);
  #start = 0;

  constructor(path: string) {
    this.path = path;
    try {
      this.#handle = openSync(path, 'r');
    } catch (error) {
      throw new StartError(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
    }
    this.size = fstatSync(this.#handle).size;
  }

  /** Undefined beyond the end. */
  read(at: number, length: number): Buffer | undefined {
    if (at + length > this.size) return undefined;
    if (at < this.#start || at + length > this.#start + this.#bytes.length) this.#move(at, length);
    return this.#bytes.subarray(at - this.#start, at - this.#start + length);
  }

  /** The frame that begins at `at`; undefined when the file ends within it. */
  frame(at: number): Frame | undefined {
    const head = this.read(at, FRAME_HEAD_BYTES);
    if (head === undefined) return undefined;
    const [length, type] = [head.readUInt32LE(0), head[4] as number];
    if (length > PAYLOAD_LIMIT_BYTES) throw new StartError(`${this.path} is damaged: a record at byte ${at} of impossible length`);
    const bytes = this.read(at, FRAME_HEAD_BYTES + length);
    return bytes && { type, bytes, payload: bytes.subarray(FRAME_HEAD_BYTES), at };
  }

  close(): void {
    closeSync(this.#handle);
  }

  #move(at: number, length: number): void {
    const bytes = Buffer.allocUnsafe(Math.min(this.size - at, Math.max(length, this.windowBytes)));
    let done = 0;
    for (let count = -1; done < bytes.length && count !== 0; done += count) count = readSync(this.#handle, bytes, done, bytes.length - done, at + done);
    if (done < bytes.length) throw new StartError(`${this.path} became shorter while it was read`);
    [this.#bytes, this.#start] = [bytes, at];
  }
}

interface Content {
  readonly header: SnapshotHeader;
  readonly secrets: readonly SecretFile[];
  readonly places: KeyPlace[];
}

function readContent(file: FileWindow, progress: CheckProgress): Content {
  if (file.read(0, magic.length)?.equals(magic) !== true) throw new StartError(`${file.path} is not a snapshot`);
  const hash = createHash('sha256').update(magic);
  const secrets: SecretFile[] = [];
  const places: KeyPlace[] = [];
  let header: SnapshotHeader | undefined;
  for (let at = magic.length; ;) {
    const frame = file.frame(at);
    if (frame === undefined) throw new StartError(`${file.path} is cut short`);
    progress(at, file.size);
    if (frame.type === frameTypes.end) {
      checkEnd(file, frame, hash.digest());
      if (header?.keys !== places.length) throw new StartError(`${file.path} is damaged: it does not hold as many keys as its head says`);
      return { header, secrets, places };
    }
    hash.update(frame.bytes);
    if (frame.type === frameTypes.header) header = readHeader(file.path, frame.payload);
    else if (frame.type === frameTypes.secret) secrets.push(readSecret(frame.payload));
    else if (frame.type === frameTypes.key) places.push({ modRevision: checkKey(frame.payload, header), at });
    else throw new StartError(`${file.path} is damaged: a record at byte ${at} of an unknown type`);
    at += frame.bytes.length;
  }
}

function readHeader(path: string, payload: Buffer): SnapshotHeader {
  const header = JSON.parse(payload.toString()) as SnapshotHeader;
  if (header.version > SNAPSHOT_VERSION) {
    throw new StartError(`${path} has format version ${header.version}, this program reads up to ${SNAPSHOT_VERSION}; use the newer program that wrote it`);
  }
  const { revision, root, keys } = header;
  if (!Number.isSafeInteger(revision) || !Number.isSafeInteger(keys) || typeof root !== 'string') throw new Error('its head is not that of a snapshot');
  return header;
}

/** A file of the directory of certificates is in that directory itself. */
function readSecret(payload: Buffer): SecretFile {
  const { name, text } = JSON.parse(payload.toString()) as SecretFile;
  if (typeof name !== 'string' || typeof text !== 'string' || !/^[^/\\\0]+$/.test(name) || /^\.\.?$/.test(name)) {
    throw new Error(`it names a file ${JSON.stringify(name)} outside the directory of certificates`);
  }
  return { name, text };
}

/** A checksum says that a file is whole, not that its revisions are those of a store: no store is filled with others. Returns the modRevision. */
function checkKey(payload: Buffer, header: SnapshotHeader | undefined): number {
  const { key, modRevision, createRevision } = decodeKey(payload);
  const isOrdered = createRevision >= 1 && createRevision <= modRevision && modRevision <= (header?.revision ?? 0);
  if (isOrdered && Number.isSafeInteger(modRevision) && Number.isSafeInteger(createRevision)) return modRevision;
  throw new Error(`${JSON.stringify(key)} has revisions that no store has`);
}

function checkEnd({ path, size }: FileWindow, { at, payload }: Frame, digest: Buffer): void {
  if (!digest.equals(payload)) throw new StartError(`${path} is damaged: it does not match its checksum`);
  if (at + FRAME_HEAD_BYTES + DIGEST_BYTES !== size) throw new StartError(`${path} is damaged: something follows its end`);
}
