// The writes of one Store, gathered into batches: while one is on its way the next gathers, and each is one call and one commit of the database.
//
//   gathering ──▶ sent ──▶ answered
//                  └──(connection lost)──▶ in doubt ──▶ found: committed       its outcomes are read
//                                              └──────▶ not found: it never will be    the batch is sent again
//
// A batch in doubt is resolved, not guessed: its rows carry its number, and once the process of the database that had it is gone,
// they are there for good or not at all.
import { type Random, delay, systemClock } from '../../base/index.ts';
import { StorageUnavailableError } from '../errors.ts';
import type { TxnRequest } from '../store.ts';
import { encodeBytesArray, encodeFloatArray, encodeIntegerArray } from './arrays.ts';
import { type Database, isPassing, unavailable } from './database.ts';
import { type Backend, type ResultRow, type Session, isAnswer } from './session.ts';

/** What became of a write. Revision 0 of what was found: the key did not exist. */
export type WriteOutcome =
  | { readonly type: 'committed'; readonly revision: number; readonly createRevision: number }
  | { readonly type: 'conflict'; readonly found: number };

/** A write that was committed. */
export interface Committed {
  readonly request: TxnRequest;
  readonly revision: number;
  readonly createRevision: number;
}

interface WriterOptions {
  readonly database: Database;
  readonly random: Random;
  /** Names this Store in notifications, so that it does not wait for its own. */
  readonly sender: string;
  /** Called with what a batch committed, in the order of revisions, before its callers are answered. */
  readonly committed: (batch: string, writes: readonly Committed[]) => void;
  /** Whether the database takes writes: the cause for which it refuses one, or undefined. */
  readonly noteRefusal: (cause: string | undefined) => void;
}

interface Pending {
  readonly request: TxnRequest;
  readonly deadline: number;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

const BATCH_WRITES = 256;
const BATCH_BYTES = 4 << 20;
/** A write is given up after this time. */
const WRITE_MS = 8_000;
/** A batch that is not answered by then is in doubt. */
const ANSWER_MS = 4_000;
const PAUSE_MS = 50;
const GONE_PAUSE_MS = 10;
const PROBE_MS = 1_000;
/** PostgreSQL's code for: no room. */
const DISK_FULL = '53100';

/** The writer of one Store, on a connection of its own. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #database: Database;
  #queue: Pending[] = [];
  #isPumping = false;
  #isProbing = false;
  #session: Session | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  /** Rejects with StorageUnavailableError, which says whether the outcome is known. */
  write(request: TxnRequest): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, resolve, reject, deadline: systemClock.monotonicMs() + WRITE_MS });
      if (this.#isPumping) return;
      this.#isPumping = true;
      // Writes of this turn go together.
      queueMicrotask(() => void this.#pump());
    });
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) await this.#commit(this.#takeBatch());
    this.#isPumping = false;
  }

  /** The writes that came first, one of each key. */
  #takeBatch(): readonly Pending[] {
    const batch: Pending[] = [];
    const rest: Pending[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    for (const pending of this.#queue) {
      const { key, value } = pending.request;
      const isFull = batch.length >= BATCH_WRITES || (batch.length > 0 && bytes + (value?.length ?? 0) > BATCH_BYTES);
      if (isFull || keys.has(key)) rest.push(pending);
      else {
        batch.push(pending);
        bytes += value?.length ?? 0;
      }
      keys.add(key);
    }
    this.#queue = rest;
    return batch;
  }

  /** Settles every write of the batch, whatever happens. */
  async #commit(batch: readonly Pending[]): Promise<void> {
    let writes = batch;
    while (writes.length > 0) {
      let isInDoubt = false;
      try {
        const session = await this.#connect();
        const token = this.#chooseToken();
        const before = this.#database.witness.revision;
        try {
          this.#settle(writes, token, await this.#send(session, writes, token));
          return;
        } catch (error) {
          isInDoubt = !(await this.#isUndone(session, error));
          if (!isInDoubt) throw error;
          writes = this.#settleFound(writes, token, await this.#resolve(session.backend, token, before, writes));
          isInDoubt = false;
        }
      } catch (error) {
        writes = this.#giveUp(writes, error, isInDoubt);
        if (writes.length > 0) await delay(systemClock, PAUSE_MS);
      }
    }
  }

  async #connect(): Promise<Session> {
    if (this.#session === undefined || this.#session.isLost) this.#session = await this.#database.connect();
    this.#database.checkOpen();
    return this.#session;
  }

  #send(session: Session, writes: readonly Pending[], token: string): Promise<readonly ResultRow[]> {
    const requests = writes.map(({ request }) => request);
    return session.run(this.#database.statements.write, [
      encodeBytesArray(requests.map(({ key }) => Buffer.from(key))), encodeBytesArray(requests.map(({ value }) => value)),
      encodeIntegerArray(requests.map(({ expect }) => expect)), encodeFloatArray(requests.map(({ ttlSeconds }) => ttlSeconds)),
      token, this.#options.sender,
    ], ANSWER_MS);
  }

  /** A number that no other batch has: positive, and of PostgreSQL's bigint. */
  #chooseToken(): string {
    const bytes = Buffer.from(this.#options.random.bytes(8));
    return String(bytes.readBigUInt64BE() >> 1n);
  }

  /** An answer is the end of a statement only if the connection outlives it: the last words of a database that stops look the same. */
  async #isUndone(session: Session, error: unknown): Promise<boolean> {
    if (isAnswer(error)) {
      const { code, message } = error;
      if (code === DISK_FULL) this.#noteFull(message);
      const isAlive = await this.#database.witness.examine(session, this.#database.statements, ANSWER_MS).then(() => true, () => false);
      if (isAlive) return true;
    }
    session.drop();
    return false;
  }

  /** What a batch in doubt wrote. Its process is ended first, so that nothing can come after the answer. */
  async #resolve(backend: Backend, token: string, before: number, writes: readonly Pending[]): Promise<readonly ResultRow[]> {
    const { statements } = this.#database;
    const deadline = Math.max(...writes.map((pending) => pending.deadline));
    for (;;) {
      try {
        const session = await this.#connect();
        while (Number((await session.run(statements.terminate, [backend.pid, backend.beganAt], ANSWER_MS))[0]?.[0]) > 0) {
          if (systemClock.monotonicMs() > deadline) throw new Error('a batch of writes does not end');
          await delay(systemClock, GONE_PAUSE_MS);
        }
        const rows = await session.run(statements.findBatch, [before, token], ANSWER_MS);
        // A compaction in between may have removed rows of the batch.
        if (Number(rows[0]?.[0]) > before) throw new Error('the outcome of a batch of writes was compacted');
        return rows.filter(([, key]) => key !== null);
      } catch (error) {
        this.#database.checkOpen();
        if (systemClock.monotonicMs() + PAUSE_MS > deadline) throw error;
        if (!isPassing(error)) this.#session?.drop();
        await delay(systemClock, PAUSE_MS);
      }
    }
  }

  /** Answers the writes that a batch in doubt did commit; the others had no effect, and are tried again. */
  #settleFound(writes: readonly Pending[], token: string, found: readonly ResultRow[]): readonly Pending[] {
    const rows = new Map(found.map(([, key, revision, created]) => [(key as Buffer).toString(), [revision, created, 0] as ResultRow]));
    const done = writes.filter(({ request }) => rows.has(request.key));
    this.#settle(done, token, done.map(({ request }) => rows.get(request.key) as ResultRow));
    return writes.filter((pending) => !done.includes(pending));
  }

  /** While the database has no room it is asked again from time to time, so that readiness returns without a write of a client. */
  #noteFull(cause: string): void {
    this.#options.noteRefusal(cause);
    if (this.#isProbing) return;
    this.#isProbing = true;
    void this.#probe();
  }

  async #probe(): Promise<void> {
    while (this.#database.isOpen) {
      await delay(systemClock, PROBE_MS);
      try {
        const session = await this.#database.connect();
        // Asks for more room than a page has, and gives it back.
        await session.runText(this.#database.statements.probe, ANSWER_MS).finally(() => session.close());
        this.#options.noteRefusal(undefined);
        break;
      } catch {
        // There is none yet.
      }
    }
    this.#isProbing = false;
  }

  #settle(writes: readonly Pending[], token: string, rows: readonly ResultRow[]): void {
    this.#options.noteRefusal(undefined);
    const committed: Committed[] = [];
    const outcomes = writes.map(({ request }, index): WriteOutcome => {
      const [revision, createRevision, found] = rows[index] as readonly (number | null)[];
      if (revision === null || revision === undefined) return { type: 'conflict', found: Number(found) };
      committed.push({ request, revision, createRevision: Number(createRevision) });
      return { type: 'committed', revision, createRevision: Number(createRevision) };
    });
    if (committed.length > 0) this.#options.committed(token, committed);
    for (const [index, outcome] of outcomes.entries()) writes[index]?.resolve(outcome);
  }

  /** Rejects the writes that are not to be tried again; those that are remain. */
  #giveUp(writes: readonly Pending[], error: unknown, isInDoubt: boolean): readonly Pending[] {
    const isFinal = isInDoubt || (isAnswer(error) && (!isPassing(error) || error.code === DISK_FULL)) || !this.#database.isOpen;
    const now = systemClock.monotonicMs();
    const rejected = writes.filter(({ deadline }) => isFinal || deadline <= now + PAUSE_MS);
    for (const { reject } of rejected) reject(!this.#database.isOpen || isOwnError(error) ? error : unavailable(error, !isInDoubt));
    // Those behind wait for the same database; none of them was sent.
    const late = this.#queue.filter(({ deadline }) => deadline <= now + PAUSE_MS);
    this.#queue = this.#queue.filter((pending) => !late.includes(pending));
    for (const { reject } of late) reject(unavailable(error, true));
    return writes.filter((pending) => !rejected.includes(pending));
  }
}

function isOwnError(error: unknown): boolean {
  return error instanceof StorageUnavailableError && !error.outcomeKnown;
}
