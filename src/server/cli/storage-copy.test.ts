// Copies between data directories, and through etcd where there is one: the same keys and values, or a refusal.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../base/index.ts';
import { type Store, openEmbeddedStore, openEtcdStore, prefixRange } from '../../storage/index.ts';
import { noEtcd, startCluster } from '../../storage/etcd/cluster.suite.ts';
import { copyStorage, formatProgress } from './storage-copy.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-copy-'));
after(() => rmSync(root, { recursive: true }));
const openDirectory = (name: string): Promise<Store> => openEmbeddedStore({ directory: join(root, name, 'store'), clock: systemClock });

async function fill(name: string): Promise<void> {
  const store = await openDirectory(name);
  const write = (index: number) => store.txn({ key: `/registry/pods/n/${index}`, expect: 0, value: Buffer.from(`{"n":${index}}`) });
  await Promise.all(Array.from({ length: 1234 }, (_, index) => write(index)));
  await store.txn({ key: '/registry/bytes/\u{1f600}', expect: 0, value: new Uint8Array([0, 255, 0]) });
  await store.txn({ key: '/registry/bytes/empty', expect: 0, value: new Uint8Array(0) });
  await store.close();
}

async function read(store: Store): Promise<string[]> {
  const result = await store.range(prefixRange('/'));
  return result.type === 'ok' ? result.kvs.map(({ key, value }) => `${key} ${Buffer.from(value).toString('hex')}`) : [];
}

async function readDirectory(name: string): Promise<string[]> {
  const store = await openDirectory(name);
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

test('copyStorage copies a directory exactly, and refuses a target that holds something or a source that does not exist', async () => {
  await fill('one');
  const seen: string[] = [];
  const report = await copyStorage({ from: join(root, 'one'), to: join(root, 'two'), progress: (done, total) => seen.push(`${done}/${total}`) });
  assert.deepEqual([report.keys, report.revision, seen.at(-1)], [1236, 1237, '1236/1236']);
  assert.deepEqual(await readDirectory('two'), await readDirectory('one'));
  await assert.rejects(copyStorage({ from: join(root, 'one'), to: join(root, 'two') }), /is not empty/);
  await assert.rejects(copyStorage({ from: join(root, 'nowhere'), to: join(root, 'three') }), /has no store/);
});

test('copyStorage goes through etcd and back without a difference', { skip: noEtcd }, async () => {
  await fill('origin');
  const { endpoints, stop } = await startCluster();
  try {
    const url = endpoints.join(',');
    await copyStorage({ from: join(root, 'origin'), to: url });
    await assert.rejects(copyStorage({ from: join(root, 'origin'), to: url }), /is not empty/);
    await copyStorage({ from: url, to: join(root, 'back') });
    assert.deepEqual(await readDirectory('back'), await readDirectory('origin'));
    const store = await openEtcdStore({ endpoints, clock: systemClock });
    assert.deepEqual(await read(store), await readDirectory('origin'));
    await store.close();
  } finally {
    await stop();
  }
});

test('copyStorage keeps what is left of times to live, from a directory to etcd and on', { skip: noEtcd }, async () => {
  const origin = await openDirectory('events');
  const { revision } = await origin.txn({ key: '/registry/events/n/e', expect: 0, value: Buffer.from('{}'), ttlSeconds: 3600 });
  await origin.txn({ key: '/registry/pods/n/p', expect: 0, value: Buffer.from('{}') });
  assert.deepEqual([...await origin.timesToLive()], [[revision, 3600]]);
  await origin.close();
  const { endpoints, stop } = await startCluster();
  try {
    await copyStorage({ from: join(root, 'events'), to: endpoints.join(',') });
    await copyStorage({ from: endpoints.join(','), to: join(root, 'events-back') });
    const back = await openDirectory('events-back');
    const [[at, left] = [0, 0], ...others] = await back.timesToLive();
    const result = await back.range(prefixRange('/registry/events/'));
    assert.equal(result.type === 'ok' && result.kvs[0]?.modRevision, at);
    assert.ok(left > 3500 && left <= 3720 && others.length === 0, `${left}`);
    await back.close();
  } finally {
    await stop();
  }
});

test('formatProgress shows how much is done', () => {
  assert.equal(formatProgress(1, 4), `[${'#'.repeat(10)}${' '.repeat(30)}]  25 % 1/4 keys`);
  assert.equal(formatProgress(0, 0), `[${'#'.repeat(40)}] 100 % 0/0 keys`);
});
