// Damaged records: each is served as unreadable with its cause, everything else as it was, and a repair moves them out.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../base/index.ts';
import { StorageHealth } from '../health.ts';
import { type KeyValue, type Store, type WatchObserver, prefixRange } from '../store.ts';
import { checkEmbeddedStore, openEmbeddedStore, repairEmbeddedStore } from './open.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-damage-'));
after(() => rmSync(root, { recursive: true }));

let places = 0;
const all = prefixRange('/');
const valueOf = (name: string): Buffer => Buffer.from(`the value of ${name}, which is in no other record`);
const open = (directory: string, health = new StorageHealth()): Promise<Store> => openEmbeddedStore({ directory, clock: systemClock, health });

/** A closed directory with the keys /k/0 to /k/19, of which /k/3 was written again, /k/4 was written again, and /k/5 was deleted. */
async function fill(): Promise<string> {
  const directory = join(root, `${(places += 1)}`);
  const store = await open(directory);
  for (let index = 0; index < 20; index += 1) await store.txn({ key: `/k/${index}`, expect: 0, value: valueOf(`k${index} one`) });
  for (const index of [3, 4]) await store.txn({ key: `/k/${index}`, expect: index + 2, value: valueOf(`k${index} two`) });
  await store.txn({ key: '/k/5', expect: 7 });
  await store.close();
  return directory;
}

/** Flips one bit of the data file at each place where `bytes` are. */
function flip(directory: string, bytes: Buffer, at = 5): void {
  const file = join(directory, 'store.mdb');
  const data = readFileSync(file);
  const handle = openSync(file, 'r+');
  let flips = 0;
  for (let found = data.indexOf(bytes); found >= 0; found = data.indexOf(bytes, found + 1)) {
    writeSync(handle, Buffer.from([(data[found + at] as number) ^ 4]), 0, 1, found + at);
    flips += 1;
  }
  closeSync(handle);
  assert.ok(flips > 0, 'the bytes are in the file');
}

async function readAll(store: Store, revision?: number): Promise<readonly KeyValue[]> {
  const result = await store.range({ ...all, ...(revision !== undefined && { revision }) });
  assert.equal(result.type, 'ok');
  return result.type === 'ok' ? result.kvs : [];
}

/** What a watch from `from` brings until it ends or has come to the newest revision. */
function follow(store: Store, from: number): Promise<string[]> {
  return new Promise((resolve) => {
    const seen: string[] = [];
    const observer: WatchObserver = {
      events: (batch) => void seen.push(...batch.map(({ type, kv }) => `${type} ${kv.key} ${kv.modRevision}`)),
      progress: () => resolve(seen),
      ended: (reason) => resolve([...seen, reason.type === 'compacted' ? `compacted ${reason.compactRevision}` : reason.type]),
    };
    store.watch(all, from, observer).requestProgress();
  });
}

test('a damaged record is served as unreadable, with its cause, and every other one as it was', async () => {
  const directory = await fill();
  flip(directory, valueOf('k7 one'));
  const noted: string[] = [];
  const health = new StorageHealth({ damaged: ({ key, cause }) => void noted.push(`${key}: ${cause}`) });
  const store = await open(directory, health);
  const cause = 'the record of revision 9 does not match its checksum';
  for (let round = 0; round < 2; round += 1) {
    const kvs = await readAll(store);
    assert.equal(kvs.length, 19);
    const unreadable = { key: '/k/7', value: new Uint8Array(0), createRevision: 9, modRevision: 9, damage: cause };
    assert.deepEqual(kvs.filter(({ damage }) => damage !== undefined), [unreadable]);
    assert.equal(Buffer.from(kvs.find(({ key }) => key === '/k/8')?.value ?? []).toString(), valueOf('k8 one').toString());
  }
  assert.deepEqual(noted, [`/k/7: ${cause}`]);
  const refused = await store.txn({ key: '/k/7', expect: 0, value: Buffer.from('x') });
  assert.ok(refused.type === 'conflict' && refused.current?.damage === cause);
  assert.equal((await store.txn({ key: '/k/7', expect: 9, value: Buffer.from('healed') })).type, 'committed');
  assert.deepEqual(health.damaged, []);
  assert.deepEqual((await readAll(store)).filter(({ damage }) => damage !== undefined), []);
  await store.close();
});

test('a watch that needs a damaged change ends as compacted; one that begins after it does not notice', async () => {
  const directory = await fill();
  flip(directory, valueOf('k7 one'));
  const store = await open(directory);
  assert.deepEqual(await follow(store, 7), ['put /k/5 7', 'put /k/6 8', 'compacted 9']);
  assert.deepEqual(await follow(store, 22), ['put /k/3 22', 'put /k/4 23', 'delete /k/5 24']);
  await store.close();
});

test('compaction passes over damaged records, and what they replaced stays until a repair', async () => {
  const directory = await fill();
  flip(directory, valueOf('k3 two'));
  const store = await open(directory);
  await store.compact(await store.revision());
  assert.equal((await readAll(store)).length, 19);
  assert.deepEqual(await follow(store, 20), ['compacted 24']);
  const { problems } = await checkEmbeddedStore(store);
  assert.ok(problems.some((problem) => problem.includes('revision 22 does not match its checksum')), problems.join('\n'));
  await store.close();
  const { check } = await repairEmbeddedStore(directory);
  assert.deepEqual(check, { ok: true, problems: [], keys: 18, revision: 24 });
});

test('repairEmbeddedStore moves damaged records into a file that holds their bytes, and everything else is whole', async () => {
  const directory = await fill();
  for (const name of ['k3 two', 'k4 one', 'k7 one']) flip(directory, valueOf(name));
  assert.equal((await checkEmbeddedStore(directory)).ok, false);
  const { check, moved, file } = await repairEmbeddedStore(directory);
  assert.deepEqual(check, { ok: true, problems: [], keys: 17, revision: 24 });
  assert.deepEqual(moved.map(({ key, modRevision }) => [key, modRevision]).sort(), [['/k/3', 22], ['/k/4', 6], ['/k/7', 9]]);
  assert.equal(statSync(file as string).mode & 0o777, 0o600);
  const lines = readFileSync(file as string, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as { key: string; value: string; cause: string });
  const seven = lines.find(({ key }) => key === '/k/7');
  const damaged = valueOf('k7 one');
  damaged[5] = (damaged[5] as number) ^ 4;
  assert.equal(Buffer.from(seven?.value ?? '', 'base64').toString(), damaged.toString());
  assert.match(seven?.cause ?? '', /revision 9 does not match its checksum/);
  const store = await open(directory);
  const left = (await readAll(store)).filter(({ key }) => ['/k/3', '/k/4', '/k/7'].includes(key));
  assert.deepEqual(left.map(({ key, modRevision }) => [key, modRevision]), [['/k/4', 23]]);
  assert.deepEqual(await follow(store, 10), ['compacted 24']);
  assert.equal((await store.txn({ key: '/k/7', expect: 0, value: Buffer.from('again') })).type, 'committed');
  assert.deepEqual((await checkEmbeddedStore(store)).problems, []);
  await store.close();
  assert.deepEqual(await repairEmbeddedStore(directory), { check: await checkEmbeddedStore(directory), moved: [], file: undefined });
});

test('no flipped bit of the data file is served: the store refuses to open, names the key, or is as it was', async () => {
  const directory = await fill();
  const good = new Map((await withStore(directory, readAll)).map(({ key, value }) => [key, Buffer.from(value).toString()]));
  const data = readFileSync(join(directory, 'store.mdb'));
  // Record bytes only: LMDB follows the numbers of its own pages without a checksum, and a wrong one can end the process.
  // A value also stands in pages that are free again, and which one comes first depends on how the writes were gathered.
  const places = [...Array(20).keys()].flatMap((index) => findAll(data, valueOf(`k${index} one`)));
  const outcomes = new Set<string>();
  await fc.assert(fc.asyncProperty(fc.constantFrom(...places), fc.integer({ min: -32, max: 40 }), fc.nat(7), async (place, offset, bit) => {
    const copy = join(root, 'flipped');
    rmSync(copy, { recursive: true, force: true });
    cpSync(directory, copy, { recursive: true });
    const handle = openSync(join(copy, 'store.mdb'), 'r+');
    writeSync(handle, Buffer.from([(data[place + offset] as number) ^ (1 << bit)]), 0, 1, place + offset);
    closeSync(handle);
    for (const { key, value, damage } of await withStore(copy, readAll)) {
      outcomes.add(damage === undefined ? 'served' : 'named');
      if (damage === undefined) assert.equal(Buffer.from(value).toString(), good.get(key), key);
    }
    assert.equal((await repairEmbeddedStore(copy)).check.ok, true);
  }), { numRuns: 60 });
  assert.deepEqual([...outcomes].sort(), ['named', 'served']);
});

function findAll(data: Buffer, value: Buffer): number[] {
  const found: number[] = [];
  for (let at = data.indexOf(value); at >= 0; at = data.indexOf(value, at + 1)) found.push(at);
  return found;
}

async function withStore<T>(directory: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await open(directory);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
