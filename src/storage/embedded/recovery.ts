// After a crash: entries of the journal that the tables lack are put into the tables before the first read.
import { StorageFormatError } from '../errors.ts';
import { putChange } from './checkpointer.ts';
import { clearJournal, readJournal } from './journal.ts';
import { type EntryLayout, type JournaledChange, type ReadChange, guessRecord } from './journal-entry.ts';
import { encodeRecord } from './tables/record.ts';
import type { MovedRecord } from './reports.ts';
import { type Snapshot, type Tables, toKeyValue } from './tables/tables.ts';

interface Recovery {
  readonly directory: string;
  readonly layout: EntryLayout;
  readonly tables: Tables;
  /** Takes what cannot be read of a damaged journal; what follows it is then carried into the tables all the same. */
  readonly salvage?: ((record: MovedRecord) => void) | undefined;
}

const CHANGES_PER_STEP = 256;

/** Brings the tables up to their journal. Refuses a journal that does not continue them, or that lacks changes which were acknowledged. */
export async function recoverTables({ directory, layout, tables, salvage }: Recovery): Promise<void> {
  const inTables = tables.read((snapshot) => snapshot.revision);
  const beyond = (await readJournal(directory, layout)).filter(({ modRevision }) => modRevision > inTables);
  const { whole, rest, newest, isDamaged } = splitJournal(beyond, inTables);
  if (isDamaged && !salvage) throw refuseGap(directory, newest, rest);
  await putChanges(tables, whole, (changes) => tables.read((snapshot) => checkContinuity(directory, snapshot, changes)));
  if (isDamaged) await putChanges(tables, rest, (changes) => rebase(tables, changes));
  if (isDamaged) describeDamage(rest, newest).forEach((record) => salvage?.(record));
  else if (rest.length > 0) await clearJournal(directory);
}

interface SplitJournal {
  /** The changes that continue the tables. */
  readonly whole: readonly ReadChange[];
  /** Changes beyond a gap. */
  readonly rest: readonly ReadChange[];
  /** Revision of the last of `whole`, or that of the tables. */
  readonly newest: number;
  /** Changes in the gap were acknowledged. */
  readonly isDamaged: boolean;
}

function splitJournal(beyond: readonly ReadChange[], inTables: number): SplitJournal {
  const whole = takeChain(beyond, inTables);
  const rest = beyond.slice(whole.length);
  const newest = whole.at(-1)?.modRevision ?? inTables;
  return { whole, rest, newest, isDamaged: rest.some(({ after }) => after > newest) };
}

function refuseGap(directory: string, newest: number, rest: readonly ReadChange[]): StorageFormatError {
  const next = (rest[0] as ReadChange).modRevision;
  const problem = `its journal is damaged: changes after revision ${newest} and before ${next} were acknowledged and cannot be read`;
  return new StorageFormatError(directory, `${problem}; restore a backup, or run "storage check --repair" to keep what can be read`);
}

/** The changes of a journal that a snapshot of the tables lacks. Throws StorageFormatError as recoverTables does. */
export function readAhead(directory: string, snapshot: Snapshot, journal: readonly ReadChange[]): readonly JournaledChange[] {
  const inTables = snapshot.revision;
  const { whole, rest, newest, isDamaged } = splitJournal(journal.filter(({ modRevision }) => modRevision > inTables), inTables);
  if (isDamaged) throw refuseGap(directory, newest, rest);
  return checkContinuity(directory, snapshot, whole);
}

/** The changes that follow each other from `revision` on without a gap. */
function takeChain(changes: readonly ReadChange[], revision: number): readonly ReadChange[] {
  let newest = revision;
  const end = changes.findIndex(({ follows, modRevision }) => {
    if (follows > newest) return true;
    newest = modRevision;
    return false;
  });
  return end < 0 ? changes : changes.slice(0, end);
}

type Prepare = (changes: readonly JournaledChange[]) => readonly JournaledChange[];

async function putChanges(tables: Tables, all: readonly JournaledChange[], prepare: Prepare): Promise<void> {
  for (let at = 0; at < all.length; at += CHANGES_PER_STEP) {
    const changes = all.slice(at, at + CHANGES_PER_STEP);
    const prepared = prepare(changes);
    await tables.write(() => {
      for (const change of prepared) putJournaled(tables, change);
      tables.putRevision((changes.at(-1) as JournaledChange).modRevision);
    });
  }
}

/** Each change must replace what its key holds: files of different times, put together by hand, would not. */
function checkContinuity(directory: string, snapshot: Snapshot, changes: readonly JournaledChange[]): readonly JournaledChange[] {
  const heads = new Map<string, number>();
  for (const { key, replaced, modRevision, isTombstone } of changes) {
    const head = heads.get(key) ?? snapshot.pointer(key)?.modRevision ?? 0;
    if (head !== replaced) {
      throw new StorageFormatError(directory, `its journal does not continue its tables (revision ${modRevision}); restore all files from one backup`);
    }
    heads.set(key, isTombstone ? 0 : modRevision);
  }
  return changes;
}

/** The changes as they are when each replaces what its key holds, and not a change that cannot be read. */
function rebase(tables: Tables, changes: readonly JournaledChange[]): readonly JournaledChange[] {
  const heads = new Map<string, { readonly modRevision: number; readonly createRevision: number } | undefined>();
  return tables.read((snapshot) => changes.flatMap((change) => {
    const { key, modRevision, isTombstone } = change;
    const head = heads.has(key) ? heads.get(key) : snapshot.pointer(key);
    if (isTombstone && head === undefined) return [];
    const rebased = { ...change, replaced: head?.modRevision ?? 0, createRevision: head?.createRevision ?? change.createRevision };
    heads.set(key, isTombstone ? undefined : { modRevision, createRevision: rebased.createRevision });
    return [rebased];
  }));
}

function describeDamage(rest: readonly ReadChange[], revision: number): MovedRecord[] {
  let newest = revision;
  return rest.flatMap(({ follows, modRevision, skipped }) => {
    const isMissing = follows > newest;
    newest = modRevision;
    if (!isMissing) return [];
    const { key, value, record } = guessRecord(skipped ?? Buffer.alloc(0));
    const cause = `the journal is damaged before revision ${modRevision}`;
    return [{ key, modRevision: follows, cause, value: value.toString('base64'), record: record.toString('base64') }];
  });
}

function putJournaled(tables: Tables, { expiresAt, ...record }: JournaledChange): void {
  const { key, createRevision, replaced, isTombstone } = record;
  const previous = replaced === 0 ? {} : { previous: { key, value: new Uint8Array(0), createRevision, modRevision: replaced } };
  putChange(tables, { event: { type: isTombstone ? 'delete' : 'put', kv: toKeyValue(record), ...previous }, record: encodeRecord(record), expiresAt });
}
