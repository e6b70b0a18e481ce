// Snapshots, restores and copies between data directories and etcd, also of stores that are being written: the same keys, values and revisions, or a refusal.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../base/index.ts';
import { type Store, openEmbeddedStore, openEtcdStore, openPostgresStore, prefixRange } from '../../storage/index.ts';
import { noEtcd, startCluster } from '../../storage/etcd/cluster.suite.ts';
import { noPostgres, startPostgres } from '../../storage/postgres/server.suite.ts';
import { copyStorage } from './copy.ts';
import type { StoreLocation } from './place.ts';
import { createProgress, formatProgress } from './progress.ts';
import { restoreSnapshot } from './restore.ts';
import { takeSnapshot } from './snapshot.ts';
import { SnapshotWriter } from './snapshot-writer.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-backup-'));
after(() => rmSync(root, { recursive: true }));

const clock = systemClock;
const silent = { show: () => undefined, end: () => undefined };
const none = {
  certDir: '', etcdServers: [], etcdPrefix: '/registry', etcdCaFile: '', etcdCertFile: '', etcdKeyFile: '',
  datastoreEndpoint: '', datastoreCaFile: '', datastoreCertFile: '', datastoreKeyFile: '',
};
const directoryPlace = (name: string): StoreLocation => ({ ...none, dataDir: join(root, name) });
const etcdPlace = (endpoints: readonly string[], name = ''): StoreLocation =>
  ({ ...none, etcdServers: endpoints, dataDir: name === '' ? '' : join(root, name) });
const fileOf = (name: string): string => join(root, `${name}.snapshot`);
const openDirectory = (name: string): Promise<Store> => openEmbeddedStore({ directory: join(root, name, 'store'), clock });
const snapshot = (place: StoreLocation, name: string) => takeSnapshot({ place, file: fileOf(name), clock, progress: silent });
const restore = (name: string, place: StoreLocation, bump?: number) => (
  restoreSnapshot({ file: fileOf(name), place, bump, clock, progress: { check: silent, write: silent } })
);
const copy = (from: StoreLocation, to: StoreLocation) => copyStorage({ from, to, clock, progress: { read: silent, check: silent, write: silent } });

/** 23 keys with history between and behind them, one of them updated, one deleted, one with a time to live. */
async function fill(name: string): Promise<{ revision: number; content: string[] }> {
  mkdirSync(join(root, name, 'pki'), { recursive: true });
  writeFileSync(join(root, name, 'pki', 'sa.key'), `key of ${name}`);
  const store = await openDirectory(name);
  const write = (key: string, value: string, expect = 0) => store.txn({ key: `/registry/${key}`, expect, value: Buffer.from(value) });
  await Promise.all(Array.from({ length: 20 }, (_, index) => write(`pods/n/${index}`, `{"n":${index}}`)));
  const { revision: first } = await write('pods/n/updated', 'one');
  await write('pods/n/updated', 'two', first);
  const { revision: doomed } = await write('pods/n/deleted', 'one');
  await store.txn({ key: '/registry/events/n/e', expect: 0, value: new Uint8Array([0, 255, 0]), ttlSeconds: 3600 });
  await write('pods/\u{1f600}', '');
  const { revision } = await store.txn({ key: '/registry/pods/n/deleted', expect: doomed });
  const content = await read(store);
  await store.close();
  return { revision, content };
}

/** Every key with its value and the revision of its version. */
async function read(store: Store): Promise<string[]> {
  const result = await store.range(prefixRange('/registry/'));
  return result.type === 'ok' ? result.kvs.map(({ key, value, modRevision }) => `${key} ${modRevision} ${Buffer.from(value).toString('hex')}`) : [];
}

async function readDirectory(name: string): Promise<{ revision: number; content: string[]; timesToLive: number[] }> {
  const store = await openDirectory(name);
  try {
    return { revision: await store.revision(), content: await read(store), timesToLive: [...(await store.timesToLive()).values()] };
  } finally {
    await store.close();
  }
}

test('a snapshot of a stopped server is restored with revisions, times to live and keys, raised unless an option says otherwise', async () => {
  const { revision, content } = await fill('one');
  writeFileSync(`${fileOf('one')}.partial`, 'of another one, and open to all', { mode: 0o666 });
  assert.deepEqual(await snapshot(directoryPlace('one'), 'one').then(({ bytes: _, ...report }) => report), { revision, keys: 23, secrets: 1 });
  assert.equal(statSync(fileOf('one')).mode & 0o777, 0o600);
  assert.deepEqual(await restore('one', directoryPlace('exact'), 0), { keys: 23, secrets: 1, snapshotRevision: revision, revision });
  const exact = await readDirectory('exact');
  assert.deepEqual([exact.revision, exact.content], [revision, content]);
  assert.ok(exact.timesToLive.length === 1 && (exact.timesToLive[0] as number) > 3500);
  assert.equal(readFileSync(join(root, 'exact', 'pki', 'sa.key'), 'utf8'), 'key of one');
  assert.deepEqual(readdirSync(join(root, 'exact')).sort(), ['pki', 'store']);
  assert.equal((await restore('one', directoryPlace('raised'))).revision, revision + 1_000_000_000);
  assert.deepEqual((await readDirectory('raised')).content, content);
});

test('a record of thousands of users does not end backups; a file that is no key does', async () => {
  await fill('crowded');
  writeFileSync(join(root, 'crowded', 'pki', 'users.jsonl'), `${JSON.stringify({ event: 'issued', user: 'u'.repeat(400) })}\n`.repeat(3000));
  assert.equal((await snapshot(directoryPlace('crowded'), 'crowded')).secrets, 2);
  writeFileSync(join(root, 'crowded', 'pki', 'dump'), Buffer.alloc(2 ** 20 + 1));
  await assert.rejects(snapshot(directoryPlace('crowded'), 'crowded-2'), /dump is too large for a key or a certificate/);
});

test('a restored store is compacted where the snapshot was taken: a watch from there misses nothing, one from before gets 410', async () => {
  const { revision } = await fill('history');
  await snapshot(directoryPlace('history'), 'history');
  await restore('history', directoryPlace('history-back'), 0);
  const store = await openDirectory('history-back');
  const watchFrom = (from: number): Promise<string> => new Promise((resolve) => {
    const watch = store.watch(prefixRange('/registry/'), from, {
      events: ([event]) => { watch.close(); resolve(`${event?.type} ${event?.kv.key} ${event?.kv.modRevision} ${event?.previous?.modRevision}`); },
      progress: () => undefined, ended: ({ type }) => resolve(type),
    });
  });
  const updated = await store.range(prefixRange('/registry/pods/n/updated'));
  const expect = updated.type === 'ok' ? updated.kvs[0]?.modRevision as number : 0;
  const seen = watchFrom(revision + 1);
  assert.equal(await watchFrom(revision), 'compacted');
  await store.txn({ key: '/registry/pods/n/updated', expect, value: Buffer.from('three') });
  assert.equal(await seen, `put /registry/pods/n/updated ${revision + 1} ${expect}`);
  await store.close();
});

test('a snapshot of a store that is being written has every acknowledged write from before it, and one state', async () => {
  await fill('busy');
  const store = await openDirectory('busy');
  let stopped = false;
  let last = 0;
  // Each round writes `a` and then `b`: no state has a `b` that is ahead of its `a`.
  const write = async (key: string, n: number): Promise<void> => {
    const found = await store.range(prefixRange(`/registry/pairs/${key}`));
    const expect = found.type === 'ok' ? found.kvs[0]?.modRevision ?? 0 : 0;
    await store.txn({ key: `/registry/pairs/${key}`, expect, value: Buffer.from(String(n)) });
  };
  const writing = (async () => {
    for (let n = 1; !stopped; n += 1) {
      await write('a', n);
      await write('b', n);
      last = n;
    }
  })();
  for (let round = 0; round < 5; round += 1) {
    const known = last;
    await snapshot(directoryPlace('busy'), `busy-${round}`);
    await restore(`busy-${round}`, directoryPlace(`busy-${round}`), 0);
    const { content } = await readDirectory(`busy-${round}`);
    const [a, b] = ['a', 'b'].map((key) => {
      const line = content.find((text) => text.startsWith(`/registry/pairs/${key} `));
      return Number(Buffer.from(line?.split(' ')[2] ?? '', 'hex').toString());
    }) as [number, number];
    assert.ok(b >= known && (a === b || a === b + 1), `a ${a} b ${b}, ${known} was acknowledged before`);
  }
  stopped = true;
  await writing;
  await store.close();
});

test('a snapshot has what a crash left in the journal, though no server carries it into the tables', async () => {
  await fill('crashed');
  const store = await openEmbeddedStore({
    directory: join(root, 'crashed', 'store'), clock,
    failpoint: (name) => {
      if (name === 'before-apply') throw new Error('the tables take nothing');
    },
  });
  const { revision } = await store.txn({ key: '/registry/pods/n/late', expect: 0, value: Buffer.from('late'), ttlSeconds: 60 });
  const { keys, ...report } = await snapshot(directoryPlace('crashed'), 'crashed');
  await store.close();
  assert.deepEqual([keys, report.revision], [24, revision]);
  await restore('crashed', directoryPlace('crashed-back'), 0);
  const { content, timesToLive } = await readDirectory('crashed-back');
  assert.ok(content.includes(`/registry/pods/n/late ${revision} ${Buffer.from('late').toString('hex')}`));
  assert.equal(timesToLive.length, 2);
});

test('a file that is damaged anywhere, cut short or foreign is refused, and so is a place that holds something', async () => {
  await fill('whole');
  await snapshot(directoryPlace('whole'), 'whole');
  const bytes = readFileSync(fileOf('whole'));
  const refuses = async (content: Buffer, why: RegExp): Promise<void> => {
    writeFileSync(fileOf('bad'), content);
    await assert.rejects(restore('bad', directoryPlace('never')), why);
    assert.equal(existsSync(join(root, 'never', 'store')), false);
  };
  for (let at = 0; at < bytes.length; at += 13) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] as number) ^ 0x10;
    await refuses(damaged, /is damaged|is cut short|is not a snapshot/);
  }
  for (let length = 0; length < bytes.length; length += 101) await refuses(bytes.subarray(0, length), /is cut short|is not a snapshot/);
  await refuses(bytes.subarray(0, -1), /is cut short/);
  await refuses(Buffer.concat([bytes, Buffer.from('x')]), /something follows its end/);
  await refuses(Buffer.from(bytes.toString('latin1').replace('"version":1', '"version":9'), 'latin1'), /format version 9/);
  await assert.rejects(restore('whole', directoryPlace('whole')), /is not empty: it holds/);
  await assert.rejects(snapshot(directoryPlace('whole'), 'whole'), /exists; choose another name/);
  await assert.rejects(snapshot(directoryPlace('nowhere'), 'nowhere'), /has no store/);
  assert.equal(existsSync(`${fileOf('nowhere')}.partial`), false);
  truncateSync(fileOf('bad'), 0);
});

test('a file whose checksum is right is refused when its files lead elsewhere, or its revisions are those of no store; nothing is written then', async () => {
  const header = { version: 1, revision: 10, root: '/registry', keys: 1, time: '', program: '' };
  const key = { key: '/registry/a', value: Buffer.from('v'), modRevision: 3, createRevision: 2 };
  const secret = { name: 'ca.key', text: 'x' };
  let files = 0;
  const restoreMade = (parts: { header?: object; key?: object; secret?: object }) => {
    files += 1;
    const writer = new SnapshotWriter(fileOf(`made-${files}`));
    writer.addHeader({ ...header, ...parts.header });
    writer.addSecret({ ...secret, ...parts.secret });
    writer.addKey({ ...key, ...parts.key });
    writer.finish();
    return restore(`made-${files}`, directoryPlace('made'), 0);
  };
  for (const name of ['..', '.', '', '../pki.key', '/etc/ca.key', 'a\\b', 7, null]) {
    await assert.rejects(restoreMade({ secret: { name } }), { name: 'StartError', message: /names a file .* outside the directory of certificates/ });
  }
  await assert.rejects(restoreMade({ secret: { text: { length: 1 } } }), /is damaged/);
  const wrongKeys = [{ modRevision: 11 }, { modRevision: NaN }, { modRevision: 2.5 }, { modRevision: 2 ** 60 }, { createRevision: 4 }, { createRevision: -1 }];
  for (const wrong of wrongKeys) {
    await assert.rejects(restoreMade({ key: wrong }), { name: 'StartError', message: /revisions that no store has/ });
  }
  for (const wrong of [{ revision: '10' }, { revision: -0.5 }, { root: 1 }, { keys: 2 }]) await assert.rejects(restoreMade({ header: wrong }), /is damaged/);
  assert.deepEqual(readdirSync(root).filter((name) => name.startsWith('made') && !name.endsWith('.snapshot')), []);
  assert.equal((await restoreMade({})).keys, 1);
});

test('a restore that was interrupted is begun again, and its leftovers are no data directory', async () => {
  await fill('again');
  await snapshot(directoryPlace('again'), 'again');
  mkdirSync(join(root, 'half', 'restore.partial', 'store'), { recursive: true });
  writeFileSync(join(root, 'half', 'restore.partial', 'store', 'store.mdb'), 'half');
  await restore('again', directoryPlace('half'));
  assert.deepEqual(readdirSync(join(root, 'half')).sort(), ['pki', 'store']);
});

test('copyStorage copies a directory with its revisions and keys, and refuses a target that holds something', async () => {
  const { revision, content } = await fill('origin');
  assert.deepEqual(await copy(directoryPlace('origin'), directoryPlace('copied')), { keys: 23, secrets: 1, snapshotRevision: revision, revision });
  const copied = await readDirectory('copied');
  assert.deepEqual([copied.revision, copied.content], [revision, content]);
  assert.equal(readFileSync(join(root, 'copied', 'pki', 'sa.key'), 'utf8'), 'key of origin');
  await assert.rejects(copy(directoryPlace('origin'), directoryPlace('copied')), /is not empty/);
  await assert.rejects(copy(directoryPlace('nowhere'), directoryPlace('three')), /has no store/);
  assert.deepEqual(readdirSync(root).filter((name) => name.startsWith('.pintle-copy')), []);
});

test('snapshots go through etcd and back: every key at its revision, a bump, and what is left of times to live', { skip: noEtcd }, async () => {
  const { revision, content } = await fill('for-etcd');
  await snapshot(directoryPlace('for-etcd'), 'for-etcd');
  const { endpoints, stop } = await startCluster();
  try {
    const report = await restore('for-etcd', etcdPlace(endpoints, 'etcd-pki'), 1000);
    assert.ok(report.revision >= revision + 1000 && report.revision <= revision + 1100, `${report.revision}`);
    assert.equal(readFileSync(join(root, 'etcd-pki', 'pki', 'sa.key'), 'utf8'), 'key of for-etcd');
    await assert.rejects(restore('for-etcd', etcdPlace(endpoints, 'etcd-other')), /is not empty/);
    const store = await openEtcdStore({ endpoints, clock });
    assert.deepEqual([await read(store), await store.revision()], [content, report.revision]);
    await store.close();
    await snapshot(etcdPlace(endpoints, 'etcd-pki'), 'of-etcd');
    await restore('of-etcd', directoryPlace('back'), 0);
    const back = await readDirectory('back');
    assert.deepEqual([back.content, back.revision], [content, report.revision]);
    assert.ok(back.timesToLive.length === 1 && (back.timesToLive[0] as number) > 3500);
  } finally {
    await stop();
  }
});

test('snapshots go through PostgreSQL and back: every key at its revision, a bump, and what is left of times to live', { skip: noPostgres }, async () => {
  const { revision, content } = await fill('for-postgres');
  const server = await startPostgres();
  try {
    const place: StoreLocation = { ...none, datastoreEndpoint: server.url('moved'), dataDir: join(root, 'postgres-pki') };
    assert.equal((await copy(directoryPlace('for-postgres'), place)).revision, revision);
    assert.equal(readFileSync(join(root, 'postgres-pki', 'pki', 'sa.key'), 'utf8'), 'key of for-postgres');
    await assert.rejects(copy(directoryPlace('for-postgres'), { ...place, dataDir: '' }), /is not empty/);
    const store = await openPostgresStore({ endpoint: server.url('moved'), clock });
    assert.deepEqual([await read(store), await store.revision()], [content, revision]);
    assert.equal((await store.txn({ key: '/registry/pods/n/0', expect: 2, value: Buffer.from('after') })).revision, revision + 1);
    await store.close();
    await snapshot(place, 'of-postgres');
    await restore('of-postgres', directoryPlace('from-postgres'), 0);
    const back = await readDirectory('from-postgres');
    assert.deepEqual([back.content.length, back.revision], [content.length, revision + 1]);
    assert.ok(back.timesToLive.length === 1 && (back.timesToLive[0] as number) > 3500);
    await restore('of-postgres', { ...none, datastoreEndpoint: server.url('bumped'), dataDir: '' }, 1000);
    const bumped = await openPostgresStore({ endpoint: server.url('bumped'), clock });
    assert.deepEqual([await read(bumped), await bumped.revision()], [back.content, revision + 1001]);
    await bumped.close();
  } finally {
    await server.stop();
  }
});

test('formatProgress shows share, amount, rate and time left; createProgress draws on a terminal and writes lines elsewhere', () => {
  const quarter = formatProgress({ done: 1, total: 4, unit: 'keys', elapsedMs: 500, hasBar: true });
  assert.equal(quarter, `[${'#'.repeat(8)}${' '.repeat(22)}]  25 % 1/4 keys, 2/s, 2 s left`);
  assert.equal(formatProgress({ done: 0, total: 0, unit: 'keys', elapsedMs: 0, hasBar: false }), '100 % 0/0 keys, 0/s');
  const draw = (isTTY: boolean): string => {
    let [text, now] = ['', 0];
    const output = { isTTY, write: (part: string) => (text += part) };
    const progress = createProgress({ task: 'copy', unit: 'keys', clock: { ...clock, monotonicMs: () => now }, output });
    for (const done of [1, 2, 3, 4]) {
      now += 3000;
      progress.show({ done, total: 4 });
    }
    progress.end();
    return text;
  };
  assert.match(draw(true), /^\rcopy \[#+ +\]  25 % .*\rcopy \[#{30}\] 100 % 4\/4 keys, 0\/s *\n$/s);
  assert.equal(draw(false), 'copy:  50 % 2/4 keys, 0/s, 6 s left\ncopy: 100 % 4/4 keys, 0/s\n');
});
