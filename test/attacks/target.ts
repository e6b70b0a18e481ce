// The server under attack from the outside: a process of its own, and the two users beside its master.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestPlugin } from '../../src/server/encryption/testing.ts';
import { type Victim, configMap, send } from './attack.ts';

/** A server that was started here, or that runs on this machine. */
export interface Target extends Victim {
  /** The longest stretch since the last question; undefined for a server that was not started here. */
  takeLongestMs(): Promise<number | undefined>;
  /** Ends the measuring of stretches: it wakes the server every millisecond, and a server gives memory back when it is idle. */
  rest(): void;
  close(): Promise<void>;
}

/** A server that was started here. One question is asked at a time. */
export interface StartedTarget extends Target {
  countFiles(): number;
  /** Memory of the heap and of buffers after everything that can be forgotten was. */
  measureKeptMb(): Promise<number>;
}

const readStatusMb = (pid: number | string | undefined, field: string): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;

/** Resident memory of a process, and what its children have beside the programs that all share; undefined where it cannot be read. */
export function readMemoryMb(pid: number | undefined): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter((child) => child !== '');
    return children.reduce((sum, child) => sum + readStatusMb(child, 'RssAnon'), readStatusMb(pid, 'VmRSS'));
  } catch {
    return undefined;
  }
}

/** The next message of the server; rejects when it ends first. */
async function nextMessage(child: ChildProcess): Promise<{ readonly url: string; readonly longestMs: number; readonly keptMb: number }> {
  const stop = new AbortController();
  const { signal } = stop;
  const ended = once(child, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`the server ended with code ${code}`)));
  ended.catch(() => {});
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended]);
    return message;
  } finally {
    stop.abort();
  }
}

/** A configuration by which Secrets are encrypted by a plugin; returns its path. */
function configureEncryption(directory: string, socket: string): string {
  const provider = { kms: { apiVersion: 'v2', name: 'attacked', endpoint: `unix://${socket}`, timeout: '3s' } };
  const file = path.join(directory, 'encryption.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [provider] }] }));
  return file;
}

/** Starts a server on a data directory of its own, with so many processes, whose Secrets are encrypted by a plugin in this process. */
export async function startTarget(workers = 1): Promise<StartedTarget> {
  const directory = mkdtempSync(path.join(tmpdir(), 'pintle-attack-'));
  const plugin = await startTestPlugin(path.join(directory, 'kms.sock'));
  const child = fork(fileURLToPath(new URL('target.child.js', import.meta.url)),
    [path.join(directory, 'data'), configureEncryption(directory, plugin.path), String(workers)]);
  const { url } = await nextMessage(child);
  return {
    url, plugin, readMemoryMb: () => readMemoryMb(child.pid), countFiles: () => readdirSync(`/proc/${child.pid}/fd`).length,
    async takeLongestMs() {
      child.send('read');
      return (await nextMessage(child)).longestMs;
    },
    rest: () => void child.send('rest'),
    async measureKeptMb() {
      child.send('kept');
      return (await nextMessage(child)).keptMb;
    },
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      await plugin.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Alice attacks, bob is the other user: each may edit in a namespace of the same name. */
export async function prepareUsers(victim: Victim): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  for (const name of ['alice', 'bob']) {
    await send(victim, { method: 'POST', path: '/api/v1/namespaces', token: 'admin-token', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } });
    await send(victim, { method: 'POST', path: `/apis/${group}/v1/namespaces/${name}/rolebindings`, token: 'admin-token', body: {
      apiVersion: `${group}/v1`, kind: 'RoleBinding', metadata: { name: 'edit' }, subjects: [{ kind: 'User', name, apiGroup: group }],
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'edit' } } });
  }
  await send(victim, { method: 'POST', path: '/api/v1/namespaces/bob/configmaps', token: 'bob-token', body: configMap('mine', { a: 'b' }) });
}
