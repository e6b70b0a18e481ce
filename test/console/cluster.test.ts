// The same flows against kube-apiserver, by `pintle console --kubeconfig`. Skipped without a browser, a kube-apiserver, which PINTLE_KUBE_APISERVER
// names, and an etcd for it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { FakeKubelet } from '../../src/server/proxy/testing.ts';
import { createTestClient, eventually, findPorts } from '../../src/test-support/index.ts';
import { type ShopAndBrowser, checkAccess, login, missingBrowser, openPage, startBrowser, stopShop, waitForList } from './browser.ts';
import { testExploration } from './explore.suite.ts';
import { createTill, followTill, runCommand } from './pods.ts';
import { testObjects } from './object.suite.ts';
import { type Shop, fillShop } from './objects.ts';

const program = process.env['PINTLE_KUBE_APISERVER'] ?? '';
const skip = missingBrowser() || (program === '' ? 'PINTLE_KUBE_APISERVER names no kube-apiserver' : noEtcd);
const START_MS = 60_000;
const pintle = fileURLToPath(new URL('../../bin/pintle.js', import.meta.url));

/** The link that `pintle console` prints for a cluster; the command is one of `started`. */
async function openConsole(kubeconfig: string, started: ChildProcess[]): Promise<string> {
  const child = spawn(process.execPath, [pintle, 'console', '--kubeconfig', kubeconfig, '--open=false'], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  for await (const line of createInterface(child.stdout)) {
    const [link] = /http:\S+/.exec(line) ?? [];
    if (link !== undefined) return link;
  }
  throw new Error('the command prints no link');
}

/** A kube-apiserver on an etcd of its own, with the users of test servers. */
async function startReference(): Promise<Shop> {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-console-'));
  const path = (name: string): string => join(directory, name);
  writeFileSync(path('tokens.csv'), 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid,devs\n');
  writeFileSync(path('sa.key'), generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const cluster = await startCluster();
  const [port] = await findPorts(1);
  const children: ChildProcess[] = [spawn(program, [
    `--etcd-servers=${cluster.endpoints.join()}`, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${path('certs')}`,
    `--token-auth-file=${path('tokens.csv')}`, '--authorization-mode=RBAC', '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${path('sa.key')}`, `--service-account-signing-key-file=${path('sa.key')}`, '--service-cluster-ip-range=10.0.0.0/24',
    // No controller makes service accounts here.
    '--disable-admission-plugins=ServiceAccount', '--etcd-count-metric-poll-period=1s',
  ], { stdio: 'ignore' })];
  const url = `https://127.0.0.1:${port}`;
  const client = createTestClient(url, 'admin-token');
  await eventually(async () => assert.equal((await client.request({ path: '/readyz' })).status, 200), START_MS);
  return {
    url, request: (request) => client.request(request),
    makeLink(token) {
      writeFileSync(path(token), JSON.stringify({
        'current-context': 'c', contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }], users: [{ name: 'u', user: { token } }],
        clusters: [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      }));
      return openConsole(path(token), children);
    },
    async close() {
      client.close();
      for (const child of children.reverse()) {
        child.kill('SIGTERM');
        if (child.exitCode === null) await once(child, 'exit');
      }
      await cluster.stop();
      rmSync(directory, { recursive: true });
    },
  };
}

async function startReferenceShop(): Promise<ShopAndBrowser> {
  const started = await Promise.all([startReference(), startBrowser()]);
  await eventually(async () => assert.equal((await started[0].request({ path: '/api/v1/namespaces/default' })).status, 200));
  await fillShop(started[0]);
  return started;
}

describe('the console of kube-apiserver', { skip }, () => {
  test('lists are live and filtered, definitions appear, and the page of the server shows what its metrics have', async () => {
    const [server, browser] = await startReferenceShop();
    try {
      const { page, complaints, close } = await openPage(browser);
      await login(page, server, 'admin-token', '#/list/apps/v1/deployments?namespace=shop');
      await waitForList(page, 4);
      await server.request({ method: 'PATCH', path: '/apis/apps/v1/namespaces/shop/deployments/web', body: { spec: { replicas: 7 } } });
      await page.getByRole('row', { name: /web.*0\/7/ }).waitFor();
      await page.getByLabel('Label selector').fill('tier=front');
      await page.keyboard.press('Enter');
      await waitForList(page, 2);
      await page.getByRole('link', { name: 'Server', exact: true }).click();
      await page.getByRole('region', { name: 'Busiest requests' }).getByRole('row').nth(1).waitFor();
      await page.getByRole('figure').filter({ hasText: /Latency.*p99 [\d.]+ ms/ }).locator('canvas').waitFor();
      await page.getByRole('figure').filter({ hasText: /Store.*size [\d.]+ [KM]iB/ }).waitFor();
      await page.getByRole('figure').filter({ hasText: /Revision.*latest [1-9]\d*/ }).waitFor();
      await page.getByRole('region', { name: 'Most objects' }).getByRole('row').nth(1).waitFor();
      await checkAccess(page, 'the server');
      assert.deepEqual(complaints, []);
      await close();
    } finally {
      await stopShop([server, browser]);
    }
  });

  for (const [what, run] of [['logs of containers are followed', followTill], ['a command runs in a container', runCommand]] as const) test(what, async () => {
    const kubelet = new FakeKubelet();
    const [server, browser] = await startReferenceShop();
    try {
      await createTill(server, kubelet);
      await run([server, browser], kubelet);
    } finally {
      await stopShop([server, browser]);
      kubelet.close();
    }
  });

  describe('objects', () => testObjects(startReferenceShop));
  describe('history and access', () => testExploration(startReferenceShop));
});
