// The journal as a crash of the machine can leave it: cut, or with garbage, anywhere in its last 64 KiB. The store opens every time, holds
// exactly the writes before that place, and takes new ones.
import assert from 'node:assert/strict';
import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../src/base/index.ts';
import { type Store, checkEmbeddedStore, openEmbeddedStore, prefixRange } from '../../src/storage/index.ts';

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
  for (let at = 0; ends.length < WRITES;) ends.push(at += 24 + journal.readUInt32LE(at + 4));
  return { directory, ends };
}

/** Places across the tail: evenly, with an odd step so that every part of an entry is met. */
function choosePlaces(end: number): number[] {
  const step = Math.floor(TAIL_BYTES / PLACES) | 1;
  return Array.from({ length: PLACES }, (_, index) => end - 1 - index * step).filter((at) => at >= 0);
}

test('a journal that is cut or garbled anywhere in its tail loses what comes after, and only that', async () => {
  const { directory, ends } = await crash();
  const end = ends.at(-1) as number;
  assert.ok(end > TAIL_BYTES, `the journal holds ${end} bytes`);
  for (const [index, at] of choosePlaces(end).entries()) {
    const copy = join(root, 'copy');
    cpSync(directory, copy, { recursive: true });
    const path = join(copy, 'journal.0');
    if (index % 3 === 0) truncateSync(path, at);
    else {
      const handle = openSync(path, 'r+');
      const garbage = index % 3 === 1 ? Buffer.from([(readFileSync(path)[at] as number) ^ (1 << (index % 8))]) : Buffer.alloc(end - at, 0xa5);
      writeSync(handle, garbage, 0, garbage.length, at);
      closeSync(handle);
    }
    const whole = ends.filter((each) => each <= at).length;
    const store = await open(copy);
    assert.deepEqual(await readKeys(store), Array.from({ length: whole }, (_, key) => nameOf(key)), `place ${at}`);
    assert.equal((await store.txn({ key: '/k/new', expect: 0, value: Buffer.from('/k/new') })).type, 'committed');
    assert.deepEqual((await checkEmbeddedStore(store)).problems, []);
    await store.close();
    rmSync(copy, { recursive: true });
  }
});
