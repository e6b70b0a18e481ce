// What a data directory must be to be opened: refusals of foreign, damaged, newer and locked ones, rights, and the check of damage.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync,
  writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../base/index.ts';
import { prefixRange } from '../store.ts';
import { bumpRevision, checkEmbeddedStore, openEmbeddedStore, repairEmbeddedStore } from './open.ts';
import { encodeRevision } from './tables/record.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-open-'));
after(() => rmSync(root, { recursive: true }));

const place = (name: string): string => join(root, name);
const open = (directory: string) => openEmbeddedStore({ directory, clock: systemClock });
const value = Buffer.alloc(600, 'value of a key, ');

async function fill(directory: string): Promise<string> {
  const store = await open(directory);
  for (let index = 0; index < 50; index += 1) await store.txn({ key: `/k/${index}`, expect: 0, value });
  await store.txn({ key: '/k/7', expect: 9, value });
  await store.txn({ key: '/k/8', expect: 10 });
  await store.close();
  return directory;
}

test('openEmbeddedStore refuses a directory with foreign files, and leaves it as it was', async () => {
  const directory = place('foreign');
  mkdirSync(directory);
  writeFileSync(join(directory, 'notes.txt'), 'mine');
  await assert.rejects(open(directory), { name: 'StorageFormatError', message: new RegExp(`${directory}.*notes\\.txt.*choose an empty one`) });
  assert.deepEqual(readdirSync(directory), ['notes.txt']);
});

test('openEmbeddedStore refuses a newer format, a foreign marker and a damaged one', async () => {
  const directory = await fill(place('format'));
  const marker = join(directory, 'FORMAT');
  const good = readFileSync(marker, 'utf8');
  writeFileSync(marker, good.replace('"version":3', '"version":4'));
  await assert.rejects(open(directory), /format version 4, this program reads up to 3; use the newer program/);
  writeFileSync(marker, good.replace(/"journal":"../, '"journal":"'));
  await assert.rejects(open(directory), /its FORMAT marker is damaged/);
  writeFileSync(marker, '{"name":"other"}');
  await assert.rejects(open(directory), { name: 'StorageFormatError' });
  writeFileSync(marker, 'garbage');
  await assert.rejects(open(directory), { name: 'StorageFormatError' });
  writeFileSync(marker, good.replace(/"created":\d/, '"created":9'));
  await assert.rejects(open(directory), /different data directories/);
  rmSync(marker);
  await assert.rejects(open(directory), /FORMAT marker is missing/);
  writeFileSync(marker, good);
  await (await open(directory)).close();
});

test('openEmbeddedStore refuses data files that are missing, cut short or not data files', async () => {
  const directory = await fill(place('files'));
  const file = join(directory, 'store.mdb');
  const good = readFileSync(file);
  // Half of it: the last pages alone may be ones that nothing uses.
  truncateSync(file, (good.length / 2) & ~4095);
  await assert.rejects(open(directory), /cut short/);
  truncateSync(file, 100);
  await assert.rejects(open(directory), /head is damaged/);
  writeFileSync(file, Buffer.alloc(65536, 1));
  await assert.rejects(open(directory), /not a data file/);
  rmSync(file);
  await assert.rejects(open(directory), /missing; restore a backup/);
  writeFileSync(file, good);
  await (await open(directory)).close();
});

test('openEmbeddedStore finishes a first start that was cut short', async () => {
  const directory = place('half');
  await (await open(directory)).close();
  rmSync(join(directory, 'FORMAT'));
  const store = await open(directory);
  assert.equal(await store.revision(), 1);
  await store.close();
  assert.ok(existsSync(join(directory, 'FORMAT')));
});

test('openEmbeddedStore locks the directory against this process, others, and other names for it', async () => {
  const directory = place('locked');
  const store = await open(directory);
  await assert.rejects(open(directory), /open in this process already/);
  symlinkSync(directory, place('alias'));
  await assert.rejects(open(place('alias')), { name: 'StorageLockedError' });
  await assert.rejects(checkEmbeddedStore(directory), { name: 'StorageLockedError' });
  await store.close();
  assert.equal(existsSync(join(directory, 'LOCK')), false);
  const other = spawn('sleep', ['30']);
  writeFileSync(join(directory, 'LOCK'), `${other.pid}\n`);
  await assert.rejects(open(directory), new RegExp(`process ${other.pid} has it open`));
  other.kill('SIGKILL');
  await new Promise((resolve) => other.on('exit', resolve));
  await (await open(directory)).close();
});

test('openEmbeddedStore takes over a lock whose pid belongs to another process since', async () => {
  const directory = place('reused');
  await (await open(directory)).close();
  writeFileSync(join(directory, 'LOCK'), `${process.ppid} 12345\n`);
  const store = await open(directory);
  assert.match(readFileSync(join(directory, 'LOCK'), 'utf8'), new RegExp(`^${process.pid} `));
  await store.close();
});

test('openEmbeddedStore keeps directory and files to their owner', async () => {
  const directory = place('rights');
  const store = await open(directory);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  for (const name of readdirSync(directory)) assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
  await store.close();
});

test('checkEmbeddedStore passes a good directory and an open Store, and refuses what is none', async () => {
  const directory = await fill(place('good'));
  assert.deepEqual(await checkEmbeddedStore(directory), { ok: true, problems: [], keys: 49, revision: 53 });
  const store = await open(directory);
  await store.compact(53);
  assert.deepEqual(await checkEmbeddedStore(store), { ok: true, problems: [], keys: 49, revision: 53 });
  await store.close();
  await assert.rejects(checkEmbeddedStore(place('absent')));
});

test('flipped bits in values are found by the check and never served', async () => {
  const directory = await fill(place('flip'));
  const file = join(directory, 'store.mdb');
  const data = readFileSync(file);
  const handle = openSync(file, 'r+');
  // Every copy, since pages that a later commit replaced are still in the file and are not read.
  for (let at = data.indexOf(value); at >= 0; at = data.indexOf(value, at + 1)) writeSync(handle, Buffer.from([(data[at + 40] as number) ^ 4]), 0, 1, at + 40);
  closeSync(handle);
  const report = await checkEmbeddedStore(directory);
  assert.ok(!report.ok && report.problems.length >= 50);
  assert.match(report.problems[0] as string, /revision \d+ does not match its checksum/);
  const store = await open(directory);
  const result = await store.range(prefixRange('/k/'));
  assert.ok(result.type === 'ok' && result.kvs.every((kv) => kv.value.length === 0 && /does not match its checksum/.test(kv.damage ?? '')));
  await store.close();
});

test('a table whose first page is not in the file is named as damage by reads, the check and the repair', async () => {
  const directory = await fill(place('pages'));
  const file = join(directory, 'store.mdb');
  const data = readFileSync(file);
  // Of each copy of the entry of the table: the size of its name and its name come before 48 bytes that end with the number of its first page.
  const entry = Buffer.from('\u0004\u0000log\u0000', 'latin1');
  for (let at = data.indexOf(entry); at >= 0; at = data.indexOf(entry, at + 1)) data.writeUInt32LE(4_000_000, at + entry.length + 40);
  writeFileSync(file, data);
  await assert.rejects(checkEmbeddedStore(directory), { name: 'StorageFormatError', message: /: the pages of the tables are damaged \(.*; restore a backup$/ });
  await assert.rejects(repairEmbeddedStore(directory), { name: 'StorageFormatError' });
  const store = await open(directory);
  await assert.rejects(store.range(prefixRange('/k/')), { name: 'StorageCorruptError' });
  await store.close();
});

test('a lease that names another key than its version has is found by the check and removed by the repair', async () => {
  const directory = place('lease');
  const created = await open(directory);
  const { revision = 0 } = await created.txn({ key: '/k/short', expect: 0, value, ttlSeconds: 10_000 });
  await created.close();
  const file = join(directory, 'store.mdb');
  const data = readFileSync(file);
  const lease = Buffer.concat([encodeRevision(revision), Buffer.from('/k/short')]);
  for (let at = data.indexOf(lease); at >= 0; at = data.indexOf(lease, at + 1)) data[at + lease.length - 1] = 's'.charCodeAt(0);
  writeFileSync(file, data);
  const problem = `the lease of "/k/shors" is of revision ${revision}, which is not a version of it`;
  assert.deepEqual(await checkEmbeddedStore(directory), { ok: false, problems: [problem], keys: 1, revision });
  const { check, moved } = await repairEmbeddedStore(directory);
  assert.deepEqual({ check, moved }, { check: { ok: true, problems: [], keys: 1, revision }, moved: [] });
  const store = await open(directory);
  assert.deepEqual([...(await store.timesToLive())], []);
  await store.close();
});

test('bumpRevision makes a restored backup safe: no revision is used again, and older watches and reads are compacted', async () => {
  const directory = await fill(place('backup'));
  await assert.rejects(bumpRevision(directory, 0), /cannot be raised/);
  const bumped = await bumpRevision(directory, 1_000_000_000);
  assert.equal(bumped, 1_000_000_053);
  assert.deepEqual(await checkEmbeddedStore(directory), { ok: true, problems: [], keys: 49, revision: bumped });
  const store = await open(directory);
  // 60 is a revision that was acknowledged after the backup.
  for (const from of [10, 60, bumped]) {
    const end = await new Promise((resolve) => store.watch(prefixRange('/'), from, { events: () => resolve('events'), progress: resolve, ended: resolve }));
    assert.deepEqual(end, { type: 'compacted', compactRevision: bumped });
  }
  assert.equal((await store.range({ ...prefixRange('/'), revision: 60 })).type, 'compacted');
  assert.equal((await store.range(prefixRange('/k/'))).type, 'ok');
  const written = await store.txn({ key: '/new', expect: 0, value });
  assert.deepEqual(written, { type: 'committed', revision: bumped + 1 });
  await store.close();
  const again = await open(directory);
  assert.equal(await again.revision(), bumped + 1);
  assert.deepEqual((await checkEmbeddedStore(again)).problems, []);
  await again.close();
});
