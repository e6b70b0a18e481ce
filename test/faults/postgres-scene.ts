// A PostgreSQL that is broken while clients are at work on Stores over it, and the check of what they did and saw.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type Socket, connect, createServer } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { systemClock } from '../../src/base/index.ts';
import { type Store, openPostgresStore } from '../../src/storage/index.ts';
import { type PostgresServer, startPostgres } from '../../src/storage/postgres/server.suite.ts';
import { eventually } from '../../src/test-support/index.ts';
import { RunHistory, readTruth } from './history.ts';
import { Workload } from './workload.ts';

const calmMs = 800;
const longestCallMs = 20_000;
/** Each is checked after every fault. */
export const guarantees = 'no acknowledged write is lost or doubled, no read is stale, no event is lost, doubled or out of order, revisions never go back';

/** What breaks: the database, or what stands between it and the Stores. */
export interface Scene {
  readonly server: PostgresServer;
  readonly cutter: Cutter;
}

/** The URL of a database that is reached at one of these ports. */
export const url = (ports: readonly number[]): string => `postgres://pintle@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres`;
/** A Store over it. */
export const open = (...ports: readonly number[]): Promise<Store> => openPostgresStore({ endpoint: url(ports), clock: systemClock, compactionIntervalMs: 0 });

/** Runs one statement, or several without values, as the owner of everything. */
export async function runSql({ port }: Pick<PostgresServer, 'port'>, sql: string): Promise<readonly any[][]> {
  const client = new Client({ connectionString: url([port]) });
  await client.connect();
  try {
    return (await client.query<any[]>({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

/** A proxy that loses answers, which ends their connection, delays them, or passes nothing. */
interface Cutter {
  readonly port: number;
  /** The share of answers that are lost. */
  share: number;
  delayMs: number;
  /** Rows have a length and then nothing that is a row. */
  garbled: boolean;
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
    // Answers keep their order, also where the delay becomes shorter between two of them.
    let before: Promise<unknown> = Promise.resolve();
    far.on('data', (bytes) => {
      if (cutter.garbled) garble(bytes);
      if (Math.random() < cutter.share) {
        cuts += 1;
        near.destroy();
        return;
      }
      before = Promise.all([before, cutter.delayMs > 0 ? sleep(cutter.delayMs) : undefined]).then(() => near.write(bytes));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutter: Cutter = {
    port: (server.address() as { port: number }).port, share: 0, delayMs: 0, garbled: false,
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

/** Fills the rows among these messages: a byte for the kind, four for the length of what follows with themselves. */
function garble(messages: Buffer): void {
  for (let at = 0; at + 5 <= messages.length; at += 1 + messages.readUInt32BE(at + 1)) {
    if (messages[at] === 0x44) messages.fill(0xff, at + 5, at + 1 + messages.readUInt32BE(at + 1));
  }
}

/** Work on a Store over the database, and on one beyond a cutter, while `fault` runs. */
export async function endure(context: TestContext, fault: (scene: Scene) => Promise<unknown>): Promise<void> {
  const server = await startPostgres();
  const cutter = await startCutter(server.port);
  try {
    await work(context, [await open(server.port), await open(cutter.port)], () => fault({ server, cutter }), () => open(server.port));
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${server.readLog()}`, { cause: error });
  } finally {
    cutter.close();
    await server.stop();
  }
}

/** Writes, reads and watches while `fault` runs, then checks what was done and seen against the log of a fresh Store. */
export async function work(context: TestContext, stores: readonly Store[], fault: () => Promise<unknown>, openFresh: () => Promise<Store>): Promise<void> {
  const history = new RunHistory();
  const workload = new Workload(stores, history);
  const opened = [...stores];
  try {
    workload.start(6);
    await sleep(calmMs);
    await fault();
    const before = history.acknowledged;
    await eventually(() => assert.ok(history.acknowledged > before + 20, 'work continues after the fault'));
    await sleep(calmMs);
    await workload.stop();
    const fresh = await openFresh();
    opened.push(fresh);
    const truth = await readTruth(fresh);
    const last = truth.received.at(-1)?.kv.modRevision ?? 0;
    await eventually(() => assert.ok(history.logs.slice(0, 2).every((log) => (log.received.at(-1)?.kv.modRevision ?? 0) >= last)));
    await eventually(() => history.check(truth.received), 5_000);
  } finally {
    await workload.stop();
    await Promise.all(opened.map((store) => store.close()));
  }
  assert.ok(workload.longestCallMs < longestCallMs, `no call hangs: ${workload.longestCallMs} ms`);
  const known = history.writes.filter(({ revision }) => revision !== undefined).length;
  const failed = [...workload.failures].map(([name, count]) => `${count} ${name}`).join(', ');
  context.diagnostic(`${known} writes acknowledged, ${history.writes.length - known} unknown, ${history.reads.length} reads, ${history.logs.length} watches; failed: ${failed}; longest ${Math.round(workload.longestCallMs)} ms`);
}

/** The processes of an instance, its first one left out. */
export function listProcesses({ pid }: PostgresServer): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return stdout.split('\n').map(Number).filter((child) => child > 0);
}
