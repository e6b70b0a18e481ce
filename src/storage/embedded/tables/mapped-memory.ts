// The tables are read through a mapping of their file. Whatever was looked at stays in the resident memory of the process, with its
// neighbours, though the system could read it again at any time: after a large list or many writes that is the whole file. So when much
// has gathered, the file is mapped anew at a moment in which nobody reads or writes; that takes some milliseconds. What is read in pages,
// as the state is at the start, offers such moments between them.
import { readFileSync } from 'node:fs';
import type { Clock, Timer } from '../../../base/index.ts';

const CHECK_EVERY_MS = 5_000;
/** Each time costs some kilobytes that only come back at the end of the process. */
const REST_MS = 15_000;
/** What may gather beyond what was resident after the last time: the program itself is mapped from files too. */
const GATHERED_LIMIT_KB = 16 * 1024;

interface MappedMemoryOptions {
  readonly clock: Clock;
  /** Nobody reads or writes in this turn, nor over several turns. */
  readonly isQuiet: () => boolean;
  /** Maps the file anew; nothing else gets a turn meanwhile. */
  readonly remap: () => Promise<void>;
  /** Is told when the file could not be opened again. */
  readonly onFailed: (error: Error) => void;
  /** Kilobytes of files that are resident; as the system says when absent. */
  readonly residentKb?: () => number;
}

/** Bytes that are read between two looks of those who read much; their neighbours in the file come with them. */
const LOOK_EVERY_BYTES = 8 * 2 ** 20;

/** Gives back what the mapping holds, for as long as it is not stopped. */
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

  /** Resolves when the file is not being mapped anew. */
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

  /** In a turn of its own, so that nobody else has one before the file is mapped again. */
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

/** What Linux says; elsewhere nothing. */
function readResidentKb(): number {
  try {
    return Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
