// Servers under test: one that is started here from the built tree, one somewhere else by its URL, or a bare Node server that sends given bytes.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Address } from './connection.ts';

/** A server under test. `pids` are empty where its processes are out of reach: then there are no figures of CPU and memory. */
export interface Target extends Address {
  readonly name: string;
  readonly pids: readonly number[];
  /** Its data directory, where it is on this machine. */
  readonly dataDir?: string;
  close(): Promise<void>;
}

const token = 'bench-token';

/** The token of a caller without special rights: user `caller` in the groups g1, g2 and g3. */
export const callerToken = 'caller-token';

/** A server that was started here. */
export interface OwnTarget extends Target {
  readonly startedMs: number;
  readonly firstAnswerMs: number;
  /** Ends it, and starts it again on the same directory with the same flags; `close` of the one that this answers ends it for good. */
  restart(): Promise<OwnTarget>;
}

/** A built server, in a fresh data directory; resolves when it answers. `flags` are further ones, `program` that of another tree. */
export function startOwnServer(flags: readonly string[] = [], program = findCommand()): Promise<OwnTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-bench-'));
  const tokens = join(folder, 'tokens.csv');
  writeTokens(tokens);
  const dataDir = join(folder, 'data');
  const start = async (): Promise<OwnTarget> => {
    const startedMs = performance.now();
    const child = spawn(process.execPath,
      [program, '--data-dir', dataDir, '--secure-port', '0', '--token-auth-file', tokens, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
    const url = await readUrl(child);
    return {
      name: 'pintle', url, token, pids: [child.pid as number], dataDir, startedMs, firstAnswerMs: performance.now() - startedMs,
      async restart() {
        await endChild(child);
        return start();
      },
      async close() {
        await endChild(child);
        rmSync(folder, { recursive: true, force: true });
      },
    };
  };
  return start();
}

/** Writes the callers of every server under test; returns the token of the one with all rights. */
export function writeTokens(file: string): string {
  writeFileSync(file, `${token},bench,bench-uid,"system:masters"\n${callerToken},caller,caller-uid,"g1,g2,g3"\n`);
  return token;
}

/** The bundled command when it was built, else the plain one. */
export function findCommand(): string {
  const [bundle, plain] = ['../../bin/pintle.js', '../../src/main.js'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return existsSync(bundle as string) ? bundle as string : plain as string;
}

function readUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the server ended')));
    createInterface(child.stdout!).on('line', (line) => {
      const url = /https:\/\/[\d.]+:\d+/.exec(line)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}

/** Ends a process; resolves when it is gone. */
export function endChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill(signal);
  });
}

/** A bare Node https server that sends these bytes from one buffer, whatever it is asked. */
export async function startBareServer(body: Buffer): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-bare-'));
  const file = join(folder, 'body');
  writeFileSync(file, body);
  const child = fork(fileURLToPath(new URL('bare.child.js', import.meta.url)), [file]);
  const port = await new Promise<number>((resolve) => child.once('message', (message) => resolve(Number(message))));
  return {
    name: 'bare', url: `https://127.0.0.1:${port}`, token, pids: [child.pid as number],
    async close() {
      await endChild(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** CPU that the processes have used, in milliseconds; NaN when they are out of reach. */
export function readCpuMs({ pids }: Pick<Target, 'pids'>): number {
  if (pids.length === 0) return Number.NaN;
  return pids.reduce((sum, pid) => sum + readProcessCpuMs(pid), 0);
}

/** The scheduler's nanoseconds of every thread: finer than the ticks of stat, which it falls back to. */
function readProcessCpuMs(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    return tasks.reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0]) / 1e6, 0);
  } catch {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }
}

/** Resident memory of the processes in megabytes, as it is and at its highest. */
export function readMemoryMb({ pids }: Pick<Target, 'pids'>): { readonly nowMb: number; readonly peakMb: number } {
  if (pids.length === 0) return { nowMb: Number.NaN, peakMb: Number.NaN };
  const read = (field: string): number => pids.reduce((sum, pid) => {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1');
    return sum + Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024;
  }, 0);
  return { nowMb: read('VmRSS'), peakMb: read('VmHWM') };
}
