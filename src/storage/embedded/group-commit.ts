// Group commit: all jobs that arrive in one turn of the loop, or while a commit is under way, are written by the next commit together.
//
//   idle ──submit──▶ gathering ──end of turn──▶ committing ──done, more arrived──▶ committing
//     ▲                                             └──done, nothing arrived──▶ idle
//
// A failed commit fails everything gathered as well: it was checked against a state that was never committed.
import { StorageWriteError } from '../errors.ts';

/** A part of a commit. */
interface CommitJob {
  /** Puts and removes into the open batch; synchronous. */
  write(): void;
  /** What it adds to a commit, roughly; bounds the size of one. */
  readonly bytes: number;
  committed(): void;
  failed(error: Error): void;
}

interface GroupCommitOptions {
  /** Named in errors. */
  readonly directory: string;
  /** Applies what its argument writes in one transaction; resolves when that is durable. */
  readonly write: (fill: () => void) => Promise<void>;
  /** Called once per durable commit, after `committed` of its jobs. */
  readonly onCommitted: () => void;
  /** Called before the jobs of a failed commit, and those that wait, are failed. */
  readonly onFailed: (error: Error) => void;
  /** Called with `before` and `after` around `write`; may throw. */
  readonly failpoint: (name: string) => void;
}

const COMMIT_LIMIT_BYTES = 16 * 2 ** 20;
const COMMIT_LIMIT_JOBS = 2048;

/** Writes jobs in the order in which they were submitted. */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: CommitJob[] = [];
  #scheduled = false;
  #committing: Promise<void> | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  submit(job: CommitJob): void {
    this.#waiting.push(job);
    if (this.#scheduled || this.#committing) return;
    this.#scheduled = true;
    setImmediate(() => this.#start());
  }

  /** Nothing waits or is being written. */
  get isIdle(): boolean {
    return !this.#scheduled && this.#committing === undefined;
  }

  /** Resolves when nothing waits or is being written. */
  async idle(): Promise<void> {
    while (this.#scheduled || this.#committing) await (this.#committing ?? new Promise((resolve) => setImmediate(resolve)));
  }

  #start(): void {
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#committing = this.#commit(this.#take());
  }

  async #commit(jobs: readonly CommitJob[]): Promise<void> {
    const failure = await this.#write(jobs);
    this.#committing = undefined;
    if (failure) this.#fail([...jobs, ...this.#waiting.splice(0)], failure);
    else {
      // The next commit is on its way to the disk while the answers of this one are handed out.
      this.#start();
      for (const job of jobs) job.committed();
      this.#options.onCommitted();
    }
  }

  async #write(jobs: readonly CommitJob[]): Promise<Error | undefined> {
    try {
      this.#options.failpoint('before');
      await this.#options.write(() => {
        for (const job of jobs) job.write();
      });
      this.#options.failpoint('after');
      return undefined;
    } catch (cause) {
      if (cause instanceof StorageWriteError) return cause;
      const problem = (cause as Error)?.message ?? String(cause);
      return new StorageWriteError(`the write could not be made durable in ${this.#options.directory}: ${problem}`, { cause });
    }
  }

  #fail(jobs: readonly CommitJob[], error: Error): void {
    this.#options.onFailed(error);
    for (const job of jobs) job.failed(error);
  }

  #take(): readonly CommitJob[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#waiting.length && count < COMMIT_LIMIT_JOBS && bytes < COMMIT_LIMIT_BYTES) {
      bytes += (this.#waiting[count] as CommitJob).bytes;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}
