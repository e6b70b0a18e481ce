// Changes out of the log, in order and without a gap, since every revision has a row: pages of it after the last delivered revision.
import { invariant, delay, systemClock } from '../../base/index.ts';
import { StorageClosedError, StorageHistoryError } from '../errors.ts';
import type { ChangeSink, ChangeStream } from '../remote/changes.ts';
import { Pauses } from '../remote/pauses.ts';
import type { StoreEvent } from '../store.ts';
import type { Database } from './database.ts';
import type { ResultRow, Session } from './session.ts';
import { readTestimony } from './witness.ts';

const PAGE_CHANGES = 500;
const PAGE_BYTES = 8 << 20;
const PAGE_MS = 8_000;
/** Between two looks of a replay that has come to the newest change. */
const LOOK_MS = 50;
/** The log is looked at this often without a notification: one may be lost. */
const POLL_MS = 1_000;
const LISTEN_MS = 2_000;
const noValue = new Uint8Array(0);

/** A page of the log. */
interface ChangePage {
  readonly events: readonly StoreEvent[];
  /** The last revision of the page, and its batch. */
  readonly last: { readonly revision: number; readonly batch: string } | undefined;
  readonly revision: number;
  readonly compactRevision: number;
}

type Ask = (values: readonly unknown[]) => Promise<readonly ResultRow[]>;

/** Reads what follows revision `after`. The rows also show whether the database is still the one that this process knows. */
async function readChanges({ witness }: Pick<Database, 'witness'>, after: number, ask: Ask): Promise<ChangePage> {
  const floor = witness.revision;
  const rows = await ask([after, PAGE_CHANGES, PAGE_BYTES]);
  const testimony = readTestimony(rows[0] ?? []);
  witness.check(testimony, floor, after);
  const changes = rows.filter((row) => row[4] !== null);
  const events = changes.map(readEvent);
  for (const [index, { kv }] of events.entries()) invariant(kv.modRevision === after + 1 + index, 'the log has every revision');
  const last = changes.at(-1);
  const { revision, compactRevision } = testimony;
  return { events, revision, compactRevision, last: last === undefined ? undefined : { revision: Number(last[4]), batch: String(last[7]) } };
}

function readEvent(row: ResultRow): StoreEvent {
  const [revision, previous, created, , key, value, previousValue, previousCreated] = row.slice(4) as
    [number, number, number, string, Buffer, Buffer | null, Buffer | null, number];
  const name = key.toString();
  return {
    type: value === null ? 'delete' : 'put',
    kv: { key: name, value: value ?? noValue, createRevision: created, modRevision: revision },
    ...(previous > 0 && { previous: { key: name, value: previousValue ?? noValue, createRevision: previousCreated, modRevision: previous } }),
  };
}

/** Changes of long ago, read as fast as they are taken. At the newest one it waits until its owner closes it. */
export class ReplayStream implements ChangeStream {
  readonly #database: Database;
  readonly #sink: ChangeSink;
  #position: number;
  #isClosed = false;

  constructor(database: Database, from: number, sink: ChangeSink) {
    this.#database = database;
    this.#sink = sink;
    this.#position = Math.max(1, from - 1);
    void this.#run();
  }

  get position(): number {
    return this.#position;
  }

  restart(): void {
    // Each page is a read by itself.
  }

  close(): void {
    this.#isClosed = true;
  }

  async #run(): Promise<void> {
    const { statements } = this.#database;
    const pauses = new Pauses();
    while (!this.#isClosed) {
      try {
        const page = await readChanges(this.#database, this.#position, (values) => this.#database.read(statements.changes, values, PAGE_MS));
        if (this.#isClosed) return;
        if (page.compactRevision > this.#position) return this.#finish(page.compactRevision);
        if (page.last !== undefined) this.#position = page.last.revision;
        if (page.last !== undefined) this.#sink.events(page.events, page.last.revision);
        else await delay(systemClock, LOOK_MS);
        pauses.reset();
      } catch (error) {
        if (error instanceof StorageClosedError || error instanceof StorageHistoryError) return;
        this.#database.report(error);
        await delay(systemClock, pauses.next());
      }
    }
  }

  #finish(compactRevision: number): void {
    this.close();
    this.#sink.compacted(compactRevision);
  }
}

interface LiveOptions {
  readonly database: Database;
  readonly from: number;
  readonly sink: ChangeSink;
  readonly channel: string;
  /** Notifications that begin with it are of this Store's own writes. */
  readonly sender: string;
}

/**
 * Changes as they are committed. Those of this Store's own writer are offered by it; for those of others a connection of its own listens, and looks
 * once a second in case a notification was lost.
 *
 *   connecting ──▶ listening ◀──(notification, poll, hurry)──▶ reading
 *       └───────────────┴────(connection lost)──▶ connecting, after a pause
 */
export class LiveStream implements ChangeStream {
  readonly #options: LiveOptions;
  #position: number;
  #session: Session | undefined;
  #isClosed = false;
  /** Something may have come that no page has shown. */
  #isBehind = true;
  #wake: () => void = () => undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#position = Math.max(1, options.from - 1);
    void this.#run();
  }

  get position(): number {
    return this.#position;
  }

  /** What this process has just committed; it is delivered at once if nothing is missing before it. */
  offer(batch: string, events: readonly StoreEvent[] | undefined): void {
    const first = events?.[0]?.kv.modRevision;
    const last = events?.at(-1)?.kv.modRevision;
    if (this.#isClosed) return;
    if (events === undefined || last === undefined || first !== this.#position + 1) return this.hurry();
    this.#options.database.witness.noteBatch(last, batch);
    this.#position = last;
    this.#options.sink.events(events, last);
  }

  hurry(): void {
    this.#isBehind = true;
    this.#wake();
  }

  restart(): void {
    this.#session?.drop();
    this.hurry();
  }

  close(): void {
    this.#isClosed = true;
    this.#session?.close();
    this.#wake();
  }

  async #run(): Promise<void> {
    const pauses = new Pauses();
    while (!this.#isClosed) {
      try {
        this.#session ??= await this.#listen();
        await this.#follow(this.#session);
        pauses.reset();
      } catch (error) {
        this.#session?.drop();
        this.#session = undefined;
        this.#isBehind = true;
        if (error instanceof StorageClosedError || error instanceof StorageHistoryError || this.#isClosed) return;
        this.#options.database.report(error);
        await delay(systemClock, pauses.next());
      }
    }
  }

  async #listen(): Promise<Session> {
    const { database, channel, sender } = this.#options;
    const own = `${sender} `;
    const session = await database.connect({
      notified: (payload) => payload.startsWith(own) || this.hurry(),
      lost: () => this.hurry(),
    });
    try {
      await session.runText(`LISTEN ${channel}`, LISTEN_MS);
      return session;
    } catch (error) {
      session.drop();
      throw error;
    }
  }

  /** One page; waits for a reason to look first. */
  async #follow(session: Session): Promise<void> {
    if (!this.#isBehind) await this.#rest();
    if (this.#isClosed) return;
    this.#isBehind = false;
    const { database, sink } = this.#options;
    const asked = this.#position;
    const page = await readChanges(database, asked, (values) => session.run(database.statements.changes, values, PAGE_MS));
    if (this.#isClosed) return;
    if (page.compactRevision > asked && page.compactRevision > this.#position) {
      this.close();
      return sink.compacted(page.compactRevision);
    }
    const { last } = page;
    if (last === undefined) return;
    // The writer may have delivered some of them meanwhile.
    const events = page.events.filter(({ kv }) => kv.modRevision > this.#position);
    if (last.revision < page.revision) this.#isBehind = true;
    if (events.length === 0) return;
    database.witness.noteBatch(last.revision, last.batch);
    this.#position = last.revision;
    sink.events(events, last.revision);
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = systemClock.after(POLL_MS, () => this.#wake());
      this.#wake = () => {
        timer.cancel();
        this.#wake = () => undefined;
        resolve();
      };
    });
  }
}

