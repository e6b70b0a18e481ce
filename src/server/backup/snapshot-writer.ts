// Writes a snapshot. The file has another name until it is complete and on disk, so that one with its own name is never half a backup.
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fdatasyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RestoredKey } from '../../storage/index.ts';
import { syncDirectory } from '../data-directory.ts';
import { StartError } from '../options/options.ts';
import { PAYLOAD_LIMIT_BYTES, type SecretFile, type SnapshotHeader, encodeFrameHead, encodeKey, frameTypes, magic } from './snapshot-format.ts';

const BUFFER_BYTES = 2 ** 20;
/** Small portions keep the disk from being busy for long at a time, which a server that runs beside would wait for. */
const FLUSH_EVERY_BYTES = 4 * 2 ** 20;

/** A snapshot that is being written. Throws StartError for a disk that refuses. */
export class SnapshotWriter {
  readonly #path: string;
  readonly #handle: number;
  readonly #hash = createHash('sha256');
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #unflushedBytes = 0;
  #bytes = 0;

  /** Throws StartError when there is a file of that name. */
  constructor(path: string) {
    if (existsSync(path)) throw new StartError(`${path} exists; choose another name`);
    this.#path = path;
    this.#handle = this.#attempt(() => {
      // An interruption leaves one. Into a file of another user nothing is written: its owner could read it.
      rmSync(this.#partial, { force: true });
      return openSync(this.#partial, 'wx', 0o600);
    });
    this.#hash.update(magic);
    this.#push(magic);
  }

  /** How long the file is so far. */
  get bytes(): number {
    return this.#bytes;
  }

  addHeader(header: SnapshotHeader): void {
    this.#add(frameTypes.header, Buffer.from(JSON.stringify(header)));
  }

  addSecret(file: SecretFile): void {
    this.#add(frameTypes.secret, Buffer.from(JSON.stringify(file)));
  }

  addKey(key: RestoredKey): void {
    this.#add(frameTypes.key, encodeKey(key));
  }

  /** Makes the file complete and durable, under its name. */
  finish(): void {
    const digest = this.#hash.digest();
    this.#push(encodeFrameHead(frameTypes.end, digest.length));
    this.#push(digest);
    this.#write();
    this.#attempt(() => {
      fdatasyncSync(this.#handle);
      closeSync(this.#handle);
      renameSync(this.#partial, this.#path);
      syncDirectory(dirname(this.#path));
    });
  }

  /** Removes what was written. */
  abandon(): void {
    closeSync(this.#handle);
    rmSync(this.#partial, { force: true });
  }

  get #partial(): string {
    return `${this.#path}.partial`;
  }

  #add(type: number, payload: Buffer): void {
    if (payload.length > PAYLOAD_LIMIT_BYTES) throw new StartError(`a value of ${payload.length} bytes does not fit into a snapshot`);
    const head = encodeFrameHead(type, payload.length);
    this.#hash.update(head).update(payload);
    this.#push(head);
    this.#push(payload);
  }

  #push(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#bytes += bytes.length;
    if (this.#waitingBytes >= BUFFER_BYTES) this.#write();
  }

  #write(): void {
    const bytes = Buffer.concat(this.#waiting);
    [this.#waiting, this.#waitingBytes] = [[], 0];
    this.#attempt(() => {
      for (let done = 0; done < bytes.length;) done += writeSync(this.#handle, bytes, done);
      this.#unflushedBytes += bytes.length;
      if (this.#unflushedBytes < FLUSH_EVERY_BYTES) return;
      fdatasyncSync(this.#handle);
      this.#unflushedBytes = 0;
    });
  }

  #attempt<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      throw new StartError(`cannot write ${this.#path}: ${(error as Error).message}`, { cause: error });
    }
  }
}
