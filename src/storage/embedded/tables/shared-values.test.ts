// Values that are read beside the Store that has the directory open: what is there, what is not there yet or any more, and what must not be held.
import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../base/index.ts';
import type { Store, TxnRequest } from '../../store.ts';
import { openEmbeddedStore } from '../open.ts';
import { openSharedValues } from './shared-values.ts';
import { Tables } from './tables.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-shared-'));
after(() => rmSync(root, { recursive: true }));

const place = (name: string): string => join(root, name);
const open = (directory: string): Promise<Store> => openEmbeddedStore({ directory, clock: systemClock });
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString();

async function put(store: Store, request: Omit<TxnRequest, 'value'> & { readonly value?: string }): Promise<number> {
  const { value } = request;
  const result = await store.txn({ key: request.key, expect: request.expect, ...(value !== undefined && { value: Buffer.from(value) }) });
  assert.equal(result.type, 'committed');
  return result.revision;
}

/** The tables follow the journal before a read. */
const followJournal = (store: Store) => store.range({ start: '/', end: '0', countOnly: true });

test('read finds each version once it is in the tables, also of a file that has grown and was mapped again, until it is compacted', async () => {
  const directory = place('versions');
  const store = await open(directory);
  const first = await put(store, { key: '/a', expect: 0, value: 'one' });
  const values = openSharedValues(directory);
  await followJournal(store);
  assert.equal(text(values.read('/a', first)), 'one');
  assert.deepEqual([values.read('/b', first), values.read('/a', first + 1)], [undefined, undefined]);
  const second = await put(store, { key: '/a', expect: first, value: 'two' });
  assert.equal(values.read('/a', second), undefined, 'in the journal only');
  const large = await put(store, { key: '/large', expect: 0, value: 'x'.repeat(2 ** 20) });
  await followJournal(store);
  await sleep(5);
  assert.deepEqual([text(values.read('/a', first)), text(values.read('/a', second)), values.read('/large', large)?.length], ['one', 'two', 2 ** 20]);
  const gone = await put(store, { key: '/a', expect: second });
  await followJournal(store);
  await store.compact(gone);
  await sleep(5);
  assert.deepEqual([first, second, gone].map((revision) => values.read('/a', revision)), [undefined, undefined, undefined]);
  await values.close();
  assert.equal(values.read('/large', large), undefined);
  await values.close();
  await store.close();
});

test('read holds no transaction beyond its turn, so that the owner can use the pages again', async () => {
  const directory = place('turns');
  const store = await open(directory);
  const revision = await put(store, { key: '/a', expect: 0, value: 'one' });
  await followJournal(store);
  const values = openSharedValues(directory);
  const looking = new Tables({ file: join(directory, 'store.mdb'), readOnly: true });
  const listHeld = (): string[] => looking.env.readerList().split('\n').slice(1).filter((line) => /\d$/.test(line.trim()));
  assert.equal(text(values.read('/a', revision)), 'one');
  assert.ok(listHeld().length > 0, looking.env.readerList());
  await sleep(20);
  assert.deepEqual(listHeld(), []);
  await looking.close();
  await values.close();
  await store.close();
});

test('read throws for a damaged record, and openSharedValues for a directory without tables, which stays as it is', async () => {
  const directory = place('damaged');
  const store = await open(directory);
  const revision = await put(store, { key: '/a', expect: 0, value: 'the value that will be damaged' });
  await store.close();
  const file = join(directory, 'store.mdb');
  const at = readFileSync(file).indexOf('will be damaged');
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.from('X'), 0, 1, at);
  closeSync(handle);
  const values = openSharedValues(directory);
  assert.throws(() => values.read('/a', revision), { name: 'StorageCorruptError', message: /revision 2 does not match its checksum/ });
  await values.close();
  assert.throws(() => openSharedValues(place('absent')), { code: 'ENOENT' });
  mkdirSync(place('empty'));
  assert.throws(() => openSharedValues(place('empty')));
  assert.equal(existsSync(join(place('empty'), 'store.mdb')), false);
});
