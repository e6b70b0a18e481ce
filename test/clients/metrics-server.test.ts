// metrics-server as an aggregated API, over a kubelet that answers /metrics/resource: `kubectl top` of nodes and pods, for users that RBAC permits.
// Skipped without the program, which PINTLE_METRICS_SERVER names, and without kubectl.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { createCertificate } from '../../src/server/tls/certificates.ts';
import { type TestServer, eventually, findPorts, startTestServer } from '../../src/test-support/index.ts';
import { findKubectls } from './kubectl.ts';

const program = process.env['PINTLE_METRICS_SERVER'] ?? '';
const [kubectl] = findKubectls();
const skip = program === '' ? 'PINTLE_METRICS_SERVER names no metrics-server' : kubectl === undefined ? 'there is no kubectl' : false;
const READY_MS = 120_000;
const manifest = fileURLToPath(new URL('../../../deploy/metrics-server.yaml', import.meta.url));
const account = '/api/v1/namespaces/kube-system/serviceaccounts/metrics-server/token';
const context = { clock: systemClock, random: systemRandom };
const lifetimeMs = 86_400_000;
const proxies = createCertificate({ commonName: 'front-proxy-ca', lifetimeMs }, context);
const proxy = createCertificate({ commonName: 'front-proxy', issuer: proxies, lifetimeMs }, context);
const serving = createCertificate({ commonName: 'kubelet', hosts: ['127.0.0.1'], lifetimeMs }, context);

const startedMs = Date.now();

/** What a kubelet says: the node takes a quarter of a core, the container a tenth. */
function describeUse(): string {
  const nowMs = Date.now();
  const used = (cores: number): string => ((nowMs - startedMs) / 1000 * cores).toFixed(6);
  const container = '{container="a",namespace="default",pod="web"}';
  return [
    `node_cpu_usage_seconds_total ${used(0.25)} ${nowMs}`, `node_memory_working_set_bytes ${256 * 2 ** 20} ${nowMs}`,
    `container_cpu_usage_seconds_total${container} ${used(0.1)} ${nowMs}`, `container_memory_working_set_bytes${container} ${64 * 2 ** 20} ${nowMs}`,
    `container_start_time_seconds${container} ${startedMs / 1000 - 60}`, '',
  ].join('\n');
}

/** A node with a kubelet at a port, and a pod of one container on it. */
async function createNodeAndPod(server: TestServer, port: number): Promise<void> {
  await server.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'n1' } } });
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: port } },
    allocatable: { cpu: '1', memory: '1Gi' }, capacity: { cpu: '1', memory: '1Gi' },
  };
  await server.request({ method: 'PATCH', path: '/api/v1/nodes/n1/status', body: { status } });
  const spec = { nodeName: 'n1', automountServiceAccountToken: false, containers: [{ name: 'a', image: 'x' }] };
  await server.request({ method: 'POST', path: '/api/v1/namespaces/default/pods', body: { metadata: { name: 'web' }, spec } });
  // metrics-server looks at running pods alone.
  await server.request({ method: 'PATCH', path: '/api/v1/namespaces/default/pods/web/status', body: { status: { phase: 'Running' } } });
}

function formatKubeconfig(url: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1', kind: 'Config', 'current-context': 'a', contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: url, 'insecure-skip-tls-verify': true } }], users: [{ name: 'a', user: { token } }],
  });
}

describe('metrics-server', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-metrics-server-'));
  const path = (name: string): string => join(directory, name);
  const kubelet: Server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    if (request.url !== '/metrics/resource') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(describeUse());
  });
  let server: TestServer;
  let metricsServer: ChildProcess;
  const run = (user: string, ...args: readonly string[]): Promise<string> =>
    promisify(execFile)(kubectl?.path ?? '', ['--kubeconfig', path(`${user}.json`), ...args], { timeout: 20_000 })
      .then(({ stdout }) => stdout, (error: { stderr?: string }) => String(error.stderr));
  const top = (user: string, ...args: readonly string[]) => run(user, 'top', ...args);
  before(async () => {
    for (const [name, text] of [['ca.crt', proxies.certificate], ['proxy.crt', proxy.certificate], ['proxy.key', proxy.key]] as const) {
      writeFileSync(path(name), text, { mode: 0o600 });
    }
    server = await startTestServer({
      requestheaderClientCaFile: path('ca.crt'), proxyClientCertFile: path('proxy.crt'), proxyClientKeyFile: path('proxy.key'),
    });
    const keep = (user: string, token: string): void => writeFileSync(path(`${user}.json`), formatKubeconfig(server.url, token), { mode: 0o600 });
    for (const user of ['admin', 'alice']) keep(user, `${user}-token`);
    const kubeletPort = await new Promise<number>((resolve) => kubelet.listen(0, '127.0.0.1', () => resolve((kubelet.address() as { port: number }).port)));
    await createNodeAndPod(server, kubeletPort);
    const [port] = await findPorts(1) as [number];
    writeFileSync(path('objects.yaml'), readFileSync(manifest, 'utf8').replace('port: 4443', `port: ${port}`));
    assert.match(await run('admin', 'apply', '-f', path('objects.yaml')), /apiservice\S+ created\n$/);
    keep('metrics', (await server.request({ method: 'POST', path: account, body: { spec: {} } })).body.status.token);
    metricsServer = spawn(program, [
      `--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${path('certs')}`, '--kubelet-insecure-tls', '--kubelet-use-node-status-port',
      '--kubelet-preferred-address-types=InternalIP', '--metric-resolution=10s',
      '--kubelet-request-timeout=5s',
      ...['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map((flag) => `--${flag}=${path('metrics.json')}`),
    ], { stdio: ['ignore', 'ignore', process.env['METRICS_SERVER_LOG'] === undefined ? 'ignore' : 'inherit'] });
  });
  after(async () => {
    const ended = new Promise((resolve) => metricsServer.on('exit', resolve));
    metricsServer.kill('SIGTERM');
    await ended;
    await server.close();
    kubelet.closeAllConnections();
    kubelet.close();
    rmSync(directory, { recursive: true });
  });

  it('answers kubectl top about nodes and pods', async () => {
    await eventually(async () => assert.match(await top('admin', 'nodes'), /^NAME +CPU.*\nn1 +2[45]\dm +2[45]% +256Mi +25% *\n$/), READY_MS);
    await eventually(async () => assert.match(await top('admin', 'pods'), /^NAME +CPU.*\nweb +(?:99|10\d)m +64Mi *\n$/), READY_MS);
    assert.match(await top('admin', 'pods', '--all-namespaces', '--containers'), /\ndefault +web +a +(?:99|10\d)m +64Mi *\n/);
  });

  it('is asked for what RBAC permits, by this server and by metrics-server', async () => {
    assert.match(await top('alice', 'pods'), /pods\.metrics\.k8s\.io is forbidden: User "alice" cannot list resource "pods"/);
    const { body } = await server.request({ path: '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io' });
    assert.deepEqual(body.status.conditions.map(({ type, status }: { type: string; status: string }) => [type, status]), [['Available', 'True']]);
    const { body: groups } = await server.request({ path: '/apis' });
    assert.ok(groups.groups.some(({ name }: { name: string }) => name === 'metrics.k8s.io'));
    const named = { path: '/apis/metrics.k8s.io/v1beta1/nodes/n1', headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };
    assert.equal((await server.request(named)).body.kind, 'Table');
  });
});
