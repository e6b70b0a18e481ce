// The journal: what a crash leaves in it comes back, in order and once; what was torn, is old or belongs to other tables does not.
import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { systemClock } from '../../base/index.ts';
import { type Store, prefixRange } from '../store.ts';
import { Journal, openJournal, readJournal } from './journal.ts';
import { type EntryLayout, type JournaledChange, encodeEntry, sealEntries } from './journal-entry.ts';
import { checkEmbeddedStore, openEmbeddedStore } from './open.ts';
import { RecordMemory } from './tables/record.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-journal-'));
after(() => rmSync(root, { recursive: true }));

let places = 0;
const place = (): string => join(root, `${(places += 1)}`);
const layout: EntryLayout = { mark: Buffer.from('0123456789abcdef', 'hex'), isChained: true };
const memory = new RecordMemory();
const all = prefixRange('/');

function change(modRevision: number, bytes = 100): JournaledChange {
  return {
    isTombstone: false, key: `/k/${modRevision}`, value: Buffer.alloc(bytes, `${modRevision} `), modRevision, createRevision: modRevision, replaced: 0,
    expiresAt: modRevision % 2 === 0 ? modRevision * 1000 : undefined,
  };
}

const encode = (one: JournaledChange): Buffer => encodeEntry(one, memory).entry;
const seen = (changes: readonly JournaledChange[]) => changes.map(({ key, value, modRevision, createRevision, replaced, isTombstone, expiresAt }) =>
  ({ key, value: Buffer.from(value).toString(), modRevision, createRevision, replaced, isTombstone, expiresAt }));

/** Changes as entries of commits of their own. */
function encodeSealed(changes: readonly JournaledChange[], after = 0): Buffer[] {
  let durable = after;
  return changes.map((each) => {
    const entry = encode(each);
    sealEntries([entry], layout.mark, durable);
    durable = each.modRevision;
    return entry;
  });
}

async function makeJournal(directory: string, makeRoom: (revision: number) => Promise<void> = async () => {}): Promise<Journal> {
  return openJournal({ directory, mark: layout.mark, revision: 0, sync: true, makeRoom });
}

test('readJournal answers what append was given, in order, through many turns of the files', async () => {
  const directory = mkdtempSync(join(root, 'turns-'));
  const asked: number[] = [];
  const journal = await makeJournal(directory, async (revision) => void asked.push(revision));
  const changes = Array.from({ length: 60 }, (_, index) => change(index + 1, 90_000));
  for (let at = 0; at < changes.length; at += 3) {
    const batch = changes.slice(at, at + 3);
    await journal.append(batch.map(encode), (batch.at(-1) as JournaledChange).modRevision);
  }
  await journal.close();
  assert.equal(journal.last, 60);
  const found = await readJournal(directory, layout);
  assert.deepEqual(seen(found), seen(changes.slice(-found.length)));
  // Room was asked for before a file was written over, and nothing that was asked for is missing from what is left.
  assert.ok(asked.length >= 3 && asked.every((revision, index) => index === 0 || revision > (asked[index - 1] as number)), asked.join(' '));
  assert.equal((found[0] as JournaledChange).modRevision, (asked.at(-1) as number) + 1);
});

test('readJournal passes over whatever was torn or flipped, and ignores what is of another directory', async () => {
  const directory = mkdtempSync(join(root, 'torn-'));
  const changes = [1, 2, 3, 4, 5].map((revision) => change(revision));
  const entries = encodeSealed(changes);
  const bytes = Buffer.concat(entries);
  const ends = entries.map((_, index) => Buffer.concat(entries.slice(0, index + 1)).length);
  await fc.assert(fc.asyncProperty(fc.nat(bytes.length - 1), fc.boolean(), async (at, cut) => {
    const damaged = Buffer.from(cut ? bytes.subarray(0, at) : bytes);
    if (!cut) damaged[at] = (damaged[at] as number) ^ 8;
    writeFileSync(join(directory, 'journal.1'), Buffer.concat([damaged, Buffer.alloc(50)]));
    const hit = ends.filter((end) => end <= at).length;
    assert.deepEqual(seen(await readJournal(directory, layout)), seen(changes.filter((_, index) => index < hit || (!cut && index > hit))));
  }), { numRuns: 200 });
  writeFileSync(join(directory, 'journal.1'), Buffer.concat([...encodeSealed([change(9)], 5), bytes]));
  assert.deepEqual((await readJournal(directory, layout)).map(({ modRevision, follows, after }) => [modRevision, follows, after]),
    [[1, 0, 0], [2, 1, 1], [3, 2, 2], [4, 3, 3], [5, 4, 4], [9, 5, 5]]);
  assert.deepEqual(await readJournal(directory, { ...layout, mark: Buffer.alloc(8, 1) }), []);
});

test('append that finds no room leaves the journal as it was', async () => {
  const directory = mkdtempSync(join(root, 'room-'));
  let full = true;
  const journal = await makeJournal(directory, async () => {
    if (full) throw new Error('no space left on device');
  });
  await journal.append([encode(change(1, 2 ** 20))], 1);
  await assert.rejects(journal.append([encode(change(2))], 2), /no space/);
  assert.deepEqual([journal.last, journal.isUnsure], [1, false]);
  full = false;
  await journal.append([encode(change(3))], 3);
  await journal.close();
  assert.deepEqual((await readJournal(directory, layout)).map(({ modRevision }) => modRevision), [1, 3]);
});

const noFailingFile = process.platform !== 'linux' && 'only Linux has /proc/self/mem';
test('append that the disk fails leaves the journal unsure, and is not cut off and tried again', { skip: noFailingFile }, async () => {
  const directory = mkdtempSync(join(root, 'failing-'));
  // A file of the system whose writes at 0 end in EIO.
  const failing = await open('/proc/self/mem', 'r+');
  const other = await open(join(directory, 'journal.1'), 'w+');
  const journal = new Journal({ directory, mark: layout.mark, revision: 0, sync: true, makeRoom: async () => {} }, [failing, other]);
  await assert.rejects(journal.append([encode(change(1))], 1), { code: 'EIO' });
  assert.deepEqual([journal.last, journal.isUnsure], [0, true]);
  await journal.close();
});

test('findRoom lays the file out again after a refusal cut its end off', async () => {
  const directory = mkdtempSync(join(root, 'layout-'));
  const journal = await makeJournal(directory);
  await journal.append([encode(change(1))], 1);
  const path = join(directory, 'journal.0');
  truncateSync(path, encode(change(1)).length);
  assert.equal(await journal.findRoom(), true);
  assert.equal(statSync(path).size, 2 ** 20);
  await journal.append([encode(change(2))], 2);
  await journal.close();
  assert.deepEqual((await readJournal(directory, layout)).map(({ modRevision }) => modRevision), [1, 2]);
});

/** A copy of a directory as a crash at this moment would leave it. */
function crash(directory: string): string {
  const copy = place();
  cpSync(directory, copy, { recursive: true });
  rmSync(join(copy, 'LOCK'));
  return copy;
}

async function contents(store: Store): Promise<unknown> {
  const result = await store.range(all);
  return result.type === 'ok' && [result.revision, result.kvs.map(({ key, value, ...rest }) => ({ key, value: Buffer.from(value).toString(), ...rest }))];
}

test('openEmbeddedStore brings the tables up to the journal that a crash left, with deletes, history and leases', async () => {
  const directory = place();
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  const put = (key: string, expect: number, ttlSeconds?: number) =>
    store.txn({ key, expect, value: Buffer.from(`${key} after ${expect}`), ...(ttlSeconds !== undefined && { ttlSeconds }) });
  await put('/a', 0);
  await store.range(all);
  await put('/b', 0);
  await put('/a', 2);
  await store.txn({ key: '/b', expect: 3 });
  await put('/b', 0);
  await put('/lease', 0, 0.5);
  const crashed = crash(directory);
  const before = await contents(store);
  await store.close();
  const again = await openEmbeddedStore({ directory: crashed, clock: systemClock });
  assert.deepEqual(await contents(again), before);
  const old = await again.range({ ...all, revision: 3 });
  assert.deepEqual(old.type === 'ok' && old.kvs.map(({ key, modRevision }) => [key, modRevision]), [['/a', 2], ['/b', 3]]);
  assert.deepEqual((await checkEmbeddedStore(again)).problems, []);
  while ((await again.revision()) < 8) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual((await again.range({ ...all, countOnly: true })), { type: 'ok', revision: 8, kvs: [], more: true, count: 2 });
  await again.close();
});

test('openEmbeddedStore refuses a journal that does not continue the tables', async () => {
  const directory = place();
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  const write = async (key: string, expect: number) => store.txn({ key, expect, value: Buffer.from('value') });
  await write('/a', 0);
  await store.range(all);
  const older = crash(directory);
  await write('/a', 2);
  await store.range(all);
  await write('/a', 3);
  await store.close();
  for (const name of ['journal.0', 'journal.1']) cpSync(join(directory, name), join(older, name));
  const bytes = readFileSync(join(older, 'journal.0'));
  // Without its first two entries, which the older tables would need.
  const entryBytes = 40 + bytes.readUInt32LE(4);
  writeFileSync(join(older, 'journal.0'), bytes.subarray(2 * entryBytes));
  const problem = { name: 'StorageFormatError', message: /its journal is damaged: changes after revision 2 and before 4 were acknowledged and cannot be read/ };
  await assert.rejects(openEmbeddedStore({ directory: older, clock: systemClock }), problem);
});

test('openEmbeddedStore takes a directory without a journal over, and keeps programs out that know none', async () => {
  const directory = place();
  await (await openEmbeddedStore({ directory, clock: systemClock })).close();
  for (const name of ['journal.0', 'journal.1']) rmSync(join(directory, name));
  const marker = join(directory, 'FORMAT');
  writeFileSync(marker, readFileSync(marker, 'utf8').replace('"version":3', '"version":1'));
  await (await openEmbeddedStore({ directory, clock: systemClock })).close();
  assert.match(readFileSync(marker, 'utf8'), /"version":3/);
  assert.equal(statSync(join(directory, 'journal.0')).mode & 0o777, 0o600);
});

/** Entries as format version 2 has them: the time of the directory's making as their mark, and no chain. */
function encodeUnchained(changes: readonly JournaledChange[], createdAt: number): Buffer {
  return Buffer.concat(changes.map((each) => {
    const { entry } = encodeEntry({ ...each, expiresAt: undefined }, memory);
    const old = Buffer.concat([entry.subarray(0, 24), entry.subarray(40)]);
    old.writeDoubleLE(createdAt, 8);
    old.writeUInt32LE(crc32(old.subarray(4, 24)), 0);
    return old;
  }));
}

test('openEmbeddedStore carries the journal of format version 2 into the tables, and writes its own from then on', async () => {
  const directory = place();
  await (await openEmbeddedStore({ directory, clock: systemClock })).close();
  const marker = join(directory, 'FORMAT');
  const { name, created } = JSON.parse(readFileSync(marker, 'utf8')) as { name: string; created: number };
  writeFileSync(marker, JSON.stringify({ name, version: 2, created }));
  const torn = encodeUnchained([change(5)], created);
  writeFileSync(join(directory, 'journal.0'), Buffer.concat([encodeUnchained([change(2), change(3), change(4)], created), torn.subarray(0, 90)]));
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  const found = await store.range(all);
  assert.deepEqual(found.type === 'ok' && found.kvs.map(({ key }) => key), ['/k/2', '/k/3', '/k/4']);
  await store.txn({ key: '/new', expect: 0, value: Buffer.from('new') });
  const crashed = crash(directory);
  await store.close();
  const again = await openEmbeddedStore({ directory: crashed, clock: systemClock });
  assert.equal((await again.revision()), 5);
  await again.close();
});
