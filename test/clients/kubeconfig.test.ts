// `pintle kubeconfig` as a process of its own: its certificate is one of the authority in the data directory, for a server that runs on it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AuthenticationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { createServer } from '../../src/index.ts';

const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));

test('pintle kubeconfig --user NAME --group G makes a caller with a certificate of its own', { timeout: 60_000 }, async (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'pintle-kubeconfig-'));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const run = (...args: string[]) => spawnSync(process.execPath, [main, 'kubeconfig', ...args], { encoding: 'utf8', timeout: 30_000 });
  assert.match(run('--user', 'jane', '--data-dir', join(dataDir, 'none')).stderr, /holds no authority; start the server once/);
  assert.match(run('--group', 'ops').stderr, /kubeconfig needs --user/);
  const server = await createServer({ dataDir });
  context.after(() => server.close());
  await server.ready;
  const { status, stdout } = run('--user', 'jane', '--group', 'ops', '--group=devs,qa', '--lifetime', '1h', '--data-dir', dataDir);
  assert.equal(status, 0);
  assert.doesNotMatch(stdout, /token/);
  const config = new KubeConfig();
  config.loadFromString(stdout);
  assert.equal(config.getCurrentUser()?.name, 'jane');
  const review = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
  const info = review.status?.userInfo;
  assert.deepEqual([info?.username, info?.groups], ['jane', ['ops', 'devs', 'qa', 'system:authenticated']]);
  assert.match(info?.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^X509SHA256=[0-9a-f]{64}$/);
  await assert.rejects(config.makeApiClient(CoreV1Api).listNode(), (error: any) => error.code === 403);
  const masters = run('--user', 'root', '--group', 'system:masters', '--data-dir', dataDir);
  config.loadFromString(masters.stdout);
  assert.deepEqual((await config.makeApiClient(CoreV1Api).listNode()).items, []);
});
