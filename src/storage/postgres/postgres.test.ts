// The PostgreSQL Store against the suite of all Stores, each test in a schema of its own; and what only PostgreSQL can show.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { type Clock, systemClock } from '../../base/index.ts';
import { eventually } from '../../test-support/wait.ts';
import type { Store } from '../store.ts';
import { describeStore } from '../store.suite.ts';
import { Recorder, all, bytes, keysOf, ok, put, text } from '../suite-tools.suite.ts';
import { parseEndpoint } from './endpoint.ts';
import { bumpPostgresRevision, openPostgresStore } from './open.ts';
import { createStatements } from './schema.ts';
import { type PostgresServer, noPostgres, startPostgres } from './server.suite.ts';
import { Session } from './session.ts';

let server: PostgresServer;
let schemas = 0;

before(async () => {
  if (noPostgres === false) server = await startPostgres();
});

after(() => server?.stop());

const schema = (): string => `test_${schemas}`;
const url = (): string => server.url(schema());

function open(clock: Clock): Promise<Store> {
  schemas += 1;
  return reopen(clock);
}

const reopen = (clock: Clock): Promise<Store> => openPostgresStore({ endpoint: url(), clock });

/** Runs SQL beside the Store. */
async function runSql(sql: string): Promise<readonly any[][]> {
  const client = new Client({ host: '127.0.0.1', port: server.port, user: 'pintle', database: 'postgres' });
  await client.connect();
  const { rows } = await client.query<any[]>({ text: sql, rowMode: 'array' });
  await client.end();
  return rows;
}

const endConnections = (): Promise<unknown> => runSql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pintle'");

if (noPostgres !== false) test('openPostgresStore', { skip: noPostgres });
else describeStore('openPostgresStore', open, { reopen, leasesInRealTime: true, lateDelivery: true, modelRuns: 15 });

describe('PostgreSQL by itself', { skip: noPostgres }, () => {
  test('a ttl deletes the key when the database says so, unless it was written again without one', async () => {
    const store = await open(systemClock);
    await put(store, { key: '/short', ttlSeconds: 1 });
    const kept = await put(store, { key: '/kept', ttlSeconds: 1 });
    const watch = new Recorder();
    store.watch(all, 4, watch);
    await put(store, { key: '/kept', expect: kept });
    const seen = (): string[] => watch.received.map((event) => `${event.type} ${event.kv.key} ${event.kv.createRevision}`);
    await eventually(() => assert.deepEqual(seen(), ['put /kept 3', 'delete /short 2']));
    assert.deepEqual(keysOf(ok(await store.range(all)).kvs), ['/kept']);
    await store.close();
  });

  test('two Stores on one database: the same dense revisions, conflicts between them, watches that are equal', async () => {
    const stores = [await open(systemClock), await reopen(systemClock)];
    const watches = stores.map((store) => {
      const watch = new Recorder();
      store.watch(all, 2, watch);
      return watch;
    });
    const rounds = 40;
    const won = [0, 0];
    await Promise.all(stores.flatMap((store, index) => [0, 1, 2].map(async (writer) => {
      for (let round = 0; round < rounds; round += 1) {
        const head = ok(await store.range({ start: '/hot', end: '/hot\u0000' })).kvs[0];
        const result = await store.txn({ key: '/hot', expect: head?.modRevision ?? 0, value: bytes(`${index}.${writer}.${round}`) });
        if (result.type === 'committed') won[index] = (won[index] ?? 0) + 1;
        else assert.notEqual(result.current?.modRevision, head?.modRevision);
        await put(store, { key: `/own/${index}/${writer}/${round}` });
      }
    })));
    const last = await (stores[0] as Store).revision();
    assert.equal(last, 1 + 6 * rounds + (won[0] as number) + (won[1] as number));
    await eventually(() => assert.ok(watches.every(({ received }) => received.at(-1)?.kv.modRevision === last)));
    assert.deepEqual(watches[0]?.summary, watches[1]?.summary);
    assert.deepEqual(watches[0]?.received.map(({ kv }) => kv.modRevision), Array.from({ length: last - 1 }, (_, index) => index + 2));
    await Promise.all(stores.map((store) => store.close()));
  });

  test('a range of large values comes in pages of some megabytes, and says exactly whether there is more', async () => {
    const store = await open(systemClock);
    for (let index = 0; index < 12; index += 1) await store.txn({ key: `/${10 + index}`, expect: 0, value: Buffer.alloc(2 << 20, index) });
    const { page } = createStatements(schema());
    const session = await Session.open(parseEndpoint(url()));
    const rows = await session.run(page, [Buffer.from('/'), Buffer.from('0'), null, 500, 8 << 20], 10_000);
    session.close();
    assert.deepEqual([rows.length, rows[0]?.[6]], [4, 12]);
    const whole = ok(await store.range(all));
    const seen = whole.kvs.map(({ key, value }) => `${key} ${value.length} ${value[0]}`);
    assert.deepEqual(seen, Array.from({ length: 12 }, (_, index) => `/${10 + index} 2097152 ${index}`));
    assert.deepEqual([whole.more, whole.count], [false, 12]);
    for (const [limit, more] of [[3, true], [4, true], [5, true], [11, true], [12, false], [13, false]] as const) {
      const part = ok(await store.range({ ...all, limit, uncounted: true }));
      assert.deepEqual([part.kvs.length, part.more], [Math.min(limit, 12), more], `limit ${limit}`);
    }
    await store.close();
  });

  test('a change without a notification is found', async () => {
    const store = await open(systemClock);
    const watch = new Recorder();
    store.watch(all, 2, watch);
    await runSql(`INSERT INTO ${schema()}.log VALUES (2, 0, 2, 7, '/quiet', 'v'); INSERT INTO ${schema()}.head VALUES ('/quiet', 2, 2, true, NULL)`);
    await eventually(() => assert.deepEqual(watch.summary, ['put /quiet@2=v']));
    await store.close();
  });

  test('of several Stores one compacts in each interval, and the rows that it forgets are gone', async () => {
    const intervalMs = 300;
    schemas += 1;
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore({ endpoint: url(), clock: systemClock, compactionIntervalMs: intervalMs })));
    const [first, second] = stores as [Store, Store];
    let expect = 0;
    for (let index = 0; index < 20; index += 1) expect = await put(first, { key: '/hot', expect });
    const gone = await put(first, { key: '/gone' });
    const buried = await first.txn({ key: '/gone', expect: gone });
    await eventually(async () => assert.equal((await second.range({ ...all, revision: gone })).type, 'compacted'));
    const count = `SELECT (SELECT count(*) FROM ${schema()}.log)::int, (SELECT count(*) FROM ${schema()}.head)::int`;
    await eventually(async () => assert.deepEqual(await runSql(count), [[1, 1]]));
    assert.equal(await second.revision(), buried.revision);
    assert.equal(await put(second, { key: '/gone' }), buried.revision + 1);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('close does not wait for all rows that a compaction removes: the next one continues', async () => {
    const store = await open(systemClock);
    await runSql(`INSERT INTO ${schema()}.log SELECT r, CASE r WHEN 2 THEN 0 ELSE r - 1 END, 2, 7, '/hot', 'v' FROM generate_series(2, 5001) r;
      INSERT INTO ${schema()}.head VALUES ('/hot', 5001, 2, true, NULL)`);
    const holder = new Client({ host: '127.0.0.1', port: server.port, user: 'pintle', database: 'postgres' });
    await holder.connect();
    await holder.query(`BEGIN; SELECT 1 FROM ${schema()}.log WHERE revision = 2 FOR UPDATE`);
    const compacting = store.compact(5001);
    await eventually(async () => assert.deepEqual(await runSql("SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock'"), [[1]]));
    const closing = store.close();
    await holder.end();
    await Promise.all([compacting, closing]);
    const state = `SELECT compact_revision::int, (SELECT count(*)::int FROM ${schema()}.log) FROM ${schema()}.meta`;
    assert.deepEqual(await runSql(state), [[5001, 4501]], 'one step was taken');
    const again = await reopen(systemClock);
    await again.compact(5001);
    await eventually(async () => assert.deepEqual(await runSql(state), [[5001, 1]]));
    await again.close();
  });

  test('a Store whose connections are ended continues by itself: nothing lost, nothing doubled', async () => {
    const store = await open(systemClock);
    const watch = new Recorder();
    store.watch(all, 2, watch);
    let isOver = false;
    const written: number[] = [];
    const writing = Promise.all(Array.from({ length: 8 }, async (_, writer) => {
      for (let index = 0; !isOver; index += 1) written.push(await put(store, { key: `/w${writer}/${index}` }));
    }));
    for (let round = 0; round < 5; round += 1) {
      await endConnections();
      const before = written.length;
      await eventually(() => assert.ok(written.length > before + 20));
    }
    isOver = true;
    await writing;
    const last = Math.max(...written);
    const revisions = Array.from({ length: last - 1 }, (_, index) => index + 2);
    assert.deepEqual([...written].sort((left, right) => left - right), revisions, 'each revision was answered once');
    await eventually(() => assert.equal(watch.received.length, last - 1));
    await store.close();
  });
});

describe('a database that is not what it was', { skip: noPostgres }, () => {
  const goBack = `DELETE FROM SCHEMA.log WHERE revision > 5; DELETE FROM SCHEMA.head WHERE revision > 5`;

  for (const [how, sql] of [
    ['has lost its last commits', goBack],
    ['has lost its last commits and got others', `${goBack}; INSERT INTO SCHEMA.log SELECT r, 0, r, 7, ('/other/' || r)::bytea, 'v' FROM generate_series(6, 30) r`],
    ['is another one', 'UPDATE SCHEMA.meta SET store = gen_random_uuid()'],
  ] as const) {
    test(`is not served when it ${how}; a bump makes clients list again`, async () => {
      const store = await open(systemClock);
      const watch = new Recorder();
      store.watch(all, 2, watch);
      for (let index = 0; index < 10; index += 1) await put(store, { key: `/k${index}` });
      await eventually(() => assert.equal(watch.received.length, 10));
      // One statement: what the Store sees is the state before or after.
      await runSql(`BEGIN; ${sql.replaceAll('SCHEMA', schema())}; COMMIT`);
      await endConnections();
      await eventually(() => assert.equal(watch.end?.type, 'failed'));
      for (const call of [() => store.revision(), () => store.range(all), () => store.txn({ key: '/x', expect: 0, value: bytes('v') })]) {
        await assert.rejects(call, { name: 'StorageHistoryError' });
      }
      await store.close();
      await assert.rejects(bumpPostgresRevision({ endpoint: url() }, Number.MAX_SAFE_INTEGER), /cannot be raised by 9007199254740991/);
      assert.ok(await bumpPostgresRevision({ endpoint: url() }, 1000) >= 1005);
      const again = await reopen(systemClock);
      assert.equal((await again.range({ ...all, revision: 11 })).type, 'compacted');
      const revision = await again.revision();
      assert.equal(await put(again, { key: '/after' }), revision + 1);
      await again.close();
    });
  }
});

describe('openPostgresStore', { skip: noPostgres }, () => {
  test('makes the tables once when many servers start at once, and refuses those of a newer program', async () => {
    schemas += 1;
    const stores = await Promise.all([1, 2, 3, 4].map(() => reopen(systemClock)));
    const revisions = await Promise.all(stores.map((store, index) => put(store, { key: `/${index}` })));
    assert.deepEqual(revisions.sort(), [2, 3, 4, 5]);
    await Promise.all(stores.map((store) => store.close()));
    await runSql(`UPDATE ${schema()}.meta SET version = 99`);
    await assert.rejects(reopen(systemClock), /version 99, which this program does not know/);
  });

  test('needs no right but to own a schema, and keeps within the connections that its role may have', async () => {
    schemas += 1;
    await runSql(`CREATE ROLE plain_${schemas} LOGIN CONNECTION LIMIT 3; CREATE SCHEMA ${schema()} AUTHORIZATION plain_${schemas};
      REVOKE ALL ON DATABASE postgres FROM PUBLIC; GRANT CONNECT ON DATABASE postgres TO plain_${schemas}`);
    const store = await openPostgresStore({ endpoint: url().replace('pintle@', `plain_${schemas}@`), clock: systemClock, readers: 1 });
    const value = Buffer.alloc(3000, 7);
    await store.txn({ key: '/a', expect: 0, value });
    assert.deepEqual(ok(await store.range(all)).kvs.map((kv) => text(kv.value)), [value.toString()]);
    await store.compact(2);
    await store.close();
  });

  test('says within its time that there is no server, that the role or the database does not exist', async () => {
    for (const [endpoint, message] of [
      ['postgres://pintle@127.0.0.1:1/postgres', /127\.0\.0\.1:1 connect ECONNREFUSED/],
      [`postgres://stranger:secret@127.0.0.1:${server.port}/postgres`, /role "stranger" does not exist/],
      [`postgres://pintle@127.0.0.1:${server.port}/nowhere`, /database "nowhere" does not exist/],
    ] as const) {
      await assert.rejects(openPostgresStore({ endpoint, clock: systemClock }), (error: Error) => {
        assert.equal(error.name, 'StorageUnavailableError');
        assert.match(error.message, message);
        return !error.message.includes('secret');
      });
    }
  });
});
