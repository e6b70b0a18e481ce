// The file of the log backend, and its rotation: a file that would grow past its limit is renamed after the time, old ones are compressed and
// removed by number and age. Names and rules are those of the logger that the reference uses, so that its files are found and cleared here too.
import {
  closeSync, createReadStream, createWriteStream, existsSync, fchmodSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, statSync, unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock } from '../../base/index.ts';

/** Where events are written; 0 stands for no limit. */
export interface LogFileOptions {
  readonly path: string;
  readonly maxSizeMb: number;
  readonly maxAgeDays: number;
  readonly maxBackups: number;
  readonly compress: boolean;
  /** Other processes write to the file too: one of them rotates it, for which the others ask. */
  readonly shared?: { readonly askRotation?: ((bytes: number) => void) | undefined } | undefined;
}

/** A file that lines are added to. */
export interface LogFile {
  /** Writes in this turn; throws when it cannot. */
  write(bytes: Uint8Array): void;
  /** Begins the next file where so many bytes more would be too many, for another process. */
  rotateFor?(bytes: number): void;
  close(): Promise<void>;
}

const MEGABYTE = 1024 * 1024;
const DAY_MS = 86_400_000;
const OWNER_ONLY = 0o600;

interface Backup {
  readonly name: string;
  readonly timeMs: number;
}

class RotatingFile implements LogFile {
  readonly #options: LogFileOptions;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  /** Undefined once closed: the number of a closed descriptor may be another file's. */
  #file: number | undefined;
  #size: number;
  #inode: number;
  /** Pipes and devices, such as /dev/stdout, have no size that grows, and other programs use their names. */
  readonly #canRotate: boolean;
  #clearing: Promise<void> | undefined;

  constructor(options: LogFileOptions, clock: Clock, onError: (error: unknown) => void) {
    this.#options = options;
    this.#clock = clock;
    this.#onError = onError;
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    this.#file = openSync(options.path, 'a', OWNER_ONLY);
    const found = statSync(options.path);
    ({ size: this.#size, ino: this.#inode } = found);
    this.#canRotate = options.maxSizeMb > 0 && found.isFile();
  }

  write(bytes: Uint8Array): void {
    const { length } = bytes;
    const limit = this.#options.maxSizeMb * MEGABYTE;
    if (limit > 0 && length > limit) throw new Error(`write length ${length} exceeds maximum file size ${limit}`);
    if (this.#file === undefined) throw new Error('the file is closed');
    if (this.#options.shared !== undefined) this.#follow();
    const askRotation = this.#options.shared?.askRotation;
    const isFull = this.#canRotate && this.#size + length > limit;
    if (isFull) askRotation?.(length);
    const file = isFull && askRotation === undefined ? this.#rotate(this.#file) : this.#file;
    // The lines of several processes do not mix: each write is one call, whose place in the file the system finds.
    for (let written = 0; written < length;) written += writeSync(file, bytes, written);
    this.#size += length;
  }

  rotateFor(bytes: number): void {
    if (this.#file === undefined) return;
    this.#follow();
    if (this.#canRotate && this.#size + bytes > this.#options.maxSizeMb * MEGABYTE) this.#rotate(this.#file);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
    await this.#clearing;
  }

  /** Opens the file that another process has begun, and learns what others have written. */
  #follow(): void {
    const found = statSync(this.#options.path, { throwIfNoEntry: false });
    if (found?.ino !== this.#inode) {
      const before = this.#file as number;
      this.#file = openSync(this.#options.path, 'a', OWNER_ONLY);
      closeSync(before);
    }
    ({ size: this.#size, ino: this.#inode } = found?.ino === this.#inode ? found : fstatSync(this.#file as number));
  }

  /** Swaps the file for an empty one, and answers that. Where it throws, the file before stays open, and the next write tries again. */
  #rotate(full: number): number {
    const { path } = this.#options;
    const mode = existsSync(path) ? statSync(path).mode : OWNER_ONLY;
    if (existsSync(path)) renameSync(path, this.#nameBackup());
    const file = openSync(path, 'a', OWNER_ONLY);
    this.#file = file;
    this.#size = 0;
    this.#inode = fstatSync(file).ino;
    closeSync(full);
    fchmodSync(file, mode & 0o777);
    this.#clearing = (this.#clearing ?? Promise.resolve()).then(() => this.#clear()).catch(this.#onError);
    return file;
  }

  #nameBackup(): string {
    const { path } = this.#options;
    const extension = extname(path);
    const time = new Date(this.#clock.now()).toISOString().slice(0, -1).replaceAll(':', '-');
    return join(dirname(path), `${basename(path, extension)}-${time}${extension}`);
  }

  /** Backups, newest first. */
  #listBackups(): Backup[] {
    const { path } = this.#options;
    const extension = extname(path);
    const prefix = `${basename(path, extension)}-`;
    const backups = readdirSync(dirname(path)).flatMap((name): Backup[] => {
      const plain = name.endsWith('.gz') ? name.slice(0, -'.gz'.length) : name;
      if (!plain.startsWith(prefix) || !plain.endsWith(extension)) return [];
      const time = plain.slice(prefix.length, plain.length - extension.length);
      const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(time);
      return match === null ? [] : [{ name, timeMs: Date.parse(`${match[1]}:${match[2]}:${match[3]}Z`) }];
    });
    return backups.sort((one, two) => two.timeMs - one.timeMs);
  }

  async #clear(): Promise<void> {
    const { path, maxBackups, maxAgeDays, compress } = this.#options;
    const oldestMs = maxAgeDays > 0 ? this.#clock.now() - maxAgeDays * DAY_MS : -Infinity;
    const backups = this.#listBackups();
    const kept = backups.filter(({ timeMs }, index) => (maxBackups === 0 || index < maxBackups) && timeMs >= oldestMs);
    for (const backup of backups) if (!kept.includes(backup)) unlinkSync(join(dirname(path), backup.name));
    if (!compress) return;
    for (const { name } of kept) if (!name.endsWith('.gz')) await compressFile(join(dirname(path), name));
  }
}

async function compressFile(path: string): Promise<void> {
  await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}.gz`, { mode: OWNER_ONLY }));
  unlinkSync(path);
}

/** Opens the file, or standard output for `-`. */
export function openLogFile(options: LogFileOptions, clock: Clock, onError: (error: unknown) => void): LogFile {
  if (options.path !== '-') return new RotatingFile(options, clock, onError);
  // The buffer is used again, and standard output may take its time.
  return { write: (bytes) => void process.stdout.write(Buffer.from(bytes)), close: () => Promise.resolve() };
}
