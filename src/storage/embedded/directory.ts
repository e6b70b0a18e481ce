// A data directory: what makes it ours, how a new one is made, and what is refused.
//
//   FORMAT        {"name","version","created","journal"}; written last, so that a directory with it is complete
//   store.mdb     the tables; store.mdb-lock belongs to LMDB
//   journal.0, .1 the newest writes, see journal.ts
//   LOCK          see lock.ts
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, readSync, readdirSync, realpathSync, renameSync, statSync,
  truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageFormatError } from '../errors.ts';
import type { EntryLayout } from './journal-entry.ts';
import { LOCK_FILE_NAME } from './lock.ts';

/** What the marker of a data directory says. */
export interface Format {
  readonly name: string;
  readonly version: number;
  /** When the directory was made, in milliseconds since the epoch; also in the tables, so that files of two directories do not mix. */
  readonly created: number;
  /** The mark of the journal's entries, in hexadecimal; absent before version 3. */
  readonly journal?: string;
}

const FORMAT_NAME = 'pintle-store';
/** Version 1 has no journal: its tables hold everything. Entries of the journal of version 2 do not name what came before them. */
const FORMAT_VERSION = 3;
const UNCHAINED_VERSION = 2;
const MARK_BYTES = 8;
const OLDEST_VERSION = 1;
const FORMAT_FILE = 'FORMAT';
const DATA_FILE = 'store.mdb';
/** The files of the journal, in their order. */
export const journalFiles: readonly string[] = ['journal.0', 'journal.1'];
/** What may be there before the marker is: leftovers of a start that was cut short, which had acknowledged nothing. */
const ownFiles = new Set([FORMAT_FILE, `${FORMAT_FILE}.new`, DATA_FILE, `${DATA_FILE}-lock`, LOCK_FILE_NAME, ...journalFiles]);

/** Makes `directory` if need be; answers its real path. */
export function prepareDirectory(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!statSync(directory).isDirectory()) throw new StorageFormatError(directory, 'is not a directory');
  return realpathSync(directory);
}

/** The path of the tables in `directory`. */
export function dataPath(directory: string): string {
  return join(directory, DATA_FILE);
}

/** A directory that has its marker. */
interface Inspection {
  readonly format: Format;
  readonly missing: MissingTail | undefined;
}

/** Refuses a directory that is foreign or damaged; undefined for one that is yet to be filled. */
export function inspectDirectory(directory: string): Inspection | undefined {
  const marker = join(directory, FORMAT_FILE);
  if (!existsSync(marker)) {
    const foreign = readdirSync(directory).find((name) => !ownFiles.has(name) && !name.startsWith(`${LOCK_FILE_NAME}.`));
    if (foreign === undefined) return undefined;
    throw new StorageFormatError(directory, `holds ${JSON.stringify(foreign)} but no ${FORMAT_FILE} marker, so it is not a data directory; choose an empty one`);
  }
  const format = readFormat(directory, marker);
  return { format, missing: checkDataFile(directory) };
}

function readFormat(directory: string, marker: string): Format {
  const format = parseFormat(readFileSync(marker, 'utf8'));
  if (format?.name !== FORMAT_NAME) {
    throw new StorageFormatError(directory, `its ${FORMAT_FILE} marker is not that of a data directory of this program; choose another or restore a backup`);
  }
  if (format.version !== undefined && format.version > FORMAT_VERSION) {
    const problem = `has format version ${format.version}, this program reads up to ${FORMAT_VERSION}; use the newer program that wrote it`;
    throw new StorageFormatError(directory, problem);
  }
  const isMarked = format.version !== FORMAT_VERSION || Buffer.from(String(format.journal), 'hex').length === MARK_BYTES;
  if (!(Number(format.version) >= OLDEST_VERSION) || typeof format.created !== 'number' || !isMarked) {
    throw new StorageFormatError(directory, `its ${FORMAT_FILE} marker is damaged; restore a backup`);
  }
  return format as Format;
}

function parseFormat(text: string): Partial<Format> | undefined {
  try {
    const format: unknown = JSON.parse(text);
    return typeof format === 'object' && format !== null ? format : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the marker must be written again, so that programs that do not know this format refuse the directory. */
export function isOlder(format: Format): boolean {
  return format.version < FORMAT_VERSION;
}

/** How the journal's entries of a directory look. */
export function entryLayout({ version, created, journal }: Format): EntryLayout {
  if (version > UNCHAINED_VERSION) return { mark: Buffer.from(journal as string, 'hex'), isChained: true };
  const mark = Buffer.alloc(MARK_BYTES);
  mark.writeDoubleLE(created);
  return { mark, isChained: false };
}

/** Writes the marker durably; the directory is complete after this. The mark of the journal is a new one, which its files do not hold yet. */
export function writeFormat(directory: string, created: number): Format {
  const fresh = join(directory, `${FORMAT_FILE}.new`);
  const format: Format = { name: FORMAT_NAME, version: FORMAT_VERSION, created, journal: randomBytes(MARK_BYTES).toString('hex') };
  writeFileSync(fresh, `${JSON.stringify(format)}\n`, { mode: 0o600, flush: true });
  renameSync(fresh, join(directory, FORMAT_FILE));
  syncPath(directory);
  return format;
}

/** Narrows the rights of directory and files: they hold Secrets. */
export function restrictRights(directory: string): void {
  chmodSync(directory, 0o700);
  for (const name of [DATA_FILE, `${DATA_FILE}-lock`]) chmodSync(join(directory, name), 0o600);
}

/** Makes the names in a directory durable. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

const META_MAGIC = 0xbeefc0de;
const META_BYTES = 256;

/** What a data file lacks at its end. */
export interface MissingTail {
  readonly size: number;
  readonly expected: number;
}

/** Pages at the end that may be missing from a file which is whole. */
const MISSING_PAGES_LIMIT = 256;

/**
 * LMDB maps its file and trusts it: a page beyond the end kills the process with SIGBUS. So both meta pages are read first
 * (magic 24 bytes into the page, page size 24 and last page 120 bytes after it), and the file must be as long as they say. But LMDB
 * does not write pages that a transaction took and gave back: a few may be missing. The caller adds empty ones, and then checks that the tables are whole.
 */
function checkDataFile(directory: string): MissingTail | undefined {
  const file = dataPath(directory);
  if (!existsSync(file)) throw new StorageFormatError(directory, `${DATA_FILE} is missing; restore a backup or remove the directory`);
  const size = statSync(file).size;
  const handle = openSync(file, 'r');
  try {
    const first = readMeta(handle, 0);
    const second = first && readMeta(handle, first.pageBytes);
    if (!first || !second) throw new StorageFormatError(directory, `${DATA_FILE} is not a data file or its head is damaged; restore a backup`);
    const newest = first.transaction > second.transaction ? first : second;
    const expected = (newest.lastPage + 1) * newest.pageBytes;
    if (size < expected - MISSING_PAGES_LIMIT * newest.pageBytes) throw cutShort(directory, { size, expected });
    return size < expected ? { size, expected } : undefined;
  } finally {
    closeSync(handle);
  }
}

/** The refusal of a data file that lacks its end. */
export function cutShort(directory: string, { size, expected }: MissingTail): StorageFormatError {
  return new StorageFormatError(directory, `${DATA_FILE} is cut short (${size} bytes of ${expected}); restore a backup`);
}

/** Makes the data file `bytes` long: with empty pages to be proven unused, or as it was. */
export function resizeDataFile(directory: string, bytes: number): void {
  truncateSync(dataPath(directory), bytes);
}

function readMeta(handle: number, position: number): { pageBytes: number; lastPage: number; transaction: number } | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(handle, bytes, 0, META_BYTES, position) < META_BYTES || bytes.readUInt32LE(24) !== META_MAGIC) return undefined;
  const pageBytes = bytes.readUInt32LE(48);
  if (pageBytes < 512 || pageBytes > 65536) return undefined;
  return { pageBytes, lastPage: Number(bytes.readBigUInt64LE(144)), transaction: Number(bytes.readBigUInt64LE(152)) };
}
