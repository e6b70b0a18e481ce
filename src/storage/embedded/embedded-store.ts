// The durable Store: one LMDB file in a data directory. Writes are checked against pending and durable state in the turn in which
// they arrive, committed in groups, and answered when they are on disk, which is in the journal; the tables follow (checkpointer.ts). Reads have
// the tables catch up first; reads and watches see only what is on disk.
import { type Clock, type Timer, compareKeys, createBoundsTest } from '../../base/index.ts';
import { AutomaticCompaction } from '../compaction.ts';
import { StorageClosedError, StorageWriteError } from '../errors.ts';
import type { StorageHealth } from '../health.ts';
import { ExpiryAlarm, type LeaseBook, computeTimesToLive } from '../expiry.ts';
import { checkTxn } from '../keys.ts';
import type {
  KeyRange, KeyValue, RangeRequest, RangeResult, Store, StoreEvent, StoreWatch, TxnRequest, TxnResult, WatchObserver,
} from '../store.ts';
import { type HistoryPart, type RevisionSpan, WatchHub } from '../watch-hub.ts';
import { Checkpointer, type DurableChange } from './checkpointer.ts';
import { checkTables } from './tables/check.ts';
import type { CheckReport } from './reports.ts';
import { GroupCommit } from './group-commit.ts';
import { type Journal, openJournal } from './journal.ts';
import { encodeEntry } from './journal-entry.ts';
import { MappedMemory } from './tables/mapped-memory.ts';
import { type PendingHead, PendingState } from './pending.ts';
import { type LogRecord, RecordMemory, encodeLeaseKey } from './tables/record.ts';
import { TimeSlice, readSliced } from './tables/sliced-range.ts';
import { Sweeper } from './tables/sweeper.ts';
import { type ScannedVersion, type Snapshot, type Tables, toKeyValue } from './tables/tables.ts';

/** What the Store needs besides its tables. */
interface EmbeddedStoreParts {
  readonly tables: Tables;
  readonly clock: Clock;
  readonly historyMs?: number | undefined;
  readonly compactionIntervalMs?: number | undefined;
  readonly maxReaders?: number | undefined;
  /** Called at named points of a commit and of compaction; may throw or end the process. For tests. */
  readonly failpoint?: ((name: string) => void) | undefined;
  readonly directory: string;
  readonly health: StorageHealth;
  /** The mark of the journal's entries. */
  readonly mark: Buffer;
  readonly sync?: boolean | undefined;
  /** Gives up the directory, after the tables are closed. */
  readonly release: () => void;
}

/** One write that has passed its check. */
interface AcceptedWrite extends DurableChange {
  readonly entry: Buffer;
  readonly resolve: (result: TxnResult) => void;
  readonly reject: (error: Error) => void;
}

const noValue = new Uint8Array(0);
/** Reads that may hold a snapshot over several turns at once, and LMDB's own number of reader slots. */
const CONCURRENT_READS_LIMIT = 64;
const DEFAULT_READER_SLOTS = 126;
/** Values that a watch may be sent in one turn while it catches up. */
const HISTORY_BYTES_PER_TURN = 2 ** 21;

/** Time between two looks for room on a disk that is full. */
const PROBE_MS = 500;

/** Later than any lease ends. */
const LATEST_MS = Number.MAX_SAFE_INTEGER - 1;

/** A Store on LMDB tables; opened by open.ts. */
export class EmbeddedStore implements Store {
  readonly #parts: EmbeddedStoreParts;
  readonly #tables: Tables;
  readonly #pending: PendingState;
  /** Commits of txns, to the journal. */
  readonly #commits: GroupCommit;
  /** Commits to the tables. */
  readonly #tableCommits: GroupCommit;
  readonly #checkpointer: Checkpointer;
  #journal: Journal | undefined;
  readonly #memory = new RecordMemory();
  /** Entries of the journal's commit under way. */
  #entries: Buffer[] = [];
  /** The revision of the last of them. */
  #newest = 0;
  readonly #sweeper: Sweeper;
  readonly #hub: WatchHub;
  readonly #alarm: ExpiryAlarm;
  readonly #compaction: AutomaticCompaction;
  readonly #mapped: MappedMemory;
  /** The newest revision that was handed out; never lowered, so that a revision of unknown outcome is not used again. */
  #assigned: number;
  /** Changes of the commit that is being completed, in revision order. */
  #completed: StoreEvent[] = [];
  #readers = 0;
  #probing: Timer | undefined;
  readonly #concurrentReads: number;
  readonly #waitingReaders: (() => void)[] = [];
  /** Set once the file cannot be trusted; every call fails with it. */
  #poison: Error | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: EmbeddedStoreParts) {
    this.#parts = parts;
    this.#tables = parts.tables;
    // Half of the slots stay free for reads within one turn and for snapshots that are being given up.
    this.#concurrentReads = Math.max(1, Math.min(CONCURRENT_READS_LIMIT, (parts.maxReaders ?? DEFAULT_READER_SLOTS) >> 1));
    const { revision, compaction } = parts.tables.read((snapshot) => ({ revision: snapshot.revision, compaction: snapshot.compaction }));
    this.#assigned = revision;
    this.#pending = new PendingState(revision);
    const failpoint = parts.failpoint ?? (() => undefined);
    const { directory } = parts;
    this.#commits = new GroupCommit({
      directory,
      write: (fill) => this.#writeJournal(fill), onCommitted: () => this.#announce(), onFailed: (error) => this.#recover(error),
      failpoint: (name) => failpoint(`${name}-commit`),
    });
    this.#tableCommits = new GroupCommit({
      directory,
      write: (fill) => this.#tables.write(fill), onCommitted: () => undefined, onFailed: (error) => this.#recoverTables(error),
      failpoint: (name) => failpoint(`${name}-apply`),
    });
    this.#checkpointer = new Checkpointer({
      tables: this.#tables, commits: this.#tableCommits, clock: parts.clock, applied: revision, onApplied: (changes) => this.#settle(changes),
    });
    this.#sweeper = new Sweeper({ tables: this.#tables, commits: this.#tableCommits, state: compaction, failpoint });
    this.#hub = this.#createHub();
    this.#alarm = this.#createAlarm();
    this.#compaction = this.#createCompaction();
    this.#mapped = new MappedMemory({
      clock: parts.clock,
      isQuiet: () => this.#readers === 0 && this.#tableCommits.isIdle && this.#poison === undefined,
      remap: () => this.#tables.remap(),
      onFailed: (error) => this.#fail(error, 'the file could not be opened again'),
    });
    this.#sweeper.resume();
  }

  /** Resolves when the journal is open; before, nothing may be written, nor may a lease end. */
  async openJournal(): Promise<void> {
    const { directory, mark, sync = true } = this.#parts;
    const makeRoom = (revision: number): Promise<void> => this.#checkpointer.drain(revision);
    this.#journal = await openJournal({ directory, mark, revision: this.#checkpointer.applied, sync, makeRoom });
    const lease = this.#tables.read((snapshot) => snapshot.leases(LATEST_MS, 1)[0]);
    if (lease) this.#alarm.arm(lease.expiresAt);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#checkOpen();
    // A disk that is full leaves the rest where it is; then it is read from there.
    if (this.#checkpointer.waiting.length > 0) await this.#checkpointer.drain().catch(() => undefined);
    await this.#mapped.giveBack();
    while (this.#readers >= this.#concurrentReads) await new Promise<void>((resolve) => this.#waitingReaders.push(resolve));
    this.#checkOpen();
    return this.#withSnapshot(async (snapshot) => {
      const result = await this.#rangeAt(snapshot, request);
      if (result.type === 'ok') this.#mapped.noticeRead(result.kvs);
      // The file may be ahead of the announced revision: after a client has seen a revision, no answer may name an older one.
      await this.#pending.whenDurable(result.revision);
      return result;
    });
  }

  txn(request: TxnRequest): Promise<TxnResult> {
    try {
      this.#checkOpen();
      checkTxn(request);
      const pending = this.#pending.head(request.key);
      const head = pending ? pending.kv : this.#tables.read((snapshot) => snapshot.pointer(request.key));
      if ((head?.modRevision ?? 0) === request.expect) return this.#write(request, head && this.#previousAt(head));
      return this.#refuse(request, pending);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #refuse(request: TxnRequest, pending: PendingHead | undefined): Promise<TxnResult> {
    const current = pending ? pending.kv : this.#tables.read((snapshot) => snapshot.head(request.key));
    if (pending) await this.#pending.whenDurable(pending.revision);
    return { type: 'conflict', revision: this.#pending.durable, ...(current && { current }) };
  }

  /** What a write replaces. A value on disk is read when it is asked for, which few callers do. */
  #previousAt(head: KeyValue | ScannedVersion): KeyValue {
    if ('value' in head) return head;
    let read: KeyValue | undefined;
    const readNow = (): KeyValue => (read ??= this.#tables.read((snapshot) => snapshot.read(head)));
    const { key, createRevision, modRevision } = head;
    return { key, createRevision, modRevision, get value() { return readNow().value; } };
  }

  watch(range: KeyRange, from: number, observer: WatchObserver): StoreWatch {
    return this.#hub.add(range, from, observer);
  }

  async compact(revision: number): Promise<{ readonly compactRevision: number }> {
    this.#checkOpen();
    if (revision > this.#pending.durable) throw new RangeError(`revision ${revision} is in the future`);
    await this.#compact(revision);
    return { compactRevision: this.#sweeper.compactRevision };
  }

  async timesToLive(): Promise<ReadonlyMap<number, number>> {
    this.#checkOpen();
    await this.#checkpointer.drain(this.#pending.durable);
    const leases = this.#tables.read((snapshot) => snapshot.leases(LATEST_MS, Number.MAX_SAFE_INTEGER));
    return computeTimesToLive(leases, this.#parts.clock.now());
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    return this.#pending.durable;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Verifies the whole file, at the newest durable state unless a full disk keeps the tables behind it. */
  async check(): Promise<CheckReport> {
    this.#checkOpen();
    await this.#checkpointer.drain().catch(() => undefined);
    return this.#withSnapshot((snapshot) => checkTables(snapshot, this.#timeSlice()));
  }

  #checkOpen(): void {
    if (this.#closed) throw new StorageClosedError();
    if (this.#poison) throw this.#poison;
  }

  async #withSnapshot<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    this.#readers += 1;
    try {
      return await this.#tables.readInTurns(read);
    } finally {
      this.#readers -= 1;
      this.#waitingReaders.shift()?.();
    }
  }

  async #compact(revision: number): Promise<void> {
    await this.#checkpointer.drain(revision);
    await this.#sweeper.compact(revision);
  }

  async #rangeAt(snapshot: Snapshot, request: RangeRequest): Promise<RangeResult> {
    const inTables = snapshot.revision;
    const waiting = this.#checkpointer.waiting.filter(({ event }) => event.kv.modRevision > inTables);
    const newest = waiting.at(-1)?.event.kv.modRevision ?? inTables;
    const { compactRevision } = this.#sweeper;
    const revision = request.revision ?? newest;
    if (revision > newest) return { type: 'future', revision: newest };
    if (revision < compactRevision) return { type: 'compacted', compactRevision, revision: newest };
    const timeSlice = this.#timeSlice();
    if (revision > inTables) return { type: 'ok', revision: newest, ...(await this.#readAhead({ snapshot, request, revision, waiting })) };
    return { type: 'ok', revision: newest, ...(await readSliced({ snapshot, request, revision, isNewest: revision === inTables, timeSlice })) };
  }

  /** A range that the tables are behind of: theirs, with the changes that wait put on top. */
  async #readAhead({ snapshot, request, revision, waiting }: {
    snapshot: Snapshot; request: RangeRequest; revision: number; waiting: readonly DurableChange[];
  }): Promise<{ kvs: KeyValue[]; more: boolean; count: number }> {
    const { start, end, limit = Infinity, countOnly = false } = request;
    const base = await readSliced({ snapshot, request: { start, end }, revision: snapshot.revision, isNewest: true, timeSlice: this.#timeSlice() });
    const found = new Map(base.kvs.map((kv) => [kv.key, kv]));
    const isInside = createBoundsTest(request);
    for (const { event: { type, kv } } of waiting) {
      if (kv.modRevision > revision || !isInside(kv.key)) continue;
      if (type === 'put') found.set(kv.key, kv);
      else found.delete(kv.key);
    }
    const kvs = [...found.values()].sort((left, right) => compareKeys(left.key, right.key)).slice(0, countOnly ? 0 : limit);
    return { kvs, more: found.size > kvs.length, count: found.size };
  }

  #timeSlice(): TimeSlice {
    return new TimeSlice(this.#parts.clock, () => this.#closed !== undefined);
  }

  #write(request: TxnRequest, previous: KeyValue | undefined): Promise<TxnResult> {
    const modRevision = this.#assigned + 1;
    this.#assigned = modRevision;
    const { key, value } = request;
    const kv: KeyValue = { key, value: value ?? noValue, createRevision: previous?.createRevision ?? modRevision, modRevision };
    const event: StoreEvent = { type: value ? 'put' : 'delete', kv, ...(previous && { previous }) };
    const expiresAt = value && request.ttlSeconds !== undefined ? this.#parts.clock.now() + Math.ceil(request.ttlSeconds * 1000) : undefined;
    this.#pending.set(key, { revision: modRevision, kv: value ? kv : undefined });
    const replaced = previous?.modRevision ?? 0;
    const change = { key, value: kv.value, createRevision: kv.createRevision, modRevision, replaced, isTombstone: value === undefined, expiresAt };
    const { entry, record } = encodeEntry(change, this.#memory);
    return new Promise((resolve, reject) => this.#submit({ event, entry, record, expiresAt, resolve, reject }));
  }

  #submit(write: AcceptedWrite): void {
    const { modRevision } = write.event.kv;
    this.#commits.submit({
      write: () => {
        this.#entries.push(write.entry);
        this.#newest = modRevision;
      },
      bytes: write.record.length,
      committed: () => {
        this.#pending.markDurable(modRevision);
        this.#checkpointer.add(write);
        this.#completed.push(write.event);
        if (write.event.previous) this.#parts.health.noteReplaced(write.event.previous.modRevision);
        write.resolve({ type: 'committed', revision: modRevision });
      },
      failed: write.reject,
    });
  }

  async #writeJournal(fill: () => void): Promise<void> {
    this.#entries = [];
    fill();
    const journal = this.#journal as Journal;
    // A commit without entries looks for room after a refusal, see #probe.
    if (this.#entries.length > 0) await journal.append(this.#entries, this.#newest);
    else if (!(await journal.findRoom())) return;
    this.#parts.health.noteAcceptance();
  }

  /** While the disk refuses writes it is asked again from time to time, so that readiness returns without a write of a client. */
  #probe(): void {
    this.#probing ??= this.#parts.clock.after(PROBE_MS, () => {
      this.#probing = undefined;
      if (this.#closed || this.#poison || this.#parts.health.refusal === undefined) return;
      const again = (): void => this.#probe();
      this.#commits.submit({ write: () => undefined, bytes: 0, committed: again, failed: again });
    });
  }

  /** After a commit: durable changes are sent to the watches first, then to the reads that wait for them. */
  #announce(): void {
    const events = this.#completed;
    this.#completed = [];
    if (events.length > 0) this.#hub.publish(events);
    this.#pending.wake();
  }

  /** Changes are in the tables: checks of later writes find them there. */
  #settle(changes: readonly DurableChange[]): void {
    for (const { event: { kv }, expiresAt } of changes) {
      this.#pending.settle(kv.key, kv.modRevision);
      if (expiresAt !== undefined) this.#alarm.arm(expiresAt);
    }
  }

  /**
   * A failed commit must have left nothing behind. If it may have (the disk failed while it wrote), nothing can be answered any more:
   * opening the directory again finds the last durable state.
   */
  #recover(error: Error): void {
    this.#pending.fail(error, this.#checkpointer.waiting.map(({ event }) => event));
    const journal = this.#journal as Journal;
    if (journal.isUnsure || journal.last > this.#pending.durable) return this.#fail(error, 'a commit failed and may yet have reached the disk');
    this.#parts.health.noteRefusal(error.message);
    this.#probe();
  }

  /**
   * The same for the tables, which must still be readable: what did not get into them is still in the journal. The next attempt writes every
   * page of the failed one again before it flushes: LMDB's tree reaches only pages of flushes that succeeded, and those that it writes itself.
   */
  #recoverTables(error: Error): void {
    const problem = this.#findDisagreement();
    if (problem !== undefined) this.#fail(error, `a commit failed and ${problem}`);
  }

  #fail(cause: Error, problem: string): void {
    this.#poison = new StorageWriteError(`${problem}; restart to recover the last durable state`, { cause });
    this.#hub.end({ type: 'failed', error: this.#poison });
  }

  #findDisagreement(): string | undefined {
    try {
      const onDisk = this.#tables.read((snapshot) => snapshot.revision);
      return onDisk === this.#checkpointer.applied ? undefined : `yet reached the disk as revision ${onDisk}`;
    } catch (error) {
      return `the file cannot be read any more (${(error as Error).message})`;
    }
  }

  #createHub(): WatchHub {
    return new WatchHub({
      revision: () => this.#pending.durable,
      compactRevision: () => this.#sweeper.compactRevision,
      read: (range, span) => this.#readHistory(range, span),
    }, this.#parts.clock);
  }

  /** History is in the tables up to the revision that they hold, and in the checkpointer after it. */
  #readHistory(range: KeyRange, span: RevisionSpan): HistoryPart {
    const { applied, waiting } = this.#checkpointer;
    if (span.from <= applied) {
      const through = Math.min(span.through, applied);
      return this.#tables.read((snapshot) => readHistory(snapshot, range, { from: span.from, through }));
    }
    const isInside = createBoundsTest(range);
    const events = waiting.map(({ event }) => event)
      .filter(({ kv }) => kv.modRevision >= span.from && kv.modRevision <= span.through && isInside(kv.key));
    return { events, through: span.through };
  }

  #createAlarm(): ExpiryAlarm {
    const book: LeaseBook = {
      earliest: () => this.#tables.read((snapshot) => snapshot.leases(LATEST_MS, 1)[0]?.expiresAt),
      due: (now, limit) => this.#tables.read((snapshot) => snapshot.leases(now, limit)),
      remove: (leases) => this.#removeLeases(leases),
    };
    return new ExpiryAlarm({ clock: this.#parts.clock, book, expire: (lease) => this.txn({ key: lease.key, expect: lease.revision }) });
  }

  #removeLeases(leases: readonly { readonly expiresAt: number; readonly revision: number }[]): Promise<void> {
    return new Promise((committed, failed) => {
      const write = () => {
        for (const lease of leases) void this.#tables.leases.remove(encodeLeaseKey(lease));
      };
      this.#tableCommits.submit({ write, bytes: leases.length * 64, committed, failed });
    });
  }

  #createCompaction(): AutomaticCompaction {
    return new AutomaticCompaction({
      clock: this.#parts.clock,
      historyMs: this.#parts.historyMs,
      intervalMs: this.#parts.compactionIntervalMs,
      revision: () => this.#pending.durable,
      compact: (revision) => this.#compact(revision),
    });
  }

  async #close(): Promise<void> {
    this.#alarm.stop();
    this.#probing?.cancel();
    await Promise.all([this.#sweeper.stop(), this.#compaction.stop(), this.#mapped.stop()]);
    await this.#commits.idle();
    // What a full disk keeps out of the tables is in the journal, where the next start finds it.
    if (this.#poison === undefined) await this.#checkpointer.drain().catch(() => undefined);
    this.#checkpointer.stop();
    await this.#tableCommits.idle();
    while (this.#readers > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const reader of this.#waitingReaders.splice(0)) reader();
    this.#hub.end({ type: 'closed' });
    try {
      await Promise.all([this.#tables.close(), this.#journal?.close()]);
    } finally {
      this.#parts.release();
    }
  }
}

function readHistory(snapshot: Snapshot, range: KeyRange, span: RevisionSpan): HistoryPart {
  const isInside = createBoundsTest(range);
  const events: StoreEvent[] = [];
  let bytes = 0;
  for (const record of snapshot.records(span)) {
    if ('damage' in record) return { events, through: record.modRevision - 1, isDamagedThere: true };
    if (isInside(record.key)) events.push(toEvent(snapshot, record));
    bytes += record.value.length;
    if (bytes > HISTORY_BYTES_PER_TURN) return { events, through: record.modRevision };
  }
  return { events, through: span.through };
}

function toEvent(snapshot: Snapshot, record: LogRecord): StoreEvent {
  const type = record.isTombstone ? 'delete' : 'put';
  if (record.replaced === 0) return { type, kv: toKeyValue(record) };
  const { key, createRevision, replaced } = record;
  return { type, kv: toKeyValue(record), previous: snapshot.read({ key, createRevision, modRevision: replaced }) };
}
