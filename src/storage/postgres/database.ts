// The connections of one Store: a few for reads, and those that its writer and its changes keep for themselves. Reads are tried again until their
// time is up, on another connection where theirs was lost.
import { delay, systemClock } from '../../base/index.ts';
import { StorageClosedError, StorageUnavailableError } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';
import { type ResultRow, Session, type SessionEvents, type Statement, describe, isAnswer } from './session.ts';
import type { Statements } from './schema.ts';
import type { Witness } from './witness.ts';

interface DatabaseOptions {
  readonly endpoint: Endpoint;
  readonly statements: Statements;
  readonly witness: Witness;
  /** Connections for reads at the same time; further reads wait. */
  readonly readers: number;
  readonly report: (error: unknown) => void;
}

const READ_MS = 4_000;
const PAUSE_MS = 50;
/** Classes of errors that pass: of resources, of operators, of other transactions. */
const passingClasses: ReadonlySet<string> = new Set(['53', '57', '40', '55', '58']);

/** True for an answer that another try may change. */
export function isPassing(error: unknown): boolean {
  return isAnswer(error) && passingClasses.has(error.code.slice(0, 2));
}

/** A database as the parts of a Store use it. */
export class Database {
  readonly statements: Statements;
  readonly witness: Witness;
  readonly #options: DatabaseOptions;
  readonly #idle: Session[] = [];
  readonly #all = new Set<Session>();
  readonly #waiting: (() => void)[] = [];
  #readers = 0;
  #closed = false;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.statements = options.statements;
    this.witness = options.witness;
  }

  /** A connection that its one owner closes. */
  async connect(events: SessionEvents = {}): Promise<Session> {
    this.checkOpen();
    const session = await Session.open(this.#options.endpoint, events);
    for (const other of this.#all) if (other.isLost) this.#all.delete(other);
    this.#all.add(session);
    try {
      await this.witness.examine(session, this.statements, READ_MS);
      this.checkOpen();
      return session;
    } catch (error) {
      session.drop();
      throw error;
    }
  }

  /** A read; rejects with StorageUnavailableError when no answer comes in time. */
  async read(statement: Statement, values: readonly unknown[], totalMs = READ_MS): Promise<readonly ResultRow[]> {
    const deadline = systemClock.monotonicMs() + totalMs;
    for (;;) {
      try {
        return await this.#readOnce(statement, values, deadline);
      } catch (error) {
        this.checkOpen();
        if (isAnswer(error) && !isPassing(error)) throw error;
        const leftMs = deadline - systemClock.monotonicMs() - PAUSE_MS;
        if (leftMs <= 0) throw unavailable(error, true);
        await delay(systemClock, PAUSE_MS);
      }
    }
  }

  report(error: unknown): void {
    if (!this.#closed) this.#options.report(error);
  }

  get isOpen(): boolean {
    return !this.#closed && this.witness.failure === undefined;
  }

  /** Throws when nothing may be asked any more. */
  checkOpen(): void {
    if (this.#closed) throw new StorageClosedError();
    if (this.witness.failure !== undefined) throw this.witness.failure;
  }

  close(): void {
    this.#closed = true;
    for (const session of this.#all) session.close();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #readOnce(statement: Statement, values: readonly unknown[], deadline: number): Promise<readonly ResultRow[]> {
    await this.#takeTurn(deadline);
    let session: Session | undefined;
    try {
      session = this.#pickIdle() ?? await this.connect();
      return await session.run(statement, values, Math.max(1, deadline - systemClock.monotonicMs()));
    } finally {
      if (session !== undefined && !session.isLost) this.#idle.push(session);
      this.#readers -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Waits until fewer than all readers are busy. */
  async #takeTurn(deadline: number): Promise<void> {
    while (this.#readers >= this.#options.readers) {
      const leftMs = deadline - systemClock.monotonicMs();
      if (leftMs <= 0) throw new Error('all connections are busy');
      await new Promise<void>((resolve) => {
        const timer = systemClock.after(leftMs, () => {
          this.#waiting.splice(this.#waiting.indexOf(wake), 1);
          resolve();
        });
        const wake = (): void => {
          timer.cancel();
          resolve();
        };
        this.#waiting.push(wake);
      });
      this.checkOpen();
    }
    this.#readers += 1;
  }

  #pickIdle(): Session | undefined {
    for (let session = this.#idle.pop(); session !== undefined; session = this.#idle.pop()) if (!session.isLost) return session;
    return undefined;
  }
}

/** The error of callers that cannot be answered. */
export function unavailable(error: unknown, outcomeKnown: boolean): StorageUnavailableError {
  const text = error instanceof StorageUnavailableError ? error.message : `PostgreSQL: ${describe(error)}`;
  return new StorageUnavailableError(text, { outcomeKnown, cause: error });
}
