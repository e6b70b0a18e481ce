// The reference itself as a server under test: a kube-apiserver program (`--peer PROGRAM`) with flags like ours, on an etcd, in the same run.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EtcdCluster, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { findPorts } from '../../src/test-support/index.ts';
import { callOnce } from './measure.ts';
import { type Target, endChild, writeTokens } from './target.ts';

const readyWithinMs = 60_000;

/** Starts the program on an etcd (one of its own unless `etcd` names one to share); resolves when it is ready. CPU and memory are those of both. */
export async function startPeer(program: string, shared?: EtcdCluster): Promise<Target> {
  const cluster = shared ?? await startCluster();
  const folder = mkdtempSync(join(tmpdir(), 'pintle-peer-'));
  const [port] = await findPorts(1);
  const token = writeTokens(join(folder, 'tokens.csv'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: {
    type: 'pkcs8', format: 'pem' } });
  const keyFile = join(folder, 'accounts.key');
  writeFileSync(keyFile, privateKey, { mode: 0o600 });
  const child = spawn(program, [
    `--etcd-servers=${cluster.endpoints.join(',')}`, `--secure-port=${port}`, '--bind-address=127.0.0.1',
    `--cert-dir=${join(folder, 'pki')}`, '--service-account-issuer=https://kubernetes.default.svc', `--service-account-key-file=${keyFile}`,
    `--service-account-signing-key-file=${keyFile}`, `--token-auth-file=${join(folder, 'tokens.csv')}`, '--authorization-mode=Node,RBAC',
    '--service-cluster-ip-range=10.0.0.0/24', '--endpoint-reconciler-type=none',
  ], { stdio: 'ignore' });
  const target: Target = {
    name: 'peer', url: `https://127.0.0.1:${port}`, token, pids: [child.pid as number, ...cluster.members.map(({ pid }) => pid)],
    async close() {
      await endChild(child, 'SIGKILL');
      if (shared === undefined) await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  for (const endMs = performance.now() + readyWithinMs; performance.now() < endMs; await sleep(200)) {
    if (child.exitCode !== null) throw new Error(`${program} ended with code ${child.exitCode}`);
    if (await callOnce(target, { path: '/readyz' }).then(({ status }) => status === 200, () => false)) return target;
  }
  throw new Error(`${program} did not become ready`);
}
