// Compaction on disk. The compact revision is made durable first, then the versions that it made unreachable are removed in small slices,
// each one transaction with the progress in it: a crash between two slices leaves a consistent file, and sweeping continues there.
import { StorageClosedError } from '../../errors.ts';
import type { GroupCommit } from '../group-commit.ts';
import { type LogRecord, encodeOldKey, encodeRevision } from './record.ts';
import type { CompactionState, Tables } from './tables.ts';

const CHANGES_PER_SLICE = 64;
const VALUE_BYTES_PER_SLICE = 2 ** 20;
const BYTES_PER_CHANGE = 256;

interface SweeperOptions {
  readonly tables: Tables;
  readonly commits: GroupCommit;
  readonly state: CompactionState;
  readonly failpoint: (name: string) => void;
}

/** The only writer of the compaction record. */
export class Sweeper {
  readonly #options: SweeperOptions;
  #compactRevision: number;
  #swept: number;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#compactRevision = options.state.compactRevision;
    this.#swept = options.state.sweptRevision;
  }

  /** The durable compact revision. */
  get compactRevision(): number {
    return this.#compactRevision;
  }

  /** Moves the compact revision up to `revision` and sweeps; resolves when both are done. */
  compact(revision: number): Promise<void> {
    const done = this.#work.then(async () => {
      if (this.#stopped) throw new StorageClosedError();
      if (revision > this.#compactRevision) await this.#mark(revision);
      await this.#sweep();
    });
    // The caller gets the failure; the next piece of work begins all the same.
    this.#work = done.catch(() => undefined);
    return done;
  }

  /** Finishes the sweep that an earlier run began. */
  resume(): void {
    if (this.#swept < this.#compactRevision) void this.compact(this.#compactRevision).catch(() => undefined);
  }

  /** Stops after the slice under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work;
  }

  async #mark(revision: number): Promise<void> {
    this.#options.failpoint('compaction-before-mark');
    await this.#commit(0, () => this.#options.tables.putCompaction({ compactRevision: revision, sweptRevision: this.#swept }));
    this.#compactRevision = revision;
    this.#options.failpoint('compaction-after-mark');
  }

  async #sweep(): Promise<void> {
    while (this.#swept < this.#compactRevision && !this.#stopped) {
      const { tables } = this.#options;
      const { changes, last } = this.#nextSlice();
      await this.#commit(changes.length, () => {
        for (const change of changes) this.#forget(change);
        tables.putCompaction({ compactRevision: this.#compactRevision, sweptRevision: last });
      });
      this.#swept = last;
      this.#options.failpoint('compaction-slice');
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** The next changes to sweep, bounded in number and in bytes; `last` is the revision up to which they are complete. */
  #nextSlice(): { readonly changes: readonly LogRecord[]; readonly last: number } {
    return this.#options.tables.read((snapshot) => {
      const changes: LogRecord[] = [];
      let bytes = 0;
      for (const change of snapshot.records({ from: this.#swept + 1, through: this.#compactRevision })) {
        // The version that a damaged change replaced stays: it cannot be found without the record. A repair removes both.
        if ('damage' in change) continue;
        changes.push(change);
        bytes += change.value.length;
        if (changes.length >= CHANGES_PER_SLICE || bytes >= VALUE_BYTES_PER_SLICE) return { changes, last: change.modRevision };
      }
      return { changes, last: this.#compactRevision };
    });
  }

  /** The rule of compaction.ts, on the tables. */
  #forget(change: LogRecord): void {
    const { log, old } = this.#options.tables;
    if (change.replaced > 0) {
      void log.remove(encodeRevision(change.replaced));
      void old.remove(encodeOldKey(change.key, change.modRevision));
    }
    if (change.isTombstone) void log.remove(encodeRevision(change.modRevision));
  }

  #commit(changes: number, write: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#options.commits.submit({ write, bytes: changes * BYTES_PER_CHANGE, committed: resolve, failed: reject });
    });
  }
}
