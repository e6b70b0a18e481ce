// The journal as a crash of the machine can leave it: cut, or with garbage to its end, anywhere in its last 64 KiB. The store opens every time,
// holds exactly the writes before that place, and takes new ones. A journal that a disk has damaged between acknowledged writes is refused.
import assert from 'node:assert/strict';
import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { systemClock } from '../../src/base/index.ts';
import { type Store, checkEmbeddedStore, openEmbeddedStore, prefixRange, repairEmbeddedStore } from '../../src/storage/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-torn-'));
after(() => rmSync(root, { recursive: true }));

const everything = prefixRange('/');
const TAIL_BYTES = 64 * 1024;
const WRITES = 160;
const PLACES = 60;
const nameOf = (index: number): string => `/k/${String(index).padStart(3, '0')}`;
const open = (directory: string): Promise<Store> => openEmbeddedStore({ directory, clock: systemClock });

async function readKeys(store: Store): Promise<string[]> {
  const result = await store.range(everything);
  assert.ok(result.type === 'ok');
  for (const { key, value } of result.kvs) assert.equal(Buffer.from(value).toString().slice(0, key.length), key);
  return result.kvs.map(({ key }) => key);
}

/** A directory whose tables are empty and whose journal holds all writes, and the place in the journal where each of them ends. */
async function crash(): Promise<{ readonly directory: string; readonly ends: readonly number[] }> {
  const live = join(root, 'live');
  const directory = join(root, 'crashed');
  const store = await open(live);
  // The tables as they are before the first write, beside the journal as it is after the last: as if the machine stopped at once.
  cpSync(live, directory, { recursive: true });
  for (let index = 0; index < WRITES; index += 1) {
    const key = nameOf(index);
    await store.txn({ key, expect: 0, value: Buffer.from(key.padEnd(500 + index, 'v')) });
  }
  cpSync(join(live, 'journal.0'), join(directory, 'journal.0'));
  await store.close();
  rmSync(join(directory, 'LOCK'));
  const journal = readFileSync(join(directory, 'journal.0'));
  const ends: number[] = [];
  for (let at = 0; ends.length < WRITES;) ends.push(at += 40 + journal.readUInt32LE(at + 4));
  return { directory, ends };
}

const crashed = crash();

/** Makes the entries from `from` on parts of one commit. */
function makeOneCommit(path: string, from: number, ends: readonly number[]): void {
  const bytes = readFileSync(path);
  const durable = bytes.readDoubleLE(from + 24);
  for (const at of [from, ...ends.filter((end) => end > from).slice(0, -1)]) {
    const header = Buffer.from(bytes.subarray(at, at + 40));
    header.writeDoubleLE(durable, 32);
    header.writeUInt32LE(crc32(header.subarray(4)), 0);
    overwrite(path, at, header);
  }
}

/** Places across the tail: evenly, with an odd step so that every part of an entry is met. */
function choosePlaces(end: number): number[] {
  const step = Math.floor(TAIL_BYTES / PLACES) | 1;
  return Array.from({ length: PLACES }, (_, index) => end - 1 - index * step).filter((at) => at >= 0);
}

/** A copy of a directory of which one file was changed; removed when `use` is done. */
async function withCopy(directory: string, change: (path: string) => void, use: (copy: string) => Promise<void>): Promise<void> {
  const copy = join(root, 'copy');
  cpSync(directory, copy, { recursive: true });
  change(join(copy, 'journal.0'));
  await use(copy);
  rmSync(copy, { recursive: true });
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const handle = openSync(path, 'r+');
  writeSync(handle, bytes, 0, bytes.length, at);
  closeSync(handle);
}

const flipBit = (path: string, at: number): void => overwrite(path, at, Buffer.from([(readFileSync(path)[at] as number) ^ (1 << (at % 8))]));

/** Opens, compares the keys with `expected`, writes, and checks everything. */
async function prove(directory: string, expected: readonly string[], place: string): Promise<void> {
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  assert.deepEqual(await readKeys(store), expected, place);
  assert.equal((await store.txn({ key: '/k/new', expect: 0, value: Buffer.from('/k/new') })).type, 'committed');
  assert.deepEqual((await checkEmbeddedStore(store)).problems, []);
  await store.close();
}

test('a journal that is cut or garbled from anywhere in its tail loses what comes after, and only that', async () => {
  const { directory, ends } = await crashed;
  const end = ends.at(-1) as number;
  assert.ok(end > TAIL_BYTES, `the journal holds ${end} bytes`);
  for (const [index, at] of choosePlaces(end).entries()) {
    const whole = ends.filter((each) => each <= at).length;
    const damage = (path: string): void => (index % 2 === 0 ? truncateSync(path, at) : overwrite(path, at, Buffer.alloc(end - at, 0xa5)));
    await withCopy(directory, damage, (copy) => prove(copy, Array.from({ length: whole }, (_, key) => nameOf(key)), `place ${at}`));
  }
});

test('a journal with one flipped bit is refused when the write was acknowledged, and repaired without any other loss', async () => {
  const { directory, ends } = await crashed;
  const lastStart = ends.at(-2) as number;
  for (const at of choosePlaces(lastStart)) {
    await withCopy(directory, (path) => flipBit(path, at), async (copy) => {
      const hit = ends.filter((each) => each <= at).length;
      const message = new RegExp(`its journal is damaged: changes after revision ${hit + 1} and before ${hit + 3} were acknowledged and cannot be read`);
      await assert.rejects(open(copy), { name: 'StorageFormatError', message });
      await assert.rejects(checkEmbeddedStore(copy), { message });
      const { check, moved, file } = await repairEmbeddedStore(copy);
      assert.deepEqual([check.problems, moved.map(({ modRevision }) => modRevision)], [[], [hit + 2]]);
      assert.ok(readFileSync(file as string, 'utf8').includes(`"cause":"the journal is damaged before revision ${hit + 3}"`));
      const others = Array.from({ length: WRITES }, (_, key) => nameOf(key)).filter((_, index) => index !== hit);
      await prove(copy, others, `bit at ${at}`);
    });
  }
});

test('what is left of a torn commit does not come back after later writes', async () => {
  const { directory, ends } = await crashed;
  const places = ends.slice(-12, -8);
  for (const at of places) {
    // The write after `at` and all that follow it were never made durable in their order.
    await withCopy(directory, (path) => {
      makeOneCommit(path, at, ends);
      flipBit(path, at + 60);
    }, async (copy) => {
      const whole = ends.filter((each) => each <= at).length;
      const store = await open(copy);
      assert.equal((await readKeys(store)).length, whole);
      await store.txn({ key: '/other', expect: 0, value: Buffer.alloc(700, '/other') });
      const again = join(root, 'again');
      cpSync(copy, again, { recursive: true });
      await store.close();
      rmSync(join(again, 'LOCK'));
      const reopened = await open(again);
      assert.equal((await reopened.revision()), whole + 2);
      await reopened.close();
      rmSync(again, { recursive: true });
    });
  }
});
