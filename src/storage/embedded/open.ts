// Opens and checks data directories: lock, inspect, open the tables, and make a new directory complete step by step.
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../base/index.ts';
import { StorageCorruptError, StorageFormatError } from '../errors.ts';
import { type DamagedRecord, StorageHealth } from '../health.ts';
import { FIRST_REVISION } from '../mvcc.ts';
import type { Store } from '../store.ts';
import { checkTables } from './tables/check.ts';
import {
  type Format, type MissingTail, cutShort, dataPath, entryLayout, inspectDirectory, isOlder, prepareDirectory, resizeDataFile, restrictRights, syncPath,
  writeFormat,
} from './directory.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { takeLock } from './lock.ts';
import { recoverTables } from './recovery.ts';
import type { CheckReport, MovedRecord, RepairReport } from './reports.ts';
import { applyRepair, planRepair } from './tables/repair.ts';
import { TimeSlice } from './tables/sliced-range.ts';
import { Tables } from './tables/tables.ts';

/** Options of the embedded Store. */
export interface EmbeddedStoreOptions {
  /** The directory of all files; made when it does not exist. */
  readonly directory: string;
  readonly clock: Clock;
  /** How long superseded versions are kept at least; 5 minutes when absent. */
  readonly historyMs?: number;
  /** Time between automatic compactions; 5 minutes when absent. */
  readonly compactionIntervalMs?: number;
  /** Reader slots of the file; 126 when absent. */
  readonly maxReaders?: number;
  /** False gives up durability for speed: a crash of the machine may then lose or damage everything. */
  readonly sync?: boolean;
  /** Called at named points of a commit and of compaction; may throw or end the process. For tests. */
  readonly failpoint?: (name: string) => void;
  /** Is kept current: damaged records, and a disk that is full. */
  readonly health?: StorageHealth;
}

interface OpenDirectory {
  readonly directory: string;
  readonly mark: Buffer;
  readonly tables: Tables;
  readonly release: () => void;
}

/** Opens the durable Store in a directory; rejects with StorageFormatError or StorageLockedError when it must not be used. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const opened = await openDirectory(options, options.clock.now());
  try {
    const store = new EmbeddedStore({ ...options, ...opened, health: options.health ?? new StorageHealth() });
    await store.openJournal();
    return store;
  } catch (error) {
    await abandon(opened);
    throw asFormatError(options.directory, error);
  }
}

/** Verifies a data directory that is not open, or an open embedded Store, after its journal was carried into the tables. */
export async function checkEmbeddedStore(target: string | Store): Promise<CheckReport> {
  if (target instanceof EmbeddedStore) return target.check();
  if (typeof target !== 'string') throw new TypeError('only an embedded store can be checked');
  if (!existsSync(target)) throw new StorageFormatError(target, 'does not exist');
  const opened = await openDirectory({ directory: target }, undefined);
  try {
    return await checkAll(opened.tables);
  } catch (error) {
    throw asFormatError(target, error);
  } finally {
    await abandon(opened);
  }
}

/** Moves damaged records of a directory that is not open into a file beside its tables. The file is on disk before any record is removed. */
export async function repairEmbeddedStore(directory: string): Promise<RepairReport> {
  if (!existsSync(directory)) throw new StorageFormatError(directory, 'does not exist');
  const unreadable: MovedRecord[] = [];
  const opened = await openDirectory({ directory }, undefined, (record) => unreadable.push(record));
  const { tables } = opened;
  try {
    const before = await checkAll(tables);
    if (before.ok && unreadable.length === 0) return { check: before, moved: [], file: undefined };
    const plan = tables.read(planRepair);
    const moved = [...unreadable, ...plan.moved];
    const file = moved.length === 0 ? undefined : writeMoved(opened.directory, moved);
    await tables.write(() => applyRepair(tables, plan));
    return { check: await checkAll(tables), moved, file };
  } catch (error) {
    throw asFormatError(directory, error);
  } finally {
    await abandon(opened);
  }
}

/**
 * Raises the revision of a directory that is not open, and compacts everything before: after an old backup was restored, no revision that a
 * client has seen is used again, and every watch begins with a list. Returns the new revision.
 */
export async function bumpRevision(directory: string, by: number): Promise<number> {
  if (!existsSync(directory)) throw new StorageFormatError(directory, 'does not exist');
  const opened = await openDirectory({ directory }, undefined);
  try {
    const { tables } = opened;
    const { revision, sweptRevision } = tables.read((snapshot) => ({ revision: snapshot.revision, ...snapshot.compaction }));
    const bumped = revision + by;
    if (by <= 0 || !Number.isSafeInteger(bumped)) throw new RangeError(`revision ${revision} cannot be raised by ${by}`);
    await tables.write(() => {
      tables.putRevision(bumped);
      tables.putCompaction({ compactRevision: bumped, sweptRevision });
    });
    return bumped;
  } catch (error) {
    throw error instanceof RangeError ? error : asFormatError(directory, error);
  } finally {
    await abandon(opened);
  }
}

function checkAll(tables: Tables): Promise<CheckReport> {
  return tables.readInTurns((snapshot) => checkTables(snapshot, new TimeSlice(systemClock, () => false)));
}

function writeMoved(directory: string, moved: readonly MovedRecord[]): string {
  const time = new Date(systemClock.now()).toISOString().replaceAll(':', '-');
  const file = join(directory, `damaged-${time}.jsonl`);
  writeFileSync(file, moved.map((record) => `${JSON.stringify(record)}\n`).join(''), { mode: 0o600, flag: 'wx', flush: true });
  syncPath(directory);
  return file;
}

async function abandon(opened: OpenDirectory): Promise<void> {
  await opened.tables.close();
  opened.release();
}

type Salvage = (record: MovedRecord) => void;

/** Without `newAt`, the time at which a new directory is made, an empty one is refused; without `salvage`, a damaged journal is. */
async function openDirectory(options: Omit<EmbeddedStoreOptions, 'clock'>, newAt: number | undefined, salvage?: Salvage): Promise<OpenDirectory> {
  const directory = newAt === undefined ? realpathSync(options.directory) : prepareDirectory(options.directory);
  const release = takeLock(directory);
  let tables: Tables | undefined;
  let missing: MissingTail | undefined;
  try {
    const found = inspectDirectory(directory);
    if (!found && newAt === undefined) throw new StorageFormatError(directory, 'is not a data directory');
    missing = found?.missing;
    if (missing) resizeDataFile(directory, missing.expected);
    tables = openTables(directory, options);
    if (missing) await proveTail(directory, tables, missing);
    missing = undefined;
    if (found) checkOrigin(directory, tables, found.format);
    let format = found?.format ?? await initialise(directory, tables, newAt as number);
    await recoverTables({ directory, layout: entryLayout(format), tables, salvage });
    if (isOlder(format) && newAt !== undefined) format = writeFormat(directory, format.created);
    return { directory, mark: entryLayout(format).mark, tables, release };
  } catch (error) {
    await tables?.close();
    if (missing) resizeDataFile(directory, missing.size);
    release();
    throw missing ? cutShort(directory, missing) : error;
  }
}

/** Nothing may be stored beyond the place where the file had ended. */
async function proveTail(directory: string, tables: Tables, missing: MissingTail): Promise<void> {
  const { ok } = await checkAll(tables);
  if (!ok) throw cutShort(directory, missing);
}

function openTables(directory: string, options: Omit<EmbeddedStoreOptions, 'clock'>): Tables {
  try {
    const noteDamage = (record: DamagedRecord): void => options.health?.noteDamage(record);
    const tables = new Tables({ file: dataPath(directory), maxReaders: options.maxReaders, sync: options.sync, noteDamage });
    restrictRights(directory);
    return tables;
  } catch (error) {
    throw asFormatError(directory, error);
  }
}

/** The tables must be those that were made together with the marker. */
function checkOrigin(directory: string, tables: Tables, format: Format): void {
  try {
    const created = tables.read((snapshot) => snapshot.createdAt);
    if (created === format.created) return;
  } catch (error) {
    throw asFormatError(directory, error);
  }
  throw new StorageFormatError(directory, 'its files belong to different data directories; restore all of them from one backup');
}

async function initialise(directory: string, tables: Tables, createdAt: number): Promise<Format> {
  const revision = tables.read((snapshot) => (snapshot.isInitialised ? snapshot.revision : undefined));
  if (revision !== undefined && revision > FIRST_REVISION) {
    throw new StorageFormatError(directory, 'holds data but its FORMAT marker is missing; restore it from a backup');
  }
  await tables.write(() => {
    tables.putRevision(FIRST_REVISION);
    tables.putCompaction({ compactRevision: 0, sweptRevision: 0 });
    tables.putCreated(createdAt);
  });
  return writeFormat(directory, createdAt);
}

/** Damage is a StorageFormatError, a disk that refuses is not: LMDB numbers its own findings below zero, the system's above; Node has names for those. */
function asFormatError(directory: string, error: unknown): Error {
  if (error instanceof StorageFormatError) return error;
  const { code } = error as { readonly code?: unknown };
  const isOfSystem = typeof code === 'string' || (typeof code === 'number' && code > 0);
  if (isOfSystem) return new Error(`data directory ${directory}: ${(error as Error).message}`, { cause: error });
  const problem = error instanceof StorageCorruptError ? error.message : `its data file cannot be opened (${(error as Error).message})`;
  return new StorageFormatError(directory, `${problem}; restore a backup`);
}
