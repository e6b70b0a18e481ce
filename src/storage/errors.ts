// The errors of storage. Expected outcomes (conflict, compacted, future) are values in store.ts; these errors mean that
// the disk, the directory or the caller failed.

/** The directory is not a data directory of this program, is damaged, or was written by a newer format. */
export class StorageFormatError extends Error {
  override readonly name = 'StorageFormatError';
  readonly directory: string;

  constructor(directory: string, problem: string) {
    super(`data directory ${directory}: ${problem}`);
    this.directory = directory;
  }
}

/** Another process (or this one) has the data directory open. */
export class StorageLockedError extends Error {
  override readonly name = 'StorageLockedError';
  readonly directory: string;

  constructor(directory: string, problem: string) {
    super(`data directory ${directory}: ${problem}`);
    this.directory = directory;
  }
}

/** Bytes read from disk do not match their checksum or contradict one another; they are never served. */
export class StorageCorruptError extends Error {
  override readonly name = 'StorageCorruptError';
}

/** A write could not be made durable; it was not acknowledged and its outcome may be unknown. */
export class StorageWriteError extends Error {
  override readonly name = 'StorageWriteError';
}

/** The store elsewhere has lost what it had committed, or is another one: what this process knows of it is not true any more. Nothing is served. */
export class StorageHistoryError extends Error {
  override readonly name = 'StorageHistoryError';

  constructor(problem: string) {
    super(`${problem}; clients must list again: stop every server, run \`pintle storage bump\`, then start them`);
  }
}

/** The Store was used after close, or closed while the call was under way. */
export class StorageClosedError extends Error {
  override readonly name = 'StorageClosedError';

  constructor() {
    super('the store is closed');
  }
}

/** The store cannot be reached or does not answer in time; of a write the outcome is unknown unless `outcomeKnown` says that nothing happened. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly outcomeKnown: boolean;

  constructor(problem: string, options: { readonly outcomeKnown: boolean; readonly cause?: unknown }) {
    super(problem, { cause: options.cause });
    this.outcomeKnown = options.outcomeKnown;
  }
}
