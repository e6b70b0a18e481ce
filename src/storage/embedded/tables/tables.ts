// The tables of the embedded Store in one LMDB file, and typed reads of them at one snapshot.
//
//   meta     'revision', 'compaction' (compact revision, revision swept so far), 'created'
//   log      revision → record: every kept version and tombstone
//   live     key → pointer: the newest version of each key that exists
//   old      key, revision that superseded it → pointer: versions that exact reads may still want
//   leases   end, revision → key: puts with a time to live
//
// A state at revision R is: live entries with modRevision ≤ R, and old ones with modRevision ≤ R < superseding revision.
import { type Database, type RootDatabase, type Transaction, open } from 'lmdb';
import { StorageCorruptError } from '../../errors.ts';
import type { Lease } from '../../expiry.ts';
import type { DamagedRecord } from '../../health.ts';
import type { KeyRange, KeyValue } from '../../store.ts';
import type { RevisionSpan } from '../../watch-hub.ts';
import {
  type LogRecord, type VersionPointer, decodeNumbers, decodeOldKey, decodePointer, decodeRecord, decodeRevision, encodeLeaseKey,
  encodeNumbers, encodeRevision, escapeKey, viewValue,
} from './record.ts';

type Table = Database<Buffer, Buffer>;
/** Parameters that are missing in lmdb's types. */
type AppendTable = { put(key: Buffer, value: Buffer, options: { readonly append: boolean }): Promise<boolean> };
type FastTable = { getBinaryFast(key: Buffer, options?: { readonly transaction: Transaction }): Buffer | Uint8Array<ArrayBuffer> | undefined };

/** How far history reaches back, and how far sweeping has come. */
export interface CompactionState {
  readonly compactRevision: number;
  readonly sweptRevision: number;
}

/** A version that a range scan came upon. */
export interface ScannedVersion extends VersionPointer {
  readonly key: string;
}

/** A change whose record is damaged. */
export interface DamagedChange {
  readonly modRevision: number;
  readonly damage: string;
}

interface TablesOptions {
  readonly file: string;
  readonly maxReaders?: number | undefined;
  readonly sync?: boolean | undefined;
  /** For another process than the one that writes. */
  readonly readOnly?: boolean;
  readonly noteDamage?: ((record: DamagedRecord) => void) | undefined;
}

const noValue = new Uint8Array(0);
const tableOptions = { keyEncoding: 'binary', encoding: 'binary' } as const;
/** Address space, not memory or disk; LMDB maps again (slowly) when the file outgrows it. */
const MAP_BYTES = 2 ** 34;
const ENTRIES_PER_BATCH = 256;
const KEYS_PER_COUNT_STEP = 100_000;
const metaRevision = Buffer.from('revision');
const metaCompaction = Buffer.from('compaction');
const metaCreated = Buffer.from('created');
const afterLeases = Buffer.alloc(17, 255);
/** Longest key of LMDB with pages of 4 KiB. Entries are shorter, or as long. */
const MAX_TABLE_KEY_BYTES = 1978;

interface OpenTables {
  readonly env: RootDatabase<Buffer, Buffer>;
  readonly meta: Table;
  readonly log: Table;
  readonly live: Table;
  readonly old: Table;
  readonly leases: Table;
}

function openTables(options: TablesOptions): OpenTables {
  const env = open<Buffer, Buffer>(environmentOptions(options));
  const table = (name: string): Table => env.openDB(name, tableOptions);
  return { env, meta: table('meta'), log: table('log'), live: table('live'), old: table('old'), leases: table('leases') };
}

/** One LMDB environment. Writes go through `write` only, one batch at a time. */
export class Tables {
  readonly #options: TablesOptions;
  #opened: OpenTables;

  constructor(options: TablesOptions) {
    this.#options = options;
    this.#opened = openTables(options);
  }

  get env(): RootDatabase<Buffer, Buffer> {
    return this.#opened.env;
  }
  get meta(): Table {
    return this.#opened.meta;
  }
  get log(): Table {
    return this.#opened.log;
  }
  get live(): Table {
    return this.#opened.live;
  }
  get old(): Table {
    return this.#opened.old;
  }
  get leases(): Table {
    return this.#opened.leases;
  }

  /** Maps the file again. There must be no snapshot and no write; then it is done before other work gets a turn. */
  async remap(): Promise<void> {
    await this.env.close();
    this.#opened = openTables(this.#options);
  }

  /** Applies what `fill` puts and removes as one transaction; resolves when it is on disk. */
  async write(fill: () => void): Promise<void> {
    try {
      await this.env.batch(fill);
    } catch (error) {
      throw await causeOf(error);
    } finally {
      this.env.resetReadTxn();
    }
  }

  /** Appending keeps the pages of the log full. Its own promise fails with the batch, whose failure is the one that counts. */
  appendRecord(revision: number, record: Buffer): void {
    (this.log as AppendTable).put(encodeRevision(revision), record, { append: true }).catch(ignore);
  }

  putRevision(revision: number): void {
    void this.meta.put(metaRevision, encodeNumbers([revision]));
  }

  putCompaction(state: CompactionState): void {
    void this.meta.put(metaCompaction, encodeNumbers([state.compactRevision, state.sweptRevision]));
  }

  putCreated(createdAt: number): void {
    void this.meta.put(metaCreated, encodeNumbers([createdAt]));
  }

  /** The state as of the last commit, for as long as it is used; `done` must be called. */
  snapshot(): Snapshot {
    return new Snapshot(this, this.env.useReadTransaction());
  }

  /** Runs `read` on the newest snapshot, in this turn. */
  read<T>(read: (snapshot: Snapshot) => T): T {
    const snapshot = this.snapshot();
    try {
      return read(snapshot);
    } catch (error) {
      throw asDamage(error);
    } finally {
      snapshot.done();
    }
  }

  /** As `read`, for reads that take several turns. */
  async readInTurns<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const snapshot = this.snapshot();
    try {
      return await read(snapshot);
    } catch (error) {
      throw asDamage(error);
    } finally {
      snapshot.done();
    }
  }

  /** The value of `key` that was written at `revision`, as of a commit no older than this turn; a view of memory that the next read uses again. */
  viewValue(key: string, revision: number): Uint8Array | undefined {
    const bytes = recordBytes(this.log, revision);
    return bytes && viewValue(bytes, key, revision);
  }

  noteDamage(record: DamagedRecord): void {
    this.#options.noteDamage?.(record);
  }

  close(): Promise<void> {
    return this.env.close();
  }
}

/** Reads of one committed state. */
export class Snapshot {
  readonly #tables: Tables;
  readonly #at: { readonly transaction: Transaction };

  constructor(tables: Tables, transaction: Transaction) {
    this.#tables = tables;
    this.#at = { transaction };
  }

  done(): void {
    this.#at.transaction.done();
  }

  get revision(): number {
    return this.#numbers(metaRevision)[0] as number;
  }

  get createdAt(): number {
    return this.#numbers(metaCreated)[0] as number;
  }

  get compaction(): CompactionState {
    const [compactRevision, sweptRevision] = this.#numbers(metaCompaction);
    return { compactRevision: compactRevision as number, sweptRevision: sweptRevision as number };
  }

  get isInitialised(): boolean {
    return this.#tables.meta.get(metaRevision, this.#at) !== undefined;
  }

  /** The newest version of `key`. */
  head(key: string): KeyValue | undefined {
    const pointer = this.pointer(key);
    return pointer && this.read(pointer);
  }

  /** Where the newest version of `key` is; its value, which can be large, is not read. */
  pointer(key: string): ScannedVersion | undefined {
    const wanted = Buffer.from(key);
    const bytes = wanted.length === 0 || wanted.length > MAX_TABLE_KEY_BYTES ? undefined : this.#tables.live.get(wanted, this.#at);
    return bytes && { key, ...decodePointer(bytes) };
  }

  /** Fetches a version that an index points at, and makes sure that both agree. */
  version(pointer: ScannedVersion): KeyValue {
    const record = this.record(pointer.modRevision);
    if (!record || record.isTombstone || record.key !== pointer.key || record.createRevision !== pointer.createRevision) {
      throw new StorageCorruptError(`the index of key ${JSON.stringify(pointer.key)} points at revision ${pointer.modRevision}, which is not a version of it`);
    }
    return toKeyValue(record);
  }

  /** As `version`, but a version that is damaged is noted, and returned without its value and with the reason. */
  read(pointer: ScannedVersion): KeyValue {
    try {
      return this.version(pointer);
    } catch (error) {
      if (!(error instanceof StorageCorruptError)) throw error;
      const { key, createRevision, modRevision } = pointer;
      this.#tables.noteDamage({ key, revision: modRevision, cause: error.message });
      return { key, value: noValue, createRevision, modRevision, damage: error.message };
    }
  }

  /** The bytes of a record, damaged or not. */
  rawRecord(revision: number): Buffer | undefined {
    return this.#tables.log.get(encodeRevision(revision), this.#at);
  }

  record(revision: number): LogRecord | undefined {
    const bytes = recordBytes(this.#tables.log, revision, this.#at);
    return bytes && decodeRecord(bytes, revision);
  }

  /** The records of `span`, which must all be taken within one turn; of a damaged one only the revision is known. */
  *records(span: RevisionSpan): Generator<LogRecord | DamagedChange> {
    const options = { ...this.#at, start: encodeRevision(span.from), end: encodeRevision(span.through + 1) };
    for (const { key, value } of this.#tables.log.getRange(options)) yield decodeIfSound(value, decodeRevision(key));
  }

  /** Keys that exist at the newest revision, in order; yields undefined between batches, where the caller may pause. */
  *liveVersions(range: KeyRange): Generator<ScannedVersion | undefined> {
    for (const entry of this.#entries(this.#tables.live, { start: tableBound(Buffer.from(range.start)), end: tableBound(Buffer.from(range.end)) })) {
      yield entry && { key: entry.key.toString(), ...decodePointer(entry.value) };
    }
  }

  /** Superseded versions by key, then by the revision that superseded them; yields undefined between batches. */
  *oldVersions(range: KeyRange): Generator<(ScannedVersion & { readonly supersededAt: number }) | undefined> {
    for (const entry of this.#entries(this.#tables.old, { start: tableBound(escapeKey(range.start)), end: tableBound(escapeKey(range.end)) })) {
      yield entry && { ...decodeOldKey(entry.key), ...decodePointer(entry.value) };
    }
  }

  /** Counts the live keys of `range`, in steps; yields the running count after each. */
  *liveCounts(range: KeyRange): Generator<number> {
    const end = tableBound(Buffer.from(range.end));
    let count = 0;
    for (let from: Buffer = tableBound(Buffer.from(range.start)); ;) {
      const [next] = [...this.#tables.live.getKeys({ ...this.#at, start: from, end, offset: KEYS_PER_COUNT_STEP, limit: 1 })];
      if (!next) {
        yield count + this.#tables.live.getKeysCount({ ...this.#at, start: from, end });
        return;
      }
      count += KEYS_PER_COUNT_STEP;
      from = next;
      yield count;
    }
  }

  /** Every revision in the log, in order. */
  *logRevisions(): Generator<number> {
    for (let from = 0; ;) {
      const batch = [...this.#tables.log.getKeys({ ...this.#at, start: encodeRevision(from), limit: ENTRIES_PER_BATCH })];
      for (const key of batch) yield decodeRevision(key);
      if (batch.length < ENTRIES_PER_BATCH) return;
      from = decodeRevision(batch[batch.length - 1] as Buffer) + 1;
    }
  }

  /** Leases that end at or before `until`, earliest first. */
  leases(until: number, limit: number): Lease[] {
    const range = { ...this.#at, end: encodeLeaseKey({ expiresAt: until + 1, revision: 0 }), limit };
    return Array.from(this.#tables.leases.getRange(range), decodeLease);
  }

  /** Every lease; yields undefined between batches. */
  *allLeases(): Generator<Lease | undefined> {
    for (const entry of this.#entries(this.#tables.leases, { start: Buffer.alloc(0), end: afterLeases })) yield entry && decodeLease(entry);
  }

  /** False when the log contradicts `lease`; that of a version which was swept since does nothing, and the record of another may be damaged. */
  hasVersionOf({ key, revision }: Lease): boolean {
    if (revision > this.revision) return false;
    const bytes = recordBytes(this.#tables.log, revision, this.#at);
    const record = bytes && decodeIfSound(bytes, revision);
    return record === undefined || 'damage' in record || record.key === key;
  }

  /** Batches are read whole before they are handed out, so that no cursor stays open while the caller pauses. */
  *#entries(table: Table, { start, end }: { readonly start: Buffer; readonly end: Buffer }): Generator<{ key: Buffer; value: Buffer } | undefined> {
    for (let from = start; ;) {
      const batch = [...table.getRange({ ...this.#at, ...(from.length > 0 && { start: from }), end, limit: ENTRIES_PER_BATCH })];
      yield* batch;
      if (batch.length < ENTRIES_PER_BATCH) return;
      from = Buffer.concat([(batch[batch.length - 1] as { key: Buffer }).key, Buffer.alloc(1)]);
      yield undefined;
    }
  }

  #numbers(key: Buffer): readonly number[] {
    const bytes = this.#tables.meta.get(key, this.#at);
    const numbers = bytes && decodeNumbers(bytes);
    if (!numbers) throw new StorageCorruptError(`the ${key.toString()} record is missing or does not match its checksum`);
    return numbers;
  }
}

/** A bound that LMDB can look up: of one that is longer than every entry, the shortest that has the same entries below it. */
function tableBound(bytes: Buffer): Buffer {
  return bytes.length <= MAX_TABLE_KEY_BYTES ? bytes : Buffer.concat([bytes.subarray(0, MAX_TABLE_KEY_BYTES - 1), Buffer.alloc(1)]);
}

/** The record of `revision` in a buffer that the next read uses again, which saves an allocation; lmdb gives more than 16 MB as a plain Uint8Array. */
function recordBytes(log: Table, revision: number, at?: { readonly transaction: Transaction }): Buffer | undefined {
  const bytes = (log as FastTable).getBinaryFast(encodeRevision(revision), at);
  return bytes === undefined || Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function decodeIfSound(bytes: Buffer, modRevision: number): LogRecord | DamagedChange {
  try {
    return decodeRecord(bytes, modRevision);
  } catch (error) {
    if (!(error instanceof StorageCorruptError)) throw error;
    return { modRevision, damage: error.message };
  }
}

function decodeLease({ key, value }: { readonly key: Buffer; readonly value: Buffer }): Lease {
  return { key: value.toString(), expiresAt: decodeRevision(key), revision: decodeRevision(key, 8) };
}

function ignore(): void {}

/**
 * LMDB's codes for pages that are not there, are of another kind, or hold what no writer puts there (a snapshot that met one answers BAD_TXN from then on),
 * and Node's for a key that is too short.
 */
const damageCodes: ReadonlySet<unknown> = new Set([-30797, -30796, -30793, -30784, -30782, -30781, 'ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS']);

function asDamage(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isDamage = damageCodes.has((error as { readonly code?: unknown }).code) || error.message.startsWith('Invalid key size ');
  return isDamage ? new StorageCorruptError(`the pages of the tables are damaged (${error.message})`, { cause: error }) : error;
}

/** A log record as the Store's callers see it. */
export function toKeyValue(record: LogRecord): KeyValue {
  const { key, value, createRevision, modRevision } = record;
  return { key, value, createRevision, modRevision };
}

/**
 * A commit is acknowledged by LMDB when data and meta page are both synced (no overlapping sync), and a batch is never
 * started before it is complete (the thresholds), so that it is one transaction.
 */
function environmentOptions(options: TablesOptions): Parameters<typeof open>[0] & { path: string } {
  const durability = options.sync === false ? { noSync: true } : {};
  const batching = { eventTurnBatching: false, txnStartThreshold: 1, batchStartThreshold: 2 ** 30 };
  return {
    path: options.file, noSubdir: true, maxDbs: 8, mapSize: MAP_BYTES, overlappingSync: false, ...tableOptions, ...batching, ...durability,
    ...(options.maxReaders !== undefined && { maxReaders: options.maxReaders }), ...(options.readOnly === true && { readOnly: true }),
  };
}

/** lmdb rejects every write of a failed batch with a promise of the reason inside. */
async function causeOf(error: unknown): Promise<unknown> {
  const reason = (error as { commitError?: Promise<unknown> }).commitError;
  if (!reason) return error;
  return reason.then(() => error, nameShortWrite);
}

const EIO = 5;

/** LMDB reports a write of which the disk took only a part, as one that is full does, as an input/output error. */
function nameShortWrite(cause: unknown): unknown {
  if ((cause as { readonly code?: unknown } | undefined)?.code !== EIO) return cause;
  return new Error('the disk took only a part of it: it is full (no space left on device, file too large) or fails (input/output error)', { cause });
}
