// Commits that fail: nothing is acknowledged, reads go on, and what is on disk stays whole.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/index.ts';
import { type WatchObserver, checkEmbeddedStore, openEmbeddedStore, prefixRange } from '../../src/storage/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-full-'));
after(() => rmSync(root, { recursive: true }));

test('a commit that fails rejects its txns and those that were built on it, and the Store continues', async () => {
  let isBroken = false;
  const failpoint = (name: string) => {
    if (isBroken && name === 'before-commit') throw new Error('no space left on device');
  };
  const directory = join(root, 'hook');
  const store = await openEmbeddedStore({ directory, clock: systemClock, failpoint });
  const value = Buffer.from('value');
  await store.txn({ key: '/a', expect: 0, value });
  isBroken = true;
  const failed = [store.txn({ key: '/b', expect: 0, value }), store.txn({ key: '/b', expect: 3, value }), store.txn({ key: '/b', expect: 0, value })];
  for (const result of failed) await assert.rejects(result, { name: 'StorageWriteError' });
  assert.equal(await store.revision(), 2);
  isBroken = false;
  const after = await store.txn({ key: '/b', expect: 0, value });
  assert.ok(after.type === 'committed' && after.revision > 4, 'a revision of unknown outcome is not used again');
  const events: number[] = [];
  const observer: WatchObserver = {
    events: (batch) => events.push(...batch.map((event) => event.kv.modRevision)), progress: () => undefined, ended: () => undefined,
  };
  store.watch(prefixRange('/'), 2, observer);
  await store.txn({ key: '/c', expect: 0, value });
  assert.deepEqual(events, [2, after.revision, after.revision + 1]);
  assert.deepEqual((await checkEmbeddedStore(store)).problems, []);
  await store.close();
});

test('a commit that is reported failed and yet reached the disk stops the Store, and is found after opening again', async () => {
  let isBroken = false;
  const failpoint = (name: string) => {
    if (isBroken && name === 'after-commit') throw new Error('input/output error');
  };
  const directory = join(root, 'unknown');
  const store = await openEmbeddedStore({ directory, clock: systemClock, failpoint });
  const value = Buffer.from('value');
  await store.txn({ key: '/a', expect: 0, value });
  const ends: string[] = [];
  store.watch(prefixRange('/'), 3, { events: () => ends.push('events'), progress: () => undefined, ended: (reason) => ends.push(reason.type) });
  isBroken = true;
  await assert.rejects(store.txn({ key: '/b', expect: 0, value }), { name: 'StorageWriteError' });
  isBroken = false;
  await assert.rejects(store.txn({ key: '/c', expect: 0, value }), /restart to recover/);
  await assert.rejects(store.range(prefixRange('/')), /restart to recover/);
  assert.deepEqual(ends, ['failed']);
  await store.close();
  const again = await openEmbeddedStore({ directory, clock: systemClock });
  assert.equal(await again.revision(), 3);
  assert.deepEqual((await checkEmbeddedStore(again)).problems, []);
  await again.close();
});

test('a full disk rejects writes, keeps serving reads, and nothing acknowledged is lost', async () => {
  const directory = join(root, 'real');
  const child = fileURLToPath(new URL('./disk-full.child.js', import.meta.url));
  // A limit on the size of files makes the kernel refuse writes as a full disk does (EFBIG instead of ENOSPC).
  const process_ = spawn('sh', ['-c', 'ulimit -f 8192; exec "$0" "$1" "$2"', process.execPath, child, directory], { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  process_.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve) => process_.on('close', resolve));
  assert.equal(code, 0, output);
  const said = JSON.parse(output) as { acknowledged: number[]; rejected: number; readable: number; problems: string[] };
  assert.ok(said.acknowledged.length > 0 && said.rejected > 0);
  assert.equal(said.readable, said.acknowledged.length);
  assert.deepEqual(said.problems, []);
  assert.deepEqual((await checkEmbeddedStore(directory)).problems, []);
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  const result = await store.range(prefixRange('/'));
  assert.deepEqual(result.type === 'ok' && result.kvs.map((kv) => kv.modRevision), said.acknowledged);
  const again = await store.txn({ key: '/z', expect: 0, value: Buffer.alloc(100_000) });
  assert.equal(again.type, 'committed');
  await store.close();
});
