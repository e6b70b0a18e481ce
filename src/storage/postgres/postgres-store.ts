// The Store over PostgreSQL. State and history are rows (schema.ts); writes go through one writer, watches are those of remote/shared-watch.ts.
import { type Clock, type Random, type Timer, systemClock } from '../../base/index.ts';
import type { StorageHealth } from '../health.ts';
import { checkTxn } from '../keys.ts';
import { RunningCalls, SharedQuestion } from '../remote/calls.ts';
import { Compactor } from '../remote/compactor.ts';
import { type Page, type PageAnswer, readInPages } from '../remote/pages.ts';
import { SharedWatch } from '../remote/shared-watch.ts';
import {
  type KeyRange, type KeyValue, type RangeRequest, type RangeResult, type Store, type StoreEvent, type StoreWatch, type TxnRequest, type TxnResult,
  type WatchObserver, keyRange,
} from '../store.ts';
import { LiveStream, ReplayStream } from './changes.ts';
import type { Database } from './database.ts';
import { type Committed, Writer } from './writer.ts';

interface PostgresStoreParts {
  readonly database: Database;
  readonly schema: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly health: StorageHealth | undefined;
  readonly compactionIntervalMs: number;
  /** The database's revision as the Store opens. */
  readonly revision: number;
}

const PAGE_MS = 12_000;
/** A page of large values has fewer keys than were asked for. */
const PAGE_BYTES = 8 << 20;
const COMPACT_MS = 10_000;
/** Changes that one step of removal looks at, so that none holds rows for long. */
const SWEEP_CHANGES = 500;
/** How often keys whose time is over are looked for, by each server. */
const EXPIRY_MS = 1_000;
const EXPIRED_AT_ONCE = 256;
/** Tries to read all pages of one revision, each overtaken by a compaction. */
const ROUNDS = 5;

/** A Store on PostgreSQL; store.ts has its contract. */
export class PostgresStore implements Store {
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #shared: SharedWatch;
  readonly #compactor: Compactor;
  readonly #calls = new RunningCalls();
  readonly #revision = new SharedQuestion(() => this.#readRevision());
  #live: LiveStream | undefined;
  #expiry: Timer | undefined;
  #sweeping: Promise<unknown> = Promise.resolve();
  #isClosing = false;

  constructor({ database, schema, clock, random, health, compactionIntervalMs, revision }: PostgresStoreParts) {
    this.#database = database;
    const sender = random.uuid();
    this.#writer = new Writer({
      database, random, sender, committed: (batch, writes) => this.#offer(batch, writes),
      noteRefusal: (cause) => (cause === undefined ? health?.noteAcceptance() : health?.noteRefusal(cause)),
    });
    this.#shared = new SharedWatch({
      revision,
      openLive: (from, sink) => (this.#live = new LiveStream({ database, from, sink, sender, channel: schema })),
      openReplay: (from, sink) => new ReplayStream(database, from, sink),
      readRevision: () => this.#revision.ask(),
      report: (error) => database.report(error),
    });
    this.#compactor = new Compactor({
      clock, intervalMs: compactionIntervalMs, report: (error) => database.report(error),
      race: (interval) => this.#countInterval(interval), compact: (at) => this.compact(at),
    });
    this.#awaitExpiry();
  }

  range(request: RangeRequest): Promise<RangeResult> {
    return this.#calls.track(() => this.#range(request));
  }

  txn(request: TxnRequest): Promise<TxnResult> {
    return this.#calls.track(async () => {
      checkTxn(request);
      const outcome = await this.#writer.write(request);
      if (outcome.type === 'committed') return { type: 'committed', revision: outcome.revision };
      if (outcome.found === 0) return { type: 'conflict', revision: this.#database.witness.revision };
      const known = this.#shared.recall(outcome.found);
      if (known !== undefined) return { type: 'conflict', revision: this.#database.witness.revision, current: known };
      const result = await this.#range(keyRange(request.key));
      const current = result.type === 'ok' ? result.kvs[0] : undefined;
      return { type: 'conflict', revision: result.revision, ...(current !== undefined && { current }) };
    });
  }

  watch(range: KeyRange, from: number, observer: WatchObserver): StoreWatch {
    return this.#shared.watch(range, from, observer);
  }

  compact(revision: number): Promise<{ readonly compactRevision: number }> {
    return this.#calls.track(async () => {
      const { compact, witness } = this.#database.statements;
      if (revision > await this.#revision.ask()) throw new RangeError(`revision ${revision} is in the future`);
      await this.#database.read(compact, [revision], COMPACT_MS);
      const [row] = await this.#database.read(witness, [0]);
      this.#shared.noteCompaction(Number(row?.[2]));
      this.#sweeping = this.#sweeping.then(() => this.#sweep());
      await this.#sweeping;
      return { compactRevision: this.#shared.compactRevision };
    });
  }

  timesToLive(): Promise<ReadonlyMap<number, number>> {
    return this.#calls.track(async () => {
      const rows = await this.#database.read(this.#database.statements.timesToLive, []);
      return new Map(rows.map(([revision, seconds]) => [Number(revision), Math.max(1, Math.ceil(Number(seconds)))]));
    });
  }

  revision(): Promise<number> {
    return this.#calls.track(() => this.#revision.ask());
  }

  close(): Promise<void> {
    this.#isClosing = true;
    this.#compactor.stop();
    this.#expiry?.cancel();
    return this.#calls.close(async () => {
      this.#shared.close();
      this.#database.close();
    });
  }

  /** The database contradicted what this process knows: everything ends. */
  fail(error: Error): void {
    this.#compactor.stop();
    this.#expiry?.cancel();
    this.#shared.fail(error);
    this.#database.report(error);
  }

  /** Hands what was committed to the watches, if everything that they get is here: otherwise it is read. */
  #offer(batch: string, writes: readonly Committed[]): void {
    const events: StoreEvent[] = [];
    for (const { request, revision, createRevision } of writes) {
      const { key, expect, value } = request;
      const previous = expect === 0 ? undefined : this.#shared.recall(expect);
      if (expect !== 0 && previous === undefined) break;
      const kv: KeyValue = { key, value: value ?? new Uint8Array(0), createRevision, modRevision: revision };
      events.push({ type: value === undefined ? 'delete' : 'put', kv, ...(previous !== undefined && { previous }) });
    }
    const last = writes.at(-1)?.revision ?? 0;
    this.#database.witness.note(last);
    this.#live?.offer(batch, events.length === writes.length ? events : undefined);
    this.#shared.noteRevision(last);
  }

  async #readRevision(): Promise<number> {
    const { witness, statements } = this.#database;
    const [floor] = [witness.revision];
    const [row] = await this.#database.read(statements.witness, [0]);
    const revision = Number(row?.[1]);
    witness.check({ store: String(row?.[0]), revision, compactRevision: Number(row?.[2]), batchThere: undefined }, floor, 0);
    this.#shared.noteCompaction(Number(row?.[2]));
    this.#shared.noteRevision(revision);
    return revision;
  }

  async #range(request: RangeRequest): Promise<RangeResult> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const result = await this.#tryRange(request);
      this.#shared.noteRevision(result.revision);
      if (result.type !== 'compacted' || request.revision !== undefined) return result;
      // Without a revision, the pages after the first were overtaken by a compaction: the read begins again.
    }
    throw new Error('the store is compacted faster than a range can be read');
  }

  async #tryRange(request: RangeRequest): Promise<RangeResult> {
    const { countOnly = false, uncounted = false, limit } = request;
    let refusal: RangeResult | undefined;
    const read = async (page: Page): Promise<PageAnswer<KeyValue>> => {
      const { answer, compactRevision } = await this.#readPage(page);
      if (page.revision !== undefined && page.revision > answer.revision) refusal = { type: 'future', revision: answer.revision };
      else if (page.revision !== undefined && page.revision < compactRevision) refusal = { type: 'compacted', compactRevision, revision: answer.revision };
      return refusal === undefined ? answer : { ...answer, kvs: [], more: false };
    };
    const answer = await readInPages(countOnly ? { ...request, limit: 0 } : request, read);
    if (refusal !== undefined) return refusal;
    const isWhole = !answer.more && limit === undefined && !countOnly;
    if (isWhole || (uncounted && !countOnly)) return { type: 'ok', ...answer, count: answer.kvs.length };
    const count = await this.#count(request, request.revision ?? answer.revision);
    return { type: 'ok', ...answer, count, more: answer.kvs.length < count };
  }

  async #readPage({ start, end, revision, limit }: Page): Promise<{ readonly answer: PageAnswer<KeyValue>; readonly compactRevision: number }> {
    const values = [Buffer.from(start), Buffer.from(end), revision ?? null, limit, PAGE_BYTES];
    const rows = await this.#database.read(this.#database.statements.page, values, PAGE_MS);
    const kvs = rows.flatMap(([, , key, value, createRevision, modRevision]): KeyValue[] => (key === null ? [] : [{
      key: (key as Buffer).toString(), value: value as Buffer, createRevision: createRevision as number, modRevision: modRevision as number,
    }]));
    const more = Number(rows[0]?.[6] ?? 0) > kvs.length;
    this.#database.witness.note(Number(rows[0]?.[0]));
    return { answer: { revision: Number(rows[0]?.[0]), kvs, more, count: kvs.length }, compactRevision: Number(rows[0]?.[1]) };
  }

  async #count({ start, end }: KeyRange, revision: number): Promise<number> {
    const [row] = await this.#database.read(this.#database.statements.count, [Buffer.from(start), Buffer.from(end), revision], PAGE_MS);
    return Number(row?.[2]);
  }

  async #countInterval(interval: number) {
    const [row] = await this.#database.read(this.#database.statements.countInterval, [interval]);
    const [won, counted, revision] = row as readonly number[];
    return { won: won === 1, interval: won === 1 ? interval + 1 : Number(counted), revision: Number(revision) };
  }

  /** Removes superseded rows in small steps until none is left, or the Store closes; another server may take over after any of them. */
  async #sweep(): Promise<void> {
    try {
      while (!this.#isClosing) {
        const [row] = await this.#database.read(this.#database.statements.sweep, [SWEEP_CHANGES], COMPACT_MS);
        if (row?.[0] !== false) return;
      }
    } catch (error) {
      // The rows are found again by the next one.
      this.#database.report(error);
    }
  }

  /** All servers look; the second one to find a key finds it gone. */
  #awaitExpiry(): void {
    this.#expiry = systemClock.after(EXPIRY_MS, () => {
      this.#calls.track(() => this.#expire()).catch((error: unknown) => this.#database.report(error)).finally(() => {
        if (this.#database.isOpen) this.#awaitExpiry();
      });
    });
  }

  async #expire(): Promise<void> {
    const rows = await this.#database.read(this.#database.statements.expired, [EXPIRED_AT_ONCE]);
    await Promise.all(rows.map(([key, revision]) => this.#writer.write({ key: (key as Buffer).toString(), expect: revision as number })));
  }
}
