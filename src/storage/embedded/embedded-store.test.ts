// The embedded Store against the suite of all Stores; each test in a directory of its own, verified afterwards.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Clock, systemClock } from '../../base/index.ts';
import { describeStore } from '../store.suite.ts';
import { all } from '../suite-tools.suite.ts';
import { checkEmbeddedStore, openEmbeddedStore } from './open.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-embedded-'));
let stores = 0;

const open = (clock: Clock) => openEmbeddedStore({ directory: join(root, `${(stores += 1)}`), clock });
const reopen = (clock: Clock) => openEmbeddedStore({ directory: join(root, `${stores}`), clock });

describeStore('openEmbeddedStore', open, { reopen });

test('close while large ranges are being read ends them and closes cleanly', async () => {
  const store = await open(systemClock);
  const value = Buffer.alloc(2000);
  await Promise.all(Array.from({ length: 4000 }, (_, index) => store.txn({ key: `/k/${index}`, expect: 0, value })));
  const reads = Array.from({ length: 100 }, () => store.range(all).then((result) => result.type, (error: Error) => error.name));
  await new Promise((resolve) => setImmediate(resolve));
  await store.close();
  const outcomes = new Set(await Promise.all(reads));
  assert.ok(outcomes.has('StorageClosedError') && outcomes.size <= 2, [...outcomes].join(' '));
});

test('a value of more than 16 MB is read from the tables as it was written', async () => {
  const value = Buffer.alloc(17_000_000, 'a value');
  const written = await open(systemClock);
  await written.txn({ key: '/k/large', expect: 0, value });
  await written.close();
  const store = await reopen(systemClock);
  const found = await store.range(all);
  await store.close();
  assert.ok(found.type === 'ok' && found.kvs.length === 1 && value.equals(found.kvs[0]?.value as Uint8Array));
});

test('openEmbeddedStore works with few reader slots, by letting reads wait', async () => {
  const directory = join(root, `${(stores += 1)}`);
  const store = await openEmbeddedStore({ directory, clock: systemClock, maxReaders: 8 });
  await Promise.all(Array.from({ length: 1000 }, (_, index) => store.txn({ key: `/k/${index}`, expect: 0, value: Buffer.alloc(2000) })));
  const writing = Array.from({ length: 200 }, (_, index) => store.txn({ key: `/l/${index}`, expect: 0, value: Buffer.alloc(10) }));
  const results = await Promise.all(Array.from({ length: 40 }, () => store.range(all)));
  assert.ok(results.every((result) => result.type === 'ok' && result.count >= 1000));
  await Promise.all(writing);
  await store.close();
});

after(async () => {
  for (let store = 1; store <= stores; store += 1) {
    const report = await checkEmbeddedStore(join(root, `${store}`));
    assert.deepEqual(report.problems, []);
  }
  rmSync(root, { recursive: true });
});
