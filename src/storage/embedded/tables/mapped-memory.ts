// The tables are read through a mapping of their file. Pages that were read stay in the resident memory of the process, with their
// neighbours, though the system could read them again at any time: after a large list or many writes that is the whole file. When much
// has gathered, the file is mapped again at a moment without a read or write, which takes some milliseconds. A read in pages, as at the
// start, has such moments between its pages.
import { readFileSync } from 'node:fs';
import type { Clock, Timer } from '../../../base/index.ts';

const CHECK_EVERY_MS = 5_000;
/** Each time costs some kilobytes that only come back at the end of the process. */
const REST_MS = 15_000;
/** Growth of resident file pages since the last mapping that is let be: the program itself is mapped from files too. */
const GATHERED_LIMIT_KB = 16 * 1024;

interface MappedMemoryOptions {
  readonly clock: Clock;
  /** No read or write is under way in this turn, nor over several turns. */
  readonly isQuiet: () => boolean;
  /** Maps the file again; nothing else gets a turn meanwhile. */
  readonly remap: () => Promise<void>;
  /** Called when the file could not be opened again. */
  readonly onFailed: (error: Error) => void;
  /** Kilobytes of files that are resident; absent: as the system reports. */
  readonly residentKb?: () => number;
}

/** Bytes that are read between two looks at the memory; their neighbours in the file come with them. */
const LOOK_EVERY_BYTES = 8 * 2 ** 20;

/** Gives back the memory of the mapping, until it is stopped. */
export class MappedMemory {
  readonly #options: MappedMemoryOptions;
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #settledKb: number;
  #readBytes = 0;

  constructor(options: MappedMemoryOptions) {
    this.#options = options;
    this.#settledKb = this.#readKb();
    this.#schedule(CHECK_EVERY_MS);
  }

  /** Resolves when the file is not being mapped again. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    return this.#running;
  }

  /** These were read. */
  noticeRead(kvs: readonly { readonly value: Uint8Array }[]): void {
    for (const { value } of kvs) this.#readBytes += value.length;
  }

  /** To be awaited before a read that can wait; answers at once unless much was read. */
  giveBack(): Promise<void> | undefined {
    return this.#readBytes < LOOK_EVERY_BYTES || this.#stopped ? undefined : this.#giveBack();
  }

  /** In a turn of its own, so that no other work has one before the file is mapped again. */
  async #giveBack(): Promise<void> {
    this.#readBytes = 0;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#stopped || !this.#isDue()) return;
    this.#timer?.cancel();
    this.#begin();
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (!this.#stopped) this.#timer = this.#options.clock.after(delayMs, () => this.#check());
  }

  #check(): void {
    if (this.#isDue()) this.#begin();
    else this.#schedule(CHECK_EVERY_MS);
  }

  #isDue(): boolean {
    return this.#options.isQuiet() && this.#readKb() >= this.#settledKb + GATHERED_LIMIT_KB;
  }

  #begin(): void {
    const { remap, onFailed } = this.#options;
    this.#running = remap().then(() => this.#settle(), (error: Error) => onFailed(error));
  }

  #settle(): void {
    this.#settledKb = this.#readKb();
    this.#schedule(REST_MS);
  }

  #readKb(): number {
    return (this.#options.residentKb ?? readResidentKb)();
  }
}

/** The report of Linux; 0 elsewhere. */
function readResidentKb(): number {
  try {
    return Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
