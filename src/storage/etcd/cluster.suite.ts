// Real etcd servers for tests: one or more members on loopback, in a directory that is removed at the end. PINTLE_ETCD names the program; without
// it `etcd` is looked for on PATH.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPorts } from '../../test-support/index.ts';

const program = process.env.PINTLE_ETCD ?? 'etcd';

/** The reason for which tests on etcd cannot run, or false. */
export const noEtcd: string | false = spawnSync(program, ['--version']).status === 0 ? false : 'etcd is neither on PATH nor named by PINTLE_ETCD';

/** A member that can be killed, paused and started again on its data. */
export interface EtcdMember {
  readonly name: string;
  readonly url: string;
  readonly clientPort: number;
  readonly peerPort: number;
  /** Of the running process. */
  readonly pid: number;
  start(): void;
  signal(name: NodeJS.Signals): void;
  /** Kills it; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface EtcdCluster {
  readonly endpoints: readonly string[];
  readonly members: readonly EtcdMember[];
  stop(): Promise<void>;
}

interface ClusterOptions {
  readonly size?: number;
  /** Port at which the others reach a member's peer port, where something stands between them. */
  readonly advertisePeer?: (peerPort: number, index: number) => Promise<number>;
  readonly flags?: readonly string[];
  /** PEM files with which members serve their clients, which must show a certificate of the same authority. */
  readonly tls?: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
}

/** Starts a new, empty cluster; its servers may need a moment to answer. */
export async function startCluster({ size = 1, advertisePeer, flags = [], tls }: ClusterOptions = {}): Promise<EtcdCluster> {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pintle-etcd-'));
  const ports = await findPorts(size * 2);
  const places = Array.from({ length: size }, (_, index) => ({ index, clientPort: ports[2 * index] as number, peerPort: ports[2 * index + 1] as number }));
  const advertised = await Promise.all(places.map(({ peerPort, index }) => advertisePeer?.(peerPort, index) ?? peerPort));
  const initial = places.map(({ index }) => `m${index}=http://127.0.0.1:${advertised[index]}`).join(',');
  const timing = size === 1 ? ['--heartbeat-interval=10', '--election-timeout=60'] : ['--heartbeat-interval=50', '--election-timeout=500'];
  const secure = tls === undefined ? [] : [`--trusted-ca-file=${tls.caFile}`, `--cert-file=${tls.certFile}`, `--key-file=${tls.keyFile}`, '--client-cert-auth'];
  const members = places.map(({ index, clientPort, peerPort }) => {
    const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${clientPort}`;
    return createMember({ name: `m${index}`, url, clientPort, peerPort }, [
      `--name=m${index}`, `--data-dir=${join(root, `m${index}`)}`, `--listen-client-urls=${url}`, `--advertise-client-urls=${url}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`, `--initial-advertise-peer-urls=http://127.0.0.1:${advertised[index]}`,
      `--initial-cluster=${initial}`, '--logger=zap', '--log-outputs=/dev/null', ...timing, ...secure, ...flags,
    ]);
  });
  for (const member of members) member.start();
  return {
    members,
    endpoints: members.map(({ url }) => url),
    async stop() {
      await Promise.all(members.map((member) => member.kill()));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function createMember(place: Pick<EtcdMember, 'name' | 'url' | 'clientPort' | 'peerPort'>, args: readonly string[]): EtcdMember {
  let child: ChildProcess | undefined;
  return {
    ...place,
    get pid() {
      return child?.pid ?? 0;
    },
    start() {
      child = spawn(program, args, { stdio: 'ignore' });
    },
    signal: (name) => void child?.kill(name),
    async kill() {
      const dying = child;
      if (dying === undefined || dying.exitCode !== null || dying.signalCode !== null) return;
      const gone = new Promise((resolve) => dying.once('exit', resolve));
      dying.kill('SIGKILL');
      await gone;
    },
  };
}

/** A figure of a member's /metrics by its name, summed over its labels. */
export async function readMetric({ url }: Pick<EtcdMember, 'url'>, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
