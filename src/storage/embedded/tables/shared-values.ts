// Values of an embedded Store that another process of this machine has open, read from its tables by key and revision. The file is mapped, and so are its
// pages shared by all processes: a process that can read a value again needs no copy of it. A read sees the newest transaction of this turn of the
// loop and LMDB gives the transaction up when the turn ends, so that the owner can use the pages again that it has freed.
import { realpathSync } from 'node:fs';
import { type Clock, systemClock } from '../../../base/index.ts';
import { dataPath } from '../directory.ts';
import { MappedMemory } from './mapped-memory.ts';
import { Tables } from './tables.ts';

/** Values by key and revision, for as long as it is open. */
export interface SharedValues {
  /**
   * The bytes are those until the next call. Undefined where the tables do not have it: not yet, or no longer. Throws StorageCorruptError for a record that
   * is damaged.
   */
  read(key: string, revision: number): Uint8Array | undefined;
  close(): Promise<void>;
}

class TableValues implements SharedValues {
  readonly #file: string;
  readonly #mapped: MappedMemory;
  /** Undefined after the file could not be mapped again. */
  #tables: Tables | undefined;
  #isClosed = false;

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#tables = this.#open();
    this.#mapped = new MappedMemory({
      clock, isQuiet: () => this.#tables !== undefined, remap: async () => this.#tables?.remap(), onFailed: () => (this.#tables = undefined),
    });
  }

  read(key: string, revision: number): Uint8Array | undefined {
    if (this.#isClosed) return undefined;
    return (this.#tables ??= this.#open()).viewValue(key, revision);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#mapped.stop();
    await this.#tables?.close();
  }

  /** LMDB forgets readers that have ended without a word when a process opens the file, as the one does that takes the place of such. */
  #open(): Tables {
    return new Tables({ file: this.#file, readOnly: true });
  }
}

/** Opens the tables in the directory of a Store, which must be there. Throws when the system refuses. */
export function openSharedValues(directory: string, clock: Clock = systemClock): SharedValues {
  return new TableValues(dataPath(realpathSync(directory)), clock);
}
