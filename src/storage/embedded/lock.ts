// The lock on a data directory: a file with the pid of its holder, void when that process is gone.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageLockedError } from '../errors.ts';

/** The file that holds the lock. */
export const LOCK_FILE_NAME = 'LOCK';

/** Directories that this process holds: its own pid in a file may be that of an earlier process (pid 1 of a container). */
const held = new Set<string>();

/** Takes the lock of `directory` or throws StorageLockedError; the answer releases it. */
export function takeLock(directory: string): () => void {
  if (held.has(directory)) throw new StorageLockedError(directory, 'it is open in this process already; close that store first');
  const file = join(directory, LOCK_FILE_NAME);
  for (let attempt = 0; !createLock(file); attempt += 1) {
    const content = readLock(file)?.trim();
    if (content === undefined) continue;
    if (attempt >= 10 || isHolderAlive(content)) {
      const pid = content.split(' ')[0];
      throw new StorageLockedError(directory, `process ${pid} has it open; stop that process or choose another directory (lock file ${file})`);
    }
    removeStale(file, content);
  }
  held.add(directory);
  return () => {
    if (held.delete(directory)) rmSync(file, { force: true });
  };
}

/** The file appears with its content in it: an empty one would be taken for a stale one. */
function createLock(file: string): boolean {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${process.pid} ${startOf(process.pid)}\n`, { mode: 0o600 });
  try {
    linkSync(fresh, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

function readLock(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function isHolderAlive(content: string): boolean {
  const [pidText, start] = content.split(' ');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return start === undefined || startOf(pid) === start;
}

/** When a process started, in the kernel's ticks, so that a reused pid is not taken for the holder; '-' where unknown. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}

/** Two processes may find the same stale file: it is renamed first, and put back if it turns out to be a fresh one. */
function removeStale(file: string, content: string): void {
  const renamed = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, renamed);
  } catch {
    return;
  }
  if (readLock(renamed)?.trim() === content) rmSync(renamed, { force: true });
  else renameSync(renamed, file);
}
