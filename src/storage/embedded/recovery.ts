// After a crash: entries of the journal that the tables lack are put into the tables before the first read.
import { StorageFormatError } from '../errors.ts';
import { putChange } from './checkpointer.ts';
import { type JournaledChange, readJournal } from './journal.ts';
import { encodeRecord } from './tables/record.ts';
import { type Tables, toKeyValue } from './tables/tables.ts';

const CHANGES_PER_STEP = 256;

/** Brings the tables of the directory made at `createdAt` up to its journal. Refuses a journal that does not continue them. */
export async function recoverTables(directory: string, createdAt: number, tables: Tables): Promise<void> {
  const inTables = tables.read((snapshot) => snapshot.revision);
  const missing = (await readJournal(directory, createdAt)).filter(({ modRevision }) => modRevision > inTables);
  for (let at = 0; at < missing.length; at += CHANGES_PER_STEP) {
    const changes = missing.slice(at, at + CHANGES_PER_STEP);
    checkContinuity(directory, tables, changes);
    await tables.write(() => {
      for (const change of changes) putJournaled(tables, change);
      tables.putRevision((changes.at(-1) as JournaledChange).modRevision);
    });
  }
}

/** Each change must replace what its key holds: files of different times, put together by hand, would not. */
function checkContinuity(directory: string, tables: Tables, changes: readonly JournaledChange[]): void {
  const heads = new Map<string, number>();
  tables.read((snapshot) => {
    for (const { key, replaced, modRevision, isTombstone } of changes) {
      const head = heads.get(key) ?? snapshot.pointer(key)?.modRevision ?? 0;
      if (head !== replaced) {
        throw new StorageFormatError(directory, `its journal does not continue its tables (revision ${modRevision}); restore all files from one backup`);
      }
      heads.set(key, isTombstone ? 0 : modRevision);
    }
  });
}

function putJournaled(tables: Tables, { expiresAt, ...record }: JournaledChange): void {
  const { key, createRevision, replaced, isTombstone } = record;
  const previous = replaced === 0 ? {} : { previous: { key, value: new Uint8Array(0), createRevision, modRevision: replaced } };
  putChange(tables, { event: { type: isTombstone ? 'delete' : 'put', kv: toKeyValue(record), ...previous }, record: encodeRecord(record), expiresAt });
}
