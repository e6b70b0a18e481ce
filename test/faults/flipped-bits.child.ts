// Flips bits of the file of the tables, one at a time, and prints what became of each as a line of JSON. LMDB trusts its pages: a flip in their structure
// may end this process, and then the test starts another one behind it. Arguments: directory, first bit, number of bits.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/index.ts';
import { checkEmbeddedStore, openEmbeddedStore, prefixRange } from '../../src/storage/index.ts';

const everything = prefixRange('/');

/** By key: revision and value, or `damaged`. */
async function read(directory: string): Promise<ReadonlyMap<string, string>> {
  const store = await openEmbeddedStore({ directory, clock: systemClock });
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
    assert.match((error as Error).name, /^Storage(Format|Corrupt)Error$/, (error as Error).stack);
    return undefined;
  }
};

const [root = '', first = '0', flips = '0'] = process.argv.slice(2);
const whole = join(root, 'whole');
const expected = await read(whole);
const file = readFileSync(join(whole, 'store.mdb'));
for (let index = Number(first); index < Number(flips); index += 1) {
  const bit = (Math.imul(index + 1, 2_654_435_761) >>> 0) % (file.length * 8);
  const bytes = Buffer.from(file);
  bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
  const copy = join(root, 'copy');
  const place = (): void => writeFileSync(join(copy, 'store.mdb'), bytes);
  rmSync(copy, { recursive: true, force: true });
  cpSync(whole, copy, { recursive: true });
  place();
  const check = await attempt(() => checkEmbeddedStore(copy));
  place();
  const found = await attempt(() => read(copy));
  for (const [key, value] of found ?? []) assert.ok(value === 'damaged' || value === expected.get(key), `bit ${bit}: ${key} is ${value.slice(0, 80)}`);
  if (check?.ok === true) assert.deepEqual(found, expected, `bit ${bit} is not noticed by the check`);
  writeSync(1, `${JSON.stringify({ index, outcome: found === undefined ? 'refused' : check?.ok === true ? 'harmless' : 'damaged' })}\n`);
}
