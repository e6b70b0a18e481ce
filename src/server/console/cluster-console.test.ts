// The console of a cluster elsewhere: sessions by the link alone, requests with the credentials of the kubeconfig, watches, and hosts that are not its own.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { systemClock, systemRandom } from '../../base/index.ts';
import { readKubeconfig } from '../../kubeconfig/index.ts';
import { type TestClient, type TestServer, createTestClient, startTestServer } from '../../test-support/index.ts';
import { silentLogger } from '../observability/logger.ts';
import { type ClusterConsole, startClusterConsole } from './cluster-console.ts';

describe('startClusterConsole', () => {
  let [cluster, served, client]: [TestServer?, ClusterConsole?, TestClient?] = [];
  const folder = mkdtempSync(join(tmpdir(), 'pintle-console-'));
  const file = join(folder, 'kubeconfig');
  before(async () => {
    cluster = await startTestServer();
    writeFileSync(file, cluster.kubeconfig);
    const target = await readKubeconfig({ kubeconfig: file }, systemClock);
    served = await startClusterConsole({ target, clock: systemClock, random: systemRandom, logger: silentLogger, port: 0 });
    client = createTestClient(new URL(served.link).origin, '');
  });
  after(async () => {
    client?.close();
    await served?.close();
    await cluster?.close();
    rmSync(folder, { recursive: true });
  });
  const request = (path: string, more: object = {}) => (client as TestClient).request({ path, token: null, ...more });

  test('a request without a session reaches nothing, whatever it carries', async () => {
    assert.equal((await request('/console/')).status, 200);
    assert.equal((await request('/api')).status, 401);
    assert.equal((await request('/api', { token: 'admin-token' })).status, 401);
    assert.equal((await request('/console/session', { method: 'POST', token: 'admin-token' })).status, 401);
    assert.equal((await request('/console/codes', { method: 'POST', token: 'admin-token' })).status, 401);
  });

  test('a name of another site that leads to this port is refused', async () => {
    assert.equal((await request('/console/', { headers: { host: 'evil.example' } })).status, 421);
  });

  test('the session of the link speaks as the user of the kubeconfig, and may try others', async () => {
    const code = new URL(served?.link ?? '').hash.slice('#code='.length);
    const session = await request('/console/session', { method: 'POST', body: { code } });
    const headers = { 'x-pintle-console': session.body.key as string, cookie: String(session.headers['set-cookie']).split(';')[0] as string };
    const review = { method: 'POST', body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' } };
    const ask = (more = {}) => request('/apis/authentication.k8s.io/v1/selfsubjectreviews', { ...review, headers: { ...headers, ...more } });
    assert.equal((await ask()).body.status.userInfo.username, 'kubernetes-admin');
    assert.equal((await ask({ authorization: 'Bearer alice-token' })).body.status.userInfo.username, 'kubernetes-admin');
    assert.equal((await ask({ 'impersonate-user': 'jane' })).body.status.userInfo.username, 'jane');
    const watch = await request('/api/v1/namespaces?watch=1&timeoutSeconds=1', { headers });
    assert.match(watch.text, /"type":"ADDED"/);
    assert.equal((await request('/api/v1/namespaces/none', { headers })).body.reason, 'NotFound');
  });

  test('the credentials are those of the moment, of a program too', async () => {
    const token = join(folder, 'token');
    const status = `{ token: require('fs').readFileSync(${JSON.stringify(token)}, 'utf8'), expirationTimestamp: '2000-01-01T00:00:00Z' }`;
    const print = `console.log(JSON.stringify({ status: ${status} }))`;
    const config = parse(cluster?.kubeconfig ?? '');
    config.users[0].user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', print] } };
    writeFileSync(file, JSON.stringify(config));
    const target = await readKubeconfig({ kubeconfig: file }, systemClock);
    const other = await startClusterConsole({ target, clock: systemClock, random: systemRandom, logger: silentLogger, port: 0 });
    const own = createTestClient(new URL(other.link).origin, '');
    const code = new URL(other.link).hash.slice('#code='.length);
    const session = await own.request({ method: 'POST', path: '/console/session', body: { code }, token: null });
    const headers = { 'x-pintle-console': session.body.key as string, cookie: String(session.headers['set-cookie']).split(';')[0] as string };
    for (const [given, wanted] of [['admin-token', 200], ['nobody', 401], ['admin-token', 200]] as const) {
      writeFileSync(token, given);
      assert.equal((await own.request({ path: '/api/v1/namespaces', headers, token: null })).status, wanted, given);
    }
    config.users[0].user.exec.args = ['-e', 'process.exit(1)'];
    writeFileSync(file, JSON.stringify(config));
    const broken = await readKubeconfig({ kubeconfig: file }, systemClock);
    await assert.rejects(broken.credentials(), /gave no credentials/);
    own.close();
    await other.close();
  });
});
