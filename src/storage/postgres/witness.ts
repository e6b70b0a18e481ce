// What this process has seen of the store, held against every connection: a database that was restored, or failed over to a replica that lacks
// commits, is noticed by a revision that fell or that another batch wrote, and is not served.
import { StorageHistoryError } from '../errors.ts';
import type { ResultRow, Session } from './session.ts';
import type { Statements } from './schema.ts';

/** What a database says of itself. `batchThere` is the batch of the revision that was asked for, if its row is kept. */
interface Testimony {
  readonly store: string;
  readonly revision: number;
  readonly compactRevision: number;
  readonly batchThere: string | undefined;
}

/** The memory of one Store. Once it was contradicted it refuses everything. */
export class Witness {
  readonly #failed: (error: StorageHistoryError) => void;
  #store: string | undefined;
  /** The newest revision that is committed for certain. */
  #revision = 1;
  /** A revision whose batch is known. */
  #known = { revision: 1, batch: '' };
  #failure: StorageHistoryError | undefined;

  constructor(failed: (error: StorageHistoryError) => void) {
    this.#failed = failed;
  }

  get revision(): number {
    return this.#revision;
  }

  get failure(): StorageHistoryError | undefined {
    return this.#failure;
  }

  /** The revision whose batch is asked for. */
  get knownRevision(): number {
    return this.#known.revision;
  }

  note(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  /** The batch of a revision was seen. */
  noteBatch(revision: number, batch: string): void {
    this.note(revision);
    if (revision > this.#known.revision) this.#known = { revision, batch };
  }

  /** Throws unless an answer given after `floor` was known continues what was seen; `asked` is the revision whose batch the answer has. */
  check({ store, revision, batchThere }: Testimony, floor: number, asked: number): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#store ??= store;
    if (store !== this.#store) this.#fail('the database holds another store than before');
    if (revision < floor) this.#fail(`the database has gone back to revision ${revision}, and ${floor} was committed`);
    const { revision: known, batch } = this.#known;
    if (asked === known && batch !== '' && batchThere !== undefined && batchThere !== batch) {
      this.#fail(`the database has gone back: its revision ${known} is not the one that was committed`);
    }
    this.note(revision);
  }

  /** Asks a new connection; answers its revisions. */
  async examine(session: Session, { witness }: Pick<Statements, 'witness'>, timeoutMs: number): Promise<Testimony> {
    const [floor, asked] = [this.#revision, this.#known.revision];
    const [row] = await session.run(witness, [asked], timeoutMs);
    const testimony = readTestimony(row ?? []);
    this.check(testimony, floor, asked);
    return testimony;
  }

  #fail(problem: string): never {
    this.#failure = new StorageHistoryError(problem);
    this.#failed(this.#failure);
    throw this.#failure;
  }
}

/** The first four columns of an answer, as the statements `witness` and `changes` give them. */
export function readTestimony([store, revision, compactRevision, batch]: ResultRow): Testimony {
  return { store: String(store), revision: Number(revision), compactRevision: Number(compactRevision), batchThere: batch === null ? undefined : String(batch) };
}
