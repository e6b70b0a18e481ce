// kube-controller-manager and kube-scheduler against this server: they elect leaders, and the former's controllers that kubeadm and operators rely on do
// their work. PINTLE_NODE_BIN names the folder of the programs; without them the suite says that it skips.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findProgram, nodeFolders } from '../../scripts/cluster/cluster.ts';
import { type RunningServer, startServer } from '../../src/server/index.ts';
import { type ClientResponse, type TestClient, createTestClient, eventually, testTokens } from '../../src/test-support/index.ts';

const managerProgram = findProgram('kube-controller-manager', nodeFolders());
const schedulerProgram = findProgram('kube-scheduler', nodeFolders());
const skip = managerProgram === undefined || schedulerProgram === undefined ? 'PINTLE_NODE_BIN names no folder with kube-controller-manager and kube-scheduler'
  : false;

const election = ['--leader-elect=true', '--leader-elect-lease-duration=3s', '--leader-elect-renew-deadline=2s', '--leader-elect-retry-period=500ms'];
const controllers = ['bootstrap-signer-controller', 'token-cleaner-controller', 'storageversion-garbage-collector-controller'];
const WAIT_MS = 60_000;

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseTransitions?: number;
  readonly strategy?: string;
}

describe('programs of the control plane', { skip, timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-components-'));
  const children: ChildProcess[] = [];
  /** Types of the bodies of requests for Leases that were sent, by the program that sent them. */
  const types = new Map<string, Set<string>>();
  let server: RunningServer;
  let client: TestClient;
  const request = (path: string, body?: object, method = body === undefined ? 'GET' : 'POST'): Promise<ClientResponse> =>
    client.request({ method, path, ...(body !== undefined && { body }) });
  const lease = async (name: string): Promise<LeaseSpec> =>
    ((await request(`/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`)).body as { spec?: LeaseSpec }).spec ?? {};

  function start(program: string, flags: readonly string[]): ChildProcess {
    const log = openSync(join(folder, `log-${children.length}`), 'w');
    const child = spawn(program, [`--kubeconfig=${join(folder, 'kubeconfig')}`, '--secure-port=0', ...flags], { stdio: ['ignore', log, log] });
    children.push(child);
    return child;
  }

  before(async () => {
    server = await startServer({
      tokens: testTokens, featureGates: ['StorageVersionAPI=true', 'CoordinatedLeaderElection=true'],
      runtimeConfig: ['internal.apiserver.k8s.io/v1alpha1=true', 'coordination.k8s.io/v1beta1=true'],
    }, {
      observe(exchange, next) {
        const { headers, method, path } = exchange;
        const program = headers['user-agent']?.split('/')[0] ?? '';
        if (method !== 'GET' && path.includes('/leases')) {
          types.set(program, (types.get(program) ?? new Set()).add(`${headers['content-type']} ${headers['accept']?.split(',')[0]}`));
        }
        return next(exchange);
      },
    });
    await server.ready;
    client = createTestClient(server.url, 'admin-token');
    writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig, { mode: 0o600 });
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    client?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const said = (index: number): string => readFileSync(join(folder, `log-${index}`), 'utf8').slice(-2000);

  test('elect leaders through Leases in protobuf; another one leads when the first is gone', async () => {
    const flags = [...election, `--controllers=${controllers.join()}`, '--feature-gates=StorageVersionAPI=true'];
    const first = start(managerProgram!, flags);
    start(schedulerProgram!, election);
    await eventually(async () => assert.ok((await lease('kube-controller-manager')).holderIdentity, said(0)), WAIT_MS);
    await eventually(async () => assert.ok((await lease('kube-scheduler')).holderIdentity, said(1)), WAIT_MS);
    const { holderIdentity, leaseTransitions = 0 } = await lease('kube-controller-manager');
    start(managerProgram!, flags);
    first.kill('SIGKILL');
    await eventually(async () => {
      const now = await lease('kube-controller-manager');
      assert.notEqual(now.holderIdentity, holderIdentity, said(2));
      assert.equal(now.leaseTransitions, leaseTransitions + 1);
    }, WAIT_MS);
    for (const program of ['kube-controller-manager', 'kube-scheduler']) {
      assert.deepEqual([...types.get(program)!], ['application/vnd.kubernetes.protobuf application/vnd.kubernetes.protobuf'], program);
    }
  });

  test('cluster-info is signed with bootstrap tokens, and tokens that are over are removed', async () => {
    const usage = { 'usage-bootstrap-signing': 'true', 'usage-bootstrap-authentication': 'true' };
    const secret = (id: string, more: object) => ({ metadata: { name: `bootstrap-token-${id}` }, type: 'bootstrap.kubernetes.io/token',
      stringData: { 'token-id': id, 'token-secret': '0123456789abcdef', ...usage, ...more } });
    const secrets = '/api/v1/namespaces/kube-system/secrets';
    await request('/api/v1/namespaces/kube-public/configmaps', { metadata: { name: 'cluster-info' }, data: { kubeconfig: server.kubeconfig } });
    assert.equal((await request(secrets, secret('abcdef', {}))).status, 201);
    assert.equal((await request(secrets, secret('fedcba', { expiration: '2020-01-01T00:00:00Z' }))).status, 201);
    await eventually(async () => {
      const { body } = await request('/api/v1/namespaces/kube-public/configmaps/cluster-info');
      assert.match((body as { data: Record<string, string> }).data['jws-kubeconfig-abcdef'] ?? '', /^[\w-]+\.\.[\w-]+$/, said(2));
    }, WAIT_MS);
    await eventually(async () => assert.equal((await request(`${secrets}/bootstrap-token-fedcba`)).status, 404, said(2)), WAIT_MS);
    assert.equal((await request(`${secrets}/bootstrap-token-abcdef`)).status, 200);
  });

  test('what servers that are gone have said of the versions that they store is removed', async () => {
    const path = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
    const { body } = await request(path, { metadata: { name: 'apps.deployments' }, spec: {} });
    const version = { encodingVersion: 'apps/v1', decodableVersions: ['apps/v1'] };
    const identity = { metadata: { name: 'here', namespace: 'kube-system', labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' } },
      spec: { holderIdentity: 'here', leaseDurationSeconds: 3600, renewTime: new Date().toISOString().replace('Z', '000Z') } };
    assert.equal((await request('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', identity)).status, 201);
    const conditions = [{ type: 'AllEncodingVersionsEqual', status: 'True', reason: 'r', lastTransitionTime: '2020-01-01T00:00:00Z', message: 'm' }];
    const status = { storageVersions: ['gone', 'here'].map((apiServerID) => ({ apiServerID, ...version })), commonEncodingVersion: 'apps/v1', conditions };
    const answer = await request(`${path}/apps.deployments/status`, { ...(body as object), status }, 'PUT');
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.text, /"gone"/);
    await eventually(async () => {
      const found = (await request(`${path}/apps.deployments`)).body as { status: { storageVersions: { apiServerID: string }[] } };
      assert.deepEqual(found.status.storageVersions.map(({ apiServerID }) => apiServerID), ['here'], said(2));
    }, WAIT_MS);
  });

  test('a program that is a candidate leads once this server has chosen it', async () => {
    for (const child of children) child.kill('SIGKILL');
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
    assert.equal((await request(path, undefined, 'DELETE')).status, 200);
    start(managerProgram!, [...election, `--controllers=${controllers[1]}`, '--feature-gates=CoordinatedLeaderElection=true']);
    await eventually(async () => {
      const { holderIdentity, strategy } = await lease('kube-controller-manager');
      assert.equal(strategy, 'OldestEmulationVersion', said(3));
      const { body } = await request(`/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates/${holderIdentity}`);
      assert.equal((body as { spec: { leaseName: string } }).spec.leaseName, 'kube-controller-manager');
      assert.match(readFileSync(join(folder, 'log-3'), 'utf8'), /successfully acquired lease/i);
    }, WAIT_MS);
  });
});
