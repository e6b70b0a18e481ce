// The PostgreSQL Store while its database breaks: two Stores with caches over it, clients at work all the time. Each guarantee is checked by its
// name against the log that the database itself keeps (history.ts).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { type Socket, connect, createServer } from 'node:net';
import { type TestContext, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { systemClock } from '../../src/base/index.ts';
import { StorageHealth, type Store, openPostgresStore, prefixRange } from '../../src/storage/index.ts';
import { type PostgresServer, noPostgres, startPostgres } from '../../src/storage/postgres/server.suite.ts';
import { eventually } from '../../src/test-support/index.ts';
import { Log, RunHistory, readTruth } from './history.ts';
import { startProxy } from './proxy.ts';
import { Workload } from './workload.ts';

const calmMs = 800;
const longestCallMs = 20_000;
const guarantees = 'no acknowledged write is lost or doubled, no read is stale, no event is lost, doubled or out of order, revisions never go back';

/** What breaks: the database, or what stands between it and the Stores. */
interface Scene {
  readonly server: PostgresServer;
  readonly cutter: Cutter;
}

const url = (ports: readonly number[]): string => `postgres://pintle@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres`;
const open = (...ports: readonly number[]): Promise<Store> => openPostgresStore({ endpoint: url(ports), clock: systemClock, compactionIntervalMs: 0 });

async function runSql({ port }: Pick<PostgresServer, 'port'>, sql: string): Promise<readonly any[][]> {
  const client = new Client({ connectionString: url([port]) });
  await client.connect();
  const { rows } = await client.query<any[]>({ text: sql, rowMode: 'array' });
  await client.end();
  return rows;
}

/** A proxy that loses answers: the connection ends when the database has spoken, and nothing of that arrives. */
interface Cutter {
  readonly port: number;
  /** The share of answers that are lost. */
  share: number;
  readonly cuts: number;
  close(): void;
}

async function startCutter(target: number): Promise<Cutter> {
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true });
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.on('data', (bytes) => void far.write(bytes));
    far.on('data', (bytes) => {
      if (Math.random() >= cutter.share) return void near.write(bytes);
      cuts += 1;
      near.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutter: Cutter = {
    port: (server.address() as { port: number }).port, share: 0,
    get cuts() {
      return cuts;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return cutter;
}

async function endure(context: TestContext, fault: (scene: Scene) => Promise<unknown>): Promise<void> {
  const server = await startPostgres();
  const cutter = await startCutter(server.port);
  try {
    await work(context, [await open(server.port), await open(cutter.port)], () => fault({ server, cutter }), () => open(server.port));
  } finally {
    cutter.close();
    await server.stop();
  }
}

/** Writes, reads and watches while `fault` runs, then checks what was done and seen against the log of a fresh Store. */
async function work(context: TestContext, stores: readonly Store[], fault: () => Promise<unknown>, openFresh: () => Promise<Store>): Promise<void> {
  const history = new RunHistory();
  const workload = new Workload(stores, history);
  workload.start(6);
  await sleep(calmMs);
  await fault();
  const before = history.acknowledged;
  await eventually(() => assert.ok(history.acknowledged > before + 20, 'work continues after the fault'));
  await sleep(calmMs);
  await workload.stop();
  const fresh = await openFresh();
  const truth = await readTruth(fresh);
  const last = truth.received.at(-1)?.kv.modRevision ?? 0;
  await eventually(() => assert.ok(history.logs.slice(0, 2).every((log) => (log.received.at(-1)?.kv.modRevision ?? 0) >= last)));
  await eventually(() => history.check(truth.received), 5_000);
  assert.ok(workload.longestCallMs < longestCallMs, `no call hangs: ${workload.longestCallMs} ms`);
  const known = history.writes.filter(({ revision }) => revision !== undefined).length;
  const failed = [...workload.failures].map(([name, count]) => `${count} ${name}`).join(', ');
  context.diagnostic(`${known} writes acknowledged, ${history.writes.length - known} unknown, ${history.reads.length} reads, ${history.logs.length} watches; failed: ${failed}; longest ${Math.round(workload.longestCallMs)} ms`);
  await Promise.all([...stores, fresh].map((store) => store.close()));
}

/** The processes of an instance, its first one left out. */
function listProcesses({ pid }: PostgresServer): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return stdout.split('\n').map(Number).filter((child) => child > 0);
}

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
  test('refuses writes with its words, goes on to read, and takes writes again by itself once there is room', async (context) => {
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
