// W12: writes at a steady rate, in turns beside a server that is left alone and beside one of which snapshots are taken one after the other: how much
// slower the writes are meanwhile, as the median of the ratios of neighbouring turns. The last snapshot is restored and counted.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../load/connection.ts';
import { makeRow, quantile, round, type Row, type Scale } from '../load/measure.ts';
import { createCall, populate, scratch } from '../load/objects.ts';
import { type Target, findCommand, readCpuMs } from '../load/target.ts';

const WRITES_PER_SECOND = 2000;
const CLIENTS = 32;
const TURNS = 8;

interface Turn {
  readonly latencies: number[];
  readonly elapsedMs: number;
  readonly usedMs: number;
}

/** Rows of both sorts of turns; nothing where the server's directory is out of reach. */
export async function measureBackup(target: Target, scale: Scale): Promise<Row[]> {
  const { dataDir } = target;
  if (dataDir === undefined) return [];
  await populate(target, scale.objects);
  const folder = mkdtempSync(join(tmpdir(), 'pintle-backup-'));
  try {
    const writers = new Writers(target, `w12-${Math.round(performance.timeOrigin + performance.now()).toString(36)}`);
    await writers.measure(Math.min(1, scale.seconds));
    const [alone, beside]: [Turn[], Turn[]] = [[], []];
    const snapshots = new Snapshots(dataDir, folder);
    for (let turn = 0; turn < TURNS; turn += 1) {
      alone.push(await writers.measure(scale.seconds / 2));
      await snapshots.start();
      beside.push(await writers.measure(scale.seconds / 2));
      await snapshots.stop();
    }
    writers.close();
    await snapshots.restore();
    const ratio = (figure: (turn: Turn) => number): number => quantile(beside.map((turn, at) => figure(turn) / figure(alone[at] as Turn)), 0.5);
    const extra = {
      snapshots: snapshots.taken, snapshotMs: quantile(snapshots.times, 0.5),
      rateRatio: ratio(({ latencies, elapsedMs }) => latencies.length / elapsedMs), p50Ratio: ratio(({ latencies }) => quantile(latencies, 0.5)),
      cpuRatio: ratio(({ latencies, usedMs }) => usedMs / latencies.length),
    };
    return [
      makeRow(target, { workload: 'W12 writes alone', ...addUp(alone) }),
      makeRow(target, { workload: 'W12 writes beside snapshots', ...addUp(beside), extra }),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const addUp = (turns: readonly Turn[]): Turn => ({
  latencies: turns.flatMap(({ latencies }) => latencies),
  elapsedMs: turns.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0), usedMs: turns.reduce((sum, { usedMs }) => sum + usedMs, 0),
});

/** Connections that write when it is their turn, and at once when they are late. */
class Writers {
  readonly #target: Target;
  readonly #prefix: string;
  readonly #connections: Connection[];
  #index = 0;

  constructor(target: Target, prefix: string) {
    this.#target = target;
    this.#prefix = prefix;
    this.#connections = Array.from({ length: CLIENTS }, () => new Connection(target));
  }

  async measure(seconds: number): Promise<Turn> {
    const latencies: number[] = [];
    const cpuMs = readCpuMs(this.#target);
    const startedMs = performance.now();
    const periodMs = (CLIENTS * 1000) / WRITES_PER_SECOND;
    const drive = async (connection: Connection, client: number): Promise<void> => {
      for (let dueMs = startedMs + (client * periodMs) / CLIENTS; dueMs < startedMs + seconds * 1000; dueMs += periodMs) {
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        if (performance.now() > startedMs + seconds * 1000) return;
        const answer = await connection.send(createCall(scratch, this.#prefix, this.#index++));
        if (answer.status !== 201) throw new Error(`W12: the server answered ${answer.status}`);
        latencies.push(answer.totalMs);
      }
    };
    await Promise.all(this.#connections.map(drive));
    return { latencies, elapsedMs: performance.now() - startedMs, usedMs: readCpuMs(this.#target) - cpuMs };
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

/** Snapshots, one after the other, each by a process of its own. */
class Snapshots {
  readonly times: number[] = [];
  readonly #dataDir: string;
  readonly #folder: string;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;
  taken = 0;

  constructor(dataDir: string, folder: string) {
    this.#dataDir = dataDir;
    this.#folder = folder;
  }

  /** Resolves when the first has begun to write: the start of its process is no part of it. */
  async start(): Promise<void> {
    this.#stopped = false;
    const before = this.taken;
    const first = `${this.#path(before)}.partial`;
    this.#work = this.#takeAll();
    while (!existsSync(first) && this.taken === before) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  /** Resolves when the snapshot under way is complete. */
  stop(): Promise<void> {
    this.#stopped = true;
    return this.#work;
  }

  /** The last snapshot is good for a directory that passes the check. */
  async restore(): Promise<void> {
    const restored = join(this.#folder, 'restored');
    await run('storage', 'restore', '--from', this.#path(this.taken - 1), '--data-dir', restored);
    await run('storage', 'check', '--data-dir', restored);
  }

  #path(number: number): string {
    return join(this.#folder, `${number}.snapshot`);
  }

  async #takeAll(): Promise<void> {
    do {
      const startedMs = performance.now();
      await run('storage', 'snapshot', '--data-dir', this.#dataDir, '--to', this.#path(this.taken));
      this.times.push(round(performance.now() - startedMs));
      if (existsSync(this.#path(this.taken - 1))) rmSync(this.#path(this.taken - 1));
      this.taken += 1;
    } while (!this.#stopped);
  }
}

function run(...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [findCommand(), ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`pintle ${args.join(' ')} exited with ${code}`))));
  });
}
