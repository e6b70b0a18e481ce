// Kills a process with SIGKILL under 64 writers, again and again on the same directory, at random moments and at named points, and proves
// after each: nothing acknowledged is lost, no revision is used twice, nothing is torn. PINTLE_CRASH_CYCLES sets the number of random kills.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { systemClock } from '../../src/base/index.ts';
import {
  type KeyValue, type Store, checkEmbeddedStore, isPostgresUrl, openEmbeddedStore, openPostgresStore, prefixRange,
} from '../../src/storage/index.ts';
import { noPostgres, startPostgres } from '../../src/storage/postgres/server.suite.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-crash-'));
after(() => rmSync(root, { recursive: true }));

const cycles = Number(process.env.PINTLE_CRASH_CYCLES ?? 8);
const failpoints = ['before-commit', 'after-commit', 'before-apply', 'after-apply', 'compaction-before-mark', 'compaction-after-mark', 'compaction-slice'];
const killsPerFailpoint = Math.max(3, Math.floor(cycles / 20));
const writer = fileURLToPath(new URL('./writer.child.js', import.meta.url));
const everything = prefixRange('/registry/');

interface Acknowledgement {
  readonly revision: number;
  readonly key: string;
  readonly checksum: number | null;
}

/** Everything that was ever acknowledged on one directory, and what the store was last seen to hold. */
class Ledger {
  readonly #newest = new Map<string, Acknowledgement>();
  /** The highest revision that was seen, by an acknowledgement or by reading after a restart. */
  #seen = 1;
  acknowledged = 0;

  /** `revisions` of one life of the process: all above what was seen before, none twice. */
  enter(life: readonly Acknowledgement[], openedAt: number): void {
    assert.ok(openedAt >= this.#seen, `opened at revision ${openedAt}, ${this.#seen} was seen before`);
    const unique = new Set(life.map((entry) => entry.revision));
    assert.equal(unique.size, life.length, 'a revision was acknowledged twice');
    for (const entry of life) {
      assert.ok(entry.revision > openedAt, `revision ${entry.revision} was used again after ${openedAt}`);
      if (entry.revision > (this.#newest.get(entry.key)?.revision ?? 0)) this.#newest.set(entry.key, entry);
      this.#seen = Math.max(this.#seen, entry.revision);
    }
    this.acknowledged += life.length;
  }

  /** Compares with what a reopened store holds; a newer revision than the acknowledged one is a write that was never acknowledged. */
  compare(kvs: readonly KeyValue[], revision: number): void {
    assert.ok(revision >= this.#seen, `revision ${revision} went back behind ${this.#seen}`);
    this.#seen = revision;
    const found = new Map(kvs.map((kv) => [kv.key, kv]));
    for (const [key, entry] of this.#newest) {
      const kv = found.get(key);
      if (kv && kv.modRevision > entry.revision) continue;
      if (entry.checksum === null) assert.equal(kv, undefined, `the delete of ${key} at ${entry.revision} was lost`);
      else if (kv) assert.deepEqual([kv.modRevision, crc32(kv.value)], [entry.revision, entry.checksum], `${key} was lost or torn`);
      // Absent: only an unheard delete may have done it, and that has used a revision after this one.
      else assert.ok(revision > entry.revision, `${key} at ${entry.revision} was lost`);
    }
  }
}

interface Life {
  readonly openedAt: number | undefined;
  readonly acknowledged: readonly Acknowledgement[];
}

/** Runs the writer until it kills itself at `failpoint`, or is killed `killAfterMs` after it has opened the store. */
function live(directory: string, options: { cycle: number; failpoint?: string; killAfterMs: number }): Promise<Life> {
  const child = spawn(process.execPath, [writer, directory, `${options.cycle}`], {
    stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PINTLE_CRASH_FAILPOINT: options.failpoint ?? '' },
  });
  let output = '';
  let complaints = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    timer ??= setTimeout(() => child.kill('SIGKILL'), options.killAfterMs);
  });
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (signal === 'SIGKILL') resolve(parseLife(output));
      else reject(new Error(`the writer ended by itself: code ${code}, signal ${signal}: ${complaints}`));
    });
  });
}

/** Whether there is one more life: at least `lives`, and up to ten times as many on a machine so slow that too little is acknowledged in them. */
const isDue = (cycle: number, lives: number, hasTooFew: boolean): boolean => cycle < lives || (hasTooFew && cycle < 10 * lives);

function parseLife(output: string): Life {
  // The kill may cut the last line: such a write was never acknowledged.
  const lines = output.slice(0, output.lastIndexOf('\n') + 1).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as unknown[]);
  const acknowledged = lines.slice(1).map(([revision, key, checksum]) => ({ revision, key, checksum }) as Acknowledgement);
  return { openedAt: lines[0]?.[1] as number | undefined, acknowledged };
}

async function verify(place: string, ledger: Ledger): Promise<void> {
  const isOwn = !isPostgresUrl(place);
  const store = await (isOwn ? openEmbeddedStore({ directory: place, clock: systemClock }) : openPostgresStore({ endpoint: place, clock: systemClock }));
  try {
    if (isOwn) assert.deepEqual((await checkEmbeddedStore(store)).problems, []);
    const result = await store.range(everything);
    assert.ok(result.type === 'ok');
    ledger.compare(result.kvs, result.revision);
    await replay(store, result.kvs, result.revision);
  } finally {
    await store.close();
  }
}

/** A watch over the kept history leads from an exact read to the state read just now. */
async function replay(store: Store, expected: readonly KeyValue[], revision: number): Promise<void> {
  const from = Math.max(1, revision - 150);
  const base = await store.range({ ...everything, revision: from });
  if (base.type !== 'ok') return;
  const state = new Map(base.kvs.map((kv) => [kv.key, kv.modRevision]));
  await new Promise<void>((resolve, reject) => {
    store.watch(everything, from + 1, {
      events: (batch) => batch.forEach(({ type, kv, previous }) => {
        assert.equal(previous?.modRevision, state.get(kv.key));
        if (type === 'put') state.set(kv.key, kv.modRevision);
        else state.delete(kv.key);
      }),
      progress: () => resolve(),
      ended: (reason) => reject(new Error(`the watch ended: ${reason.type}`)),
    }).requestProgress();
  });
  assert.deepEqual(new Map([...state].sort()), new Map(expected.map((kv) => [kv.key, kv.modRevision] as const).sort()));
}

test(`${cycles} kills at random moments lose nothing acknowledged, use no revision twice and tear nothing`, async (context) => {
  const directory = join(root, 'random');
  const ledger = new Ledger();
  for (let cycle = 0; isDue(cycle, cycles, ledger.acknowledged <= cycles); cycle += 1) {
    const { openedAt, acknowledged } = await live(directory, { cycle, killAfterMs: 20 + ((cycle * 67) % 240) });
    if (openedAt !== undefined) ledger.enter(acknowledged, openedAt);
    await verify(directory, ledger);
  }
  context.diagnostic(`${ledger.acknowledged} acknowledged writes over ${cycles} kills`);
  assert.ok(ledger.acknowledged > cycles);
});

for (const name of failpoints) {
  test(`${killsPerFailpoint} kills at ${name} lose nothing acknowledged`, async () => {
    const directory = join(root, name);
    const ledger = new Ledger();
    for (let cycle = 0; cycle < killsPerFailpoint; cycle += 1) {
      const life = await live(directory, { cycle, failpoint: `${name}:${1 + (cycle % 5) * 2}`, killAfterMs: 5000 });
      if (life.openedAt !== undefined) ledger.enter(life.acknowledged, life.openedAt);
      await verify(directory, ledger);
    }
  });
}

test('kills at random moments of a writer on PostgreSQL lose nothing acknowledged, use no revision twice and tear nothing', { skip: noPostgres }, async (context) => {
  const server = await startPostgres();
  try {
    const ledger = new Ledger();
    for (let cycle = 0; isDue(cycle, Math.min(cycles, 12), ledger.acknowledged <= 100); cycle += 1) {
      const { openedAt, acknowledged } = await live(server.url('crash'), { cycle, killAfterMs: 20 + ((cycle * 67) % 240) });
      if (openedAt !== undefined) ledger.enter(acknowledged, openedAt);
      await verify(server.url('crash'), ledger);
    }
    context.diagnostic(`${ledger.acknowledged} acknowledged writes`);
    assert.ok(ledger.acknowledged > 100);
  } finally {
    await server.stop();
  }
});

test('a writer on PostgreSQL that is paused at any moment holds up no other', { skip: noPostgres }, async (context) => {
  const server = await startPostgres();
  const child = spawn(process.execPath, [writer, server.url('paused'), '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const store = await openPostgresStore({ endpoint: server.url('paused'), clock: systemClock });
    const ledger = new Ledger();
    for (let pause = 0; pause < 15; pause += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20 + ((pause * 37) % 90)));
      child.kill('SIGSTOP');
      for (let write = 0; write < 5; write += 1) {
        const result = await store.txn({ key: `/registry/other/${pause}/${write}`, expect: 0, value: Buffer.from('v') });
        assert.equal(result.type, 'committed');
      }
      child.kill('SIGCONT');
    }
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await gone;
    ledger.enter(parseLife(output).acknowledged, 1);
    await verify(server.url('paused'), ledger);
    await store.close();
    context.diagnostic(`${ledger.acknowledged} acknowledged writes`);
    assert.ok(ledger.acknowledged > 100);
  } finally {
    child.kill('SIGKILL');
    await server.stop();
  }
});
