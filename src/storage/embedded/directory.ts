// A data directory: what makes it ours, how a new one is made, and what is refused.
//
//   FORMAT        {"name","version","created"}; written last, so that a directory with it is complete
//   store.mdb     the tables; store.mdb-lock belongs to LMDB
//   LOCK          see lock.ts
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, readSync, readdirSync, realpathSync, renameSync, statSync,
  writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageFormatError } from '../errors.ts';
import { lockFileName } from './lock.ts';

/** What the marker of a data directory says. */
export interface Format {
  readonly name: string;
  readonly version: number;
  /** When the directory was made, in milliseconds since the epoch; also in the tables, so that files of two directories do not mix. */
  readonly created: number;
}

const formatName = 'pintle-store';
const formatVersion = 1;
const formatFile = 'FORMAT';
const dataFile = 'store.mdb';
/** What may be there before the marker is: leftovers of a start that was cut short, which had acknowledged nothing. */
const ownFiles = new Set([formatFile, `${formatFile}.new`, dataFile, `${dataFile}-lock`, lockFileName]);

/** Makes `directory` if need be; answers its real path. */
export function prepareDirectory(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!statSync(directory).isDirectory()) throw new StorageFormatError(directory, 'is not a directory');
  return realpathSync(directory);
}

/** The path of the tables in `directory`. */
export function dataPath(directory: string): string {
  return join(directory, dataFile);
}

/** Refuses a directory that is foreign or damaged; undefined for one that is yet to be filled. */
export function inspectDirectory(directory: string): Format | undefined {
  const marker = join(directory, formatFile);
  if (!existsSync(marker)) {
    const foreign = readdirSync(directory).find((name) => !ownFiles.has(name) && !name.startsWith(`${lockFileName}.`));
    if (foreign === undefined) return undefined;
    throw new StorageFormatError(directory, `holds ${JSON.stringify(foreign)} but no ${formatFile} marker, so it is not a data directory; choose an empty one`);
  }
  const format = readFormat(directory, marker);
  checkDataFile(directory);
  return format;
}

function readFormat(directory: string, marker: string): Format {
  const format = parseFormat(readFileSync(marker, 'utf8'));
  if (format?.name !== formatName) {
    throw new StorageFormatError(directory, `its ${formatFile} marker is not that of a data directory of this program; choose another or restore a backup`);
  }
  if (format.version !== undefined && format.version > formatVersion) {
    const problem = `has format version ${format.version}, this program reads up to ${formatVersion}; use the newer program that wrote it`;
    throw new StorageFormatError(directory, problem);
  }
  if (format.version !== formatVersion || typeof format.created !== 'number') {
    throw new StorageFormatError(directory, `its ${formatFile} marker is damaged; restore a backup`);
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

/** Writes the marker durably; the directory is complete after this. */
export function writeFormat(directory: string, created: number): void {
  const fresh = join(directory, `${formatFile}.new`);
  const format: Format = { name: formatName, version: formatVersion, created };
  writeFileSync(fresh, `${JSON.stringify(format)}\n`, { mode: 0o600, flush: true });
  renameSync(fresh, join(directory, formatFile));
  syncPath(directory);
}

/** Narrows the rights of directory and files: they hold Secrets. */
export function restrictRights(directory: string): void {
  chmodSync(directory, 0o700);
  for (const name of [dataFile, `${dataFile}-lock`]) chmodSync(join(directory, name), 0o600);
}

function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

const metaMagic = 0xbeefc0de;
const metaBytes = 256;

/**
 * LMDB maps its file and trusts it: a page beyond the end kills the process with SIGBUS. So both meta pages are read first
 * (magic 24 bytes into the page, page size 24 and last page 120 bytes after it), and the file must be as long as they say.
 */
function checkDataFile(directory: string): void {
  const file = dataPath(directory);
  if (!existsSync(file)) throw new StorageFormatError(directory, `${dataFile} is missing; restore a backup or remove the directory`);
  const size = statSync(file).size;
  const handle = openSync(file, 'r');
  try {
    const first = readMeta(handle, 0);
    const second = first && readMeta(handle, first.pageBytes);
    if (!first || !second) throw new StorageFormatError(directory, `${dataFile} is not a data file or its head is damaged; restore a backup`);
    const newest = first.transaction > second.transaction ? first : second;
    if (size < (newest.lastPage + 1) * newest.pageBytes) {
      throw new StorageFormatError(directory, `${dataFile} is cut short (${size} bytes of ${(newest.lastPage + 1) * newest.pageBytes}); restore a backup`);
    }
  } finally {
    closeSync(handle);
  }
}

function readMeta(handle: number, position: number): { pageBytes: number; lastPage: number; transaction: number } | undefined {
  const bytes = Buffer.alloc(metaBytes);
  if (readSync(handle, bytes, 0, metaBytes, position) < metaBytes || bytes.readUInt32LE(24) !== metaMagic) return undefined;
  const pageBytes = bytes.readUInt32LE(48);
  if (pageBytes < 512 || pageBytes > 65536) return undefined;
  return { pageBytes, lastPage: Number(bytes.readBigUInt64LE(144)), transaction: Number(bytes.readBigUInt64LE(152)) };
}
