// Tables that are behind their journal: brought up in steps, once, and only when the journal continues them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openJournal } from './journal.ts';
import { type EntryLayout, type JournaledChange, encodeEntry } from './journal-entry.ts';
import { recoverTables } from './recovery.ts';
import { RecordMemory } from './tables/record.ts';
import { Tables } from './tables/tables.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-recovery-'));
after(() => rmSync(root, { recursive: true }));
const createdAt = 1_700_000_000_000;
const layout: EntryLayout = { mark: Buffer.from('0123456789abcdef', 'hex'), isChained: true };
const everything = { start: '', end: '\u{10ffff}' };

/** Changes from revision 2 on of three keys in turn: each is put twice and deleted, again and again. */
function makeChanges(count: number): JournaledChange[] {
  const heads = new Map<string, { readonly modRevision: number; readonly createRevision: number; readonly writes: number }>();
  return Array.from({ length: count }, (_, index) => {
    const key = `/k/${index % 3}`;
    const modRevision = index + 2;
    const head = heads.get(key);
    const isTombstone = head?.writes === 2;
    const createRevision = head?.createRevision ?? modRevision;
    if (isTombstone) heads.delete(key);
    else heads.set(key, { modRevision, createRevision, writes: (head?.writes ?? 0) + 1 });
    const value = isTombstone ? new Uint8Array(0) : Buffer.from(`${key} at ${modRevision}`);
    return { key, value, modRevision, createRevision, replaced: head?.modRevision ?? 0, isTombstone, expiresAt: undefined };
  });
}

async function prepare(changes: readonly JournaledChange[]): Promise<{ readonly directory: string; readonly tables: Tables }> {
  const directory = mkdtempSync(join(root, 'case-'));
  const journal = await openJournal({ directory, mark: layout.mark, revision: 1, sync: false, makeRoom: async () => {} });
  const memory = new RecordMemory();
  await journal.append(changes.map((change) => encodeEntry(change, memory).entry), changes.at(-1)?.modRevision ?? 0);
  await journal.close();
  const tables = new Tables({ file: join(directory, 'store.mdb'), sync: false });
  await tables.write(() => {
    tables.putRevision(1);
    tables.putCompaction({ compactRevision: 0, sweptRevision: 0 });
    tables.putCreated(createdAt);
  });
  return { directory, tables };
}

const describe = (tables: Tables): unknown => tables.read((snapshot) => [
  snapshot.revision,
  [...snapshot.liveVersions(everything)].map((entry) => entry && [entry.key, Buffer.from(snapshot.version(entry).value).toString(), entry.createRevision]),
  [...snapshot.oldVersions(everything)].filter((entry) => entry !== undefined).length,
]);

test('recoverTables applies many steps of puts, updates, deletes and creations, and a second run changes nothing', async () => {
  const changes = makeChanges(601);
  const { directory, tables } = await prepare(changes);
  await recoverTables({ directory, layout, tables });
  const newest = new Map(changes.map((change) => [change.key, change]));
  const live = [...newest.values()].filter(({ isTombstone }) => !isTombstone).sort((left, right) => (left.key < right.key ? -1 : 1));
  const replaced = changes.filter((change) => change.replaced > 0).length;
  const expected = [602, live.map(({ key, value, createRevision }) => [key, Buffer.from(value).toString(), createRevision]), replaced];
  assert.deepEqual(describe(tables), expected);
  await recoverTables({ directory, layout, tables });
  assert.deepEqual(describe(tables), expected);
  await tables.close();
});

test('recoverTables continues where the tables are, and leaves a journal of another directory alone', async () => {
  const changes = makeChanges(40);
  const whole = await prepare(changes);
  await recoverTables({ directory: whole.directory, layout, tables: whole.tables });
  const part = await prepare(changes.slice(0, 17));
  await recoverTables({ directory: part.directory, layout, tables: part.tables });
  await recoverTables({ directory: whole.directory, layout, tables: part.tables });
  assert.deepEqual(describe(part.tables), describe(whole.tables));
  const other = await prepare(changes);
  await recoverTables({ directory: other.directory, layout: { ...layout, mark: Buffer.alloc(8, 1) }, tables: other.tables });
  assert.deepEqual(describe(other.tables), [1, [], 0]);
  for (const { tables } of [whole, part, other]) await tables.close();
});

test('recoverTables refuses a journal whose changes do not replace the versions of the tables', async () => {
  const { directory, tables } = await prepare(makeChanges(40).slice(3));
  await assert.rejects(recoverTables({ directory, layout, tables }), /journal does not continue its tables \(revision 5\)/);
  assert.deepEqual(describe(tables), [1, [], 0]);
  await tables.close();
});
