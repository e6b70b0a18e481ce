// The journal: changes that are acknowledged and not in the tables yet. One write to it makes a commit durable, where the tables need two
// flushes and a dozen pages; the tables follow in larger steps. Two files take turns: one is written while the entries of the other are
// carried into the tables. After that the other is free: its entries are older than the tables and mean nothing.
import { type FileHandle, constants, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { journalFiles, syncPath } from './directory.ts';
import { isDiskFull } from './disk-full.ts';
import { type EntryLayout, type ReadChange, readEntries, sealEntries } from './journal-entry.ts';

interface JournalOptions {
  readonly directory: string;
  /** The mark of the directory's entries. */
  readonly mark: Buffer;
  /** Revision of the tables, which hold everything. */
  readonly revision: number;
  readonly sync: boolean;
  /** Resolves when the tables durably hold everything up to `revision`; rejects when they cannot. */
  readonly makeRoom: (revision: number) => Promise<void>;
}

interface Turn {
  readonly file: FileHandle;
  /** Revision of the newest entry. */
  last: number;
}

/** A file that is longer is left for the other one: small enough for one step of the tables, large enough to rarely wait for them. */
const TURN_BYTES = 2 ** 20;
const ZEROS_BYTES = 2 ** 16;

/** All whole entries of a directory in revision order, those that the tables hold already among them. */
export async function readJournal(directory: string, layout: EntryLayout): Promise<ReadChange[]> {
  const files = await Promise.all(journalFiles.map((name) => readFile(join(directory, name)).catch(noFile)));
  return files.flatMap((bytes) => readEntries(bytes, layout)).sort((left, right) => left.modRevision - right.modRevision);
}

function noFile(error: NodeJS.ErrnoException): Buffer {
  if (error.code === 'ENOENT') return Buffer.alloc(0);
  throw error;
}

/** Empties the files, so that no later reader takes what is left of a torn commit for a part of a new one. */
export async function clearJournal(directory: string): Promise<void> {
  for (const name of journalFiles) {
    const file = await open(join(directory, name), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      await file.truncate(0);
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}

/** Opens the files of a journal of which the tables hold everything; made and laid out when they are not there yet. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const [first, second] = await Promise.all(journalFiles.map((name) => openFile(join(options.directory, name), options.sync)));
  if (options.sync) syncPath(options.directory);
  return new Journal(options, [first as FileHandle, second as FileHandle]);
}

/** Where the system can, each write is its own flush, which is one call instead of two. */
const FLUSHES_ON_WRITE = process.platform === 'linux';

async function openFile(path: string, sync: boolean): Promise<FileHandle> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | (sync && FLUSHES_ON_WRITE ? constants.O_DSYNC : 0), 0o600);
  try {
    // The layout is not needed: a full disk does without.
    await layOut(file).catch(() => undefined);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

/**
 * Fills a file with zeros up to the length of a turn: a write over bytes that exist spares the flush a change of the file's size. The zeros are small
 * blocks: once a large one is freed, malloc keeps that much free memory for itself.
 */
async function layOut(file: FileHandle): Promise<void> {
  const zeros = Buffer.alloc(ZEROS_BYTES);
  for (let { size } = await file.stat(); size < TURN_BYTES;) {
    const missing = TURN_BYTES - size;
    const blocks = Array.from({ length: Math.ceil(missing / ZEROS_BYTES) }, (_, i) => zeros.subarray(0, missing - i * ZEROS_BYTES));
    size += (await file.writev(blocks, size)).bytesWritten;
  }
}

/** Appends entries; one append at a time. */
export class Journal {
  readonly #options: JournalOptions;
  #turn: Turn;
  #other: Turn;
  #at = 0;
  #last: number;
  #unsure = false;

  constructor(options: JournalOptions, [first, second]: readonly [FileHandle, FileHandle]) {
    this.#options = options;
    this.#turn = { file: first, last: 0 };
    this.#other = { file: second, last: 0 };
    this.#last = options.revision;
  }

  /** Revision of the newest entry that is durable; that of the tables before the first. */
  get last(): number {
    return this.#last;
  }

  /** An append failed and may have reached the disk. */
  get isUnsure(): boolean {
    return this.#unsure;
  }

  /** Makes `entries`, the newest of which is `last`, durable. When it rejects they are not there, unless `isUnsure`. */
  async append(entries: readonly Buffer[], last: number): Promise<void> {
    if (this.#at >= TURN_BYTES) await this.#takeTurn();
    sealEntries(entries, this.#options.mark, this.#last);
    const bytes = entries.length === 1 ? entries[0] as Buffer : Buffer.concat(entries);
    try {
      await this.#write(bytes);
    } catch (error) {
      await this.#undo(error);
      throw error;
    }
    this.#at += bytes.length;
    this.#turn.last = last;
    this.#last = last;
  }

  /**
   * Lays out again what a refused append cut off; false while the disk has no room for that. It is how the return of space is noticed
   * without a write of a client.
   */
  async findRoom(): Promise<boolean> {
    if (this.#at >= TURN_BYTES) await this.#takeTurn();
    try {
      await layOut(this.#turn.file);
      return true;
    } catch (error) {
      if (isDiskFull(error)) return false;
      this.#unsure = true;
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#turn.file.close(), this.#other.file.close()]);
  }

  async #takeTurn(): Promise<void> {
    await this.#options.makeRoom(this.#other.last);
    [this.#turn, this.#other] = [this.#other, this.#turn];
    this.#at = 0;
  }

  async #write(bytes: Buffer): Promise<void> {
    const { file } = this.#turn;
    for (let done = 0; done < bytes.length;) {
      done += (await file.write(bytes, done, bytes.length - done, this.#at + done)).bytesWritten;
    }
    if (this.#options.sync && !FLUSHES_ON_WRITE) await file.datasync();
  }

  /** After a refusal the file is as it was once its new end is cut off; after any other error the content of the disk is unknown. */
  async #undo(error: unknown): Promise<void> {
    this.#unsure = true;
    if (!isDiskFull(error)) return;
    await this.#turn.file.truncate(this.#at);
    await this.#turn.file.datasync();
    this.#unsure = false;
  }
}
