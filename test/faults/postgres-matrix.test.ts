// More that a database does to its clients, a row each: sessions that end or are cancelled, locks of others, settings that change, a network that is
// slow or silent, replicas that lag behind. PINTLE_FAULT_ROUNDS repeats each row.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/index.ts';
import { openPostgresStore } from '../../src/storage/index.ts';
import { type PostgresServer, noPostgres, startPostgres } from '../../src/storage/postgres/server.suite.ts';
import { eventually } from '../../src/test-support/index.ts';
import { type Scene, endure, guarantees, listProcesses, open, runSql, url, work } from './postgres-scene.ts';

const rounds = Number(process.env.PINTLE_FAULT_ROUNDS ?? 1);
const sessions = "pg_stat_activity WHERE application_name = 'pintle'";
const endAll = `SELECT pg_terminate_backend(pid) FROM ${sessions}`;

async function repeat(count: number, pauseMs: number, step: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await step();
    await sleep(pauseMs);
  }
}

/** A setting of the whole server for some time; sessions begin again with it, and then without it. */
async function during({ server }: Scene, setting: string, ms: number): Promise<void> {
  const apply = async (sql: string): Promise<void> => {
    await runSql(server, sql);
    await runSql(server, `SELECT pg_reload_conf(); ${endAll}`);
  };
  await apply(`ALTER SYSTEM SET ${setting}`);
  await sleep(ms);
  await apply(`ALTER SYSTEM RESET ${setting.split(' ')[0]}`);
}

const faults: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'when what runs is cancelled, again and again': ({ server }) => repeat(15, 80, () => runSql(server, `SELECT pg_cancel_backend(pid) FROM ${sessions}`)),
  'when one session after another ends': ({ server }) =>
    repeat(15, 80, () => runSql(server, `SELECT pg_terminate_backend(pid) FROM ${sessions} ORDER BY random() LIMIT 1`)),
  'when the sessions that listen end': ({ server }) => repeat(8, 150, () => runSql(server, `${endAll} AND query ILIKE '%listen%'`)),
  'when another session locks the log': ({ server }) => runSql(server, 'BEGIN; LOCK TABLE pintle.log IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(1.5); COMMIT'),
  'when another session locks every table, and they are rewritten': ({ server }) => runSql(server, 'VACUUM FULL'),
  // A deadlock with a writer ends one of the two.
  'when their indexes are rebuilt': ({ server }) => repeat(3, 200, () => eventually(async () => void await runSql(server, 'REINDEX SCHEMA pintle'))),
  'when it becomes read-only for a while': (scene) => during(scene, 'default_transaction_read_only = on', 1_000),
  'when locks may not be waited for': (scene) => during(scene, "lock_timeout = '1ms'", 1_000),
  'when another session holds every row that is written': ({ server }) =>
    runSql(server, 'BEGIN; SELECT count(*) FROM (SELECT 1 FROM pintle.head FOR UPDATE) h; SELECT pg_sleep(1); COMMIT'),
  'when it commits without waiting for its disk, and does not crash': (scene) => during(scene, 'synchronous_commit = off', 500),
  'when checkpoints and new segments of its journal come all the time': ({ server }) =>
    repeat(10, 50, () => runSql(server, 'SELECT pg_switch_wal(); CHECKPOINT')),
  'when it is paused and then crashes': async ({ server }) => {
    const processes = [server.pid, ...listProcesses(server)];
    for (const pid of processes) process.kill(pid, 'SIGSTOP');
    await sleep(700);
    for (const pid of processes) process.kill(pid, 'SIGKILL');
    await server.end('SIGKILL');
    await server.start();
  },
  'when it crashes at its start': async ({ server }) => {
    await repeat(3, 0, async () => {
      await server.end('SIGKILL');
      await server.start();
    });
  },
  'when its answers take long': async ({ cutter }) => {
    cutter.delayMs = 150;
    await sleep(1_500);
    cutter.delayMs = 0;
  },
  'when answers are late and lost': async ({ cutter }) => {
    Object.assign(cutter, { delayMs: 30, share: 0.03 });
    await eventually(() => assert.ok(cutter.cuts > 15));
    Object.assign(cutter, { delayMs: 0, share: 0 });
  },
  'when its answers are no answers': async ({ cutter }) => {
    cutter.garbled = true;
    await sleep(700);
    cutter.garbled = false;
  },
};

describe(`PostgreSQL does harm, and ${guarantees}`, { skip: noPostgres, timeout: 170_000 * rounds }, () => {
  for (const [name, fault] of Object.entries(faults)) {
    test(name, async (context) => {
      for (let round = 0; round < rounds; round += 1) await endure(context, fault);
    });
  }
});

describe(`PostgreSQL has a replica, and ${guarantees}`, { skip: noPostgres, timeout: 170_000 * rounds }, () => {
  const settings = ['hot_standby = on', 'wal_level = replica'];
  const withReplica = async (job: (primary: PostgresServer, replica: PostgresServer) => Promise<void>): Promise<void> => {
    const primary = await startPostgres({ settings });
    const replica = await startPostgres({ replicaOf: primary });
    try {
      await job(primary, replica);
    } finally {
      await Promise.all([primary.stop(), replica.stop()]);
    }
  };

  test('which lags behind and comes first in the URL: nothing is read there', (context) => withReplica(async (primary, replica) => {
    const ports = [replica.port, primary.port];
    await work(context, [await open(...ports), await open(...ports)], async () => {
      await runSql(replica, 'SELECT pg_wal_replay_pause()');
      await repeat(3, 300, () => runSql(primary, endAll));
    }, () => open(...ports));
  }));

  test('which has not all commits and is promoted: the Store refuses to continue on it', () => withReplica(async (primary, replica) => {
    const ports = [primary.port, replica.port];
    const store = await openPostgresStore({ endpoint: url(ports), clock: systemClock, compactionIntervalMs: 0 });
    const write = (key: string) => store.txn({ key, expect: 0, value: Buffer.from(key) });
    await write('/kept');
    const [[position]] = await runSql(primary, 'SELECT pg_current_wal_lsn()') as [[string]];
    await eventually(async () => assert.deepEqual(await runSql(replica, `SELECT pg_last_wal_replay_lsn() >= '${position}'`), [[true]]));
    await replica.end('SIGINT');
    await write('/lost');
    await primary.end('SIGQUIT');
    await replica.start();
    await runSql(replica, 'SELECT pg_promote()');
    await eventually(() => assert.rejects(store.revision(), { message: /the database has gone back/ }));
    await assert.rejects(write('/more'), { message: /the database has gone back/ });
    assert.deepEqual(await runSql(replica, "SELECT convert_from(key, 'UTF8') FROM pintle.head"), [['/kept']]);
    await store.close();
  }));
});
