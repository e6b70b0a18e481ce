// The PostgreSQL Store while its database breaks: two Stores with caches over it, clients at work all the time. Each guarantee is checked by its
// name against the log that the database itself keeps (history.ts).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/index.ts';
import { StorageHealth, openPostgresStore, prefixRange } from '../../src/storage/index.ts';
import { noPostgres, startPostgres } from '../../src/storage/postgres/server.suite.ts';
import { eventually } from '../../src/test-support/index.ts';
import { Log } from './history.ts';
import { endure, guarantees, listProcesses, open, runSql, url, work } from './postgres-scene.ts';
import { startProxy } from './proxy.ts';

describe(`PostgreSQL breaks, and ${guarantees}`, { skip: noPostgres, timeout: 170_000 }, () => {
  test('when it ends all connections, again and again', (context) => endure(context, async ({ server }) => {
    for (let round = 0; round < 10; round += 1) {
      await runSql(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pintle'");
      await sleep(200);
    }
  }));

  test('when connections are lost at a commit, before its answer', (context) => endure(context, async ({ cutter }) => {
    cutter.share = 0.05;
    await eventually(() => assert.ok(cutter.cuts > 60));
    cutter.share = 0;
    context.diagnostic(`${cutter.cuts} answers lost`);
  }));

  test('when it crashes, and recovers', (context) => endure(context, async ({ server }) => {
    for (let round = 0; round < 2; round += 1) {
      await server.end('SIGQUIT');
      await sleep(500);
      await server.start();
      await sleep(1_000);
    }
  }));

  test('when it is restarted in good order', (context) => endure(context, async ({ server }) => {
    await server.end('SIGINT');
    await server.start();
  }));

  test('when one of its processes is killed, so that it restarts all of them', (context) => endure(context, async ({ server }) => {
    const [[pid]] = await runSql(server, "SELECT pid FROM pg_stat_activity WHERE application_name = 'pintle' LIMIT 1") as [[number]];
    process.kill(pid, 'SIGKILL');
    await sleep(500);
  }));

  test('when all of it is paused', (context) => endure(context, async ({ server }) => {
    const processes = [server.pid, ...listProcesses(server)];
    for (const pid of processes) process.kill(pid, 'SIGSTOP');
    await sleep(5_500);
    for (const pid of processes) process.kill(pid, 'SIGCONT');
  }));

  test('when it has no connection left, and those that there were are ended', async (context) => {
    const server = await startPostgres();
    try {
      await runSql(server, 'CREATE ROLE plain LOGIN; CREATE SCHEMA pintle AUTHORIZATION plain');
      const openPlain = () => openPostgresStore({ endpoint: url([server.port]).replace('pintle@', 'plain@'), clock: systemClock, compactionIntervalMs: 0 });
      await work(context, [await openPlain(), await openPlain()], async () => {
        for (const limit of [0, 3, -1]) {
          await runSql(server, `ALTER ROLE plain CONNECTION LIMIT ${limit}; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'`);
          await sleep(1_500);
        }
      }, openPlain);
    } finally {
      await server.stop();
    }
  });

  test('when it fails over to a replica that has every commit', async (context) => {
    const settings = ["synchronous_standby_names = '*'", 'hot_standby = on', 'wal_level = replica'];
    const primary = await startPostgres({ settings: settings.slice(1) });
    const replica = await startPostgres({ replicaOf: primary });
    try {
      await runSql(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'");
      await runSql(primary, 'SELECT pg_reload_conf()');
      await eventually(async () => assert.deepEqual(await runSql(primary, 'SELECT sync_state FROM pg_stat_replication'), [['sync']]));
      const ports = [primary.port, replica.port];
      await work(context, [await open(...ports), await open(...ports)], async () => {
        await primary.end('SIGQUIT');
        await runSql(replica, "ALTER SYSTEM SET synchronous_standby_names = ''");
        await runSql(replica, 'SELECT pg_promote()');
      }, () => open(...ports));
    } finally {
      await Promise.all([primary.stop(), replica.stop()]);
    }
  });
});

const canMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;

describe('a PostgreSQL whose disk is full', { skip: noPostgres || (!canMount && 'mounting needs root'), timeout: 60_000 }, () => {
  test('refuses writes with its words, continues to read, and takes writes again by itself once there is room', async (context) => {
    const server = await startPostgres();
    const directory = mkdtempSync('/dev/shm/pintle-full-');
    const { uid, gid } = statSync(server.directory);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=6m,uid=${uid},gid=${gid},mode=700`, 'none', directory]).status !== 0) {
      await server.stop();
      return context.skip('nothing can be mounted here');
    }
    try {
      const health = new StorageHealth();
      const store = await openPostgresStore({ endpoint: url([server.port]), clock: systemClock, health });
      await runSql(server, `CREATE TABLESPACE small LOCATION '${directory}'`);
      await runSql(server, 'ALTER TABLE pintle.log SET TABLESPACE small');
      let written = 0;
      const write = () => store.txn({ key: `/${written}`, expect: 0, value: Buffer.alloc(1_500, `${(written += 1)}`) });
      await assert.rejects(async () => {
        while (written < 10_000) await write();
      }, { name: 'StorageUnavailableError', outcomeKnown: true, message: /No space left on device/ });
      assert.match(health.refusal ?? '', /No space left on device/);
      const kept = await store.range({ ...prefixRange('/'), countOnly: true });
      assert.deepEqual([kept.type === 'ok' && kept.count, kept.revision], [written - 1, written], 'everything acknowledged is there, and nothing else');
      assert.equal(spawnSync('mount', ['-o', 'remount,size=64m', directory]).status, 0);
      await eventually(() => assert.equal(health.refusal, undefined));
      assert.equal((await write()).revision, written);
      await store.close();
    } finally {
      await server.stop();
      spawnSync('umount', [directory]);
      rmSync(directory, { recursive: true });
    }
  });
});

describe('a Store that is cut off from PostgreSQL', { skip: noPostgres, timeout: 60_000 }, () => {
  test('answers no read, and finds everything again by itself', async (context) => {
    const server = await startPostgres();
    const proxy = await startProxy(server.port);
    const [near, far] = [await open(server.port), await open(proxy.port)];
    const log = new Log(prefixRange('/'), 2);
    far.watch(log.range, 2, log);
    for (const mode of ['refuse', 'silent'] as const) {
      proxy.set(mode);
      for (let index = 0; index < 50; index += 1) await near.txn({ key: `/${mode}/${index}`, expect: 0, value: Buffer.from('v') });
      const began = systemClock.monotonicMs();
      await assert.rejects(far.revision(), { name: 'StorageUnavailableError' });
      assert.ok(systemClock.monotonicMs() - began < 5_000);
      const write = far.txn({ key: `/${mode}/lost`, expect: 0, value: Buffer.from('v') });
      await assert.rejects(write, { name: 'StorageUnavailableError' });
      proxy.set('open');
      const mended = systemClock.monotonicMs();
      await eventually(async () => assert.ok(((await far.range(prefixRange('/'))) as { count: number }).count >= 50));
      const last = await near.revision();
      await eventually(() => assert.equal(log.received.at(-1)?.kv.modRevision, last));
      context.diagnostic(`${mode}: mended in ${Math.round(systemClock.monotonicMs() - mended)} ms`);
    }
    assert.deepEqual(log.received.map(({ kv }) => kv.modRevision), Array.from({ length: log.received.length }, (_, index) => index + 2));
    await Promise.all([near.close(), far.close()]);
    proxy.close();
    await server.stop();
  });
});
