// Flipped bits anywhere in the file of the tables: a check notices each that changes an answer, and no answer has other bytes than were written.
// PINTLE_FLIPS sets how many are tried.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../src/base/index.ts';
import { type Store, checkEmbeddedStore, openEmbeddedStore, prefixRange } from '../../src/storage/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-flips-'));
after(() => rmSync(root, { recursive: true }));

const flips = Number(process.env.PINTLE_FLIPS ?? 150);
const everything = prefixRange('/');
const open = (directory: string): Promise<Store> => openEmbeddedStore({ directory, clock: systemClock });

async function fill(directory: string): Promise<void> {
  const store = await open(directory);
  const write = (index: number, expect: number) =>
    store.txn({ key: `/registry/pods/n/${index}`, expect, value: Buffer.from(`{"n":${index},"at":${expect},"x":"${'y'.repeat(300 + index * 3)}"}`) });
  const written = await Promise.all(Array.from({ length: 400 }, (_, index) => write(index, 0)));
  for (let index = 0; index < 400; index += 3) await write(index, written[index]?.revision ?? 0);
  for (let index = 1; index < 400; index += 6) await store.txn({ key: `/registry/pods/n/${index}`, expect: written[index]?.revision ?? 0 });
  await store.close();
}

/** By key: revision and value, or `damaged`. */
async function read(directory: string): Promise<ReadonlyMap<string, string>> {
  const store = await open(directory);
  try {
    const result = await store.range(everything);
    assert.ok(result.type === 'ok');
    return new Map(result.kvs.map(({ key, modRevision, value, damage }) =>
      [key, damage === undefined ? `${modRevision} ${Buffer.from(value).toString()}` : 'damaged']));
  } finally {
    await store.close();
  }
}

const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    // A directory that is refused with its name and what is wrong is one way to notice.
    assert.match((error as Error).message, /^data directory |StorageFormatError|damaged|checksum/);
    return undefined;
  }
};

test(`${flips} flipped bits are noticed, and none is served as data`, async (context) => {
  const whole = join(root, 'whole');
  await fill(whole);
  const expected = await read(whole);
  const file = readFileSync(join(whole, 'store.mdb'));
  const seen = { harmless: 0, damaged: 0, refused: 0 };
  for (let index = 0; index < flips; index += 1) {
    const bit = (Math.imul(index + 1, 2_654_435_761) >>> 0) % (file.length * 8);
    const bytes = Buffer.from(file);
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    const copy = join(root, 'copy');
    const place = (): void => writeFileSync(join(copy, 'store.mdb'), bytes);
    cpSync(whole, copy, { recursive: true });
    place();
    const check = await attempt(() => checkEmbeddedStore(copy));
    place();
    const found = await attempt(() => read(copy));
    for (const [key, value] of found ?? []) assert.ok(value === 'damaged' || value === expected.get(key), `bit ${bit}: ${key} is ${value.slice(0, 80)}`);
    if (check?.ok === true) assert.deepEqual(found, expected, `bit ${bit} is not noticed by the check`);
    seen[found === undefined ? 'refused' : check?.ok === true ? 'harmless' : 'damaged'] += 1;
    rmSync(copy, { recursive: true });
  }
  context.diagnostic(JSON.stringify(seen));
  assert.ok(seen.damaged > seen.harmless);
});
