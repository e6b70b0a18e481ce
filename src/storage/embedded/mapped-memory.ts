// The tables are read through a mapping of their file. Whatever was looked at stays in the resident memory of the process, with its
// neighbours, though the system could read it again at any time: after a large list or many writes that is the whole file. So when much
// has gathered, the file is mapped anew at a moment in which nobody reads or writes; that takes some milliseconds.
import { readFileSync } from 'node:fs';
import type { Clock, Timer } from '../../base/index.ts';

const checkEveryMs = 5_000;
/** Each time costs some memory that only comes back at the end of the process. */
const restMs = 30_000;
/** What may gather beyond what was resident after the last time: the program itself is mapped from files too. */
const mostGatheredKb = 24 * 1024;

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

/** Gives back what the mapping holds, for as long as it is not stopped. */
export class MappedMemory {
  readonly #options: MappedMemoryOptions;
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #settledKb: number;

  constructor(options: MappedMemoryOptions) {
    this.#options = options;
    this.#settledKb = this.#readKb();
    this.#schedule(checkEveryMs);
  }

  /** Resolves when the file is not being mapped anew. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    return this.#running;
  }

  #schedule(delayMs: number): void {
    if (!this.#stopped) this.#timer = this.#options.clock.after(delayMs, () => this.#check());
  }

  #check(): void {
    const { isQuiet, remap, onFailed } = this.#options;
    if (!isQuiet() || this.#readKb() < this.#settledKb + mostGatheredKb) return this.#schedule(checkEveryMs);
    this.#running = remap().then(() => this.#settle(), (error: Error) => onFailed(error));
  }

  #settle(): void {
    this.#settledKb = this.#readKb();
    this.#schedule(restMs);
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
